"""The container images of the sandbox's node, built on this machine: nothing is pulled."""

from sandbox.images.archives import ensure_images, ensure_operator_image, ensure_pause_image, load_images
from sandbox.images.catalogue import CONSUMER, FRANZ, KAFKA_TOOLS, OPERATOR

__all__ = [
    "CONSUMER",
    "FRANZ",
    "KAFKA_TOOLS",
    "OPERATOR",
    "ensure_images",
    "ensure_operator_image",
    "ensure_pause_image",
    "load_images",
]

"""The container images of the sandbox's node, built on this machine: nothing is pulled."""

from sandbox.images.archives import ensure_images, ensure_pause_image, ensure_released_image, load_images
from sandbox.images.catalogue import CONSUMER, FRANZ, KAFKA_TOOLS, OPERATOR, PIPELINE, STREAMS, Released

__all__ = [
    "CONSUMER",
    "FRANZ",
    "KAFKA_TOOLS",
    "OPERATOR",
    "PIPELINE",
    "STREAMS",
    "Released",
    "ensure_images",
    "ensure_pause_image",
    "ensure_released_image",
    "load_images",
]

"""Builds the images that are not in the cache yet, and loads them into the node.

Each is a docker archive named by a hash of all it is built from, so an unchanged image is never built twice.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from sandbox import containerd, toolchain
from sandbox.binaries import ensure_binaries
from sandbox.commands import run
from sandbox.console import step
from sandbox.images import buildah
from sandbox.images.base import ensure_base
from sandbox.images.catalogue import Image, Released, images, released_image
from sandbox.images.context import Context
from sandbox.images.jars import ensure_repository
from sandbox.images.wheels import ensure_wheels
from sandbox.layout import Layout
from sandbox.packages import IMAGES, ensure_packages

_PAUSE = Path(__file__).parent / "pause"
_WHEELS_IN_BUILD = "/wheels"
_JARS_IN_BUILD = str(PurePosixPath("/root") / ".m2" / "repository")  # Spark looks first in its user's home: root builds


def ensure_images(layout: Layout, *, pipeline: bool = False) -> dict[str, Path]:
    """The archive of each image by its name, built where the cache has none for its present inputs.

    Only one process at a time may call this (`up` holds a lock).
    Raises MissingPrerequisite without the tools it takes, CommandFailed when a build fails.
    """
    ensure_packages(IMAGES)
    layout.make()
    buildah.forget_unfinished(layout)
    return {image.name: _ensure(layout, image) for image in images(layout, pipeline=pipeline)}


def ensure_released_image(layout: Layout, which: Released) -> Path:
    """The same for that image only."""
    ensure_packages(IMAGES)
    layout.make()
    buildah.forget_unfinished(layout)
    return _ensure(layout, released_image(which))


def load_images(layout: Layout, *, pipeline: bool = False) -> None:
    """Bring the node's images up to date. Needs the node's containerd to run, and raises CommandFailed without it."""
    binaries = ensure_binaries(layout)
    present = containerd.image_names(layout, binaries)
    # Kept beside the image store itself: whoever removes the one removes the other.
    record = layout.containerd_root / "loaded.json"
    loaded: dict[str, str] = json.loads(record.read_text()) if record.exists() else {}
    for name, archive in ensure_images(layout, pipeline=pipeline).items():
        if loaded.get(name) == archive.name and f"docker.io/{name}" in present:
            continue
        with step(f"Load {name} into the node"):
            containerd.import_image(layout, binaries, archive)
        loaded[name] = archive.name
        record.write_text(json.dumps(loaded))


def ensure_pause_image(layout: Layout) -> Path:
    """The archive of the image in which a pod's namespaces live: one small static program."""
    ensure_packages(IMAGES)
    layout.make()
    image = Image(containerd.PAUSE_IMAGE, Context({"source": _PAUSE}))
    archive = _archive(layout, image.name, image.context.key())
    if not archive.exists():
        with step("Build the pause image"), tempfile.TemporaryDirectory(dir=layout.cache) as directory:
            context = Path(directory)
            Context({"Dockerfile": _PAUSE / "Dockerfile"}).stage(context)
            _compile(layout, _PAUSE, context)
            _build(layout, image, context, archive, arguments={}, mounts={})
    return archive


def _compile(layout: Layout, module: Path, context: Path) -> None:
    """Put the Go module's program, called like its folder, into a build context: static, so it needs nothing else."""
    flags = ["-trimpath", "-buildvcs=false", "-ldflags=-s -w", f"-o={context / module.name}"]
    run(["nice", str(toolchain.go(layout)), "build", *flags, "."], cwd=module, env={"CGO_ENABLED": "0"}, deadline_s=300)


def _ensure(layout: Layout, image: Image) -> Path:
    base = ensure_base(layout)
    archive = _archive(layout, image.name, image.context.key(base))
    if not archive.exists():
        arguments, mounts = {"PYTHON": base}, {}
        if image.requirements:
            mounts = {ensure_wheels(layout, image.requirements): _WHEELS_IN_BUILD}
            arguments |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": _WHEELS_IN_BUILD}
        if image.jars:
            mounts[ensure_repository(layout, image.jars)] = _JARS_IN_BUILD
        with (
            step(f"Build the image {image.name}", "its files have changed since the last time, or there was none"),
            tempfile.TemporaryDirectory(dir=layout.cache) as directory,
        ):
            image.context.stage(Path(directory))
            if image.go_module is not None:
                _compile(layout, image.go_module, Path(directory))
            _build(layout, image, Path(directory), archive, arguments=arguments, mounts=mounts)
    return archive


def _archive(layout: Layout, name: str, key: str) -> Path:
    return layout.images / f"{_stem(name)}-{key}.tar"


def _stem(name: str) -> str:
    return name.replace("/", "-").replace(":", "-")


def _build(
    layout: Layout,
    image: Image,
    context: Path,
    archive: Path,
    *,
    arguments: Mapping[str, str],
    mounts: Mapping[Path, str],
) -> None:
    """Build, export, and drop the archive that this replaces."""
    name = f"localhost/{image.name}"
    identity = buildah.build(layout, name, context, target=image.target, arguments=arguments, mounts=mounts)
    buildah.export(layout, identity, archive, image.name)
    for older in layout.images.glob(f"{_stem(image.name)}-*.tar"):
        if older != archive:
            older.unlink()

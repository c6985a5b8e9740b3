"""Build container images without an engine: buildah as root, with a storage of its own in the cache.

chroot isolation needs no runtime and no network of its own; overlayfs, which the node's containerd needs as well, keeps
each layer to what it adds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from sandbox.commands import run
from sandbox.layout import Layout

_BUILD_S = 1500.0
_ISOLATION = {"BUILDAH_ISOLATION": "chroot"}


def build(
    layout: Layout,
    name: str,
    context: Path,
    *,
    target: str = "",
    arguments: Mapping[str, str] | None = None,
    mounts: Mapping[Path, str] | None = None,
) -> str:
    """Build `context`, which holds a Dockerfile, and return the image's id; it replaces what was built as `name`.

    `target`: the stage to build, if not the last. `mounts` are folders that its RUN steps see (source: target) and that
    no layer holds. Raises CommandFailed.
    """
    options = [f"--build-arg={key}={value}" for key, value in (arguments or {}).items()]
    options += [f"--volume={source}:{target}:ro" for source, target in (mounts or {}).items()]
    options += [f"--target={target}"] if target else []
    replaced = _id(layout, name)
    with tempfile.NamedTemporaryFile("r") as identity:
        words = ["build", "--layers", "--pull-never", f"--tag={name}", f"--iidfile={identity.name}", *options]
        _buildah(layout, *words, str(context), low_priority=True)
        built = identity.read().strip()
    if replaced and replaced not in built:
        # Only what no other image shares goes; the layers of the new image stay for the next build.
        _buildah(layout, "rmi", replaced)
    return built


def import_root(layout: Layout, name: str, root: Path, settings: Mapping[str, str]) -> None:
    """Make an image of one layer from the root file system `root`. `settings` are options of `buildah config`."""
    container = _buildah(layout, "from", "scratch").strip()
    try:
        _buildah(layout, "add", "--quiet", container, str(root), "/")
        _buildah(layout, "config", *(f"--{key}={value}" for key, value in settings.items()), container)
        _buildah(layout, "commit", "--quiet", container, name)
    finally:
        _buildah(layout, "rm", container)


def has(layout: Layout, name: str) -> bool:
    """Whether the storage holds an image of that name."""
    return bool(_id(layout, name))


def export(layout: Layout, identity: str, archive: Path, reference: str) -> None:
    """Write an image as a docker archive in which it is called `reference`, and nothing else."""
    partial = archive.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    _buildah(layout, "push", "--quiet", identity, f"docker-archive:{partial}:{reference}")
    partial.rename(archive)


def forget_unfinished(layout: Layout) -> None:
    """Remove what builds left behind that were ended before their time. No other build may be under way."""
    _buildah(layout, "rm", "--all")


def _id(layout: Layout, name: str) -> str:
    """The short id of the image of that name, or nothing."""
    return _buildah(layout, "images", "--quiet", "--filter", f"reference={name}").strip()


def _buildah(layout: Layout, *words: str, low_priority: bool = False) -> str:
    storage = layout.cache / "buildah"
    places = [f"--root={storage / 'storage'}", f"--runroot={storage / 'run'}", "--storage-driver=overlay"]
    argv = [*(["nice"] if low_priority else []), "buildah", *places, *words]
    return run(argv, env=_ISOLATION, deadline_s=_BUILD_S).stdout

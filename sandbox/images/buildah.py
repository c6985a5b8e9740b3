"""Build container images without an engine: buildah as root, with a storage of its own in the cache.

chroot isolation and plain directories as layers (vfs) work on any machine on which one is root, inside a container too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    arguments: Mapping[str, str] | None = None,
    mounts: Mapping[Path, str] | None = None,
) -> None:
    """Build `context`, which holds a Dockerfile, into the storage as `name`.

    `mounts` are folders that its RUN steps see (source: target) and that no layer holds. Raises CommandFailed.
    """
    options = [f"--build-arg={key}={value}" for key, value in (arguments or {}).items()]
    options += [f"--volume={source}:{target}:ro" for source, target in (mounts or {}).items()]
    _buildah(layout, "build", "--layers", "--pull-never", f"--tag={name}", *options, str(context), low_priority=True)


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
    return bool(_buildah(layout, "images", "--quiet", "--filter", f"reference={name}").strip())


def export(layout: Layout, name: str, archive: Path, reference: str) -> None:
    """Write the image `name` as a docker archive in which it is called `reference`."""
    partial = archive.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    _buildah(layout, "push", "--quiet", name, f"docker-archive:{partial}:{reference}")
    partial.rename(archive)


def prune(layout: Layout) -> None:
    """Remove the layers that no named image needs any more."""
    _buildah(layout, "rmi", "--prune")


def _buildah(layout: Layout, *words: str, low_priority: bool = False) -> str:
    storage = layout.cache / "buildah"
    places = [f"--root={storage / 'storage'}", f"--runroot={storage / 'run'}", "--storage-driver=vfs"]
    argv: Sequence[str] = [*(["nice"] if low_priority else []), "buildah", *places, *words]
    return run(argv, env=_ISOLATION, deadline_s=_BUILD_S).stdout

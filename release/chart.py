"""The chart as it is published: its images have addresses, and Artifact Hub knows them.

`python -m release.chart ghcr.io/owner/name FOLDER` writes a copy of the chart into FOLDER.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any, Final

import yaml

from release.version import CHART

SITE: Final = "https://slackwater.dev/latest"
"""Where the release's documentation is: links into the repository lead nowhere from a chart that somebody fetched."""
_DOCS: Final = re.compile(r"\.\./\.\./docs/(?P<page>[\w/-]+)\.md")
_IMAGE: Final = re.compile(r"^(?P<before> +repository: )slackwater/(?P<name>operator|pipeline)$", re.MULTILINE)
IMAGES: Final = ("operator", "pipeline")


def published(registry: str, folder: Path) -> None:
    """Write the chart into `folder`, with the images that `registry` has. Raises ValueError where one is not found."""
    shutil.copytree(CHART.parent, folder)
    values = folder / "values.yaml"
    text, replaced = _IMAGE.subn(rf"\g<before>{registry}/\g<name>", values.read_text(encoding="utf-8"))
    if replaced != len(IMAGES):
        raise ValueError(f"values.yaml has {replaced} of the {len(IMAGES)} images")
    values.write_text(on_the_site(text), encoding="utf-8")
    readme = folder / "README.md"
    readme.write_text(on_the_site(readme.read_text(encoding="utf-8")), encoding="utf-8")
    chart = folder / CHART.name
    chart.write_text(with_images(chart.read_text(encoding="utf-8"), registry), encoding="utf-8")


def on_the_site(text: str) -> str:
    """With links to the documentation's pages as the site has them."""
    return _DOCS.sub(rf"{SITE}/\g<page>.html", text)


def with_images(text: str, registry: str) -> str:
    """Chart.yaml's text with `artifacthub.io/images`, which Artifact Hub scans for vulnerabilities."""
    chart: dict[str, Any] = yaml.safe_load(text)
    images = [
        {"name": name, "image": f"{registry}/{name}:{chart['appVersion']}", "platforms": ["linux/amd64", "linux/arm64"]}
        for name in IMAGES
    ]
    chart["annotations"]["artifacthub.io/images"] = yaml.safe_dump(images, sort_keys=False)
    return yaml.safe_dump(chart, sort_keys=False, allow_unicode=True)


if __name__ == "__main__":
    published(sys.argv[1].rstrip("/"), Path(sys.argv[2]))

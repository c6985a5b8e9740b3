"""The published JSON schema of the events: `make schemas` writes it again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from slackwater.api.telemetry.events import EVENT, SCHEMA

FILE_NAME: Final = f"telemetry-v{SCHEMA}.json"
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def telemetry_schema() -> dict[str, Any]:
    """JSON schema of one line: what readers accept. Fields that it does not name are allowed, and mean nothing."""
    schema = EVENT.json_schema(by_alias=True, mode="validation")
    return {"$schema": _DIALECT, "title": f"Slackwater telemetry, version {SCHEMA}", **schema}


def as_text() -> str:
    """The text of the checked-in file."""
    return json.dumps(telemetry_schema(), indent=2, ensure_ascii=False) + "\n"


def main(directory: Path) -> None:
    """Write the schema into `directory`."""
    (directory / FILE_NAME).write_text(as_text(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

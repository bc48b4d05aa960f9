"""What the service writes to stderr: lines for people, or an object of JSON each."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

LOGGERS = ("penstock", "uvicorn")
_OURS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonLines(logging.Formatter):
    """One object a line: `time`, `level`, `logger`, `message`, and `error` with its trace."""

    def format(self, record: logging.LogRecord) -> str:
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        more = {name: value for name, value in vars(record).items() if name not in _OURS}
        return json.dumps({**more, **told}, default=str, ensure_ascii=False)


def write_logs(form: str) -> None:
    """Write what Penstock and its server log to stderr, in one of the forms."""
    handler = logging.StreamHandler(sys.stderr)
    lines = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonLines() if form == "json" else lines)
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == "penstock" or form == "json" else logging.WARNING)

"""Log files of layout 2, as it was released, in the words of the present one."""

from __future__ import annotations

from typing import Any

from penstock.algebra.layout_2 import LAYOUT, translated

__all__ = ["LAYOUT", "actions", "manifest"]

_ACTIONS = {
    "Defined": "defined",
    "Dropped": "dropped",
    "Received": "received",
    "Punctuated": "punctuated",
    "Advanced": "advanced",
    "Changed": "changed",
    "Published": "published",
    "Retired": "retired",
    "Delivered": "delivered",
}


def actions(data: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [_action(**each) for each in data]


def _action(action: str, **values: Any) -> dict[str, Any]:
    if "definition" in values:
        values["definition"] = translated(values["definition"])
    return {"is": _ACTIONS[action], **values}


def manifest(data: dict[str, Any]) -> dict[str, Any]:
    definitions = {name: translated(each) for name, each in data["definitions"].items()}
    return {**data, "definitions": definitions}

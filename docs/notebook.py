"""The tutorial as a Jupyter notebook, with what its cells show when they are run.

`python -m docs.notebook` runs the cells in a local Spark and writes docs/tutorial.ipynb.
"""

from __future__ import annotations

import ast
import io
import json
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
TUTORIAL = DOCS / "tutorial.md"
NOTEBOOK = DOCS / "tutorial.ipynb"
CODE = re.compile(r"^```python\n(.*?)^```\n(?:```\n.*?^```\n)?", re.MULTILINE | re.DOTALL)


def cells(page: Path = TUTORIAL) -> list[dict[str, Any]]:
    """The Python blocks of a page as cells that have not run, its texts between them."""
    found: list[dict[str, Any]] = []
    for number, piece in enumerate(CODE.split(page.read_text("utf-8"))):
        code = bool(number % 2)
        text = shown(piece.strip("\n")) if code else piece.strip("\n")
        source = text.splitlines(keepends=True)
        common: dict[str, Any] = {"id": f"cell-{number}", "metadata": {}, "source": source}
        if code:
            found.append({"cell_type": "code", **common, "execution_count": None, "outputs": []})
        elif source:
            found.append({"cell_type": "markdown", **common})
    return found


def shown(code: str) -> str:
    """The code of a cell: what it would print last is its value, which a notebook shows."""
    last = ast.parse(code).body[-1]
    match last:
        case ast.Expr(ast.Call(ast.Name("print"), [value], [])):
            start = sum(len(line) for line in code.splitlines(keepends=True)[: last.lineno - 1])
            return code[:start] + str(ast.get_source_segment(code, value))
    return code


def run(found: list[dict[str, Any]], names: dict[str, Any]) -> None:
    """Run cells in order, as Jupyter does, and put into each what it shows."""
    count = 0
    for cell in found:
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = _outputs("".join(cell["source"]), names, count)


def _outputs(code: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    tree, value = ast.parse(code), None
    printed = io.StringIO()
    with redirect_stdout(printed):
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        outputs.append(
            {
                "output_type": "execute_result",
                "execution_count": count,
                "metadata": {},
                "data": data,
            }
        )
    return outputs


def notebook(found: list[dict[str, Any]]) -> dict[str, Any]:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": found,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


if __name__ == "__main__":
    made = cells()
    run(made, {})
    text = json.dumps(notebook(made), indent=1, ensure_ascii=False)
    NOTEBOOK.write_text(f"{text}\n", "utf-8")

"""The page about the service: its requests are made, and its settings are those there are."""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from penstock.server import Settings
from tests.documentation import BLOCK
from tests.server.served import Served, quick, served

PAGE = Path(__file__).parents[2] / "docs" / "service.md"
DEFAULT = "http://127.0.0.1:8420"


def blocks() -> list[str]:
    return [found[3] for found in BLOCK.finditer(PAGE.read_text("utf-8"))]


def requests() -> Iterator[tuple[str, str]]:
    """Every `$ curl` of the page, with what it answers."""
    for block in blocks():
        for one in block.split("$ curl ")[1:]:
            command, answer = one.split("\n", 1)
            yield command, answer.strip("\n")


def answer_of(api: Served, command: str) -> str:
    """What a command of curl gets."""
    parser = ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("-H", action="append", default=[])
    parser.add_argument("-d", "--data-binary")
    given = parser.parse_args(shlex.split(command))
    headers = dict(line.split(": ", 1) for line in given.H)
    assert given.url.startswith(f"{DEFAULT}/")
    way = "GET" if given.data_binary is None else "POST"
    with api.http(**headers) as http:
        url = given.url.removeprefix(DEFAULT)
        return http.request(way, url, content=given.data_binary).text


def test_the_requests_of_the_page_are_answered_as_it_says(tmp_path: Path) -> None:
    (pipeline,) = (block for block in blocks() if block.startswith("CREATE SOURCE readings"))
    with served(tmp_path / "state", quick(), pipeline=pipeline) as api:
        count = 0
        for command, expected in requests():
            found = answer_of(api, command).strip("\n")
            pattern = ".*".join(map(re.escape, expected.split("...")))
            assert re.fullmatch(pattern, found, re.DOTALL), f"{command}\n{found}"
            if command.split()[0].endswith("/advance"):
                api.until(5)
            count += 1
        assert count > 10


def test_the_settings_of_the_page_are_those_that_there_are() -> None:
    told = dict(re.findall(r"^\| `(\w+)` \|([^|]*)\|", PAGE.read_text("utf-8"), re.MULTILINE))
    settings = Settings()
    shown = {one.name: _shown(getattr(settings, one.name)) for one in fields(settings)}
    assert {name: told.get(name, "missing").strip() for name in shown} == shown


def _shown(value: object) -> str:
    if value in (None, ()):
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)

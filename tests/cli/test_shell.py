"""The prompt: when a statement is complete, what words it knows, and what it prints."""

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from penstock.cli.main import main
from penstock.cli.shell import Words, is_complete

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("text", ["SELECT 1;", "SELECT\n1 ; ", r"\d", r"  \v hot", ""])
def test_enter_carries_out(text: str) -> None:
    assert is_complete(text)


@pytest.mark.parametrize("text", ["SELECT 1", "CREATE VIEW v AS\n"])
def test_enter_begins_another_line(text: str) -> None:
    assert not is_complete(text)


def test_words_are_names_and_keywords() -> None:
    words = Words(lambda: ["streets", "rooms"])
    found = words.get_completions(Document("SELECT * FROM st"), CompleteEvent())
    assert [word.text for word in found] == ["streets", "STREAM", "STREAMED"]


SCRIPT = r"""
CREATE SOURCE temps (room STRING, temp INT, t INT) EVENT TIME t;
CREATE VIEW hot AS
  SELECT room, temp FROM temps
  WHERE temp > 80;
\d
\d hot
\v hot
\a temps kitchen, 90, 3
\a temps {"room": "hall", "temp": 70, "t": 4}
\a temps attic
\s
\v hot
\s
SELECT rom FROM hot;
\x
"""


@pytest.mark.spark
def test_a_script(spark: "SparkSession") -> None:
    ran = CliRunner().invoke(main, ["shell"], input=SCRIPT)
    assert ran.exit_code == 3
    for text in (
        "View hot is created.",
        "temps  running  NULL    room STRING, temp INT, t INT",
        "room    STRING",
        "hot just before the beginning of time",
        "1 row is appended.",
        "error: 'attic' is no row of temps: it has 1 values, expected 3",
        "complete before 4",
        "kitchen    90",
        "Nothing to do.",
        "error: There is no column rom. Did you mean room?\n  line:1:8\n  SELECT rom FROM hot;\n",
        "         ^^^\n",
        r"error: There is no shortcut \x; \? lists them.",
    ):
        assert text in ran.output, text

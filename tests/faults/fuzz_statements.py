"""Statements that nobody would write: those of fixtures, cut, swapped, doubled, nested, spliced.

    python -m tests.faults.fuzz_statements --count 20000 --seed 1

Each is read, bound, judged, lowered and encoded, over sources that have the columns it names. It
may succeed or be refused, by an error that fits on a screen; anything else is a finding. Spark is
not started: of what is known to Spark alone, the type is guessed.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import pyarrow as pa
from sqlglot import exp

from penstock.algebra import codec
from penstock.algebra.expr import Expr, Literal
from penstock.boundary import entered
from penstock.errors import PenstockError
from penstock.memory.check_context import CheckContext
from penstock.memory.plans import operators_of
from penstock.memory.values import Declared
from penstock.physical.lower import Graph
from penstock.physical.program import Compiler
from penstock.session.descriptions import explained
from penstock.sql import parse, to_sql
from penstock.sql import statements as s
from penstock.sql.binding import AnalysisError, Catalog
from penstock.sql.binding.local_analyser import LocalAnalyser
from penstock.sql.names import names_read

ROOT = Path(__file__).parents[2]
KINDS = (
    "ALTER",
    "SELECT",
    "CREATE",
    "WITH",
    "EXPLAIN",
    "PUNCTUATE",
    "REGISTER",
    "FROM",
    "VALUES",
    "SHOW",
)
FIRST_WORD = re.compile(rf"\s*(?:{'|'.join((*KINDS, 'DESCRIBE', 'DROP'))})\b")
BETWEEN = re.compile(r";|\n----\n|\n\n|^==== .*$|^> .*$|^-- .*$", re.MULTILINE)
TOKEN = re.compile(r"'[^']*'|\w+|\s+|[<>=!|:]+|.", re.DOTALL)
TYPES = (*["INT"] * 8, "BIGINT", "DOUBLE", "DECIMAL(10, 2)", "BOOLEAN", "DATE", "TIMESTAMP")
ODD = (
    *("NULL", "*", "''", "'x'", "-1", "0", "1e400", "9223372036854775808", "0.5", "1.", "TRUE"),
    *(
        "INTERVAL",
        "INTERVAL '1' DAY",
        "DISTINCT",
        "ALL",
        "OVER",
        "()",
        "(SELECT 1)",
        "{0}",
        "NOW()",
    ),
    *("WITHIN GROUP", "FILTER", "ts", "`a b`", '"', "`", "/*", "--", ";", "?", ":x", "é", "\x7f"),
    *("DATE '2026-13-45'", "TIMESTAMP 'x'", "X'0'", "[RANGE 5]", "[ROWS 0]", "SYNC BY s", "EMIT"),
)
RAW = re.compile(r"Traceback|\n\tat |<class |object at 0x|sqlglot|py4j|<lambda>|dtype=")
LONGEST, MOST_LINES = 2_000, 24


@dataclass
class Finding:
    text: str
    problem: str
    trace: str

    def __str__(self) -> str:
        return f"{self.problem}\n  {self.text!r}\n{self.trace}"


@cache
def corpus() -> tuple[str, ...]:
    """The statements of all fixtures and examples."""
    files = [*(ROOT / "tests").rglob("*.sql"), *(ROOT / "examples").glob("*.sql")]
    found: dict[str, None] = {}
    for path in sorted(files):
        for text in BETWEEN.split(path.read_text("utf-8")):
            if FIRST_WORD.match(text) and len(text) < 2_000:
                found[text.strip()] = None
    return tuple(found)


def statement(random: Random) -> str:
    """A statement of the corpus after some accidents; mostly one that can still be read."""
    for _ in range(random.choice((1, 8, 8))):
        text = _accidental(random)
        try:
            with entered():
                parse(text)
        except Exception:  # which is what `problem_of` is about
            continue
        break
    return text


def _accidental(random: Random) -> str:
    tokens = TOKEN.findall(random.choice(corpus()))
    for _ in range(random.choice((1, 1, 1, 2, 2, 3))):
        tokens = _accident(random, tokens)[:2_000]
    return "".join(tokens)


def _accident(random: Random, tokens: list[str]) -> list[str]:
    words = [i for i, token in enumerate(tokens) if not token.isspace()]
    if not words:
        return ["SELECT 1"]
    i, j = sorted(random.choices(words, k=2))
    match random.randrange(9):
        case 0:
            return tokens[:i] + tokens[i + 1 :]
        case 1:
            tokens[i], tokens[j] = tokens[j], tokens[i]
            return tokens
        case 2:
            return [*tokens[:i], tokens[i], " ", *tokens[i:]]
        case 3:
            return [*tokens[: j + 1], " ", *tokens[i:]]
        case 4:
            return tokens[:i] + tokens[j:]
        case 5:
            open_, close = random.choice((("(", ")"), ("(SELECT ", ")"), ("abs(", ")"), ("[", "]")))
            times = random.choice((1, 1, 2, 30, 70))
            inside = [*[open_] * times, *tokens[i : j + 1], *[close] * times]
            return [*tokens[:i], *inside, *tokens[j + 1 :]]
        case 6:
            other = TOKEN.findall(random.choice(corpus()))
            k, m = sorted(random.choices(range(len(other)), k=2))
            return [*tokens[:i], " ", *other[k : m + 1], " ", *tokens[random.choice((i, j)) :]]
        case 7:
            link = random.choice((" AND ", " + ", ", ", " UNION ALL ", " OR ", " || ", " "))
            times = random.choice((2, 3, 50))
            part = "".join(tokens[i : j + 1])
            return [*tokens[:i], link.join([part] * times), *tokens[j + 1 :]]
    tokens[i] = random.choice((*ODD, random.choice(tokens)))
    return tokens


class Guesses(LocalAnalyser):
    """What is known without Spark; of the rest, a type that may be right."""

    def type_of(self, sql: str, columns: pa.Schema) -> pa.DataType:
        try:
            return super().type_of(sql, columns)
        except AnalysisError:
            guesses = (*columns.types, pa.int32(), pa.string(), pa.bool_(), pa.list_(pa.int32()))
            return guesses[len(sql) % len(guesses)]

    def constant(self, sql: str) -> Literal:
        try:
            return super().constant(sql)
        except AnalysisError:
            return Literal(None, (pa.int32(), pa.string(), pa.bool_())[len(sql) % 3])

    def value(self, expr: Expr) -> Literal | None:
        return super().value(expr)


def attempt(text: str) -> None:
    """All that is done with a text before rows come, and without Spark."""
    for found in parse(text):
        to_sql(found)
        scene = _scene(found)
        match found:
            case s.Explain(of=of):
                _judge(of, scene)
            case s.Query() | s.CreateView():
                _judge(found, scene)
            case s.CreateSource() | s.RegisterSource() | s.CreateStream() | s.CreateTable():
                scene.after([found])


def _judge(of: s.Query | s.CreateView, scene: CheckContext) -> None:
    plan = scene.plan(of)
    if plan is None:
        return
    if len(to_sql(of)) % 20 == 0:  # takes longer than all the rest
        operators_of(plan, scene.declared)
    explained(plan)
    codec.fingerprint(plan)
    assert codec.decode(codec.encode(plan)) == plan
    Compiler(Graph()).add("v", plan, plan.unique_key())


def _scene(found: s.Statement) -> CheckContext:
    """Sources with the names that a statement reads, and the columns that it names."""
    scene = CheckContext(Catalog({}, None), Guesses(), Declared())
    for text in _sources(found):
        try:
            (definition,) = parse(text)
            scene = scene.after([definition])
        except PenstockError:
            continue  # its name is one that nothing can have
    return scene


def _sources(found: s.Statement) -> Iterator[str]:
    of = found.of if isinstance(found, s.Explain) else found
    text = to_sql(of).upper()
    time = "TIMESTAMP" if any(unit in text for unit in ("SECOND", "MINUTE", "HOUR")) else "INT"
    query = of.query if isinstance(of, s.CreateView) else of
    if isinstance(query, s.CreateStream):
        named = [*query.key, *(token for token in TOKEN.findall(text) if token.isidentifier())]
        yield f"CREATE SOURCE {_quoted(query.source.text)} ({_columns(named, time)}) EVENT TIME t"
    if not isinstance(query, s.Query):
        return
    aliases = {
        table.alias_or_name: table.name
        for table in query.tree.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier)
    }
    columns = [node for node in query.tree.find_all(exp.Column) if node.name]
    for number, name in enumerate(names_read(query)):
        own = [c.name for c in columns if aliases.get(c.table) == name]
        bare = [c.name for c in columns if not c.table and (number == 0 or "JOIN" not in text)]
        yield f"CREATE SOURCE {_quoted(name)} ({_columns([*own, *bare], time)}) EVENT TIME t"


def _columns(names: Sequence[object], time: str) -> str:
    known = dict.fromkeys(str(name).lower() for name in names)
    typed = [f"{_quoted(name)} {_type(name)}" for name in known if name not in ("ts", "t")]
    return ", ".join([*typed[:20], f"t {time}"])


def _type(column: str) -> str:
    """Texts for what is mostly one; of the rest, numbers where nothing else is by chance."""
    if column in ("k", "room", "name", "s", "kind", "channel", "item"):
        return "STRING"
    return TYPES[sum(map(ord, column)) % len(TYPES)]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def problem_of(text: str) -> Finding | None:
    """What is wrong with the way a text ends, if anything is."""
    try:
        with entered():
            attempt(text)
    except AnalysisError as error:
        return _looked_at(text, str(error))
    except PenstockError as error:
        return _looked_at(text, str(error))
    except Exception as error:
        return Finding(text, f"{type(error).__name__}: {error}"[:300], _place(error))
    return None


def _looked_at(text: str, message: str) -> Finding | None:
    raw = RAW.search(message)
    # the part in front of the SQL text, which may say anything
    if raw is not None and raw[0] not in text:
        return Finding(text, f"a raw message: {message[:300]}", "")
    if len(message) > LONGEST or message.count("\n") >= MOST_LINES:
        return Finding(text, f"a message of {len(message)} characters: {message[:300]}", "")
    try:
        message.encode("utf-8")
    except UnicodeEncodeError:
        return Finding(text, "a message that cannot be printed", "")
    return None


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    return "".join(f"  {Path(f.filename).name}:{f.lineno} {f.name}: {f.line}\n" for f in frames)


def findings(seed: int, count: int) -> Iterator[Finding]:
    random = Random(seed)
    for _ in range(count):
        text = statement(random)
        started = time.process_time()
        found = problem_of(text)
        seconds = time.process_time() - started
        if found is None and seconds > 20:
            found = Finding(text, f"{seconds:.0f} seconds", "")
        if found is not None:
            yield found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    seen: dict[str, int] = {}
    for finding in findings(given.seed, given.count):
        kind = finding.trace.split("\n")[-2] if finding.trace else finding.problem[:30]
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] == 1:
            print(finding, flush=True)
    print(f"{given.count} statements, {sum(seen.values())} findings of {len(seen)} kinds")
    sys.exit(bool(seen))


if __name__ == "__main__":
    main()

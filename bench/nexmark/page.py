"""docs/benchmarks.md, written from what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, log
from typing import Any

from bench.nexmark.comparing import say
from bench.nexmark.engines import CORES, ENGINES, HEAP, PENSTOCK, ROOT, SPARK_HEAP, Engine
from bench.nexmark.penstock_run import QUERIES, SYNCHRONIZED, published
from bench.nexmark.results import Outcome, Results

PAGE = ROOT / "docs" / "benchmarks.md"
QUIET = 4.5  # what the run before can leave behind: an engine on two cores has more threads
STATELESS = ("q0", "q1", "q2", "q10", "q13", "q14", "q21", "q22")
STATEFUL = tuple(query for query in QUERIES if query not in STATELESS)
SHOWN = sorted((*QUERIES, *SYNCHRONIZED), key=lambda query: QUERIES.index(published(query)))
PEERS = tuple(engine for engine in ENGINES.values() if engine is not PENSTOCK)
COMPARED = (
    "query",
    *(engine.title for engine in ENGINES.values()),
    *(f"to {engine.title}" for engine in PEERS),
)

INTRODUCTION = """\
# Benchmarks: Nexmark

Nexmark is an auction as a stream of events: of every fifty, one is a person, three are auctions and
46 are bids. Its 23 queries run here through Penstock, plain Structured Streaming, Apache Flink and
Pathway, on the same events, one engine at a time. `bench/nexmark` has the generator, the queries of
every engine and the harness; this page is what the harness wrote.

```sh
make bench-peers
make bench-nexmark
```
"""

METHOD = f"""\
## Method

- Every run is a process of its own on {CORES} cores, with a sink that discards. It first runs the
  query over 20,000 events: that, and the start of all processes, is start-up and reported apart.
  Then the clock runs from the first file to the last change. A rate is that of the fastest run.
- Penstock gives every change of a result, at the time of its event, however events are batched. A
  mini-batch of Flink, about 5 s of event time, or a batch of Structured Streaming, 50 s, gives the
  last one of each group. q17, q18 and q19 also run as Penstock says that: `FROM bid SYNC BY` the
  seconds of event time. In the rows `each second` the peers' rates are those of the rows above.
- Events are those of the whole stream, whatever a query reads of it. A query over persons and
  auctions alone reads 8% of them.
- Penstock and Structured Streaming read the parquet files, one file of each kind to a step or
  batch; both commit what they did durably after each. Structured Streaming has two shuffle
  partitions, the RocksDB state store with changelog checkpoints, and a heap of {SPARK_HEAP}.
- Flink reads the same rows as CSV, because its Python package has no reader of parquet, with times
  as numbers. State is on the heap ({HEAP}), mini-batches are on (1 s, 50,000 rows), there are no
  checkpoints. Its time is what it reports as the job's runtime, and what comes before is start-up.
  q13 is a join of two streams, which keeps all bids: nothing in the package can be looked up in.
- Pathway reads CSV too (its reader of parquet needs a licence key), as a stream, with two threads.
  Fixed windows are computed from the time of the row.
- q0 does nothing with the bids that it reads: it shows how fast an engine reads its files.
- Memory is the most that a process and its children hold, sampled twice a second, files that they
  have mapped included; a page that processes share counts once.
- The work of processors is that of all processes of an engine, in user and system mode, while the
  clock runs: compilers and collectors of Java count.
- A run that takes too long is broken off, so long after its clock has started: its rate is less
  than what is shown (<), and its memory at least what it held until then (>). Of Structured
  Streaming the rate is that of the batches that were over by then (~), while its state was small.
- `make bench-nexmark` measures all of this page: the rates, queries with state first, then growth,
  latency, and where the time of Penstock's three slowest queries with state goes.
- The machine is shared with others, and its speed varies by up to a factor of two. Engines take
  turns at a query, but runs that were kept from before may be hours older than those beside them.
- q12 counts in windows of event time, for every engine; the published query has processing time,
  and answers that differ from run to run. q6 is a ranking of the ten latest auctions of a seller.
- `python -m bench.nexmark check --events 30000` compares the answers of all engines with DuckDB's.
  Structured Streaming cannot be told that a stream is over, so windows that are still open have no
  result.
"""


def write(results: Results) -> None:
    parts = [INTRODUCTION, machine(results.about)]
    for events in results.sizes():
        parts += [throughput(results, events), load(results, events)]
        parts += [work(results, events), others(results, events)]
    parts += [growth(results.growth), latency(results.latency), profiles(results.profiles)]
    parts += [unsupported(), failures(results.runs), METHOD]
    PAGE.write_text("\n".join(part for part in parts if part))
    say(f"wrote {PAGE.relative_to(ROOT)}")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    align = ["---"] + ["---:"] * (len(head) - 1)
    lines = [head, align, *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def machine(about: dict[str, Any]) -> str:
    versions = ", ".join(f"{ENGINES[name].title} {v}" for name, v in about["versions"].items())
    return (
        "## Machine\n\n"
        f"{about['processor']}, {about['cores']} cores, {about['memory']} GB of memory. "
        f"Python {about['python']}, Java {about['java']}.\n{versions}. Measured on "
        f"{about['day']}.\n"
    )


def throughput(results: Results, events: int) -> str:
    """Thousand events a second, and how many times as fast Penstock is."""
    rows = []
    for query in SHOWN:
        base, (ours, *theirs) = published(query), runs_of(results, query, events)
        if ours if query in SYNCHRONIZED else any((ours, *theirs)):
            engines = zip(ENGINES.values(), (ours, *theirs), strict=True)
            shown = [rate(engine, base, run) for engine, run in engines]
            ratios = [shown_ratio(ours, run) for run in theirs]
            mark = " (stateful)" if base in STATEFUL else ""
            rows.append([label(query) + mark, *shown, *ratios])
    means = [mean_ratio(results, events, peer) for peer in PEERS]
    rows.append(
        [
            "stateful, geometric mean",
            *[""] * len(ENGINES),
            *(f"{m:.1f}" if m else "" for m in means),
        ]
    )
    text = f"## Throughput, {events:,} events\n\nThousand events a second, and Penstock's ratio.\n"
    measured = sum(any(results.of(name, q, events) for name in ENGINES) for q in QUERIES)
    if measured < len(QUERIES):
        text += f"Only {measured} of {len(QUERIES)} queries have been measured so far.\n"
    return text + "\n" + table(COMPARED, rows)


def runs_of(results: Results, query: str, events: int) -> list[Outcome | None]:
    """Penstock's run, and those of its peers at the query that it answers."""
    theirs = [results.best(peer.name, published(query), events) for peer in PEERS]
    return [results.best("penstock", query, events), *theirs]


def label(query: str) -> str:
    return query.replace("_", " ")


def rate(engine: Engine, query: str, run: Outcome | None) -> str:
    if query in engine.cannot:
        return "cannot"
    if run is None:
        return ""
    if run.error and not run.broken_off:
        return "failed"
    return f"{run.bounded('<')}{run.rate / 1e3:,.0f}" + ("*" if query in engine.partly else "")


def ratio(ours: Outcome | None, theirs: Outcome | None) -> float:
    """How many times as fast; at least, or until then, where theirs was broken off."""
    if ours is None or theirs is None or ours.error or not theirs.rate:
        return 0.0
    return ours.rate / theirs.rate


def shown_ratio(ours: Outcome | None, theirs: Outcome | None) -> str:
    found = ratio(ours, theirs)
    return f"{theirs.bounded('>')}{found:.1f}" if found and theirs else ""


def mean_ratio(results: Results, events: int, peer: Engine) -> float:
    best = [
        ratio(results.best("penstock", q, events), results.best(peer.name, q, events))
        for q in STATEFUL
    ]
    known = [log(r) for r in best if r]
    return exp(sum(known) / len(known)) if known else 0.0


def load(results: Results, events: int) -> str:
    """Whether the machine had other things to do."""
    loads = sorted(run.load for run in results.runs if run.events == events and run.load)
    if not loads:
        return ""
    median = loads[len(loads) // 2]
    told = f"Load of the machine before runs, the median: {median:.1f}"
    if median > QUIET:
        told += ". It had other work at the same time: rates are low, and ratios vary"
    return told + ".\n"


def others(results: Results, events: int) -> str:
    """Memory and start-up."""
    head = ["query", *(engine.title for engine in ENGINES.values())]
    memory, startup = [], []
    for query in SHOWN:
        runs = [results.best(name, query, events) for name in ENGINES]
        if any(runs):
            memory.append([label(query), *map(megabytes, runs)])
            startup.append([run.startup if run else 0.0 for run in runs])
    times = [sorted(filter(None, column)) for column in zip(*startup, strict=True)]
    medians = [f"{each[len(each) // 2]:.1f} s" if each else "" for each in times]
    starts = ", ".join(
        f"{engine.title} {median}"
        for engine, median in zip(ENGINES.values(), medians, strict=True)
        if median
    )
    return (
        f"### Memory at most, in MB\n\n{table(head, memory)}\n"
        f"Start-up, the median over queries: {starts}.\n"
    )


def megabytes(run: Outcome | None) -> str:
    """The most memory of a run; at least, where it was broken off."""
    if run is None or not run.memory:
        return ""
    least = "> " if run.broken_off else ""
    return f"{least}{run.memory >> 20:,}"


def work(results: Results, events: int) -> str:
    """What processors do for a query, and how many times as much for a peer."""
    rows = []
    for query in SHOWN:
        ours, *theirs = [run.work if run else 0.0 for run in runs_of(results, query, events)]
        if ours:
            shown = [f"{each:.1f}" if each else "" for each in (ours, *theirs)]
            rows.append([label(query), *shown, *(f"{t / ours:.1f}" if t else "" for t in theirs)])
    if not rows:
        return ""
    return (
        "### Work of processors, seconds for a million events\n\nThe time that processors worked "
        "for an engine, which other work on the machine hardly changes.\n\n" + table(COMPARED, rows)
    )


def growth(runs: list[Outcome]) -> str:
    if not runs:
        return ""
    fastest: dict[tuple[str, int], Outcome] = {}
    for run in sorted((run for run in runs if not run.error), key=lambda run: run.rate):
        fastest[run.query, run.events] = run
    rates = {place: run.rate / 1e3 for place, run in fastest.items()}
    works = {place: run.work for place, run in fastest.items()}
    return (
        "## Growth\n\nPenstock, thousand events a second, a step for each file and no other work "
        "at its side. What a step costs, from the file to the commit, should not grow with what "
        "came before. Few files are run through again and again, and what is kept of them stays: "
        "on a virtual machine, files take memory that others have left several times faster than "
        "new memory, which would favour short runs ([by how much](decisions/what-is-written.md))."
        "\n\n"
        + by_size(rates, "fastest over slowest", ",.0f")
        + "\nThe same as work of processors, in seconds for a million events:\n\n"
        + by_size(works, "most over least", ".2f")
    )


def by_size(values: dict[tuple[str, int], float], spread: str, form: str) -> str:
    """A row for each query, a column for each number of events, and how far they are apart."""
    sizes, rows = sorted({size for _, size in values}), []
    for query in sorted({query for query, _ in values}, key=QUERIES.index):
        found = [values.get((query, size), 0.0) for size in sizes]
        known = [one for one in found if one]
        apart = f"{max(known) / min(known) - 1:.0%}" if known else ""
        rows.append([query, *(f"{one:{form}}" if one else "" for one in found), apart])
    return table(["query", *(f"{size:,} events" for size in sizes), spread], rows)


def latency(measured: list[dict[str, Any]]) -> str:
    if not measured:
        return ""
    rows = [
        [m["query"], f"{m['rate']:,.0f}", *(f"{m[p]:.2f}" for p in ("p50", "p99", "most"))]
        for m in measured
    ]
    head = ["query", "events/s", "p50, s", "p99, s", "most, s"]
    return (
        "## Latency\n\nPenstock in the background, fed at half of the rate that it can take: a "
        f"file is appended every {measured[0]['interval'] * 1e3:.0f} ms, and the time of an event "
        "runs from then until its change can be read: the frontier has passed the event.\n\n"
        + table(head, rows)
    )


def profiles(found: dict[str, dict[str, Any]]) -> str:
    if not found:
        return ""
    parts = list(dict.fromkeys(part for one in found.values() for part in one["seconds"]))
    rows = []
    for query, one in found.items():
        total = one["total"]
        shares = [f"{one['seconds'].get(part, 0.0) / total:.0%}" for part in parts]
        rows.append([query, f"{total:.1f}", *shares])
    return (
        "## Where the time goes\n\nPenstock's own timings. What tasks do is given in the time of a "
        "task, as they run side by side.\n\n" + table(["query", "seconds", *parts], rows)
    )


def unsupported() -> str:
    lines = []
    for engine in PEERS:
        lines += [f"- {engine.title} {query}: {why}." for query, why in engine.cannot.items()]
        lines += [f"- {engine.title} {query}*: {what}." for query, what in engine.partly.items()]
    return "## What cannot be said\n\n" + "\n".join(lines) + "\n"


def failures(runs: Iterable[Outcome]) -> str:
    """What an engine said of it may name places of this machine."""
    lines = []
    for run in runs:
        if run.error and not run.broken_off:
            what = run.error.partition(":")[0]
            lines.append(
                f"- {ENGINES[run.engine].title} {run.query}, {run.events:,} events: {what}."
            )
    return "## What failed\n\n" + "\n".join(lines) + "\n" if lines else ""

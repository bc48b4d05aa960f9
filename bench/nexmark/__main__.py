"""`python -m bench.nexmark`: Penstock and its peers on the same events, at two cores.

Without a command, all of the page is measured and written, in this order:
  `compare`  all engines run all queries, first those with state
  `growth`, `latency`, `profile`  Penstock alone; the profile is of its three slowest with state
It takes one to two hours of two cores, and up to --timeout seconds more for each run that is broken
off: with ten million events, one to fifteen. Rates and growth that are known are not measured
again, so a run that was stopped can be continued; --again forgets the rates.
  --events N --queries q3,q5 --engines penstock,flink --repeat N

Each of these is a command too. `check` compares answers with DuckDB's; `page` writes the page of
what is known.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from bench.nexmark import page
from bench.nexmark.about import about
from bench.nexmark.comparing import Files, compare, grow, say
from bench.nexmark.engines import ENGINES, PENSTOCK, ROOT, Engine
from bench.nexmark.penstock_run import QUERIES, SYNCHRONIZED, published
from bench.nexmark.results import Results

GROWING = "q3,q5,q8,q20"
TIMED = "q1,q3,q5,q18"
SIZES = "1000000,10000000,50000000"
PROFILED = 3
STATE_FIRST = sorted(page.SHOWN, key=lambda query: published(query) in page.STATELESS)


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.nexmark", usage=__doc__)
    parser.add_argument("command", nargs="?", choices=(*PARTS, "check", "page"))
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--queries", type=lambda text: text.split(","), default=None)
    parser.add_argument("--engines", type=lambda text: text.split(","), default=list(ENGINES))
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--per-file", type=int, default=500_000, help="events in a file")
    parser.add_argument("--sizes", type=lambda text: text.split(","), default=SIZES.split(","))
    parser.add_argument("--seconds", type=float, default=30.0, help="for how long to feed events")
    parser.add_argument("--timeout", type=float, default=120.0, help="of a run, in seconds")
    parser.add_argument("--again", action="store_true", help="forget what was measured of these")
    parser.add_argument("--data", type=Path, default=ROOT / "build" / "nexmark" / "data")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "nexmark" / "results.json")
    return parser.parse_args(arguments)


def chosen(names: list[str]) -> list[Engine]:
    """The engines of these names that are installed."""
    found = [ENGINES[name] for name in names]
    for engine in found:
        if not engine.installed:
            say(f"{engine.title} is not installed: run make bench-peers")
    return [engine for engine in found if engine.installed]


def compare_engines(given: argparse.Namespace, files: Files, results: Results) -> None:
    queries, engines = given.queries or STATE_FIRST, chosen(given.engines)
    if given.again:
        results.forget([engine.name for engine in engines], queries, given.events)
    compare(results, engines, queries, given.events, files, given.repeat, given.timeout)


def measure_growth(given: argparse.Namespace, files: Files, results: Results) -> None:
    sizes = list(map(int, given.sizes))
    grow(results, given.queries or GROWING.split(","), sizes, files, given.repeat)


def measure_latencies(given: argparse.Namespace, files: Files, results: Results) -> None:
    from bench.nexmark.latency import measure_latency

    for query in given.queries or TIMED.split(","):
        results.latency = [one for one in results.latency if one["query"] != query]
        results.latency.append(measure_latency(query, given.events, files, given.seconds))
        results.write()


def profile_queries(given: argparse.Namespace, files: Files, results: Results) -> None:
    """Those that were asked for; when all of the page is measured, the slowest and no others."""
    from bench.nexmark.profiling import profile

    queries = given.queries or QUERIES
    if given.command is None:
        queries = results.slowest(PENSTOCK.name, page.STATEFUL, given.events)[:PROFILED]
        results.profiles.clear()
    for query in queries:
        results.profiles[query] = profile(query, files.of(given.events, False))


PARTS: dict[str, Callable[[argparse.Namespace, Files, Results], None]] = {
    "compare": compare_engines,
    "growth": measure_growth,
    "latency": measure_latencies,
    "profile": profile_queries,
}


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # and with it the worker
    given = parsed(sys.argv[1:])
    files = Files(given.data.absolute(), given.per_file)
    if given.command == "check":
        sys.exit(check(given, files))
    results = Results.read(given.results)
    if given.command != "page":
        results.about = about()
    for name, measure in PARTS.items():
        if given.command in (None, name):
            measure(given, files, results)
            results.write()
    if given.command in (None, "compare"):
        print(page.throughput(results, given.events))
    page.write(results)


def check(given: argparse.Namespace, files: Files) -> int:
    """How many answers are wrong."""
    from bench.nexmark.checking import CHECKED, check_peer, check_penstock
    from bench.nexmark.data import made

    wrong = 0
    for engine in chosen(given.engines):
        say(engine.title)
        queries = given.queries or QUERIES
        if engine is PENSTOCK and not given.queries:
            queries = (*QUERIES, *SYNCHRONIZED)
        count = files.count(given.events)
        data = made(files.directory, given.events, count, CHECKED, engine.text)
        if engine is PENSTOCK:
            wrong += len(check_penstock(queries, data))
        else:
            warm = files.warm(engine.text)
            wrong += len(check_peer(engine, queries, data, warm, given.timeout))
    return wrong


if __name__ == "__main__":
    main()

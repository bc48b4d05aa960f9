"""`python -m bench.nexmark`: Penstock and its peers on the same events, at two cores.

Without a command, all engines run all queries, and the page is written:
  --events N --queries q3,q5 --engines penstock,flink --repeat N
`check` compares answers with DuckDB's; `latency`, `growth` and `profile` measure Penstock alone;
`page` writes the page again. What was measured is kept, and is not measured again.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from bench.nexmark import page
from bench.nexmark.about import about
from bench.nexmark.comparing import Files, compare, grow, say
from bench.nexmark.engines import ENGINES, PENSTOCK, ROOT, Engine
from bench.nexmark.penstock_run import QUERIES, SYNCHRONIZED
from bench.nexmark.results import Results

COMMANDS = ("compare", "check", "latency", "growth", "profile", "page")
GROWING = "q3,q5,q8,q20"
TIMED = "q1,q3,q5,q18"
SIZES = "1000000,10000000,50000000"


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.nexmark", usage=__doc__)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--queries", type=lambda text: text.split(","), default=None)
    parser.add_argument("--engines", type=lambda text: text.split(","), default=list(ENGINES))
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--per-file", type=int, default=500_000, help="events in a file")
    parser.add_argument("--sizes", type=lambda text: text.split(","), default=SIZES.split(","))
    parser.add_argument("--seconds", type=float, default=30.0, help="for how long to feed events")
    parser.add_argument("--timeout", type=float, default=1800.0, help="seconds for one run")
    parser.add_argument("--again", action="store_true", help="forget what was measured of these")
    parser.add_argument("--data", type=Path, default=ROOT / "build" / "nexmark" / "data")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "nexmark" / "results.json")
    known = bool(arguments) and arguments[0] in COMMANDS
    return parser.parse_args(arguments if known else ["compare", *arguments])


def chosen(names: list[str]) -> list[Engine]:
    """The engines of these names that are installed."""
    found = [ENGINES[name] for name in names]
    for engine in found:
        if not engine.installed:
            say(f"{engine.title} is not installed: run make bench-peers")
    return [engine for engine in found if engine.installed]


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # and with it the worker
    given = parsed(sys.argv[1:])
    files = Files(given.data.absolute(), given.per_file)
    results = Results.read(given.results)
    if given.command == "check":
        sys.exit(check(given, files))
    if given.command != "page":
        results.about = about()
    match given.command:
        case "compare":
            queries = given.queries or (*QUERIES, *SYNCHRONIZED)
            engines = chosen(given.engines)
            if given.again:
                results.forget([engine.name for engine in engines], queries, given.events)
            compare(results, engines, queries, given.events, files, given.repeat, given.timeout)
            print(page.throughput(results, given.events))
        case "growth":
            sizes = list(map(int, given.sizes))
            grow(results, given.queries or GROWING.split(","), sizes, files, given.timeout)
        case "latency":
            from bench.nexmark.latency import measure_latency

            for query in given.queries or TIMED.split(","):
                results.latency = [one for one in results.latency if one["query"] != query]
                results.latency.append(measure_latency(query, given.events, files, given.seconds))
                results.write()
        case "profile":
            from bench.nexmark.profiling import profile

            for query in given.queries or QUERIES:
                results.profiles[query] = profile(query, files.of(given.events, False))
    results.write()
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

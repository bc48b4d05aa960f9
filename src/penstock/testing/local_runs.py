"""Plans run on kernels in this process, over streams cut into steps at random."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from penstock.algebra import plan as p
from penstock.algebra.outline import outline
from penstock.algebra.reference import Record, Reference, Relation
from penstock.element import BEGIN, INF, Elements, changes, concat, hashable
from penstock.physical.expiry import Strategy
from penstock.testing.cases import in_cases, lifted, with_shared_marks
from penstock.testing.local_pipeline import LocalPipeline, Store
from penstock.testing.plan_snapshots import TIMES
from penstock.testing.random_streams import HORIZON, Stream


def random_cuts(rng: Random) -> list[int]:
    """Where steps end; the last goes on to the end of time."""
    cuts = rng.sample(range(1, HORIZON + 2), rng.randint(0, 6))
    return [*sorted(cuts), INF]


def steps(
    plan: p.Node,
    streams: Mapping[str, Stream],
    cuts: Sequence[int],
    rng: Random,
    store: Store | None = None,
    expiry: Strategy = "piggyback",
) -> Iterator[tuple[int, int, Elements]]:
    """Each step `[w0, w1)` and what comes out; within a step the input comes in any order."""
    pipeline = LocalPipeline(plan, store, expiry)
    scans = {node.name: node for node in plan.walk() if isinstance(node, p.Scan)}
    for w0, w1 in zip([BEGIN, *cuts], cuts, strict=False):
        inputs = {}
        for name, scan in scans.items():
            rows = [row for row in streams[name] if w0 <= row[1] < w1]
            rng.shuffle(rows)
            inputs[name] = Elements.of(scan.schema, rows)
        yield w0, w1, pipeline.step(inputs, w1)


def run_in_steps(
    plan: p.Node,
    streams: Mapping[str, Stream],
    cuts: Sequence[int],
    rng: Random,
    store: Store | None = None,
    expiry: Strategy = "piggyback",
) -> Elements:
    """All that comes out."""
    parts = steps(plan, streams, cuts, rng, store, expiry)
    return concat(plan.schema, [out for _, _, out in parts])


def assert_agrees_with_reference(
    plan: p.Node, cases: Sequence[Mapping[str, Stream]], rng: Random, store: Store | None = None
) -> None:
    """The kernels give the reference's snapshot of every case at every time, in any steps."""
    plan = lifted(with_shared_marks(plan))
    streams, cuts = in_cases(cases), random_cuts(rng)
    difference = first_difference(plan, streams, run_in_steps(plan, streams, cuts, rng, store))
    if difference is not None:
        t, rows = difference
        case = min(e[0] for e in rows)
        mine = {e: counts for e, counts in rows.items() if e[0] == case}
        raise AssertionError(_story(plan, t, cuts, mine, cases[case]))


def assert_one_case_agrees_with_reference(
    plan: p.Node, streams: Mapping[str, Stream], rng: Random, store: Store | None = None
) -> None:
    """The same for a plan that cannot be lifted."""
    cuts = random_cuts(rng)
    difference = first_difference(plan, streams, run_in_steps(plan, streams, cuts, rng, store))
    if difference is not None:
        raise AssertionError(_story(plan, difference[0], cuts, difference[1], streams))


def assert_batch_invariant(
    plan: p.Node, cases: Sequence[Mapping[str, Stream]], rng: Random
) -> None:
    """Runs in different steps give the same changes, once those of one time are added up."""
    plan = lifted(with_shared_marks(plan))
    streams = in_cases(cases)
    cuts = [random_cuts(rng) for _ in range(2)]
    first, second = (run_in_steps(plan, streams, each, rng) for each in cuts)
    difference = changes(concat(plan.schema, [first, second.negated()]))
    assert len(difference) == 0, f"steps {cuts}\n{outline(plan)}\n{difference.rows()}"


Differences = dict[Record, tuple[int, int]]


def first_difference(
    plan: p.Node, streams: Mapping[str, Stream], out: Elements
) -> tuple[int, Differences] | None:
    """The first time at which a result is not the reference's: the records, found and expected."""
    reference = Reference(streams)
    for t, found in snapshots(out):
        rows = _differences(found, reference.at(plan, t))
        if rows:
            return t, rows
    return None


def snapshots(out: Elements) -> Iterator[tuple[int, Relation]]:
    """Every time of random streams, and what is there; the relation is changed by the next."""
    moves: dict[int, list[tuple[Record, int]]] = defaultdict(list)
    for e, ts, te, n in out.rows():
        record = hashable(e)
        moves[max(ts, TIMES[0])].append((record, n))
        moves[max(te, TIMES[0])].append((record, -n))
    there: Relation = Counter()
    for t in TIMES:
        for record, n in moves[t]:
            there[record] += n
            if there[record] == 0:
                del there[record]
        yield t, there


def _differences(found: Relation, expected: Relation) -> Differences:
    """Where multisets differ; floats computed in another way may differ in the last digits."""
    if found == expected:
        return {}
    counts: dict[Record, list[int]] = defaultdict(lambda: [0, 0])
    for side, relation, other in ((0, found, expected), (1, expected, found)):
        for e, n in relation.items():
            if n != other[e]:
                counts[_rounded(e)][side] += n
    return {e: (a, b) for e, (a, b) in counts.items() if a != b}


def _rounded(e: Record) -> Record:
    return tuple(float(f"{v:.11g}") if isinstance(v, float) else v for v in e)


def _story(
    plan: p.Node, t: int, cuts: Sequence[int], rows: Differences, streams: Mapping[str, Stream]
) -> str:
    told = "\n".join(f"  {e}: {found}, not {expected}" for e, (found, expected) in rows.items())
    return f"at {t}, in steps to {cuts}\n{outline(plan)}\n{dict(streams)}\n{told}"

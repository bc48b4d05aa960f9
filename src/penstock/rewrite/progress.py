"""Operators told what time closes (`penstock.algebra.progress`), so that they can forget it."""

from __future__ import annotations

from penstock.algebra.plan import Node


def with_closing(plan: Node, done: dict[int, Node] | None = None) -> Node:
    """The plan in which operators know when what they remember is closed.

    What several of its nodes read stays one node.
    """
    done = {} if done is None else done
    if id(plan) not in done:
        inputs = plan.with_inputs(*(with_closing(source, done) for source in plan.inputs))
        done[id(plan)] = inputs.with_closing()
    return done[id(plan)]

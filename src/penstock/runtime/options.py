"""What can be chosen of an engine when it is opened."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import PlanError
from penstock.physical.expiry import Strategy, check
from penstock.rewrite import check_names

UNBOUNDED = ("warn", "refuse", "allow")


@dataclass(frozen=True)
class Options:
    """`retention`: for how long, in event time, a view's changes are kept (None: always).
    `grace`: for how many seconds files stay that no commit names, for readers under way.
    `keep_input`: whether rows are kept for views that are yet to be created.
    `unbounded`: what becomes of views that need ever more memory: warn, refuse or allow.
    `expiry`: how operators notice what has left its window, where a view does not say.
    `sharing`: whether views run on what others run already, or each of them apart.
    `rules_off`: the names of rules that queries are not rewritten by."""

    tasks: int | None = None
    retention: int | None = None
    grace: float = 900.0
    keep_input: bool = True
    unbounded: str = "warn"
    expiry: Strategy = "auto"
    sharing: bool = True
    rules_off: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check(self.expiry)
        check_names(self.rules_off)
        if self.unbounded not in UNBOUNDED:
            known = ", ".join(UNBOUNDED)
            raise PlanError(f"unbounded is {self.unbounded!r}; expected one of: {known}")

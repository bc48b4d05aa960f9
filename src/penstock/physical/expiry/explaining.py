"""Which strategy each operator is under, and why, as one line for each."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.physical.expiry.choosing import TO_NEGATIVE, Chooser
from penstock.physical.expiry.planning import carries_ends
from penstock.physical.expiry.streams import Messages
from penstock.physical.kernel import Kernel
from penstock.physical.kernels.adaptive_join import AdaptiveJoin
from penstock.physical.kernels.expire import Expire, NegativeTuples, Netted
from penstock.physical.kernels.join import InnerJoin
from penstock.physical.kernels.message_join import MessageJoin
from penstock.physical.kernels.trigger import Trigger
from penstock.physical.lower import Operator
from penstock.physical.program import Program

_FRONTIER = "rows carry their ends, and the frontier comes with every step"
_UNDONE = "a negative tuple undoes what its positive one did"
_NOTICED = "its Trigger says what it has noticed"
_NOTHING = "what comes to it never ends"


def outline(program: Program, chooser: Chooser) -> str:
    """Empty where nothing expires."""
    operators = [place.operator for place in program.places]
    if not any(_expires(operator) for operator in operators):
        return ""
    return "\n".join(line for operator in reversed(operators) for line in _line(operator, chooser))


def _line(operator: Operator, chooser: Chooser) -> Iterator[str]:
    name = type(operator.work).__name__
    match operator.work:
        case Netted():
            return
        case NegativeTuples():
            yield f"{name}: negative, tells the join when a tuple expires"
        case Expire():
            yield f"{name}: negative, sends a negative tuple for each that expires"
        case Trigger():
            by_message = any(isinstance(child.work, Messages) for child in operator.inputs)
            yield f"{name}: {_triggered(by_message)}"
        case MessageJoin():
            yield (
                f"{name}: messages, a negative tuple is not joined again; a message follows it "
                "if results carry its time"
            )
        case AdaptiveJoin():
            yield f"{name}: auto, {_chosen(operator, chooser)}"
        case Kernel():
            yield f"{name}: {_plain(operator)}"


def _expires(operator: Operator) -> bool:
    return isinstance(operator.work, Expire | Trigger | MessageJoin) or (
        operator.kernel is not None and any(map(carries_ends, operator.inputs))
    )


def _triggered(by_message: bool) -> str:
    if by_message:
        return "messages, a message retires all rows that carry its time"
    return "input, ends wait for the next row of the same input"


def _chosen(join: Operator, chooser: Chooser) -> str:
    strategy = "negative" if chooser.is_negative(join.identity) else "piggyback"
    return (
        f"{strategy} now, {chooser.why(join.identity)}; negative when more than "
        f"{TO_NEGATIVE:g} ends of a row would be kept more than once"
    )


def _plain(operator: Operator) -> str:
    for child in operator.inputs:
        if isinstance(child.work, Trigger):
            by_message = any(isinstance(clock.work, Messages) for clock in child.inputs)
            return f"{'messages' if by_message else 'input'}, {_NOTICED}"
    if any(map(carries_ends, operator.inputs)):
        return f"piggyback, {_FRONTIER}"
    if any(_may_take_back(child) for child in operator.inputs):
        return f"negative, {_UNDONE}"
    return f"nothing to expire, {_NOTHING}"


def _may_take_back(operator: Operator) -> bool:
    """Whether negative tuples may come; those of what keeps state, and of Expire."""
    if operator.kernel is None:
        return any(map(_may_take_back, operator.inputs))
    return not isinstance(operator.work, InnerJoin) or any(map(_may_take_back, operator.inputs))

"""How operators learn that tuples have left their windows: the strategies, and when each is best.

All strategies but one give the same changes at the same times. Under `input` an operator notices
what has expired when its next tuple comes.
"""

from penstock.physical.expiry.strategies import STRATEGIES, Strategy, check

__all__ = ["STRATEGIES", "Strategy", "check"]

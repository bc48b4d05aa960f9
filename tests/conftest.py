"""Settings that all tests share."""

from hypothesis import settings

# A busy machine is not a bug: properties have no time limit.
settings.register_profile("penstock", deadline=None)
settings.load_profile("penstock")

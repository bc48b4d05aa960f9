"""From statements to plans: names are resolved, types checked, and every construct given meaning.

    statement ── query ─┬─ relations ── joins ── timing     FROM, WHERE
                        ├─ grouping ── time_groups          GROUP BY, aggregates
                        ├─ ranking                          OVER
                        ├─ subqueries                       queries in conditions and values
                        └─ scalars ── types                 expressions

What the binder cannot know of types and constants it asks Spark, through an `Analyser`.
"""

from penstock.sql.binding.analyser import Analyser, AnalysisError
from penstock.sql.binding.catalog import Catalog, Entry, Moment, Relation, SyncPoints
from penstock.sql.binding.synchronization import bind_points
from penstock.sql.binding.views import BoundView, bind_query

__all__ = [
    "Analyser",
    "AnalysisError",
    "BoundView",
    "Catalog",
    "Entry",
    "Moment",
    "Relation",
    "SyncPoints",
    "bind_points",
    "bind_query",
]

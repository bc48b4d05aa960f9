"""What users hold: a session on a state directory, its sources, its views, and its SQL.

session ── commands ─┬─ catalog      what the definitions are to queries
                     ├─ descriptions DESCRIBE, EXPLAIN
                     └─ results      what a statement answers

rollout ─── pipeline ─── changes: what a pipeline file declares, compared with what there is

decorator: views as decorated functions        query: SELECTs put together by methods
"""

from penstock.session.decorator import view
from penstock.session.query import Query
from penstock.session.results import Result
from penstock.session.session import Session, connect
from penstock.session.source import Source
from penstock.session.views import View

__all__ = ["Query", "Result", "Session", "Source", "View", "connect", "view"]

"""Views as Python functions that return their query."""

from __future__ import annotations

from collections.abc import Callable

from penstock.boundary import public
from penstock.errors import PlanError
from penstock.session.query import Query
from penstock.session.session import Session
from penstock.session.views import View


@public
def view(db: Session) -> Callable[[Callable[[], str | Query]], View]:
    """Declare the view that a function is named after and whose query it returns.

        @penstock.view(db)
        def hot() -> str:
            return "SELECT room, temp FROM room_temp WHERE temp > 80"

    The query may be put together by methods: `db.table("room_temp").where("temp > 80")`.
    """

    def declare(function: Callable[[], str | Query]) -> View:
        name, query = function.__name__, function()
        if not isinstance(query, str | Query):
            raise PlanError(
                f"the function {name} returns {type(query).__name__}; expected the text of a "
                "SELECT, or a query over db.table(...), which becomes the view of that name"
            )
        db.sql(f"CREATE VIEW {name} AS {query}")
        return db.view(name)

    return declare

"""Statements that cannot be carried out, in text files like those of `fixtures`, and what is said.

    ==== a title
    SELECT a FROM hot;
    ----
    [UNRESOLVED_NAME] There is no column a. ...

All of them meet the catalog below; those of `integer_time.sql` meet it with integers for time. To
add a case, write its title and text, run `python -m tests.sql.refusals` from the root of the
repository, and read what it has filled in as someone would who has never seen the language.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import penstock
from penstock.errors import PenstockError
from penstock.session import Session
from tests.sql.fixtures import cases, rewrite

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = Path(__file__).parent / "errors"
CATALOG = """
CREATE SOURCE temperature (room STRING, temp INT, humidity DOUBLE, at TIMESTAMP) EVENT TIME at;
CREATE SOURCE doors (room STRING, door STRING, open BOOLEAN, at TIMESTAMP) EVENT TIME at;
CREATE SOURCE changes (id INT, name STRING, price DECIMAL(10, 2), tags ARRAY<STRING>, op STRING,
  expires TIMESTAMP, at TIMESTAMP) EVENT TIME at;
CREATE STREAM temps OVER temperature KEY NULL;
CREATE STREAM room_temp OVER temperature KEY (room);
CREATE STREAM items OVER changes KEY (id) OP op;
CREATE VIEW hot AS SELECT room, temp FROM room_temp WHERE temp > 80;
CREATE VIEW hottest AS SELECT room, max(temp) AS temp FROM hot GROUP BY room;
CREATE VIEW sync2 AS SELECT timepoint FROM clock WHERE timepoint % INTERVAL 2 MINUTES = 0;
CREATE VIEW now_view AS SELECT max(timepoint) AS now FROM clock;
"""
WITH_INTEGERS = CATALOG.replace("TIMESTAMP", "INT").replace("INTERVAL 2 MINUTES", "2")


def databases(spark: SparkSession, path: Path) -> dict[str, Session]:
    """A session for each catalog, by the name of the file that meets it; "" is for all others."""
    found = {}
    for name, catalog in (("integer_time", WITH_INTEGERS), ("", CATALOG)):
        db = penstock.connect(path / (name or "others"), spark=spark)
        db.sql(catalog)
        db.create_table("rooms", [{"room": "a", "floor": 1}, {"room": "b", "floor": 2}])
        found[name] = db
    return found


def outcome(db: Session, sql: str) -> str:
    try:
        db.sql(sql)
    except PenstockError as error:
        return str(error)
    return "carried out"


if __name__ == "__main__":
    from tempfile import mkdtemp

    from penstock.runtime.spark import start_spark

    sessions = databases(start_spark("local[1]"), Path(mkdtemp()))
    rewrite(FOLDER, lambda case: outcome(sessions.get(case.file, sessions[""]), case.sql))
    print(f"{len(list(cases(FOLDER)))} cases")

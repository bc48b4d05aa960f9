"""SHOW COLUMNS FROM: the names of the columns of whatever can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import UnknownNameError
from penstock.testing import local_session


def test_columns_are_shown_of_all_that_can_be_read(tmp_path: Path) -> None:
    with local_session(tmp_path / "state") as db:
        db.sql("""
          CREATE SOURCE temps (room STRING, temp INT, t INT) EVENT TIME t;
          CREATE STREAM room_temp OVER temps KEY (room);
          CREATE VIEW hot AS SELECT temp, room AS place FROM room_temp WHERE temp > 80;
          CREATE VIEW every4 AS SELECT timepoint FROM clock WHERE timepoint % 4 = 0;
        """)
        found = {
            name: db.sql(f"SHOW COLUMNS FROM {name}").to_arrow()["column"].to_pylist()
            for name in ("temps", "ROOM_TEMP", "hot", "every4")
        }
        assert found == {
            "temps": ["room", "temp", "t"],
            "ROOM_TEMP": ["room", "temp", "t"],
            "hot": ["temp", "place"],
            "every4": ["timepoint"],
        }
        with pytest.raises(UnknownNameError, match="Did you mean hot"):
            db.sql("SHOW COLUMNS IN hott")

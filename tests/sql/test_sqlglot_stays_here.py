"""Only the room `sql` knows the library that parses SQL."""

from tests.test_architecture import imported_modules, rooms, sources


def test_only_sql_imports_sqlglot() -> None:
    importers = {
        room
        for room in rooms()
        for source in sources(room)
        for name in imported_modules(source)
        if name.split(".")[0] == "sqlglot"
    }
    assert importers == {"sql"}

"""From an older layout to the present one: what that changes, and the one commit that does it.

Law: a directory is of the old layout or of the new one, whenever the process dies: what changes is
one entry of the log. Rows, results and positions stay as they are; only names change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from penstock.boundary import public
from penstock.directory.state_tables import LOG, Defined, existing_directory
from penstock.runtime.state_names import brought_up_to_date
from penstock.state.log import LAYOUT, Log, fold, read_manifest
from penstock.state.manifest import Action, Founded, Manifest, Renamed
from penstock.state.storage import storage_errors


@dataclass(frozen=True)
class Upgrade:
    """What bringing a directory up to date does, or has done.

    `renamed` are state tables of state by their old names, and `views` those whose state tables are
    named now.
    """

    directory: Path
    before: int
    after: int
    version: int
    renamed: dict[str, str]
    views: tuple[str, ...]
    done: bool = False

    @property
    def is_needed(self) -> bool:
        """Whether the directory is of an older layout."""
        return self.before != self.after


@public
def upgrade(path: str | Path, dry_run: bool = False) -> Upgrade:
    """Bring a state directory up to the layout of this version; with `dry_run`, only say how.

    A session that opens the directory does the same. Older versions of Penstock refuse it then.
    """
    directory = existing_directory(path)
    manifest = read_manifest(directory / LOG)
    if dry_run or manifest.layout in (0, LAYOUT):
        return _planned(directory, manifest)[0]
    with storage_errors(directory):
        log = Log(directory / LOG)
        try:
            found, actions = _planned(directory, log.manifest)
            if actions:
                log.commit(actions, {"upgrade": f"layout {found.before} to {found.after}"})
        finally:
            log.close()
    return replace(found, done=bool(actions))


def _planned(directory: Path, manifest: Manifest) -> tuple[Upgrade, list[Action]]:
    """What there is to do; an error where this version cannot go on with what that gives."""
    log, defined = directory / LOG, Defined.by(manifest)
    actions = [*brought_up_to_date(log, manifest, defined.views, defined.compiler, defined.graph)]
    version = manifest.version + bool(actions)
    after = fold(manifest, version, actions)
    defined.check(log, after)
    renamed: dict[str, str] = {}
    for action in actions:
        if isinstance(action, Renamed):
            renamed |= {old: new for old, new in action.state_tables.items() if old != new}
    views = tuple(action.view for action in actions if isinstance(action, Founded))
    before = manifest.layout or LAYOUT
    return Upgrade(directory, before, LAYOUT, version, renamed, views), actions

"""What tasks are told of a step, for any part of the views that it is to be made for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.execution.task import StepSpec
from penstock.physical.closing import Said
from penstock.physical.expiry.choosing import Chooser
from penstock.physical.program import Program
from penstock.runtime import maintenance
from penstock.runtime.punctuation_store import answers, closing
from penstock.state import changelog
from penstock.state.compaction import Use
from penstock.state.manifest import Manifest
from penstock.state.run import AreaSpec


@dataclass(frozen=True)
class StepSpecs:
    """Of the step from a manifest's frontier to `w1`.

    `said` is what punctuations say of sources, `kept` are the areas that are only compacted, `uses`
    tells how areas were used before, `review` whether what punctuations close is looked for,
    `retention` for how long changes are kept, and `merging` whether published changes are merged.
    """

    manifest: Manifest
    w1: int
    directory: Path
    tasks: int
    said: Said
    kept: Mapping[str, AreaSpec]
    expiry: Chooser
    uses: Mapping[str, Use]
    review: bool
    retention: int | None = None
    merging: bool = True

    def of(self, program: Program) -> StepSpec:
        areas = {name: self.manifest.area(name) for name in (*program.specs(), *self.kept)}
        kernels = answers(program, self.said)
        closed = closing(program, kernels)
        frontiers = {name: area.frontier for name, area in areas.items()}
        frontiers |= dict.fromkeys(program.lanes, self.w1)
        reviewed = closed if self.review else {}
        uses = {**dict.fromkeys(self.kept, Use()), **self.uses}
        return StepSpec(
            program,
            self.directory,
            self.manifest.frontier,
            self.w1,
            self.tasks,
            areas,
            maintenance.compactions(areas, frontiers, self.tasks, reviewed, uses),
            self.kept,
            self.expiry.told(program, kernels),
            closed,
            merging=maintenance.bytes_to_merge(self.uses, self.tasks),
            blocks=self._blocks(program),
        )

    def _blocks(self, program: Program) -> tuple[changelog.Block, ...]:
        if not self.merging:
            return ()
        return changelog.chosen(self.manifest, list(program.views), self.tasks, self.retention)

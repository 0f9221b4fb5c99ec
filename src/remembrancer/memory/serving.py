"""The register of what was served to each run, for the parts of a memory that serve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from remembrancer.lifecycle.quarantine import require_runs
from remembrancer.memory.base import MemoryBase
from remembrancer.ports.serving import Serving, TracksRuns
from remembrancer.records.key import require_key


class ServingMemory(MemoryBase):
    """What recalls, lessons and retrievers share."""

    async def served_to(self, run_id: str) -> Serving | None:
        """What was served to a run so far; `None`: it is not in the register, which keeps the last 10,000 runs.

        Args:
            run_id: The run, as it was named to `recall`, `lessons` or `memory_retriever`.

        Raises:
            InvalidInputError: Not a run id.
        """
        return await require_runs(self.store).get_serving(require_key(run_id, field="run_id"))

    def _register_for(self, run_id: object) -> TracksRuns | None:
        """The register, when there is a run to keep; looked for before anything is served."""
        if run_id is None:
            return None
        require_key(run_id, field="run_id")
        return require_runs(self.store)

    async def _serve(
        self,
        register: TracksRuns | None,
        run_id: str | None,
        fact_ids: Iterable[str],
        *,
        holdout: Mapping[str, float] | None = None,
    ) -> None:
        if register is not None and run_id is not None:
            await register.serve_run(run_id, list(fact_ids), holdout=holdout)

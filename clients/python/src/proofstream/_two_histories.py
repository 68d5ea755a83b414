"""Two files that one ledger has signed, over trees of one size with different roots: it has shown two histories. No file shows that by
itself, and a reader of both must hear of it. The same as src/libraries/evidence/two-histories.ts of Proofstream.
"""

from dataclasses import replace
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

from ._ledger import Judged
from ._report import Report

#: A report, and the origin, size and root of the head that the file shows, where the ledger of the policy has signed it.
Told = Tuple[Report, Optional[Dict[str, Any]]]


def signed_head(judged: Judged) -> Optional[Dict[str, Any]]:
    """The head that a file shows, where the ledger of the reader's policy has signed it."""
    if not judged.facts:
        return None
    head: Optional[Dict[str, Any]] = judged.said.get("ledger" if judged.kind in ("proof", "head") else "head")
    return head


def with_histories(told: Sequence[Told]) -> List[Report]:
    """The reports, with a remark on each whose head contradicts that of another."""
    roots: Dict[Any, Set[str]] = {}
    for _, head in told:
        if head is not None:
            roots.setdefault((head["origin"], head["size"]), set()).add(head["root"])
    return [_with_remark(one, head) if head and len(roots[head["origin"], head["size"]]) > 1 else one for one, head in told]


def _with_remark(report: Report, head: Dict[str, Any]) -> Report:
    remark = (
        f"Another of these files has another root of the same {head['size']} entries of {head['origin']}, "
        "and the ledger has signed both. It has shown two histories: keep both files."
    )
    return replace(report, remarks=[*report.remarks, remark])

"""Two files that one ledger has signed, over trees of one size with different roots: it has shown two histories. No file shows that by
itself, and a reader of both must hear of it. So it is with bundles of one dataset. The same as src/libraries/evidence/two-histories.ts of Proofstream.
"""

from dataclasses import replace
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple

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


def contradicted(told: Sequence[Told]) -> Set[Tuple[str, int]]:
    """The origins and sizes of heads that have more than one root."""
    roots: Dict[Tuple[str, int], Set[str]] = {}
    for _, head in told:
        if head is not None:
            roots.setdefault((head["origin"], head["size"]), set()).add(head["root"])
    return {name for name, of in roots.items() if len(of) > 1}


def with_histories(told: Sequence[Told]) -> List[Report]:
    """The reports, with a remark on each whose head contradicts that of another."""
    both = contradicted(told)
    return [_with_remark(one, head) if head and (head["origin"], head["size"]) in both else one for one, head in told]


def two_chains(bundles: Sequence[Mapping[int, Tuple[str, str]]]) -> Optional[Tuple[int, int, int]]:
    """Of bundles, each with its dataset and the hash of its block by sequence: the first two, by their places, that have different
    blocks of one dataset, and the lowest sequence of these."""
    first: Dict[Tuple[str, int], Tuple[int, str]] = {}
    found: List[Tuple[int, int, int]] = []
    for place, blocks in enumerate(bundles):
        for sequence, (did, name) in blocks.items():
            earlier, known = first.setdefault((did, sequence), (place, name))
            if known != name:
                found.append((earlier, place, sequence))
    return min(found, default=None)


def _with_remark(report: Report, head: Dict[str, Any]) -> Report:
    remark = (
        f"Another of these files has another root of the same {head['size']} entries of {head['origin']}, "
        "and the ledger has signed both. It has shown two histories: keep both files."
    )
    return replace(report, remarks=[*report.remarks, remark])

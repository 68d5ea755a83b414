"""What one file shows and another contradicts: roots of one size that a ledger has signed both, and blocks of one number of a dataset.

No file shows two histories by itself, and a reader of both must hear of it. The same as src/libraries/evidence/two-histories.ts of
Proofstream.
"""

from dataclasses import replace
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from ._ledger import Judged
from ._report import Report

#: What a file shows of which there is one: what it is, in the words of the remark, and which.
Shows = Dict[str, str]
Told = Tuple[Report, Shows]


def shows_of(judged: Judged) -> Shows:
    """The head that a file shows, where the ledger of the reader's policy has signed it."""
    return head_shown(judged.said.get("ledger" if judged.kind in ("proof", "head") else "head") if judged.facts else None)


def head_shown(head: Optional[Dict[str, Any]]) -> Shows:
    if head is None:
        return {}
    signed = "and the ledger has signed both. It has shown two histories"
    return {f"root of the same {head['size']} entries of {head['origin']}, {signed}": head["root"]}


def block_shown(did: str, sequence: int, name: str) -> Shows:
    return {f"block {sequence} of {did}. There are two histories of it": name}


def contradicted(told: Sequence[Told]) -> Set[str]:
    """What is shown more than once, and not the same."""
    known: Shows = {}
    return {what for _, shows in told for what, which in shows.items() if known.setdefault(what, which) != which}


def with_histories(told: Sequence[Told]) -> List[Report]:
    """The reports, with a remark on each that contradicts another."""
    both = contradicted(told)
    return [_with_remark(one, next((what for what in shows if what in both), "")) for one, shows in told]


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


def _with_remark(report: Report, what: str) -> Report:
    remark = f"Another of these files has another {what}: keep both files."
    is_new = what != "" and remark not in report.remarks
    return replace(report, remarks=[*report.remarks, remark]) if is_new else report

"""What is said of a saved answer, alone or in a bundle. The same as src/libraries/evidence/answer-report.ts of Proofstream."""

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

from ._ledger_report import NOT_IDENTIFIED, SIGNATURE_IS_GOOD, WHOSE_KEY, witness_lines
from ._receipt import Trust
from ._report import ONLY_SIGNER, ONLY_STORED, Line, Report, altered, of_key, place_text
from ._rows import first_rows, json_text
from ._signed_answer import datasets_of, extent_text, rows_of, text_at
from .proof import ProofError

_WHAT = "a saved answer"
_MOST_ROWS = 20
_NOT_SAID = ("", "When the question was asked is not in the file.")

#: What a failed check means for the reader of the file.
_MEANINGS = {
    "MalformedJson": "A saved answer is what a node sent, kept as it came: one JSON object.",
    "InvalidRequest": "A saved answer has input, subQueries, commitment and proof, and mostly output, and nothing else.",
    "UnsupportedProofType": "There is no evidence against it, but this program cannot check this type of proof.",
    "InvalidRequest::InputHash": "The query, its parameters or the named blocks are not those that were signed.",
    "InvalidRequest::SubQueriesHash": "The answers that this one is based on are not those that were signed.",
    "InvalidRequest::BadSignature": "The key that the file names did not sign this.",
    "InvalidRequest::OutputHash": "The rows are not those that were signed. They were changed, or reprinted by a program that "
    "writes numbers differently.",
    "InvalidRequest::RewrittenOutput": "Read as doubles, the numbers are those that were signed. A JSON library has reprinted "
    "them. Check the file as it was received.",
    "OtherSigner": "Hashes and signature are good, but the key is not the one that you named.",
}


@dataclass(frozen=True)
class InBundle:
    """What a bundle holds beside the answer, all of it checked against it."""

    blocks: int
    rows: int
    #: When blocks were made, by their hashes.
    times: Dict[str, str]
    #: Of proofs of a ledger: the block, the verdict, why, and the facts.
    ledger: List[Any]
    #: What to do where there is no policy to judge them by; else empty.
    lack: str
    #: What was not checked, and which command does it.
    open: List[str] = field(default_factory=list)


def failed_report(error: ProofError) -> Report:
    """Of an answer that does not hold."""
    why = [_MEANINGS[error.kind], f"{str(error)[:1].upper()}{str(error)[1:]}."]
    if error.outcome == "failed":
        return altered(_WHAT, why)
    if error.outcome == "impossible":
        return Report(_WHAT, "impossible", "Cannot be judged here", why)
    return Report("no evidence that is known here", "no evidence", "Cannot be judged here", why)


def answer_report(body: Dict[str, Any], trust: Trust, bundle: Optional[InBundle] = None) -> Report:
    """Of an answer that holds, as `proof.check` returns it."""
    asked, output, commitment = body["input"], body["output"], body["commitment"]
    datasets = datasets_of(asked)
    shown = first_rows(output, _MOST_ROWS)
    faults, verdict, seen, proven, unjudged = _ledger_proofs(bundle)
    signer, is_named = body["proof"]["did"], trust.signer is not None
    whose = "the key that you named" if is_named else trust.keys.get(signer)
    head = of_key(is_named, whose is not None)
    but = ", but not in the ledger as the policy asks" if faults else ""
    within = "" if bundle is None else ", in a bundle with all its blocks and rows"
    times = {} if bundle is None else bundle.times
    return Report(
        what=_WHAT if bundle is None else f"{_WHAT} in a bundle, with all its blocks and rows",
        verdict=verdict,
        headline=f"{head['headline']}{within}{but}",
        is_of_stranger=head["is_of_stranger"],
        why=faults,
        about=_about(asked, output, datasets),
        rows=shown if shown is not None and shown.rows else None,
        signed=[("key", signer), ("whose", whose or NOT_IDENTIFIED)],
        when=[*(_block_time(one, times) for one in datasets), *seen, _NOT_SAID, *([] if seen else [("", ONLY_SIGNER)])],
        checked=[
            "The query, its parameters and the named blocks are those that were signed.",
            *([] if output is None else ["The rows are those that were signed, to the last digit."]),
            SIGNATURE_IS_GOOD,
            *(["The key is the one that you named."] if is_named else []),
            *([] if bundle is None else [_in_bundle(bundle)]),
            *proven,
        ],
        open=[
            "That these rows follow from those blocks: a node that holds them must run the question again.",
            *([] if rows_of(output) is not None else ["The rows: they are not in this file."]),
            *([] if whose else [WHOSE_KEY]),
            ONLY_STORED,
            *unjudged,
            *([] if bundle is None else bundle.open),
        ],
        hashes=[
            *((f"block of {_name(one)}", one["blockHash"]) for one in datasets if "blockHash" in one),
            ("question", commitment["inputHash"]),
            ("rows", commitment["outputHash"]),
            ("sub-queries", commitment["subQueriesHash"]),
        ],
    )


def _about(asked: Dict[str, Any], output: Any, datasets: List[Dict[str, str]]) -> List[Line]:
    stability = "over these very blocks; whether other blocks with the same rows give this answer is for a node to say"
    query = text_at(asked, "query")
    lines = [
        ("question", "The file does not say." if query is None else query),
        ("parameters", json_text(asked["parameters"]) if "parameters" in asked else None),
        ("language", text_at(asked, "queryDialect")),
        *([] if datasets else [("dataset", "none is named")]),
        *(("dataset", _full_name(one)) for one in datasets),
        ("answer", extent_text(asked, output)),
        ("repeatable", stability if datasets else None),
    ]
    return [(name, text) for name, text in lines if text is not None]


def _name(one: Dict[str, str]) -> str:
    return one.get("alias", one["id"])


def _full_name(one: Dict[str, str]) -> str:
    return one["id"] if _name(one) == one["id"] else f"{one['alias']} ({one['id']})"


def _block_time(one: Dict[str, str], times: Dict[str, str]) -> Line:
    made = times.get(one.get("blockHash", ""), one.get("blockTime", "not in the file"))
    return f"data of {_name(one)} as of", made if "blockHash" in one else "up to which block is not said"


def _in_bundle(bundle: InBundle) -> str:
    return (
        f"The bundle has the {bundle.blocks} blocks up to the named ones, each linked to the previous one, "
        f"and all their {bundle.rows} rows. Nothing is missing, changed or added."
    )


def _ledger_proofs(bundle: Optional[InBundle]) -> Any:
    """What the proofs of a ledger in a bundle say by a policy: faults, verdict, times, what was checked and what not."""
    if bundle is None or not bundle.ledger:
        return [], "verified", [], [], []
    if bundle.lack:
        count = "1 proof" if len(bundle.ledger) == 1 else f"{len(bundle.ledger)} proofs"
        return [], "verified", [], [], [f"Whether a ledger has the named blocks: the bundle holds {count} of that. {bundle.lack}"]
    good = [one for one in bundle.ledger if one[1] == "included"]
    bad = [one for one in bundle.ledger if one[1] != "included"]
    proven = []
    for block, _, _, facts in good:
        ledger = facts["ledger"]
        by = "as its witnesses saw it" if facts["quorum"] == "met" else "by the word of its node alone"
        place = place_text(ledger["index"], ledger["size"], "entries")
        proven.append(f"Block {block} is {place} of the ledger {ledger['origin']}, {by}.")
    seen = [line for one in good for line in witness_lines(one[3]["witnessed"])]
    return [f"Block {block}: {verdict}, {why}." for block, verdict, why, _ in bad], bad[0][1] if bad else "verified", seen, proven, []

"""What is said of a file about a ledger: a proof, a head, a statement, a refusal, a receipt and what became of its promise.

The same as src/libraries/evidence/ledger-report.ts of Proofstream.
"""

import re
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, List, Optional

from ._json import Number
from ._ledger import Judged
from ._receipt import Trust
from ._report import ONLY_SIGNER, ONLY_STORED, Line, Report, altered, body_line, nth, of_key, place_text, times
from ._rows import Rows, cell, clean_text

_NAMES = {
    "proof": "a proof of a ledger",
    "head": "a signed head of a ledger",
    "statement": "a statement of a node about itself",
    "refusal": "a signed refusal of a batch",
    "receipt": "a signed receipt of a batch",
    "broken promise": "a receipt with what shows that its promise was broken",
    "too large": "JSON about a ledger",
}
_NODE_SAYS = "The name of the dataset and when the block was made: that is the word of the signer."
NOT_JUDGED = "Not judged: whom to trust is yours to say"
_HEAD_IS_SIGNED = "The head is signed by the ledger, with the key that the policy has for it."
SIGNATURE_IS_GOOD = "The signature is good, by the strictest rule."
WHOSE_KEY = "Whose key it is: anyone can make one. Compare it with one that the signer has told you by another way."
NOT_IDENTIFIED = "not identified: no key was named to compare it with"
_WHAT_BODY = "What the body was: sha256sum FILE prints this hash of the file that was sent, byte for byte."
_SINCE_WHEN = (
    "Nothing that was looked at shows since when. A head with it that enough witnesses signed by the deadline would."
)
_LAST_SECOND = 253_402_300_799


def altered_ledger(kind: str, reason: str) -> Report:
    return altered(_NAMES[kind], ["It is not what was signed by a key that counts, or it contradicts itself.", sentence(reason)])


def ledger_report(judged: Judged, trust: Trust) -> Report:
    if judged.verdict == "impossible":
        return Report(_NAMES[judged.kind], "impossible", "Cannot be judged here", [sentence(judged.reason)])
    if judged.kind == "proof":
        return _of_proof(judged, trust)
    if judged.kind == "head":
        return _of_head(judged)
    if judged.kind == "statement":
        return _of_statement(judged, trust)
    return _of_refusal(judged, trust) if judged.kind == "refusal" else _of_receipt(judged, trust)


def sentence(text: str) -> str:
    """Begins with a capital and ends with a full stop."""
    return f"{text[:1].upper()}{text[1:]}{'' if re.search('[.?!]$', text) else '.'}"


def _unchanged(facts: Dict[str, Any], trust: Trust) -> Dict[str, Any]:
    return of_key(trust.signer is not None, _is_known(facts, trust))


def policy_advice(reason: str, origin: str) -> List[str]:
    """What a reader does who has said nothing of whom to trust."""
    host = _host_of(origin)
    where = "the node that the file comes from has it at /ledger/policy" if host is None else f"{host}/ledger/policy"
    return [
        sentence(reason),
        'A policy is two lines: "log" names the key of the ledger, "quorum" how many witnesses must have signed. '
        f"Of the node itself: {where}.",
        "That is the word of the node about itself: compare it with what its witnesses, its operator or an earlier reader have. "
        "Then check again with it.",
    ]


def _host_of(origin: str) -> Optional[str]:
    """Where the node of a ledger is, by the name of the ledger; None where that is no host."""
    host = origin.split("/")[0]
    is_host = re.fullmatch(r"[A-Za-z0-9.-]+(?::[0-9]+)?", host) is not None and not host.endswith(".invalid")
    return f"https://{host}" if is_host else None


def _dataset_lines(did: Optional[str], name: Optional[str], is_known: bool) -> List[Line]:
    """A dataset, by its name first where it is known whose word that is."""
    lines = [] if did is None else [("dataset", did)]
    if name is None:
        return lines
    if not is_known:
        return [*lines, ("called", f"{name}, by its signer")]
    return [("dataset", name if did is None else f"{name} ({did})")]


def _by_whom(quorum: str) -> str:
    return ", as its witnesses saw it" if quorum == "met" else ", by the word of its node alone"


def witness_lines(witnessed: List[Dict[str, Any]]) -> List[Line]:
    """Who has witnessed, and when: RFC 3339, unless a clock says a year that has no such text."""
    return [(f"witness {one['name']}", _second(one["at"])) for one in witnessed]


def _second(at: int) -> str:
    if at > _LAST_SECOND:
        return f"{at} seconds after 1970"
    return (datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=at)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _of_proof(judged: Judged, trust: Trust) -> Report:
    said, kind = judged.said, judged.said["kind"]
    ledger, is_judged = said["ledger"], judged.verdict != "not judged"
    about, signed, when, hashes = _of_statement_in(said) if kind == "statement" else _of_block_in(said, trust)
    place = f"{place_text(ledger['index'], ledger['size'], 'entries')} of {ledger['origin']}"
    headlines = {
        "included": f"Included in the ledger{_by_whom(said['quorum'])}",
        "witness quorum not met": "Witness quorum not met",
        "not judged": NOT_JUDGED,
    }
    advice = [] if judged.verdict == "included" else [sentence(judged.reason)]
    whose = "a key of the policy" if is_judged else "it says; nobody has looked"
    stamped = [("time stamp", "there, and not checked")] if said["has_stamp"] else []
    has_it = "The statement is that of the entry, and signed by its node."
    stamp = "The time stamp: proofstream verify FILE --tsa-ca CA.pem, with the certificate of its authority."
    return Report(
        what=f"a proof that a ledger has a {kind}",
        verdict=judged.verdict,
        headline=headlines[judged.verdict],
        why=advice if is_judged else policy_advice(judged.reason, ledger["origin"]),
        about=[*about, ("entry", place)],
        rows=_row_of(said["value"]) if kind == "row" else None,
        signed=[*signed, ("ledger", f"{ledger['origin']}, {whose}")],
        when=times([*when, *witness_lines(said["witnessed"]), *stamped], is_judged),
        checked=[
            "Its hashes lead from the entry to the root of the head.",
            has_it if kind == "statement" else f"The {kind} is that of the entry.",
            *([_HEAD_IS_SIGNED] if is_judged else []),
        ],
        open=[
            *([*_whose(said["signed"], trust), _NODE_SAYS] if "signed" in said else []),
            *([] if is_judged else ["Whether the ledger has signed the head, and which witnesses have."]),
            *([stamp] if said["has_stamp"] else []),
            *([_WHAT_BODY] if kind == "batch" and "bodyHash" in said["value"] else []),
            ONLY_STORED,
        ],
        hashes=[*hashes, ("root of the ledger", ledger["root"])],
    )


def _of_statement_in(said: Dict[str, Any]) -> Any:
    retired = [(f"{one['why']} at {one['at']}", one["node"]) for one in said["retired"]]
    node = ("node", said["node"])
    return [node, *retired], [node], [("stated", said["time"])], []


def _of_block_in(said: Dict[str, Any], trust: Trust) -> Any:
    """What a block, a batch or a row is about, who has signed it beside the ledger, when, and its hashes."""
    record, value = said.get("record"), said["value"] or {}
    is_batch = said["kind"] == "batch"
    word = said.get("signed")
    name = None if word is None else word["dataset"]
    about = _dataset_lines(said["dataset"], name, _is_known(word or {}, trust))
    about += [("block", f"sequence {said['sequence']} of its chain")]
    about += _batch_lines(value) if is_batch else []
    if record is not None:
        place = place_text(record["index"], record["count"], "batches" if is_batch else "rows")
        about.append(("place" if is_batch else "row", f"{place} of its block"))
    hashes = [("block", said["block"])] if "block" in said else []
    hashes += _line_of("batch", value, "id") if is_batch else []
    if word is None:
        return about, [], [], hashes
    return about, _signer_lines(word, trust), [("block made", word["blockTime"])], hashes


def _batch_lines(value: Dict[str, Any]) -> List[Line]:
    offsets = value.get("offsets")
    has_rows = isinstance(offsets, dict) and "start" in offsets and "end" in offsets
    rows = [("rows", f"offsets {cell(offsets['start'])} to {cell(offsets['end'])}")] if has_rows else []
    body = [body_line(cell(value["bodyHash"]))] if "bodyHash" in value else []
    return [*_line_of("batch", value, "status"), *_line_of("error", value, "error"), *rows, *body]


def _line_of(name: str, value: Dict[str, Any], member: str) -> List[Line]:
    return [(name, cell(value[member]))] if member in value else []


def _row_of(value: Dict[str, Any]) -> Rows:
    # Both forms of a proof have the same order of columns.
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return Rows([clean_text(name) for name in names], [[cell(value[name]) for name in names]], 1)


def _of_head(judged: Judged) -> Report:
    ledger, is_judged = judged.said["ledger"], judged.verdict != "not judged"
    signed = f"A head that is signed{_by_whom(judged.said['quorum'])}"
    headlines = {"signed": signed, "not judged": NOT_JUDGED}
    why = [sentence(judged.reason)] if judged.reason else []
    return Report(
        what=_NAMES["head"],
        verdict=judged.verdict,
        headline=headlines.get(judged.verdict, "Witness quorum not met"),
        why=why if is_judged else policy_advice(judged.reason, ledger["origin"]),
        about=[("ledger", ledger["origin"]), ("entries", str(ledger["size"]))],
        signed=[("ledger", f"{ledger['origin']}, a key of the policy")] if is_judged else [],
        when=times(witness_lines(judged.said["witnessed"]), is_judged),
        checked=[_HEAD_IS_SIGNED] if is_judged else [],
        open=[
            *([] if is_judged else ["Whether the ledger has signed it, and which witnesses have."]),
            "What its entries say: the ledger itself has them.",
        ],
        hashes=[("root", ledger["root"])],
    )


def _of_statement(judged: Judged, trust: Trust) -> Report:
    said = judged.said
    former = [("former key", f"{one['node']}, {one['why']} at {one['at']}") for one in said["retired"]]
    return Report(
        what=_NAMES["statement"],
        verdict="signed",
        **_unchanged(judged.facts, trust),
        about=[("ledger", said["ledger"]["origin"]), *former],
        signed=_signer_lines(judged.facts, trust),
        when=[("signed", said["time"]), ("", ONLY_SIGNER)],
        checked=[SIGNATURE_IS_GOOD],
        open=[*_whose(judged.facts, trust), "Whether it is an entry of that ledger: the proof of it says so."],
    )


def _of_refusal(judged: Judged, trust: Trust) -> Report:
    facts, is_good = judged.facts, judged.verdict == "signed"
    return Report(
        what=_NAMES["refusal"],
        verdict=judged.verdict,
        **(_unchanged(facts, trust) if is_good else {"headline": "Signed, and not judged"}),
        why=[] if is_good else [sentence(judged.reason)],
        about=[
            *_dataset_lines(facts.get("dataset"), facts.get("alias"), _is_known(facts, trust)),
            ("refused as", facts["kind"]),
            *(("because", text) for text in facts["reasons"][:3]),
            body_line(facts["bodyHash"]),
        ],
        signed=_signer_lines(facts, trust),
        when=[("signed", facts["time"]), ("", ONLY_SIGNER)],
        checked=[SIGNATURE_IS_GOOD],
        open=[*_whose(facts, trust), "What this kind of refusal means: every node says it at /errors.", _WHAT_BODY],
    )


def _of_receipt(judged: Judged, trust: Trust) -> Report:
    facts, shown = judged.facts, judged.facts.get("shown")
    ledger = facts.get("ledger", {})
    head, why = _receipt_head(judged, trust)
    seen = witness_lines((judged.said.get("in_time") or facts).get("witnessed", []))
    place = f"The promised block is {place_text(ledger['index'], ledger['size'], 'entries')} of the ledger." if shown else ""
    told = ", ".join(shown or []).replace("bodyHash", "hash of the body")
    unshown = "Which body, status and offsets: that is the word of the signer. The proof of the batch shows it."
    return Report(
        what=_NAMES[judged.kind],
        verdict=judged.verdict,
        **head,
        why=why,
        about=_receipt_lines(judged, trust),
        signed=_signer_lines(facts, trust),
        when=[
            ("signed", facts["time"]),
            *([("deadline", facts["by"])] if "by" in facts else []),
            *(seen or [("", ONLY_SIGNER)]),
        ],
        checked=[SIGNATURE_IS_GOOD, *([place, f"The ledger shows: {told}."] if shown else [])],
        open=[*_whose(facts, trust), *([unshown] if shown and len(shown) == 2 else []), _WHAT_BODY, ONLY_STORED],
        hashes=[
            *([("block", facts["block"]["hash"])] if "block" in facts else []),
            ("receipt", facts["receiptId"]),
        ],
    )


def _receipt_head(judged: Judged, trust: Trust) -> Any:
    """Headline, and why."""
    facts, why = judged.facts, [sentence(judged.reason)] if judged.reason else []
    if judged.verdict == "signed":
        return _unchanged(facts, trust), why
    if judged.verdict == "included" and judged.said.get("in_time") is None:
        return {"headline": "The promised block is in the ledger"}, [_SINCE_WHEN]
    if judged.verdict != "not judged":
        headlines = {
            "included": "The promise was kept",
            "promised, not yet due": "Promised, not yet due",
            "promise broken": "The promise was broken",
            "witness quorum not met": "Witness quorum not met",
        }
        return {"headline": headlines[judged.verdict]}, why
    origin = facts.get("ledger", {}).get("origin", "")
    if judged.missing == "policy":
        return {"headline": NOT_JUDGED}, policy_advice(judged.reason, origin)
    due = "Not judged: the promise is due, and nothing here shows whether it was kept"
    head = {"headline": due if judged.missing == "ledger" else "Signed, and not judged"}
    if judged.kind != "receipt" or "by" not in facts or "retired" in facts:
        return head, why
    host, path = _host_of(origin), f"/receipts/{facts['receiptId']}/proof"
    ask = f"the node that gave it has that at {path}" if host is None else f"{host}{path}"
    return head, [*why, f"The proof of its batch settles it, checked together with this file: {ask}"]


def suggestion_remark(judged: Judged) -> List[str]:
    """The policy that a file brings. Nothing was judged by it."""
    policy = judged.said.get("policy")
    if not isinstance(policy, str) or isinstance(policy, Number):
        return []
    lines = " | ".join(line for line in policy.split("\n") if line.strip())
    return [f"The sender suggests a policy. It counts for nothing unless you give it yourself: {lines}"]


def _receipt_lines(judged: Judged, trust: Trust) -> List[Line]:
    facts, alias = judged.facts, judged.said.get("alias")
    dataset, offsets = facts["dataset"], facts.get("offsets")
    return [
        *_dataset_lines(dataset, alias, _is_known(facts, trust)),
        ("batch", facts["status"]),
        *([("block", f"sequence {facts['block']['sequence']} of its chain")] if "block" in facts else []),
        *([("rows", f"offsets {offsets['start']} to {offsets['end']}")] if offsets else []),
        *([("promise", f"the block is an entry of {facts['ledger']['origin']}")] if "by" in facts else []),
        body_line(facts["bodyHash"]),
    ]


def _signer_lines(facts: Dict[str, Any], trust: Trust) -> List[Line]:
    bound, retired = facts.get("boundBy"), facts.get("retired")
    by = [] if trust.signer is None else ["the key that you named"]
    by += [f"the {nth(bound['index'])} entry of {bound['ledger']} names it as the node"] if isinstance(bound, dict) else []
    by += [trust.keys[facts["signer"]]] if facts["signer"] in trust.keys else []
    gone = [] if retired is None else [("leaked" if retired["why"] == "leaked" else "changed", f"at {retired['at']}")]
    return [("key", facts["signer"]), *(("whose", text) for text in dict.fromkeys(by or [NOT_IDENTIFIED])), *gone]


def _whose(facts: Dict[str, Any], trust: Trust) -> List[str]:
    return [] if _is_known(facts, trust) else [WHOSE_KEY]


def _is_known(facts: Dict[str, Any], trust: Trust) -> bool:
    return trust.signer is not None or "boundBy" in facts or facts.get("signer") in trust.keys

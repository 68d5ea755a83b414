"""Documents that a node has signed: statements about itself, and refusals. Receipts: _receipt.py.

The same as signed-document.ts and statement.ts in src/libraries/ledger of Proofstream. What is not as signed is a ValueError.
"""

import hashlib
import re
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Tuple

from . import _ed25519, _json, proof
from ._shape import hex_of, list_of, members, natural, text_of
from ._signed_answer import text_at

#: Arrays and objects inside one another, in files about a ledger.
DEPTH = 64
STATEMENT = "proofstream/statement/1"
_REFUSAL = "proofstream/refusal/1"
_RECORD = "proofstream/record/1"


def signer_of(domain: str, document: Dict[str, Any]) -> str:
    """The did:key that has signed a document."""
    signed = members(document.get("proof"), "proof", ("type", "verificationMethod", "proofValue"))
    if text_of(signed["type"]) != proof.PROOF_TYPE:
        raise ValueError(f"the signature is none of the type {proof.PROOF_TYPE}")
    did, signature = text_of(signed["verificationMethod"]), proof.decoded(signed["proofValue"], "proof.proofValue", 64)
    unsigned = {name: value for name, value in document.items() if name != "proof"}
    message = domain.encode("ascii") + b"\n" + _json.canonical(unsigned)
    if len(signature) != 64 or not _ed25519.is_signed(proof.key_of(did), message, signature):
        raise ValueError("the signature is not of this key over this document")
    return did


def parse_statement(data: bytes) -> Dict[str, Any]:
    """A statement that its node has signed."""
    value = _json.parse(data.decode("utf-8"), DEPTH)
    needed = ("type", "ledger", "node", "version", "engines", "time", "retired", "proof")
    statement = members(value, "the statement", needed, ("previous",))
    ledger = members(statement["ledger"], "ledger", ("origin", "keys"))
    for text in (ledger["origin"], statement["node"], statement["version"]):
        text_of(text)
    if text_of(statement["type"]) != STATEMENT or not list_of(ledger["keys"], text_of):
        raise ValueError("it is no statement, or one without keys")
    for engine in list_of(statement["engines"], lambda one: members(one, "an engine", ("name", "version", "sha256"))):
        text_of(engine["name"]), text_of(engine["version"]), hex_of(engine["sha256"])
    time_of(statement["time"])
    for former in list_of(statement["retired"], lambda one: members(one, "a former key", ("node", "at", "why"))):
        text_of(former["node"]), time_of(former["at"])
        if text_of(former["why"]) not in ("rotated", "leaked"):
            raise ValueError("the statement has a former key without a reason")
    if "previous" in statement:
        previous = members(statement["previous"], "previous", ("origin", "size", "root", "reason"), ("seen",))
        natural(previous["size"])
        for name in previous.keys() - {"size"}:
            text_of(previous[name])
    if signer_of(STATEMENT, value) != statement["node"]:
        raise ValueError("the statement is not signed by its node")
    if _json.canonical(value) != data:
        raise ValueError("the statement is not canonical JSON")
    return statement


def open_refusal(document: Dict[str, Any]) -> Dict[str, Any]:
    """What a signed refusal shows."""
    signer = signer_of(_REFUSAL, document)
    refusal = members(document, "the refusal", ("dataset", "bodyHash", "kind", "time"), others=True)
    dataset, errors = refusal["dataset"], refusal.get("errors")
    named = dataset if isinstance(dataset, dict) else {"id": dataset}
    known = {"dataset": text_at(named, "id"), "alias": text_at(named, "alias")}
    facts: Dict[str, Any] = {"signer": signer, **{name: text for name, text in known.items() if text is not None}}
    if len(facts) == 1:
        raise ValueError("it names no dataset")
    time_of(refusal["time"])
    messages = [text_at(one, "message") for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []
    facts["reasons"] = [text for text in messages if text is not None]
    return {**facts, **{name: text_of(refusal[name]) for name in ("bodyHash", "kind", "time")}}


def open_record(value: Any, entry: bytes) -> Dict[str, str]:
    """What the node has signed of a batch or a row beside what its entry shows."""
    document = members(value, "signed", ("type", "entry", "dataset", "blockTime", "proof"))
    if text_of(document["type"]) != _RECORD or text_of(document["entry"]) != hashlib.sha256(entry).hexdigest():
        raise ValueError("signed is of another entry")
    time_of(document["blockTime"])
    said = {name: text_of(document[name]) for name in ("dataset", "blockTime")}
    return {"signer": signer_of(_RECORD, document), **said}


def time_of(value: Any) -> Tuple[int, str]:
    """A time in UTC (RFC 3339) as milliseconds since 1970, and in the spelling of nodes."""
    text = text_of(value)
    found = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?Z", text, re.ASCII)
    if found is None:
        raise ValueError("it has a time that is none in UTC")
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    # The calendar of Python begins with the year 1. Like the year 0, 400 is a leap year.
    before_ms = 0 if year else 146_097 * 86_400_000
    millis = ((found[7] or "") + "000")[:3]
    begun = datetime(year or 400, month, day, hour, minute, second, tzinfo=timezone.utc)
    return ms_of(begun) - before_ms + int(millis), f"{text[:19]}.{millis}Z"


def ms_of(time: datetime) -> int:
    return (time - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)

"""The verdict on a file of any kind: saved answers, and what a ledger is about. Nobody is asked.

The same as src/libraries/ledger/judge-file.ts of Proofstream. What each kind holds: docs/spec/ledger.md.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _ed25519, _json, proof
from ._head import FEW_WITNESSES, MOST_NOTE_BYTES, UnknownLedger, leaf_hash, open_head, root_from
from ._inclusion import DEPTH, ENTRY_BYTES, Newer, judge_proof, sequence_of
from ._policy import Policy, parse_policy
from ._shape import base64_of, hash_text, hex_of, list_of, members, natural, text_of

_STATEMENT, _BROKEN = "proofstream/statement/1", "proofstream/broken-promise/1"
_RECEIPT, _REFUSAL = "proofstream/receipt/1", "proofstream/refusal/1"
#: The bytes of an entry that a receipt promises: kind, tag of the dataset, sequence, tag of the block.
_PROMISED_BYTES = 73
#: Clocks of a node and of witnesses may differ by so much.
_GRACE_MS = 60_000
_MOST_JSON_BYTES = 64 * 1024 * 1024
#: White space of browsers, in Latin-1.
_SPACE = "\t\n\v\f\r \xa0"
_NEEDS_POLICY = "whom to trust is not in the file: it takes a policy"
_NOT_THERE = "that the promised entry is not there is seen in all entries of the ledger"


@dataclass(frozen=True)
class Judged:
    """What is said of a file about a ledger. What was altered is a ProofError, and no verdict."""

    #: `proof`, `head`, `statement`, `refusal`, `receipt` or `broken promise`.
    kind: str
    #: `included`, `signed`, `promised, not yet due`, `promise broken`, `witness quorum not met` or `impossible`.
    verdict: str
    #: Why, where the verdict is none of the first three, or what is still open; else empty.
    reason: str = ""
    #: What the file shows, named as `proofstream verify -o json` does. Times of witnesses are in seconds since 1970.
    facts: Dict[str, Any] = field(default_factory=dict)

    @property
    def is_good(self) -> bool:
        """Whether `proofstream verify` would end with 0."""
        return self.verdict in ("included", "signed", "promised, not yet due")


@dataclass(frozen=True)
class _Trust:
    policy: Optional[Policy]
    signer: Optional[str]
    now_ms: int

    def is_signer(self, did: str) -> str:
        if self.signer is not None and did != self.signer:
            raise _OtherSigner(f"it is signed by {did}, not by {self.signer}")
        return did


class _OtherSigner(ValueError):
    pass


def verify(
    file: Union[str, bytes],
    signer: Optional[str] = None,
    *,
    policy: Union[str, bytes, Policy, None] = None,
    now: Optional[datetime] = None,
) -> Union[proof.Checked, Judged]:
    """Checks a file as it was received: a saved answer, or a proof, head, receipt, refusal or statement of a ledger.

    Raises ProofError where it is not what was signed, and ValueError for a policy that cannot be read. `signer` is the
    did:key that must have signed an answer, a receipt, a refusal or a statement. `policy` says which ledgers and witnesses
    count. `now`, a time with its zone, decides whether a promise is due.
    """
    data = file.encode("utf-8", "surrogatepass") if isinstance(file, str) else bytes(file)
    trusted = parse_policy(policy) if isinstance(policy, (str, bytes)) else policy
    kind, document = _kind_of(data)
    if kind is None:
        return proof.verify(file, signer)
    now_ms = _ms_of(datetime.now(timezone.utc) if now is None else now)
    try:
        return _judge(kind, document, data, _Trust(trusted, signer, now_ms))
    except _OtherSigner as error:
        raise proof.ProofError("failed", "OtherSigner", str(error)) from None
    except ValueError as error:
        raise proof.ProofError("failed", "Altered", f"the {kind} is not what was signed: {error}") from error
    except (Newer, UnknownLedger) as error:
        return Judged(kind, "impossible", str(error))


def _kind_of(data: bytes) -> Tuple[Optional[str], Any]:
    """The kind of a file, and what is signed of it. None for an answer, or nothing that is known."""
    start = data[:200].decode("latin-1").lstrip(_SPACE)
    if start.startswith("c2sp.org/tlog-proof@"):
        return "proof", None
    try:
        if not start.startswith("{"):
            is_note = len(data) <= MOST_NOTE_BYTES and "\n\n\u2014 " in data.decode("utf-8")
            return ("head" if is_note else None), None
        # An answer, by its first member: it may be large.
        is_answer = re.match(r'\{[\s\xa0]*"(?:commitment|input|output|subQueries)"', start, re.ASCII)
        if len(data) > _MOST_JSON_BYTES or is_answer:
            return None, None
        return _kind_of_json(_json.parse(data.decode("utf-8"), DEPTH))
    except ValueError:
        return None, None


def _kind_of_json(document: Dict[str, Any]) -> Tuple[Optional[str], Any]:
    # What `verify` prints of a broken promise is a file by itself.
    if isinstance(document.get("evidence"), dict):
        return _kind_of_json(document["evidence"])
    if document.get("type") == _BROKEN:
        return "broken promise", document
    if document.get("type") == _STATEMENT:
        return "statement", None
    if "entry" in document and "ledger" in document:
        return "proof", None
    if "commitment" in document:
        return None, None
    if "receiptId" in document:
        return "receipt", document
    nested = document.get("refusal")
    refusal = nested if isinstance(nested, dict) else document
    is_refusal = "bodyHash" in refusal and "kind" in refusal and "proof" in refusal
    return ("refusal", refusal) if is_refusal else (None, None)


def _judge(kind: str, document: Any, data: bytes, trust: _Trust) -> Judged:
    if kind == "statement":
        return Judged(kind, "signed", facts={"signer": trust.is_signer(_statement(data))})
    if kind == "refusal":
        return Judged(kind, "signed", facts=_refusal(document, trust))
    if kind == "receipt":
        if "proof" not in document:
            return Judged(kind, "impossible", "it is not signed: GET /receipts/{id}?include=signature gives it signed")
        return _judge_receipt(*_receipt(document, trust), trust)
    if kind == "broken promise":
        return _judge_broken(document, trust)
    proven = judge_proof(data, trust.policy) if kind == "proof" else None
    if trust.policy is None:
        return Judged(kind, "impossible", _NEEDS_POLICY)
    if proven is not None:
        return Judged(kind, *proven)
    head = open_head(data, trust.policy)
    if head.quorum != "not met":
        return Judged(kind, "signed", facts=head.facts())
    return Judged(kind, "witness quorum not met", FEW_WITNESSES, head.facts())


def _signer_of(domain: str, document: Dict[str, Any]) -> str:
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


def _statement(data: bytes) -> str:
    value = _json.parse(data.decode("utf-8"), DEPTH)
    needed = ("type", "ledger", "node", "version", "engines", "time", "proof")
    statement = members(value, "the statement", needed, ("previous",))
    ledger = members(statement["ledger"], "ledger", ("origin", "keys"))
    texts = [text_of(ledger["origin"]), *(text_of(statement[name]) for name in ("type", "node", "version", "time"))]
    if not list_of(ledger["keys"], text_of) or texts[1] != _STATEMENT:
        raise ValueError("the statement has no keys")
    for engine in list_of(statement["engines"], lambda one: members(one, "an engine", ("name", "version", "sha256"))):
        text_of(engine["name"]), text_of(engine["version"]), hex_of(engine["sha256"])
    if "previous" in statement:
        previous = members(statement["previous"], "previous", ("origin", "size", "root", "reason"), ("seen",))
        natural(previous["size"])
        for name, member in previous.items():
            if name != "size":
                text_of(member)
    if _signer_of(_STATEMENT, value) != statement["node"]:
        raise ValueError("the statement is not signed by its node")
    if _json.canonical(value) != data:
        raise ValueError("the statement is not canonical JSON")
    return texts[2]


def _refusal(document: Dict[str, Any], trust: _Trust) -> Dict[str, Any]:
    signer = _signer_of(_REFUSAL, document)
    refusal = members(document, "the refusal", ("dataset", "bodyHash", "kind", "time"), others=True)
    dataset = refusal["dataset"]
    facts = {"signer": signer, "dataset": text_of(dataset.get("id") if isinstance(dataset, dict) else dataset)}
    facts.update({name: text_of(refusal[name]) for name in ("bodyHash", "kind", "time")})
    trust.is_signer(signer)
    return facts


@dataclass(frozen=True)
class _Promise:
    ledger: str
    by_ms: int
    by: str
    entry: bytes


def _receipt(document: Dict[str, Any], trust: _Trust) -> Tuple[Dict[str, Any], Optional[_Promise]]:
    """What a signed receipt says, and what it promises."""
    signer = _signer_of(_RECEIPT, document)
    receipt = members(document, "the receipt", ("receiptId", "status", "dataset"), others=True)
    dataset = members(receipt["dataset"], "dataset", ("id",), others=True)
    facts: Dict[str, Any] = {"signer": signer, "dataset": text_of(dataset["id"])}
    facts.update({name: text_of(receipt[name]) for name in ("receiptId", "status")})
    if "block" in receipt:
        block = members(receipt["block"], "block", ("hash", "sequence"), others=True)
        facts["block"] = {"hash": text_of(block["hash"]), "sequence": natural(block["sequence"])}
    promise = None
    if "promise" in receipt:
        promised = members(receipt["promise"], "promise", ("ledger", "by", "entry"))
        ms, by = _time_of(text_of(promised["by"]))
        promise = _Promise(text_of(promised["ledger"]), ms, by, base64_of(promised["entry"]))
        if len(promise.entry) != _PROMISED_BYTES or promise.entry[:1] != b"\1":
            raise ValueError("what is promised is not the beginning of an entry")
        if sequence_of(promise.entry + bytes(ENTRY_BYTES - _PROMISED_BYTES)) != facts.get("block", {}).get("sequence"):
            raise ValueError("the receipt promises an entry of another block than its own")
        facts.update(by=by, ledger={"origin": promise.ledger})
    trust.is_signer(signer)
    return facts, promise


def _cannot(promise: _Promise, trust: _Trust) -> str:
    """Why the policy does not say whether this ledger counts; empty where it does."""
    if trust.policy is None:
        return _NEEDS_POLICY
    return "" if trust.policy.has_log(promise.ledger) else f"the policy has no log {promise.ledger}, which the receipt is about"


def _judge_receipt(facts: Dict[str, Any], promise: Optional[_Promise], trust: _Trust) -> Judged:
    if promise is None:
        return Judged("receipt", "signed", facts=facts)
    why = _cannot(promise, trust)
    if why:
        return Judged("receipt", "impossible", why, facts)
    if trust.now_ms <= promise.by_ms + _GRACE_MS:
        return Judged("receipt", "promised, not yet due", f"It is due at {promise.by}.", facts)
    return Judged("receipt", "impossible", f"It was due at {promise.by}: whether it was kept, the ledger shows.", facts)


def _judge_broken(document: Dict[str, Any], trust: _Trust) -> Judged:
    """What the file shows by itself. Whose key has promised takes the reader, or a statement in the ledger."""
    kind = "broken promise"
    broken = members(document, kind, ("type", "receipt", "head"), ("found",))
    head_bytes = text_of(broken["head"]).encode("utf-8")
    found = _found(broken["found"]) if "found" in broken else None
    facts, promise = _receipt(members(broken["receipt"], "receipt", (), others=True), trust)
    if promise is None:
        raise ValueError("it has a receipt without a promise")
    why = _cannot(promise, trust)
    if why or trust.policy is None:
        return Judged(kind, "impossible", why, facts)
    try:
        head = open_head(head_bytes, trust.policy)
    except UnknownLedger as error:
        raise ValueError(str(error)) from None
    if head.origin != promise.ledger:
        raise ValueError(f"the head is of {head.origin}, not of {promise.ledger}")
    if found is None:
        return Judged(kind, "impossible", _NOT_THERE, facts)
    entry, index, hashes = found
    if root_from(leaf_hash(entry), index, head.size, hashes) != head.root:
        raise ValueError("the entry is not at this place of the tree")
    if len(entry) != ENTRY_BYTES or entry[:41] != promise.entry[:41]:
        raise ValueError("it has an entry of another dataset or sequence")
    shown = {**facts, **head.facts()}
    shown["ledger"] = {"origin": promise.ledger, "size": head.size}
    if entry[:_PROMISED_BYTES] != promise.entry:
        if trust.signer is None:
            why = f"the promise is not kept; whether {facts['signer']} is the node of the ledger is not in the file"
            return Judged(kind, "impossible", why, facts)
        return Judged(kind, "promise broken", "The ledger has another block in the place of the promised one.", shown)
    shown["ledger"]["index"] = index
    if head.quorum == "not met":
        return Judged(kind, "witness quorum not met", FEW_WITNESSES, shown)
    return Judged(kind, "included", "", shown)


def _found(value: Any) -> Tuple[bytes, int, List[bytes]]:
    found = members(value, "found", ("entry", "index", "hashes"))
    return base64_of(found["entry"]), natural(found["index"]), list_of(found["hashes"], hash_text)


def _time_of(text: str) -> Tuple[int, str]:
    """A time in UTC (RFC 3339) as milliseconds since 1970, and in the spelling of nodes."""
    found = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?Z", text, re.ASCII)
    if found is None:
        raise ValueError("it has a time that is none in UTC")
    year, *more = (int(part) for part in found.groups()[:6])
    # The calendar of Python begins with the year 1. Like the year 0, 400 is a leap year, and long past.
    begun = datetime(year or 400, *more, tzinfo=timezone.utc)
    millis = ((found[7] or "") + "000")[:3]
    return _ms_of(begun) + int(millis), f"{text[:19]}.{millis}Z"


def _ms_of(time: datetime) -> int:
    return (time - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)

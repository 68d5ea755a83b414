"""The verdict on a file of any kind: saved answers, and what a ledger is about. Nobody is asked.

The same as src/libraries/ledger/judge-file.ts of Proofstream. What each kind holds: docs/spec/ledger.md.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

from . import _json, proof
from ._documents import DEPTH, STATEMENT, ms_of, open_refusal, parse_statement
from ._head import MOST_NOTE_BYTES, lack_of, leaf_hash, open_head, root_from
from ._inclusion import Newer, open_proof
from ._policy import Policy, parse_policy
from ._receipt import Beside, OtherSigner, Placed, Promise, Trust, beside_of, judge_promise, judge_signed, open_receipt
from ._shape import base64_of, hash_text, list_of, members, natural, text_of
from ._texts import text_form

_BROKEN = "proofstream/broken-promise/1"
_WITH_PROOFS = "proofstream/receipt-with-proofs/1"
_MOST_JSON_BYTES = 64 * 1024 * 1024
#: A record has at most 16 MiB, and each value in it at least two bytes.
_MOST_JSON_VALUES = 10_000_000
#: Each kind has one of them.
_TELLING = {"type", "evidence", "entry", "receiptId", "refusal", "bodyHash"}
#: White space of browsers, in Latin-1.
_SPACE = "\t\n\v\f\r \xa0"


@dataclass(frozen=True)
class Judged:
    """What is said of a file about a ledger. What was altered is a ProofError, and no verdict."""

    #: `proof`, `head`, `statement`, `refusal`, `receipt` or `broken promise`; `too large`, where it is larger than these are.
    kind: str
    #: `included`, `signed`, `promised, not yet due`, `promise broken`, `witness quorum not met`, `not judged` or `impossible`.
    verdict: str
    #: Why, where the verdict is none of the first three, or what is still open; else empty.
    reason: str = ""
    #: What the file shows, named as `proofstream verify -o json` does. Times of witnesses are in seconds since 1970.
    facts: Dict[str, Any] = field(default_factory=dict)
    #: What it takes where the verdict is `not judged`: `policy`, `signer` or `ledger`; else empty.
    missing: str = ""
    #: What the report tells beside the facts: of a file that was not judged, what it says and nobody vouches for.
    said: Dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_good(self) -> bool:
        """Whether `proofstream verify` would end with 0."""
        return self.verdict in ("included", "signed", "promised, not yet due")


def verify(
    file: Union[str, bytes],
    signer: Optional[str] = None,
    *,
    policy: Union[str, bytes, Policy, None] = None,
    beside: Iterable[Union[str, bytes]] = (),
    now: Optional[datetime] = None,
) -> Union[proof.Checked, Judged]:
    """Checks a file as it was received: a saved answer, or a proof, head, receipt, refusal or statement of a ledger.

    Raises ProofError where it is not what was signed, and ValueError for a policy that cannot be read. `signer` is the
    did:key that must have signed an answer, a receipt, a refusal or a statement. `policy` says which ledgers and witnesses
    count. `beside` are proofs of the batch of a receipt, or of statements that name its signer. `now`, a time with its zone,
    decides whether a promise is due.
    """
    data = _bytes_of(file)
    trust = trust_of(policy, signer, now)
    known = kind_of(data)
    if known[0] is None:
        return proof.verify(file, signer)
    return judge(data, known, beside_of([_bytes_of(one) for one in beside], trust.policy), trust)


def trust_of(policy: Union[str, bytes, Policy, None], signer: Optional[str], now: Optional[datetime]) -> Trust:
    """What the reader trusts. ValueError for a policy that cannot be read."""
    trusted = parse_policy(policy) if isinstance(policy, (str, bytes)) else policy
    return Trust(trusted, signer, ms_of(datetime.now(timezone.utc) if now is None else now))


def judge(data: bytes, known: Tuple[Optional[str], Any], beside: Beside, trust: Trust) -> Judged:
    """The verdict on a file of a known kind. ProofError where it is not what was signed."""
    kind, document = known[0] or "", known[1]
    try:
        if kind == "too large":
            return Judged(kind, "impossible", document)
        if kind in ("receipt", "broken promise", "refusal"):
            return _judge_receipt(kind, document, beside, trust)
        if kind == "proof":
            return _judge_proof(data if document is None else document, trust)
        return _judge(kind, text_form(data)[0], trust)
    except OtherSigner as error:
        raise proof.ProofError("failed", "OtherSigner", str(error)) from None
    except ValueError as error:
        raise proof.ProofError("failed", "Altered", f"the {kind} is not what was signed: {error}") from error
    except Newer as error:
        return Judged(kind, "impossible", str(error))


def _bytes_of(file: Union[str, bytes]) -> bytes:
    return file.encode("utf-8", "surrogatepass") if isinstance(file, str) else bytes(file)


def kind_of(file: bytes) -> Tuple[Optional[str], Any]:
    """The kind of a file, also as a transport of texts has left it, and what is signed of it.

    None for an answer, a bundle, or nothing that is known.
    """
    data, _ = text_form(file)
    start = data[:200].decode("latin-1").lstrip(_SPACE)
    if start.startswith("c2sp.org/tlog-proof@"):
        return "proof", None
    try:
        if not start.startswith("{"):
            is_note = len(data) <= MOST_NOTE_BYTES and "\n\n\u2014 " in data.decode("utf-8")
            return ("head" if is_note else None), None
        # An answer, by its first member: it may be large.
        is_answer = re.match(r'\{[\s\xa0]*"(?:commitment|input|output|subQueries)"', start, re.ASCII)
        if is_answer or len(data) > proof.MOST_BYTES:
            return None, None
        return _kind_of_text(data.decode("utf-8"), len(data))
    except ValueError:
        return None, None


def _kind_of_text(text: str, size: int) -> Tuple[Optional[str], Any]:
    names, values = _json.outline(text, DEPTH)
    if names is None or names.isdisjoint(_TELLING):
        return None, None
    for count, most, unit in ((size, _MOST_JSON_BYTES, "bytes"), (values, _MOST_JSON_VALUES, "values")):
        if count > most:
            return "too large", f"it has more than {most} {unit}"
    return _kind_of_json(_json.parse(text, DEPTH))


class Part(Dict[str, Any]):
    """What is signed of a file that is more than that; `within`: the member that holds it."""

    def __init__(self, document: Dict[str, Any], within: str) -> None:
        super().__init__(document)
        self.within = within


def _kind_of_json(document: Dict[str, Any]) -> Tuple[Optional[str], Any]:
    # What `verify` prints of a broken promise is a file by itself.
    if isinstance(document.get("evidence"), dict):
        kind, found = _kind_of_json(document["evidence"])
        return kind, Part(found, "evidence") if isinstance(found, dict) else found
    if document.get("type") == _BROKEN:
        return "broken promise", document
    if document.get("type") == _WITH_PROOFS and isinstance(document.get("receipt"), dict):
        return "receipt", document
    if document.get("type") == STATEMENT:
        return "statement", None
    if "entry" in document and "ledger" in document:
        return "proof", document
    if "commitment" in document:
        return None, None
    if "receiptId" in document:
        return "receipt", document
    nested = document.get("refusal")
    refusal = Part(nested, "refusal") if isinstance(nested, dict) else document
    is_refusal = "bodyHash" in refusal and "kind" in refusal and "proof" in refusal
    return ("refusal", refusal) if is_refusal else (None, None)


def _judge(kind: str, data: bytes, trust: Trust) -> Judged:
    if kind == "statement":
        # A line end says nothing in JSON.
        statement = parse_statement(data.rstrip(bytes(range(0x21))))
        trust.demand(statement["node"])
        return Judged(kind, "signed", facts={"signer": statement["node"]}, said=statement)
    head = open_head(data, trust.policy)
    said, lack = head.facts(), lack_of(head.origin, trust.policy)
    if lack:
        return Judged(kind, "not judged", lack, missing="policy", said=said)
    if head.quorum == "not met":
        return Judged(kind, "witness quorum not met", head.few, said, said=said)
    return Judged(kind, "signed", facts=said, said=said)


def _judge_proof(file: Union[bytes, Dict[str, Any]], trust: Trust) -> Judged:
    proven = open_proof(file, trust.policy)
    if "signed" in proven.facts:
        trust.demand(proven.facts["signed"]["signer"])
    # Its record with each number as it is written.
    said = {**proven.facts, "value": proven.document.get("record"), "has_stamp": proven.has_stamp}
    verdict, reason, facts = proven.verdict()
    return Judged("proof", verdict, reason, facts, "policy" if verdict == "not judged" else "", said)


def _judge_receipt(kind: str, document: Any, beside: Beside, trust: Trust) -> Judged:
    if kind == "refusal":
        refused = open_refusal(document)
        trust.demand(refused["signer"])
        return Judged(kind, *judge_signed(refused, beside, trust))
    broken = document if kind == "broken promise" else None
    said: Dict[str, Any] = {}
    if document.get("type") == _WITH_PROOFS and isinstance(document.get("receipt"), dict):
        file, document = document, document["receipt"]
        # It counts for nothing.
        said["policy"] = file.get("policy")
        if "proof" in document:
            members(file, "the file", ("type", "receipt", "proofs"), ("policy",))
            said["policy"] = text_of(file["policy"]) if "policy" in file else None
            beside = _joined(_own_of(file["proofs"], trust.policy), beside)
    if broken is not None:
        members(broken, kind, ("type", "receipt", "proofs"), ("head", "found"))
        document = members(broken["receipt"], "the receipt", (), others=True)
    elif "proof" not in document:
        unsigned = "it is not signed: GET /receipts/{id}?include=signature gives it signed"
        return Judged(kind, "impossible", unsigned, said=said)
    receipt = open_receipt(document)
    said["alias"] = receipt.alias
    trust.demand(receipt.facts["signer"])
    promise = receipt.promise
    if broken is not None:
        if promise is None:
            raise ValueError("it has a receipt without a promise")
        beside = _beside_in(broken, promise, beside, trust.policy)
    if promise is None:
        return Judged(kind, *judge_signed(receipt.facts, beside, trust), said)
    verdict, reason, facts, missing = judge_promise(receipt, promise, beside, trust)
    said.update(head=facts.pop("head", None), in_time=facts.pop("inTime", None))
    return Judged(kind, verdict, reason, facts, missing, said)


def _beside_in(broken: Dict[str, Any], promise: Promise, beside: Beside, policy: Optional[Policy]) -> Beside:
    """What the file of a broken promise has beside its receipt, before what is beside the file."""
    own = _own_of(broken["proofs"], policy)
    return _joined(Beside(own.statements, [*_place_in(broken, promise, policy), *own.places]), beside)


def _own_of(value: Any, policy: Optional[Policy]) -> Beside:
    """What proofs in a file show. ValueError where one is altered."""
    proofs = list_of(value, lambda one: members(one, "a proof", (), others=True))
    for one in proofs:
        try:
            open_proof(one, policy)
        except Newer:
            pass  # It shows nothing.
    return beside_of(proofs, policy)


def _joined(own: Beside, beside: Beside) -> Beside:
    return Beside([*own.statements, *beside.statements], [*own.places, *beside.places])


def _place_in(broken: Dict[str, Any], promise: Promise, policy: Optional[Policy]) -> List[Placed]:
    """The entry that the file has in the promised place."""
    found = members(broken["found"], "found", ("entry", "index", "hashes")) if "found" in broken else None
    if "head" not in broken:
        if found is not None:
            raise ValueError("it has an entry without a head")
        return []
    head = open_head(text_of(broken["head"]).encode("utf-8"), policy)
    if head.origin != promise.ledger:
        raise ValueError(f"it has a head of {head.origin}, not of {promise.ledger}")
    if found is None:
        return []
    entry, index = base64_of(found["entry"]), natural(found["index"])
    if root_from(leaf_hash(entry), index, head.size, list_of(found["hashes"], hash_text)) != head.root:
        raise ValueError("it has an entry that is not at its place")
    if not promise.is_answered_by(entry):
        raise ValueError("it has an entry of another dataset or sequence")
    return [] if lack_of(head.origin, policy) else [Placed(head, index, entry)]

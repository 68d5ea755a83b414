"""Signed receipts: what they promise, whose promise it is, and what became of it. docs/spec/ledger.md#whose-promise-it-is

The same as signed-receipt.ts and judge-receipt.ts in src/libraries/ledger of Proofstream, but for a ledger that is read as a whole:
that an entry is not there is not seen here.
"""

import hmac
import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _json
from ._documents import signer_of, time_of
from ._head import Head, lack_of
from ._inclusion import ENTRY_BYTES, Newer, Proven, open_proof
from ._policy import Policy
from ._shape import hex_of, members, natural, text_of

_RECEIPT = "proofstream/receipt/1"
#: The bytes of an entry that a receipt promises: kind, tag of the dataset, sequence, tag of the block.
_PROMISED_BYTES = 73
#: Clocks of a node and of witnesses may differ by so much.
_GRACE_MS = 60_000
_DAY_MS = 86_400_000
#: What a receipt says of its batch. The entry of the block shows the first two, the proof of the batch all of them.
_EVERY_FACT = ("dataset", "block", "bodyHash", "status", "offsets")


@dataclass(frozen=True)
class Trust:
    """What the reader trusts. Nothing of it comes from the file."""

    policy: Optional[Policy]
    signer: Optional[str]
    now_ms: int
    #: Of keys that a ledger names as those of its node: what it says.
    keys: Mapping[str, str] = field(default_factory=dict)

    def demand(self, did: str) -> None:
        if self.signer is not None and did != self.signer:
            raise OtherSigner(f"it is signed by {did}, not by {self.signer}")


class OtherSigner(ValueError):
    pass


@dataclass(frozen=True)
class Promise:
    ledger: str
    by_ms: int
    by: str
    #: The entry as far as it is promised.
    entry: bytes

    def is_answered_by(self, entry: bytes) -> bool:
        """Whether the entry has the dataset and the sequence: it is the promised one, or breaks the promise."""
        return len(entry) == ENTRY_BYTES and entry[:41] == self.entry[:41]


@dataclass(frozen=True)
class Receipt:
    """A signed receipt. `facts` are what it says, by their names in JSON."""

    facts: Dict[str, Any]
    promise: Optional[Promise]
    batch_id: str
    #: Where it has one, a batch that was rejected under this key may come again.
    has_key: bool
    #: The name of its dataset then.
    alias: Optional[str]


@dataclass(frozen=True)
class Placed:
    """The entry of a block below a head; `batch` is the record of a batch that is shown to be in it."""

    head: Head
    index: int
    entry: bytes
    batch: Optional[Dict[str, Any]] = None


@dataclass(frozen=True)
class Beside:
    """What there is beside a receipt, all of it by a policy that knows its ledger."""

    statements: List[Proven] = field(default_factory=list)
    places: List[Placed] = field(default_factory=list)


def beside_of(files: Sequence[Union[bytes, Dict[str, Any]]], policy: Optional[Policy]) -> Beside:
    """What the proofs among these files show. What they are worth by themselves is judged elsewhere."""
    beside = Beside()
    for file in files:
        try:
            proven = open_proof(file, policy)
        except (ValueError, Newer):
            continue
        if proven.lack:
            continue
        if "statement" in proven.document:
            beside.statements.append(proven)
        else:
            batch = proven.document["record"] if proven.document["kind"] == "batch" else None
            beside.places.append(Placed(proven.head, proven.index, proven.entry, batch))
    return beside


def open_receipt(document: Dict[str, Any]) -> Receipt:
    """What a signed receipt says. ValueError where it is none, is not what was signed, or contradicts itself."""
    signer = signer_of(_RECEIPT, document)
    needed = ("receiptId", "batchId", "time", "status", "dataset", "bodyHash")
    receipt = members(document, "the receipt", needed, others=True)
    dataset = members(receipt["dataset"], "dataset", ("id",), others=True)
    did, alias = _form("did:odf:fed01[0-9a-f]{64}", dataset["id"]), dataset.get("alias")
    facts: Dict[str, Any] = {"signer": signer, "dataset": did}
    facts.update({name: text_of(receipt[name]) for name in ("receiptId", "time", "status", "bodyHash")})
    batch_id = text_of(receipt["batchId"])
    time_of(receipt["time"])
    if "block" in receipt:
        block = members(receipt["block"], "block", ("hash", "sequence"), others=True)
        facts["block"] = {"hash": _form("f1620[0-9a-f]{64}", block["hash"]), "sequence": natural(block["sequence"])}
    if "offsets" in receipt:
        offsets = members(receipt["offsets"], "offsets", ("start", "end"))
        facts["offsets"] = {name: natural(offsets[name]) for name in ("start", "end")}
    if "idempotencyKey" in receipt:
        text_of(receipt["idempotencyKey"])
    promise = None
    if "promise" in receipt:
        promise = _promise(receipt["promise"], facts)
        facts.update(by=promise.by, ledger={"origin": promise.ledger})
    is_text = isinstance(alias, str) and not isinstance(alias, _json.Number)
    return Receipt(facts, promise, batch_id, "idempotencyKey" in receipt, alias if is_text else None)


def _form(pattern: str, value: Any) -> str:
    if not re.fullmatch(pattern, text_of(value)):
        raise ValueError("it has a text that is not of the right form")
    return text_of(value)


def _promise(value: Any, facts: Dict[str, Any]) -> Promise:
    promised = members(value, "promise", ("ledger", "by", "datasetSalt", "blockSalt"))
    ledger, (by_ms, by) = text_of(promised["ledger"]), time_of(promised["by"])
    of_dataset, of_block = hex_of(promised["datasetSalt"]), hex_of(promised["blockSalt"])
    block = facts.get("block")
    if block is None or facts["status"] != "committed":
        raise ValueError("it promises the entry of a block and has none")
    dataset_tag = hmac.digest(of_dataset, facts["dataset"].encode("ascii"), "sha256")
    block_tag = hmac.digest(of_block, bytes.fromhex(block["hash"][1:]), "sha256")
    return Promise(ledger, by_ms, by, b"\1" + dataset_tag + block["sequence"].to_bytes(8, "big") + block_tag)


def judge_signed(facts: Dict[str, Any], beside: Beside, trust: Trust) -> Tuple[str, str, Dict[str, Any], str]:
    """What a good signature says by itself. Nothing but the word of the signer dates it, so a key that leaked says nothing."""
    origins = sorted({one.head.origin for one in beside.statements})
    each = [_named_in(_own_of(origin, beside.statements), facts["signer"]) for origin in origins]
    # Of two ledgers none is the later one: what counts is the first time since when one says that the key signs nothing.
    named = sorted((one for one in each if one[0] is not None), key=_gone_ms, reverse=True)
    bound_by, retired = _last_of(named)
    facts = {**facts, **_standing(bound_by, retired, trust)}
    if retired is None or (retired["why"] == "rotated" and time_of(facts["time"]) <= time_of(retired["at"])):
        return "signed", "", facts, ""
    return "not judged", f"{_gone(retired)}: nothing shows that this was signed before.", facts, "signer"


def _standing(bound_by: Any, retired: Optional[Dict[str, str]], trust: Trust) -> Dict[str, Any]:
    bound_by = bound_by if trust.signer is None else "reader"
    known = {"boundBy": bound_by, "retired": retired}
    return {name: value for name, value in known.items() if value is not None}


def _gone(retired: Dict[str, str]) -> str:
    return f"The key of the signer {'leaked' if retired['why'] == 'leaked' else 'was changed'} at {retired['at']}"


def judge_promise(receipt: Receipt, promise: Promise, beside: Beside, trust: Trust) -> Tuple[str, str, Dict[str, Any], str]:
    """Verdict, reason, facts and what is missing. The signature is good, and the signer is the one whom the reader names."""
    facts, signer = receipt.facts, receipt.facts["signer"]
    lack = lack_of(promise.ledger, trust.policy)
    if lack:
        return "not judged", lack, facts, "policy"
    line = _line_of(promise.ledger, beside.statements, trust.signer)
    bound_by, retired = _named_in(line, signer)
    standing = _standing(bound_by, retired, trust)
    if "boundBy" not in standing:
        kept = _became(receipt, promise, beside.places, trust)
        # All that it says is shown by the ledger, whoever said it. A statement that names others is a doubt.
        if not line and len(kept[2].get("shown", ())) == len(_EVERY_FACT):
            verdict, reason, shown, missing = kept
            return verdict, reason, {**facts, **shown}, missing
        why = f"Nothing says that {signer} is the node of {promise.ledger}."
        return "not judged", f"{why} Name it, or give the proof of a statement of that ledger.", facts, "signer"
    facts = {**facts, **standing}
    if retired is not None and time_of(facts["time"]) > time_of(retired["at"]):
        return "not judged", f"{_gone(retired)}, and signed after that.", facts, "signer"
    verdict, reason, shown, missing = _became(receipt, promise, beside.places, trust)
    if retired is not None and retired["why"] == "leaked" and verdict in ("promise broken", "promised, not yet due"):
        return "not judged", f"{_gone(retired)}: that its promise is not kept may be the work of a thief.", facts, "signer"
    return verdict, reason, {**facts, **shown}, missing


def _line_of(origin: str, statements: Sequence[Proven], signer: Optional[str]) -> List[Proven]:
    """The statements of a ledger, and of those that took its place one after another, oldest first.

    Anybody can claim a place: it counts where the key that signs the claim is one of the earlier ledger. In which order files are
    given makes no difference.
    """
    line: List[Proven] = []
    keys = {signer}
    origins = [origin]
    for current in origins:
        own = _own_of(current, statements)
        line += own
        for one in own:
            keys.update(node["node"] for node in _keys_of(one))
        after = {one.head.origin for one in statements if _previous(one) == current and _keys_of(one)[0]["node"] in keys}
        origins += sorted(after - set(origins))
    return line


def _own_of(origin: str, statements: Sequence[Proven]) -> List[Proven]:
    """The statements of a ledger, oldest first."""
    return sorted((one for one in statements if one.head.origin == origin), key=lambda one: one.index)


def _keys_of(proven: Proven) -> List[Dict[str, Any]]:
    """The node of a statement, then its former keys."""
    statement = proven.document["statement"]
    return [statement, *statement["retired"]]


def _previous(proven: Proven) -> Optional[str]:
    origin: Optional[str] = proven.document["statement"].get("previous", {}).get("origin")
    return origin


_Named = Tuple[Any, Optional[Dict[str, str]]]


def _named_in(line: Sequence[Proven], signer: str) -> _Named:
    """What names a key, as a node and as each former key, and since when it is retired."""
    named: List[_Named] = []
    for one in line:
        node, *former = _keys_of(one)
        bound_by = {"ledger": one.head.origin, "index": one.index, "size": one.head.size}
        if node["node"] == signer:
            named.append((bound_by, None))
        gone = [{"at": key["at"], "why": key["why"]} for key in former if key["node"] == signer]
        named += [(bound_by, key) for key in reversed(gone)]
    return _last_of(named)


def _last_of(named: Sequence[_Named]) -> _Named:
    """The last of them, and before all one that says of a leak."""
    leaked = [one for one in named if one[1] is not None and one[1]["why"] == "leaked"]
    return (leaked or named or [(None, None)])[-1]


def _gone_ms(named: _Named) -> float:
    return float("inf") if named[1] is None else time_of(named[1]["at"])[0]


def _became(receipt: Receipt, promise: Promise, all_places: Sequence[Placed], trust: Trust) -> Tuple[str, str, Dict[str, Any], str]:
    places = [one for one in all_places if one.head.origin == promise.ledger and promise.is_answered_by(one.entry)]
    faults = [None if one.batch is None else _fault_of_batch(receipt, one.batch) for one in places]
    other = next((fault for fault in faults if fault), None)
    if other:
        return "promise broken", f"The batch has another {other.replace('Hash', '')} in the ledger.", {}, ""
    kept = [
        (one.head.quorum != "not met", fault == "", -at)
        for at, (one, fault) in enumerate(zip(places, faults))
        if one.entry[:_PROMISED_BYTES] == promise.entry
    ]
    if kept:
        is_enough, has_batch, at = max(kept)
        heads = [places[-at].head for _, _, at in sorted(kept, reverse=True)]
        shown = _shown_at(places[-at], receipt.facts, has_batch)
        shown["inTime"] = next((one.facts() for one in heads if _is_signed_by(one, promise.by_ms, trust.policy)), None)
        if is_enough:
            return "included", "", shown, ""
        return "witness quorum not met", "The entry is there, under a head that too few witnesses signed.", shown, ""
    if places:
        return "promise broken", "The ledger has another block in the place of the promised one.", {}, ""
    by = promise.by
    if trust.now_ms > promise.by_ms + _GRACE_MS:
        why = f"It is due since {by}, and nothing that was given shows whether the ledger has it: ask the node."
        return "not judged", why, {}, "ledger"
    if trust.now_ms > promise.by_ms:
        return "promised, not yet due", f"It was due at {by}, and counts as broken only a minute later.", {}, ""
    days = (promise.by_ms - time_of(receipt.facts["time"])[0]) // _DAY_MS
    late = f"It is due only at {by}, {days} days after it was signed: no node asks for so long."
    return "promised, not yet due", f"It is due at {by}." if days < 1 else late, {}, ""


def _is_signed_by(head: Head, ms: int, policy: Optional[Policy]) -> bool:
    """Whether witnesses that are enough for the policy, and be it one where it asks for none, signed the head then or before."""
    early = [name for name, at in head.witnessed.items() if at * 1000 <= ms]
    return policy is not None and early != [] and policy.quorum_of(early) != "not met"


def _shown_at(one: Placed, said: Dict[str, Any], has_batch: bool) -> Dict[str, Any]:
    """What the ledger shows of a receipt that it keeps, by which head, and what is the word of the signer alone."""
    shown = list(_EVERY_FACT if has_batch else _EVERY_FACT[:2])
    claimed = [name for name in ("block", "bodyHash", "status", "offsets") if name in said and name not in shown]
    ledger = {"origin": one.head.origin, "size": one.head.size, "index": one.index}
    facts = one.head.facts()
    return {**facts, "head": facts["ledger"], "ledger": ledger, "shown": shown, "claimed": claimed}


def _fault_of_batch(receipt: Receipt, record: Dict[str, Any]) -> Optional[str]:
    """The member that the batch in the ledger has otherwise; empty where none, None where it is another batch."""
    said = dict(receipt.facts, id=receipt.batch_id)
    if "offsets" in said:
        said["offsets"] = {name: _json.Number(value) for name, value in said["offsets"].items()}
    names = ("id", "bodyHash", "status", "offsets")
    others = [name for name in names if _json.canonical(record.get(name)) != _json.canonical(said.get(name))]
    # The id of a key comes again after it was rejected.
    if "id" in others or (record.get("status") == "rejected" and receipt.has_key):
        return None
    return others[0] if others else ""

"""Proofs that a ledger has a block, a batch or a row: the text of https://c2sp.org/tlog-proof, or JSON.

Each member is recomputed from the entry: docs/spec/ledger.md#proofs of Proofstream. The same as judge-proof.ts in src/libraries/ledger.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _json
from ._documents import DEPTH, open_record, parse_statement
from ._head import (
    MOST,
    MOST_NOTE_BYTES,
    Head,
    hash_of,
    lack_of,
    leaf_hash,
    open_head,
    parse_note,
    parse_size,
    root_from,
)
from ._policy import Policy, from_base64
from ._shape import base64_of, hash_text, hex_of, list_of, members, natural, text_of
from ._texts import text_form

ENTRY_BYTES = 137
_NO_ROOT = bytes(32)
_FIRST_LINE = "c2sp.org/tlog-proof@v1"
_MOST_EXTRA = 60_000
_MOST_HASHES = 53
_MOST_BYTES = _MOST_EXTRA + _MOST_HASHES * 45 + MOST_NOTE_BYTES + 100


class Newer(Exception):
    """Of a form that this version does not know. No ValueError, which says that bytes are not what was signed."""


@dataclass(frozen=True)
class _Place:
    """Where the entry is, and under which head; nothing of it is checked."""

    index: int
    hashes: List[bytes]
    head: bytes


@dataclass(frozen=True)
class Proven:
    """An entry that is below a head. `lack` says why the policy does not know whether that counts; else it is empty."""

    entry: bytes
    head: Head
    index: int
    #: By their names in JSON.
    facts: Dict[str, Any]
    #: What the proof says beside the path.
    document: Dict[str, Any]
    lack: str

    #: It has a time stamp, whose signature is not looked at.
    has_stamp: bool = False

    def verdict(self) -> Tuple[str, str, Dict[str, Any]]:
        """Verdict, reason and facts."""
        if self.lack:
            return "not judged", self.lack, {}
        if self.head.quorum != "not met":
            return "included", "", self.facts
        return "witness quorum not met", self.head.few, self.facts


def open_proof(file: Union[bytes, Dict[str, Any]], policy: Optional[Policy]) -> Proven:
    """What a proof shows: by its bytes, also as a transport of texts has left them, or by its JSON as it was parsed.

    ValueError where it is not what was signed; Newer. Where the policy does not know its ledger, all is checked but signatures.
    """
    data = text_form(file)[0] if isinstance(file, bytes) else b""
    is_json = data.lstrip(b" \t\n\r").startswith(b"{")
    parsed = _json.parse(data.decode("utf-8"), DEPTH) if is_json else file
    document, place, timestamp = _of_json(parsed) if isinstance(parsed, dict) else _of_text(data)
    if document is None:
        raise Newer("it has no extra line, which says what the entry is")
    entry, shown = _shown(document)
    head = open_head(place.head, policy)
    if "statement" in document and document["statement"]["ledger"]["origin"] != head.origin:
        raise ValueError("its statement is of another ledger")
    leaf = leaf_hash(entry)
    if root_from(leaf, place.index, head.size, place.hashes) != head.root:
        raise ValueError("the entry is not at this place of the tree")
    if timestamp is not None and not _is_bound(timestamp, leaf, place, policy):
        raise ValueError("its time stamp is of a head that is not shown to hold the entry")
    facts = {**shown, **head.facts()}
    facts["ledger"]["index"] = place.index
    return Proven(entry, head, place.index, facts, document, lack_of(head.origin, policy), timestamp is not None)


def _of_text(data: bytes) -> Tuple[Any, _Place, None]:
    if len(data) > _MOST_BYTES:
        raise ValueError(f"it is longer than {_MOST_BYTES} bytes")
    top, blank, head = data.partition(b"\n\n")
    first, *lines = top.decode("utf-8").split("\n")
    if not blank or first != _FIRST_LINE:
        raise ValueError(f"it does not begin with {_FIRST_LINE}, or has no empty line before its head")
    extra_line = lines.pop(0) if lines and lines[0].startswith("extra ") else None
    extra = None if extra_line is None else from_base64(extra_line[len("extra ") :])
    if extra_line is not None and (extra is None or len(extra_line) > _MOST_EXTRA):
        raise ValueError("it has an extra line that is no base64, or too long")
    if not lines or not lines[0].startswith("index ") or len(lines) > 1 + _MOST_HASHES:
        raise ValueError("it has no index line, or too many hashes")
    place = _Place(parse_size(lines[0][len("index ") :]), [hash_of(line) for line in lines[1:]], head)
    if extra is None:
        return None, place, None
    value = _json.parse(extra.decode("utf-8"), DEPTH)
    if _is_newer(value) or (_json.canonical(value) == extra and _has_plain_numbers(value)):
        return value, place, None
    raise ValueError("its extra line is not canonical JSON")


def _of_json(value: Dict[str, Any]) -> Tuple[Any, _Place, Optional[Dict[str, Any]]]:
    ledger = members(value.get("ledger"), "ledger", ("index", "hashes", "head"), ("timestamp",))
    place = _Place(natural(ledger["index"]), list_of(ledger["hashes"], hash_text), text_of(ledger["head"]).encode("utf-8"))
    timestamp = None
    if "timestamp" in ledger:
        stamp = members(ledger["timestamp"], "timestamp", ("size", "head", "token"), ("hashes",))
        base64_of(stamp["token"])
        timestamp = {
            "size": natural(stamp["size"]),
            "head": text_of(stamp["head"]).encode("utf-8"),
            "hashes": list_of(stamp["hashes"], hash_text) if "hashes" in stamp else None,
        }
    return {name: member for name, member in value.items() if name != "ledger"}, place, timestamp


def _is_newer(document: Any) -> bool:
    marks = members(document, "the proof", ("v", "kind"), others=True)
    version, kind = natural(marks["v"]), text_of(marks["kind"])
    return kind not in {1: ("block", "batch", "row", "statement"), 2: ("batch", "row")}.get(version, ())


def _has_plain_numbers(document: Any) -> bool:
    """The canonical form leaves 1.0 as it is; an extra line has no such place."""
    numbers = [document[name] for name in ("v", "index", "count") if name in document]
    return all(number == str(natural(number)) for number in numbers)


def _shown(document: Any) -> Tuple[bytes, Dict[str, Any]]:
    """The entry, and what it shows: each member follows from it."""
    if _is_newer(document):
        raise Newer("it is of a form that this version does not know")
    kind = document["kind"]
    if kind == "statement":
        return _stated(document)
    more = ("block",) if kind == "block" else ("record", "salt", "index", "count", "path")
    more += ("signed",) if natural(document["v"]) == 2 else ()
    members(document, "the proof", ("v", "kind", "entry", "dataset", *more))
    dataset = members(document["dataset"], "dataset", ("id", "salt"))
    entry, did, salt = base64_of(document["entry"]), text_of(dataset["id"]), hex_of(dataset["salt"])
    if not re.fullmatch("did:odf:fed01[0-9a-f]{64}", did):
        raise ValueError("dataset.id is no DID of a dataset")
    shown = _block(document) if kind == "block" else _record(document)
    sequence = sequence_of(entry)
    if sequence is None:
        raise ValueError("its entry is not that of a block")
    if hmac.digest(salt, did.encode("ascii"), "sha256") != entry[1:33]:
        raise ValueError("the entry is of another dataset")
    root = {"block": entry[41:73], "batch": entry[73:105], "row": entry[105:]}[kind]
    if shown.pop("root") != root or (kind != "block" and root == _NO_ROOT):
        raise ValueError(f"the entry has no such {kind}")
    if "signed" in document:
        shown["signed"] = open_record(document["signed"], entry)
    return entry, {"kind": kind, "dataset": did, "sequence": sequence, **shown}


def _stated(document: Any) -> Tuple[bytes, Dict[str, Any]]:
    members(document, "the proof", ("v", "kind", "entry", "statement"))
    entry = base64_of(document["entry"])
    text = _json.canonical(members(document["statement"], "the statement", (), others=True))
    if sequence_of(entry) is not None or entry[1:] != hashlib.sha256(text).digest():
        raise ValueError("the entry is not that of the statement")
    statement = parse_statement(text)
    return entry, {"kind": "statement", **{name: statement[name] for name in ("node", "time", "retired")}}


def _block(document: Any) -> Dict[str, Any]:
    block = members(document["block"], "block", ("hash", "salt"))
    name, salt = text_of(block["hash"]), hex_of(block["salt"])
    if not re.fullmatch("f1620[0-9a-f]{64}", name):
        raise ValueError("block.hash is none")
    return {"block": name, "root": hmac.digest(salt, bytes.fromhex(name[1:]), "sha256")}


def _record(document: Any) -> Dict[str, Any]:
    record, salt = document["record"], hex_of(document["salt"])
    index, count, path = natural(document["index"]), natural(document["count"]), list_of(document["path"], hash_text)
    if not isinstance(record, dict):
        raise ValueError("record is not an object")
    tree = root_from(leaf_hash(salt + _json.canonical(record)), index, count, path)
    root = None if tree is None else hashlib.sha256(count.to_bytes(8, "big") + tree).digest()
    return {"record": {"value": _json.plain(record), "index": index, "count": count}, "root": root}


def sequence_of(entry: bytes) -> Optional[int]:
    """Of a block's entry; None of a statement's. ValueError where it is not of the form of its kind; Newer."""
    kind = entry[:1]
    if kind not in (b"", b"\1", b"\2"):
        raise Newer("its entry is of a newer ledger")
    if len(entry) != {b"\1": ENTRY_BYTES, b"\2": 33}.get(kind):
        raise ValueError("the entry is not of the form of its kind")
    sequence = int.from_bytes(entry[33:41], "big")
    if kind == b"\1" and sequence > MOST:
        raise ValueError("the entry has a sequence that is none")
    return sequence if kind == b"\1" else None


def _is_bound(timestamp: Dict[str, Any], leaf: bytes, place: _Place, policy: Optional[Policy]) -> bool:
    """Whether the stamped head is of the same ledger and holds the entry at its place."""
    try:
        stamped = open_head(timestamp["head"], policy)
    except ValueError:
        return False
    text, _ = parse_note(place.head)
    path = timestamp["hashes"]
    if path is None and stamped.text == text:
        path = place.hashes
    if stamped.size != timestamp["size"] or path is None or not text.startswith(f"{stamped.origin}\n"):
        return False
    return root_from(leaf, place.index, stamped.size, path) == stamped.root

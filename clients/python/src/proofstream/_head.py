"""Signed heads of a ledger, and the tree below them: is an entry at its place, and who has signed the head by a policy.

Sources: RFC 9162 §2.1.3.2, https://c2sp.org/signed-note, https://c2sp.org/tlog-checkpoint, https://c2sp.org/tlog-cosignature
(`cosignature/v1`). The same as open-head.ts and tree.ts in src/libraries/ledger of Proofstream.
"""

import base64
import hashlib
import re
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import _ed25519
from ._policy import Key, Policy, from_base64, is_key_name

MOST = 2**53 - 1
MOST_NOTE_BYTES = 131_072
_MOST_SIGNATURES = 100

#: Name of the key, its id, what follows.
_Signature = Tuple[str, bytes, bytes]


@dataclass(frozen=True)
class Head:
    """A head that its ledger has signed, and what the witnesses of a policy have."""

    #: What is signed: three lines or more.
    text: str
    origin: str
    size: int
    root: bytes
    #: `met`, `not met` or `none`.
    quorum: str
    #: Names in the policy, each with the earliest time at which it signed, in seconds since 1970.
    witnessed: Dict[str, int]
    #: Why the quorum is not met, where it is not.
    few: str = ""

    def facts(self) -> Dict[str, Any]:
        ledger = {"origin": self.origin, "size": self.size, "root": base64.b64encode(self.root).decode("ascii")}
        witnessed = [{"name": name, "at": at} for name, at in self.witnessed.items()]
        return {"ledger": ledger, "quorum": self.quorum, "witnessed": witnessed}


def lack_of(origin: str, policy: Optional[Policy]) -> str:
    """Why the policy does not say whether what is of this ledger counts; empty where it does."""
    if policy is None:
        return "whom to trust is not in the file: it takes a policy"
    return "" if policy.has_log(origin) else f"the policy has no log {origin}"


def open_head(data: bytes, policy: Optional[Policy]) -> Head:
    """Judges a head; its form alone, where the policy does not know its ledger. ValueError where it is none or a signature that
    counts is not good."""
    text, signatures = parse_note(data)
    lines = text[:-1].split("\n")
    if len(lines) < 3 or "" in lines:
        raise ValueError("the head is not of three lines or more, none of them empty")
    origin, size, root = lines[0], parse_size(lines[1]), hash_of(lines[2])
    if policy is None or not policy.has_log(origin):
        return Head(text, origin, size, root, "none", {})
    is_signed = False
    for key in policy.logs:
        for signature in _by(key, signatures):
            if not _ed25519.is_signed(key.public, text.encode("utf-8"), signature):
                raise ValueError(f"the signature of {key.name} is not good")
            is_signed = is_signed or key.name == origin
    if not is_signed:
        raise ValueError(_other_key(origin, policy.logs, signatures) or "the head is not signed by its ledger")
    witnessed: Dict[str, int] = {}
    for name, key in policy.witnesses.items():
        times = [_cosigned_at(text, key, signature) for signature in _by(key, signatures)]
        if times:
            witnessed[name] = min(times)
    absent = [key for name, key in policy.witnesses.items() if name not in witnessed]
    others = [_other_key(key.name, list(policy.witnesses.values()), signatures) for key in absent]
    count = "1 witness has" if len(witnessed) == 1 else f"{len(witnessed)} witnesses have"
    few = ". ".join([f"{count} signed the head, fewer than the policy asks for", *[one for one in others if one][:1]])
    return Head(text, origin, size, root, policy.quorum_of(witnessed), witnessed, few)


def _other_key(name: str, keys: Sequence[Key], signatures: Sequence[_Signature]) -> str:
    """That a key has signed in a name for which the policy has another one: which is right nobody can say here. Else empty."""
    signed = [number.hex() for of, number, _ in signatures if of == name][:1]
    known = [key.id.hex() for key in keys if key.name == name and key.id]
    if not signed or not known or signed[0] in known:
        return ""
    return (
        f"In the name of {name} the key {signed[0]} has signed, and the policy has {', '.join(known)} for it. "
        "Either the policy is old, or about another with this name, or the file is forged"
    )


def _by(key: Key, signatures: Sequence[_Signature]) -> List[bytes]:
    return [signature for name, number, signature in signatures if (name, number) == (key.name, key.id)]


def _cosigned_at(text: str, key: Key, signature: bytes) -> int:
    seconds = int.from_bytes(signature[:8], "big")
    message = f"cosignature/v1\ntime {seconds}\n{text}".encode("utf-8")
    if seconds > MOST or not _ed25519.is_signed(key.public, message, signature[8:]):
        raise ValueError(f"the cosignature of {key.name} is not good")
    return seconds


def parse_note(data: bytes) -> Tuple[str, List[_Signature]]:
    """The text of a note, and its signatures. Nothing of them is checked."""
    if len(data) > MOST_NOTE_BYTES:
        raise ValueError(f"the note is longer than {MOST_NOTE_BYTES} bytes")
    source = data.decode("utf-8")
    if re.search("[\0-\x09\x0b-\x1f]", source):
        raise ValueError("the note has a control character")
    text, blank, lines = source.rpartition("\n\n")
    if not blank or not lines.endswith("\n"):
        raise ValueError("the note has no blank line and signatures after it, each with its newline")
    found = lines[:-1].split("\n")
    if len(found) > _MOST_SIGNATURES:
        raise ValueError(f"the note has more than {_MOST_SIGNATURES} signatures")
    return text + "\n", [_signature(line) for line in found]


def _signature(line: str) -> _Signature:
    mark, name, encoded = (line.split(" ", 2) + ["", ""])[:3]
    data = from_base64(encoded)
    if mark != "\u2014" or not is_key_name(name) or data is None or len(data) < 5:
        raise ValueError("the note has a line of a signature that is none")
    return name, data[:4], data[4:]


def parse_size(text: str) -> int:
    """A size or an index in decimal."""
    if not re.fullmatch("0|[1-9][0-9]{0,15}", text) or int(text) > MOST:
        raise ValueError("it has a size or an index that is none")
    return int(text)


def hash_of(text: str) -> bytes:
    """A hash by its base64."""
    data = from_base64(text)
    if data is None or len(data) != 32:
        raise ValueError("it has a hash that is none")
    return data


def leaf_hash(leaf: bytes) -> bytes:
    return hashlib.sha256(b"\0" + leaf).digest()


def root_from(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> Optional[bytes]:
    """The root to which the hash of a leaf leads; None where the path has another length than its place asks for."""
    if index >= size:
        return None
    node, last, root = index, size - 1, leaf
    for beside in path:
        if last == 0:
            return None
        if node % 2 == 1 or node == last:
            root = hashlib.sha256(b"\1" + beside + root).digest()
            while node % 2 == 0 and node != 0:
                node, last = node >> 1, last >> 1
        else:
            root = hashlib.sha256(b"\1" + root + beside).digest()
        node, last = node >> 1, last >> 1
    return root if last == 0 else None

"""Policies: which ledgers and witnesses count, and how many of these. The same as src/libraries/ledger/policy.ts of Proofstream.

Source: https://c2sp.org/tlog-policy, keys of https://c2sp.org/signed-note. What cannot be read is a ValueError that names the line.
"""

import base64
import hashlib
import re
from dataclasses import dataclass, field
from typing import Dict, Iterable, List, Optional, Tuple, Union

from ._texts import text_form

ED25519, COSIGNATURE = 1, 4
_MOST_BYTES = 262_144
_NONE = "none"
#: White space of Unicode, and the plus.
_FOREIGN = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000+]")


@dataclass(frozen=True)
class Key:
    """A public key with its name. Name and id together say which key it is; one of a newer type has no id, and signs nothing here."""

    name: str
    id: bytes
    type: int
    public: bytes


@dataclass(frozen=True)
class Policy:
    """What a reader trusts. `parse_policy` makes it."""

    logs: List[Key]
    #: By their names in the policy.
    witnesses: Dict[str, Key]
    #: Name, how many it takes, members; each after those that it has as members.
    groups: List[Tuple[str, int, List[str]]]
    quorum: str

    def has_log(self, origin: str) -> bool:
        return any(key.name == origin for key in self.logs)

    def quorum_of(self, signed: Iterable[str]) -> str:
        """`met`, `not met`, or `none` where no witness is asked for."""
        if self.quorum == _NONE:
            return "none"
        witnessed = set(signed)
        for name, least, members in self.groups:
            if sum(member in witnessed for member in members) >= least:
                witnessed.add(name)
        return "met" if self.quorum in witnessed else "not met"


@dataclass
class _Draft:
    logs: List[Key] = field(default_factory=list)
    witnesses: Dict[str, Key] = field(default_factory=dict)
    groups: List[Tuple[str, int, List[str]]] = field(default_factory=list)
    #: Names of witnesses and groups; true where a group has it as a member.
    names: Dict[str, bool] = field(default_factory=dict)
    quorum: Optional[str] = None


def parse_policy(text: Union[str, bytes]) -> Policy:
    """Reads a policy, also as a transport of texts has left it. ValueError names the line at fault."""
    data = text.encode("utf-8") if isinstance(text, str) else text
    if len(data) > _MOST_BYTES:
        raise ValueError(f"the policy is longer than {_MOST_BYTES} bytes")
    draft = _Draft()
    for number, line in enumerate(text_form(data)[0].decode("latin-1").split("\n"), 1):
        try:
            _read_line(draft, line)
        except ValueError as error:
            raise ValueError(f"line {number} of the policy {error}") from None
    if draft.quorum is None:
        raise ValueError("the policy has no quorum line")
    return Policy(draft.logs, draft.witnesses, draft.groups, draft.quorum)


def _read_line(draft: _Draft, line: str) -> None:
    if re.search("[^\t -\x7e\x80-\xff]", line):
        raise ValueError("has a control character other than tab and newline")
    keyword, *items = [_name(item) for item in re.split("[ \t]+", line) if item] or [""]
    if keyword == "" or keyword.startswith("#"):
        return
    if keyword == "log" and len(items) in (1, 2):
        draft.logs.append(_key(items[0], ED25519, draft.logs))
    elif keyword == "witness" and len(items) in (2, 3):
        key = _key(items[1], COSIGNATURE, draft.witnesses.values())
        _define(draft, items[0])
        draft.witnesses[items[0]] = key
    elif keyword == "group" and len(items) >= 3:
        _add_group(draft, items[0], items[1], items[2:])
    elif keyword == "quorum" and len(items) == 1 and draft.quorum is None:
        if items[0] != _NONE and items[0] not in draft.names:
            raise ValueError(f"has {items[0]}, which no line above defines")
        draft.quorum = items[0]
    else:
        raise ValueError("is none of log, witness, group and a first quorum, with what belongs to it")


def _add_group(draft: _Draft, name: str, threshold: str, members: List[str]) -> None:
    for member in members:
        if member not in draft.names:
            raise ValueError(f"has {member}, which no line above defines")
        if draft.names[member]:
            raise ValueError(f"has {member}, which is a member already")
        draft.names[member] = True
    words = {"any": 1, "all": len(members)}
    if threshold not in words and not re.fullmatch("[1-9][0-9]{0,5}", threshold):
        raise ValueError(f"has the threshold {threshold[:20]}, which is none")
    least = words.get(threshold) or int(threshold)
    if least > len(members):
        raise ValueError(f"has the threshold {least}, not one from 1 to {len(members)}")
    _define(draft, name)
    draft.groups.append((name, least, members))


def _define(draft: _Draft, name: str) -> None:
    if name == _NONE or name in draft.names:
        raise ValueError(f"defines {name} again")
    draft.names[name] = False


def _name(octets: str) -> str:
    """A name as text: UTF-8, or where it is not that, a lone surrogate for each octet beyond ASCII."""
    try:
        return octets.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return "".join(char if char < "\x80" else chr(0xDC00 + ord(char)) for char in octets)


def _key(text: str, kind: int, others: Iterable[Key]) -> Key:
    found = re.fullmatch(r"([^+]*)\+([0-9a-f]{8})\+(.*)", text, re.DOTALL)
    data = None if found is None else from_base64(found[3])
    if found is None or not is_key_name(found[1]) or data is None:
        raise ValueError("has a key that is not of the form name+key id+base64")
    if any(other.public == data[1:] for other in others):
        raise ValueError("has the key of a line above")
    if kind == COSIGNATURE and data and data[0] not in (ED25519, COSIGNATURE):
        return Key(found[1], b"", data[0], data[1:])
    if data[:1] != bytes((kind,)) or len(data) != 33:
        raise ValueError(f"has a key that is none of 32 bytes for signatures of the type {kind}")
    digest = hashlib.sha256(found[1].encode("utf-8") + b"\n" + data).digest()
    if digest[:4].hex() != found[2]:
        raise ValueError("has a key id that does not follow from name and key")
    return Key(found[1], digest[:4], kind, data[1:])


def is_key_name(name: str) -> bool:
    """A name has no white space (that of Unicode) and no plus."""
    return name != "" and _FOREIGN.search(name) is None


def from_base64(text: str) -> Optional[bytes]:
    """The bytes of a text in base64; None unless it is the one text for them."""
    if not re.fullmatch("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", text):
        return None
    data = base64.b64decode(text)
    return data if base64.b64encode(data).decode("ascii") == text else None

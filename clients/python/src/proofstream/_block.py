"""Blocks of Open Data Fabric as bundles have them: FlatBuffers, of which what links blocks and names slices is read.

The same as block.ts and chain-walk.ts of Proofstream as far as that goes. What is none is a ValueError.
Source: https://flatbuffers.dev/internals, and schemas-generated/flatbuffers/opendatafabric.fbs of Open Data Fabric.
"""

import struct
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Dict, Optional, Tuple

_BLOCK = 0x40_0000
_ADD_DATA, _EXECUTE_TRANSFORM, _SEED = 1, 2, 3


@dataclass
class Chain:
    """Blocks of a dataset, one after the other from its first."""

    id: str
    length: int = 0
    head: Optional[str] = None
    time: str = ""
    rows: int = 0
    #: Those that the blocks name, each once: hash and size.
    slices: Dict[str, int] = field(default_factory=dict)

    def take(self, name: str, data: bytes) -> None:
        """The next block, whose bytes have this hash. ValueError where it does not follow from the one before."""
        block = _read_block(data)
        if block["sequence"] != self.length or block["previous"] != self.head or block["time"] < self.time:
            raise ValueError(f"block {self.length} of {self.id} does not follow from the one before it")
        if (block["seed"] is not None) != (self.length == 0) or block["seed"] not in (None, self.id):
            raise ValueError(f"the chain of {self.id} does not begin with the seed of its id, or has another")
        if block["slice"] is not None:
            slice_hash, size, start, end = block["slice"]
            if start != self.rows or end < start:
                raise ValueError(f"the offsets of block {self.length} of {self.id} do not go on from those before")
            self.slices[slice_hash], self.rows = size, end + 1
        self.length, self.head, self.time = self.length + 1, name, block["time"]


class _Table:
    """A table of a FlatBuffer at a place of its bytes."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at
        self.vtable = at - _number(data, at, "<i")
        self.vtable_bytes = _number(data, self.vtable, "<H")

    def place(self, slot: int) -> int:
        """Where the field is, 0 where it is absent."""
        if 4 + 2 * slot + 2 > self.vtable_bytes:
            return 0
        distance = _number(self.data, self.vtable + 4 + 2 * slot, "<H")
        return self.at + distance if distance else 0

    def number(self, slot: int, form: str, absent: int = 0) -> int:
        at = self.place(slot)
        return _number(self.data, at, form) if at else absent

    def _target(self, slot: int) -> int:
        at = self.place(slot)
        return at + _number(self.data, at, "<I") if at else 0

    def table(self, slot: int) -> Optional["_Table"]:
        at = self._target(slot)
        return _Table(self.data, at) if at else None

    def bytes(self, slot: int) -> Optional[bytes]:
        at = self._target(slot)
        if not at:
            return None
        end = at + 4 + _number(self.data, at, "<I")
        if end > len(self.data):
            raise ValueError("a block ends before its bytes do")
        return self.data[at + 4 : end]


def _number(data: bytes, at: int, form: str) -> int:
    if not 0 <= at <= len(data) - struct.calcsize(form):
        raise ValueError("a block points beyond its bytes")
    return int(struct.unpack_from(form, data, at)[0])


def _root(data: bytes) -> _Table:
    return _Table(data, _number(data, 0, "<I"))


def _read_block(data: bytes) -> Dict[str, Any]:
    manifest = _root(data)
    content = manifest.bytes(2)
    if manifest.number(0, "<Q") != _BLOCK or manifest.number(1, "<i") not in (2, 3) or content is None:
        raise ValueError("it is no block of a version that is known here")
    block = _root(content)
    kind, event = block.number(3, "<B"), block.table(4)
    if event is None:
        raise ValueError("a block has no event")
    slot = {_ADD_DATA: 2, _EXECUTE_TRANSFORM: 3}.get(kind)
    return {
        "time": _time(content, block.place(0)),
        "previous": _hash(block.bytes(1)),
        "sequence": block.number(2, "<Q"),
        "seed": _did(event.bytes(0)) if kind == _SEED else None,
        "slice": None if slot is None else _slice(event.table(slot)),
    }


def _slice(data: Optional[_Table]) -> Optional[Tuple[str, int, int, int]]:
    if data is None:
        return None
    name, offsets = _hash(data.bytes(1)), data.table(2)
    if name is None or offsets is None:
        raise ValueError("a block names a slice without its hash or its offsets")
    return name, data.number(3, "<Q"), offsets.number(0, "<Q"), offsets.number(1, "<Q")


def _hash(data: Optional[bytes]) -> Optional[str]:
    if data is not None and (data[:2] != b"\x16\x20" or len(data) != 34):
        raise ValueError("a block has a hash that is none of SHA3-256")
    return None if data is None else f"f{data.hex()}"


def _did(data: Optional[bytes]) -> str:
    if data is None or data[:2] != b"\xed\x01" or len(data) != 34:
        raise ValueError("a block has an id of a dataset that is none")
    return f"did:odf:f{data.hex()}"


def _time(data: bytes, at: int) -> str:
    """RFC 3339 in UTC, with as many places as there are; such texts are ordered as times are, but for zeros at their ends."""
    year, day, second, nanos = (_number(data, at + place, form) for place, form in ((0, "<i"), (4, "<H"), (8, "<I"), (12, "<I")))
    if not at or not 1 <= year <= 9999 or not 1 <= day <= 366 or second >= 86_400 or nanos >= 10**9:
        raise ValueError("a block has no time, or one that is none")
    month_day = date(year, 1, 1) + timedelta(days=day - 1)
    clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    return f"{month_day.isoformat()}T{clock}.{nanos:09}Z"

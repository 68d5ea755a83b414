"""Bundles: a proof with all blocks and rows that it names, in one tar file. docs/spec/bundle.md of Proofstream.

All is read once, in pieces, and held against the proof. What is not looked at here, `OPEN` says.
"""

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Optional, Protocol, Set, Tuple

from . import _json, proof
from ._answer_report import InBundle, answer_report, failed_report
from ._block import Chain
from ._inclusion import Newer, open_proof
from ._policy import Policy
from ._receipt import Trust
from ._report import Report, altered
from ._shape import hex_of, list_of, members, natural, text_of
from ._signed_answer import datasets_of, text_at

_FIRST_NAME = b"manifest.json\0"
#: So many bytes tell a bundle.
HEAD_BYTES = 512
OPEN = "Whether each event in the blocks keeps the rules of chains, as those of schemas and sources: proofstream verify --bundle FILE."
_WHAT = "a bundle"
_HASH, _DID = "f1620[0-9a-f]{64}", "did:odf:fed01[0-9a-f]{64}"
_PIECE_BYTES = 1024 * 1024
_MOST_OBJECTS = 500_000
_MOST_MANIFEST, _MOST_ENGINE, _MOST_LEDGER = 64 * 1024 * 1024, 64 * 1024, 256 * 1024
_MOST_BLOCK, _MOST_FILE = 16 * 1024 * 1024, 8**11 - 1
_PLAIN_DIALECT = "SqlDuckDb"

#: Hash and size of a file.
_Entry = Tuple[str, int]


class Source(Protocol):
    """Bytes in their order."""

    def read(self, size: int, /) -> bytes:
        """So many, fewer only at its end."""


class _Fault(Exception):
    """Why a bundle cannot be used: an outcome (`no evidence`, `impossible` or `altered`) and a sentence."""


@dataclass
class _Found:
    """What was read of a bundle so far."""

    trust: Trust
    proof: bytes = b""
    body: Dict[str, Any] = field(default_factory=dict)
    times: Dict[str, str] = field(default_factory=dict)
    ledger: List[Any] = field(default_factory=list)
    rows: int = 0
    #: By dataset and sequence.
    blocks: Dict[Tuple[str, int], str] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenedBundle:
    """What is said of a bundle, and its saved answer where it is whole. `blocks`, of a whole one of a single dataset: its id and their
    hashes by sequence."""

    report: Report
    proof: Optional[bytes] = None
    blocks: Dict[int, Tuple[str, str]] = field(default_factory=dict)


def is_bundle(head: bytes) -> bool:
    """Whether a file begins as bundles and other tar archives do."""
    return head.startswith(_FIRST_NAME) or head[257:262] == b"ustar"


def open_bundle(file: Source, trust: Trust, lack: str) -> OpenedBundle:
    """Reads and checks a bundle from its start. `lack`: what to do where there is no policy. Raises OSError."""
    found = _Found(trust)
    proven: Optional[bytes] = None
    try:
        blocks = _read(_Tar(file), found)
        held = InBundle(blocks, found.rows, found.times, found.ledger, lack if trust.policy is None else "", [OPEN])
        report, proven = answer_report(found.body, trust, held), found.proof
    except proof.ProofError as error:
        report = failed_report(error)
    except _Fault as fault:
        report = _faulty_report(*fault.args)
    is_single = proven is not None and len({did for did, _ in found.blocks}) == 1
    return OpenedBundle(report, proven, {at: (did, name) for (did, at), name in found.blocks.items()} if is_single else {})


def _faulty_report(verdict: str, sentence: str) -> Report:
    if verdict != "altered":
        return Report(_WHAT, verdict, "Cannot be judged here", [sentence])
    said = "The fault is in the bundle. It says nothing against the signer of the proof."
    return altered(_WHAT, [sentence, said], "Do not trust this bundle")


def _read(tar: "_Tar", found: _Found) -> int:
    """Reads it to its end; how many blocks it has."""
    manifest = _manifest(tar)
    found.proof = tar.whole("proof.json", manifest["proof"], proof.MOST_BYTES)
    found.body = proof.check(found.proof, found.trust.signer)
    pins = _pins(found.body, {one["id"] for one in manifest["datasets"]})
    dialect = text_at(found.body["input"], "queryDialect")
    _check_engine(tar.whole("engine.json", manifest["engine"], _MOST_ENGINE), _PLAIN_DIALECT if dialect is None else dialect)
    for one in manifest["ledger"]:
        did, block = one["id"], one["block"]
        if block not in pins.get(did, {}):
            raise _Fault("altered", f"It has a ledger proof of block {block} of {did}, which the proof does not name.")
        data = tar.whole(f"ledger/{did[len('did:odf:') :]}/{block}.tlog-proof", one["proof"], _MOST_LEDGER)
        found.ledger.append(_judge_proof(data, did, block, found.trust.policy))
    for one in manifest["datasets"]:
        _read_chain(tar, one, pins[one["id"]], found)
    tar.end()
    return sum(len(one["blocks"]) for one in manifest["datasets"])


def _manifest(tar: "_Tar") -> Dict[str, Any]:
    data = tar.first(_MOST_MANIFEST)
    try:
        value = _json.parse(data.decode("utf-8"), 8)
        version = value.get("version") if isinstance(value, dict) else None
        if isinstance(version, _json.Number) and re.fullmatch("[2-9]|[1-9][0-9]+", version):
            raise _Fault("impossible", f"It is a bundle of version {version[:20]}; this program reads version 1.")
        manifest = members(value, "the manifest", ("kind", "version", "proof", "datasets", "engine", "ledger"))
        if (text_of(manifest["kind"]), natural(manifest["version"])) != ("proofstream-bundle", 1) or _json.canonical(value) != data:
            raise ValueError("it is not canonical JSON, or of another kind")
        read = {
            "proof": _entry(manifest["proof"]),
            "engine": _entry(manifest["engine"]),
            "datasets": list_of(manifest["datasets"], _dataset),
            "ledger": list_of(manifest["ledger"], _of_ledger),
        }
    except ValueError as error:
        raise _Fault("no evidence", f"It is no bundle: its manifest cannot be read, {error}.") from None
    for ids in ([one["id"] for one in read["datasets"]], [f"{one['id']} {one['block']}" for one in read["ledger"]]):
        if any(first >= second for first, second in zip(ids, ids[1:])):
            raise _Fault("no evidence", "It is no bundle: its manifest is not in the order of ids.")
    if sum(len(one["blocks"]) + len(one["slices"]) for one in read["datasets"]) > _MOST_OBJECTS:
        raise _Fault("impossible", f"It has more than {_MOST_OBJECTS} blocks and slices.")
    return read


def _entry(value: Any) -> _Entry:
    if not isinstance(value, list) or len(value) < 2 or natural(value[1]) > _MOST_FILE:
        raise ValueError("it has another value where hash and size of a file must be")
    return _form(_HASH, value[0]), natural(value[1])


def _form(pattern: str, value: Any) -> str:
    if not re.fullmatch(pattern, text_of(value)):
        raise ValueError("it has a text that is not of the right form")
    return text_of(value)


def _dataset(value: Any) -> Dict[str, Any]:
    one = members(value, "a dataset", ("id", "blocks", "slices"))
    blocks, slices = list_of(one["blocks"], _entry), list_of(one["slices"], _entry)
    if not blocks:
        raise ValueError("it has a dataset without blocks")
    return {"id": _form(_DID, one["id"]), "blocks": blocks, "slices": slices}


def _of_ledger(value: Any) -> Dict[str, Any]:
    one = members(value, "a proof of a ledger", ("id", "block", "proof"))
    return {"id": _form(_DID, one["id"]), "block": _form(_HASH, one["block"]), "proof": _entry(one["proof"])}


def _pins(body: Dict[str, Any], held: Set[str]) -> Dict[str, Dict[str, Optional[str]]]:
    """The blocks that the proof names, by dataset, and when each was made where it says so."""
    pins: Dict[str, Dict[str, Optional[str]]] = {}
    for one in datasets_of(body["input"]):
        if "blockHash" not in one:
            name = one.get("alias", one["id"])
            raise _Fault("impossible", f"The proof does not say up to which block it is of {name}: it cannot be run again.")
        pins.setdefault(one["id"], {})[one["blockHash"]] = one.get("blockTime")
    missing, extra = sorted(pins.keys() - held), sorted(held - pins.keys())
    if missing:
        raise _Fault("altered", f"The proof names the dataset {missing[0]}, which is not here.")
    if extra:
        raise _Fault("altered", f"It holds the dataset {extra[0]}, which the proof does not name.")
    return pins


def _check_engine(data: bytes, dialect: str) -> None:
    try:
        value = _json.parse(data.decode("utf-8"))
        engine = members(value, "engine.json", ("dialect", "forms", "needs"), ("engine",))
        _form("[ -~]{1,300}", engine["needs"]), text_of(engine["dialect"])
        for one in [engine["engine"]] if "engine" in engine else []:
            _words(members(one, "engine", ("name", "version")))
        list_of(engine["forms"], _engine_form)
        if _json.canonical(value) != data:
            raise ValueError("it is not canonical JSON")
    except ValueError as error:
        raise _Fault("altered", f"The engine is not said as a bundle says it: {error}.") from None
    if engine["dialect"] != dialect:
        raise _Fault("altered", "engine.json is about another dialect than the proof.")


def _engine_form(value: Any) -> None:
    form = dict(members(value, "a form", ("form", "package", "libraries")))
    libraries = members(form.pop("libraries"), "libraries", (), others=True)
    _words(form)
    if not libraries:
        raise ValueError("a form names no library")
    for platform, digest in libraries.items():
        _form("[a-z0-9.-]{1,50}", platform), hex_of(digest)


def _words(value: Dict[str, Any]) -> None:
    for text in value.values():
        _form("[!-~]{1,100}", text)


def _judge_proof(data: bytes, did: str, block: str, policy: Optional[Policy]) -> Any:
    """Block, verdict, why, and facts. It is of exactly this block."""
    try:
        proven = open_proof(data, policy)
        facts = proven.facts
        if (facts["kind"], facts.get("dataset"), facts.get("block")) != ("block", did, block):
            raise ValueError("it is not the proof of this block")
    except Newer as newer:
        return block, "impossible", str(newer), {}
    except ValueError as error:
        raise _Fault("altered", f"The ledger's proof of block {block} is altered: {error}.") from None
    verdict, reason, _ = proven.verdict()
    return block, verdict, reason, facts


def _read_chain(tar: "_Tar", dataset: Dict[str, Any], pins: Dict[str, Optional[str]], found: _Found) -> None:
    did, unseen = dataset["id"], set(pins)
    chain, folder = Chain(did), f"datasets/{did[len('did:odf:') :]}"
    for entry in dataset["blocks"]:
        name = entry[0]
        if not unseen:
            raise _Fault("altered", f"It holds blocks of {did} after those that the proof names.")
        data = tar.whole(f"{folder}/blocks/{name}", entry, _MOST_BLOCK)
        try:
            chain.take(name, data)
        except ValueError as error:
            raise _Fault("altered", f"The chain of {did} breaks: {error}.") from None
        found.blocks[did, chain.length - 1] = name
        if name in pins:
            made = re.sub(r"\.?0*Z$", "Z", chain.time)
            if pins[name] not in (None, made):
                raise _Fault("altered", f"The block {name} was not made at the time that the proof says.")
            found.times[name] = made
        unseen.discard(name)
    if unseen:
        raise _Fault("altered", f"The proof names block {min(unseen)} of {did}, which is not in the chain that is here.")
    if list(chain.slices.items()) != dataset["slices"]:
        raise _Fault("altered", f"The slices of {did} are not those that its blocks name, with hash and size.")
    for entry in dataset["slices"]:
        tar.check(f"{folder}/data/{entry[0]}", entry, lambda piece: None)
    found.rows += chain.rows


class _Tar:
    """POSIX ustar as a bundle has it: each header follows from path and size."""

    def __init__(self, file: Source) -> None:
        self._file = file
        self._taken = 0

    def first(self, most: int) -> bytes:
        """The manifest, whose size nothing tells before."""
        header = self._file.read(512)
        self._taken = len(header)
        size = header[124:135]
        if len(header) < 512 or not header.startswith(_FIRST_NAME) or not re.fullmatch(b"[0-7]{11}", size):
            raise _Fault("no evidence", "It is no bundle: it does not begin with manifest.json in a tar archive.")
        if int(size, 8) > most:
            raise _Fault("impossible", f"Its manifest has {int(size, 8)} bytes; {most} are read.")
        self._demand_header(header, "manifest.json", int(size, 8))
        data = self._take(int(size, 8))
        self._padding("manifest.json", len(data))
        return data

    def whole(self, path: str, entry: _Entry, most: int) -> bytes:
        """The next file, which must have this path, hash and size."""
        if entry[1] > most:
            raise _Fault("impossible", f"{path} has more than {most} bytes.")
        pieces: List[bytes] = []
        self.check(path, entry, pieces.append)
        return b"".join(pieces)

    def check(self, path: str, entry: _Entry, take: Callable[[bytes], Any]) -> None:
        """Checks the next file, and hands its pieces on."""
        name, size = entry
        self._demand_header(self._take(512), path, size)
        digest = hashlib.sha3_256()
        for piece in self._pieces(path, size):
            digest.update(piece)
            take(piece)
        if f"f1620{digest.hexdigest()}" != name:
            raise _Fault("altered", f"The bytes of {path} hash to f1620{digest.hexdigest()}, not to {name}.")
        self._padding(path, size)

    def end(self) -> None:
        """Nothing follows but the zeros that end an archive."""
        zeros = bytes(1024 + (-(self._taken + 1024) % 10_240))
        if self._file.read(len(zeros) + 1) != zeros:
            raise _Fault("altered", "It does not end where its last file does: bytes are missing there, or too many.")

    def _pieces(self, path: str, size: int) -> Iterator[bytes]:
        while size > 0:
            piece = self._file.read(min(size, _PIECE_BYTES))
            if not piece:
                raise _Fault("altered", f"It ends before {path} does.")
            size -= len(piece)
            self._taken += len(piece)
            yield piece

    def _take(self, size: int) -> bytes:
        return b"".join(self._pieces("its next file", size))

    def _padding(self, path: str, size: int) -> None:
        zeros = bytes(-size % 512)
        if self._take(len(zeros)) != zeros:
            raise _Fault("altered", f"Behind {path} stand not the zeros of a tar archive.")

    def _demand_header(self, header: bytes, path: str, size: int) -> None:
        if header != _header(path, size):
            raise _Fault("altered", f"Where {path} with {size} bytes must come stands another file, or none.")


def _header(path: str, size: int) -> bytes:
    """The 512 bytes before a file: mode 0644, owner 0, time 0. A long path is parted at its last slash."""
    prefix, _, name = path.rpartition("/") if len(path) > 100 else ("", "", path)
    fields = (
        (name, 100),
        ("0000644\0" + "0000000\0" * 2 + f"{size:011o}\0" + "0" * 11 + "\0" + " " * 8 + "0", 157),
        ("ustar\x0000", 72),
        ("0000000\0" * 2 + prefix, 183),
    )
    header = b"".join(text.encode("ascii").ljust(length, b"\0") for text, length in fields)
    return header[:148] + f"{sum(header):06o}\0 ".encode("ascii") + header[156:]

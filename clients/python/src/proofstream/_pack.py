"""Evidence packs: one zip with bundles, proofs of a ledger, answers, receipts, and a page that says what all of it is.

It is read once, in pieces: each byte must be the one that follows from the files, and the page the one that they make.
docs/spec/evidence-pack.md of Proofstream, and the same as src/libraries/evidence/pack there.
"""

import hashlib
import re
import struct
import zlib
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

from ._bundle import OpenedBundle, Source, open_bundle
from ._ledger import judge
from ._ledger_report import NOT_IDENTIFIED, WHOSE_KEY, altered_ledger, ledger_report, witness_lines
from ._pack_page import PAGE, Order, PackedFile, PackFault, facts_of, pack_page
from ._receipt import Beside, Trust, beside_of
from ._report import NOT_SHOWN, STRANGER, Line, Report, altered, change_remark, nth, times
from ._texts import text_form
from ._two_histories import Shows, Told, block_shown, contradicted, head_shown, two_chains, with_histories
from .proof import ProofError

#: Of files that lie beside one another: a report of each, in their order, and its head.
Judge = Callable[[List[bytes], Trust], List[Told]]

_BY_NOBODY = ("the pack", "nobody: somebody has put these files together")
_WHAT, _PROOF = "an evidence pack", "a proof that a ledger has a block"
_LOCAL, _CENTRAL, _END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
_HEADER_BYTES, _MOST_NAME, _PIECE_BYTES = 30, 200, 1024 * 1024
_MOST_FILES, _MOST_BYTES, _MOST_HELD = 65_000, 2**32 - 2, 512 * 1024 * 1024
#: Of proofs that are not good, and of witnesses.
_MOST_TOLD = 20
#: What a report says of a file that is of its folder.
_OWN = {
    "answers": ("a saved answer",),
    "receipts": ("a signed receipt", "a receipt with"),
    "statement": ("a proof that a ledger has a statement",),
}
_NAME_IT = "Anyone can make a key. Name the one that must have signed: --signer did:key:…."
_WORST_FIRST = ("altered", "promise broken", "no evidence", "impossible", "witness quorum not met", "not judged")


def is_pack(head: bytes) -> bool:
    """Whether a file begins as packs do."""
    start = head[: _HEADER_BYTES + len(PAGE)]
    return start.startswith(_LOCAL) and start.endswith(PAGE.encode("ascii"))


def pack_reports(file: Source, trust: Trust, judge: Judge) -> Tuple[List[Report], Shows]:
    """On the pack, then on its answers, receipts, statement and bundles, and on proofs of the ledger that are not good.

    Raises OSError. `file` of a report is the path in the pack.
    """
    try:
        return _judged(_read(file, trust), trust, judge)
    except PackFault as fault:
        if fault.verdict != "altered":
            return [Report(_WHAT, fault.verdict, "Cannot be judged here", [str(fault)])], {}
        who = "The fault is in the pack. It says nothing against those who have signed what is in it."
        return [altered(_WHAT, [str(fault), who], "Do not trust this pack")], {}


# The container, which follows from the names, sizes and sums of the files.


class _Member:
    """A file of a zip while it is read. Its sum is looked at behind its last byte."""

    def __init__(self, file: Source, name: bytes, size: int, crc: int) -> None:
        self.path, self.size, self.crc = name.decode("ascii"), size, crc
        self._file, self._left, self._sum, self._hash = file, size, 0, hashlib.sha256()

    def header(self) -> bytes:
        """What both headers have between their signatures and what follows."""
        return struct.pack("<5H3I2H", 10, 0, 0, 0, 33, self.crc, self.size, self.size, len(self.path), 0)

    def read(self, size: int, /) -> bytes:
        """So many bytes, fewer at its end. Raises PackFault."""
        wanted = min(size, self._left)
        data = self._file.read(wanted)
        self._left -= len(data)
        self._sum = zlib.crc32(data, self._sum)
        self._hash.update(data)
        if len(data) < wanted:
            raise PackFault(f"It ends before {self.path} does.")
        if self._left == 0 and self._sum != self.crc:
            raise PackFault(f"The bytes of {self.path} have not the sum that its header has.")
        return data

    def rest(self) -> Iterator[bytes]:
        while piece := self.read(_PIECE_BYTES):
            yield piece

    def sha256(self) -> str:
        return self._hash.hexdigest()


def _members(file: Source) -> Iterator[_Member]:
    """The files one after the other. What is not taken of one is read all the same."""
    members: List[_Member] = []
    while (start := file.read(_HEADER_BYTES)).startswith(_LOCAL):
        crc, size, length = (int.from_bytes(start[at:end], "little") for at, end in ((14, 18), (18, 22), (26, 28)))
        name = file.read(min(_MOST_NAME, length))
        if not re.fullmatch(rb"[!-~]{1,199}", name):
            raise PackFault("The name of a file is not as a pack has it.")
        member = _Member(file, name, size, crc)
        if start != _LOCAL + member.header():
            raise PackFault(f"The header of {member.path} is not as a pack has it.")
        yield member
        for _ in member.rest():
            pass
        members.append(member)
    if not members:
        raise PackFault("It is no evidence pack.", "no evidence")
    end = _end_of(members)
    if start + file.read(max(0, len(end) - len(start)) + 1) != end:
        raise PackFault("What stands behind its last file is not as a pack has it.")


def _end_of(members: Sequence[_Member]) -> bytes:
    place = sum(_HEADER_BYTES + len(one.path) + one.size for one in members)
    size, count = sum(46 + len(one.path) for one in members), len(members)
    if place + size > _MOST_BYTES or count > _MOST_FILES:
        most = f"A pack holds at most {_MOST_FILES} files and 4 GiB; this has {count} and {place} bytes."
        raise PackFault(most, "impossible")
    end = [_END, struct.pack("<4H2IH", 0, 0, count, count, size, place, 0)]
    for one in reversed(members):
        place -= _HEADER_BYTES + len(one.path) + one.size
        zeros = struct.pack("<3H2I", 0, 0, 0, 0, place)
        end.append(_CENTRAL + b"\n\0" + one.header() + zeros + one.path.encode("ascii"))
    return b"".join([*end[:1:-1], *end[:2]])


# The files, in the order of their names.


@dataclass(frozen=True)
class _Held:
    """A file that is held. `number`: its own, or of the bundle that a proof of the ledger is of; `sequence`: of the block of that."""

    path: str
    folder: str
    number: int
    sequence: int
    data: bytes


@dataclass
class _Contents:
    #: Without the page.
    files: List[PackedFile] = field(default_factory=list)
    held: List[_Held] = field(default_factory=list)
    bundles: List[OpenedBundle] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        return all(one.proof is not None for one in self.bundles)


def _read(file: Source, trust: Trust) -> _Contents:
    """Raises PackFault where it is not as it was made."""
    order, found, page, held_bytes = Order(), _Contents(), None, 0
    for member in _members(file):
        path, facts = member.path, []
        if page is None and path != PAGE:
            raise PackFault(f"It does not begin with {PAGE}.")
        folder, number, sequence = ("", 0, 0) if page is None else order.next(path)
        if folder == "bundles":
            bundle = open_bundle(member, trust, "A policy judges them.")
            found.bundles.append(bundle)
            facts = [] if bundle.proof is None else facts_of(folder, bundle.proof)
        else:
            held_bytes += member.size
            if held_bytes > _MOST_HELD:
                raise PackFault("Its answers and proofs are larger than a program holds.", "impossible")
            held = _Held(path, folder, number, sequence, b"".join(member.rest()))
            if page is None:
                page = held.data
                continue
            is_first = not found.held or (found.held[-1].folder, found.held[-1].number) != (folder, number)
            facts = _facts(held, is_first)
            found.held.append(held)
        for _ in member.rest():
            pass
        found.files.append(PackedFile(path, member.size, member.sha256(), facts))
    order.end()
    # The page of what is faulty is not looked at: the fault is told.
    if found.is_whole and page != pack_page(found.files):
        raise PackFault(f"{PAGE} is not the page that its files make.")
    return found


def _facts(held: _Held, is_first: bool) -> List[Line]:
    """Of a folder of the ledger the first file tells. Large ones are looked through, too, before values are made of them."""
    if held.folder == "keys" or (held.folder == "ledger" and not is_first and len(held.data) <= _PIECE_BYTES):
        return []
    try:
        return facts_of(held.folder, held.data)
    except ValueError as error:
        raise PackFault(f"{held.path} cannot be read: {error}.") from None


# What is said of it.


@dataclass(frozen=True)
class _Proof:
    """A proof of the ledger, judged. `lack`: why the policy does not know its ledger."""

    report: Report
    sequence: int
    facts: Dict[str, Any] = field(default_factory=dict)
    lack: str = ""
    has_stamp: bool = False

    def told(self) -> Told:
        return self.report, head_shown(self.facts["ledger"] if self.facts and not self.lack else None)


def _judge_proof(held: _Held, bundle: OpenedBundle, trust: Trust) -> _Proof:
    remarks = change_remark(text_form(held.data)[1])
    try:
        judged = judge(held.data, ("proof", None), Beside(), trust)
    except ProofError as error:
        report = altered_ledger("proof", str(error.__cause__ or error))
        return _Proof(replace(report, file=held.path, remarks=remarks), held.sequence)
    said, report = judged.said, replace(ledger_report(judged, trust), remarks=remarks)
    is_of = said.get("kind") == "block" and (said["dataset"], said["block"]) == bundle.blocks.get(held.sequence)
    if said and bundle.proof is not None and not is_of:
        report = altered(_PROOF, ["It is not of the block that its bundle has there."])
    lack = judged.reason if judged.verdict == "not judged" else ""
    return _Proof(replace(report, file=held.path), held.sequence, said, lack, said.get("has_stamp", False))


def _of_kind(report: Report, folder: str) -> Report:
    """A file that is none of its folder is not what a pack holds."""
    if report.what.startswith(_OWN[folder]) or report.verdict in ("altered", "impossible"):
        return report
    return altered("a file", [f"It is not what {folder} is for."])


def _keys_stated(stated: List[_Held], ledger: List[_Proof], trust: Trust) -> Dict[str, str]:
    """The keys that the ledger of all these proofs, one of the policy, names as those of its node. One that leaked is none."""
    keys: Dict[str, str] = {}
    origins = {one.facts["ledger"]["origin"] for one in ledger if one.facts}
    for one in beside_of([held.data for held in stated], trust.policy).statements:
        if one.verdict()[0] == "included" and origins <= {one.head.origin}:
            place = f"the {nth(one.index)} entry of {one.head.origin} names it as"
            former = [key for key in one.facts["retired"] if key["why"] != "leaked"]
            keys.update({key["node"]: f"{place} a former key of its node, until {key['at']}" for key in former})
            keys[one.facts["node"]] = f"{place} the node"
    return keys


def _with_key(report: Report, keys: Dict[str, str]) -> Report:
    """Of an answer, whose key has signed it, where a ledger names it and the reader has named none."""
    key = report.signed[0][1] if ("whose", NOT_IDENTIFIED) in report.signed else ""
    if key not in keys:
        return report
    is_open = [one for one in report.open if one != WHOSE_KEY]
    headline = report.headline.replace(STRANGER, "")
    return replace(report, headline=headline, is_of_stranger=None, signed=[("key", key), ("whose", keys[key])], open=is_open)


def _judged(found: _Contents, trust: Trust, judge_all: Judge) -> Tuple[List[Report], Shows]:
    ledger = [_judge_proof(one, found.bundles[one.number - 1], trust) for one in found.held if one.folder == "ledger"]
    keys = _keys_stated([one for one in found.held if one.folder == "statement"], ledger, trust)
    by = replace(trust, keys=keys)
    answers = [one for one in found.held if one.folder == "answers"]
    others = [one for one in found.held if one.folder in ("receipts", "statement")]
    beside = [*judge_all([one.data for one in others], by), *(one.told() for one in ledger)]
    told = with_histories(beside)
    ledger = [replace(one, report=report) for one, report in zip(ledger, told[len(others) :])]
    judged = [*(judge_all([one.data], by)[0][0] for one in answers), *told]
    parts = [replace(_of_kind(report, one.folder), file=one.path) for one, report in zip([*answers, *others], judged)]
    bundles = [one for one in found.files if one.path.startswith("bundles/")]
    parts += [replace(one.report, file=file.path) for file, one in zip(bundles, found.bundles)]
    parts = [_with_key(one, keys) for one in parts]
    strangers = [] if trust.signer else [one for one in parts if _is_of_stranger(one, keys)]
    histories = _histories(beside, found.bundles)
    report = _head_of([*(one.report for one in ledger), *parts], strangers, histories, found.is_whole)
    report = _with_facts(report, found, ledger, parts)
    bad = [one.report for one in ledger if one.report.verdict not in ("included", "not judged")]
    blocks = [block_shown(did, at, name) for one in found.bundles for at, (did, name) in one.blocks.items()]
    shows = {what: which for one in [*(heads for _, heads in beside), *blocks] for what, which in one.items()}
    return [report, *parts, *bad[:_MOST_TOLD]], shows


def _histories(told: Sequence[Told], bundles: Sequence[OpenedBundle]) -> List[str]:
    """That a ledger or a node has shown two histories."""
    heads = "A ledger has shown two histories: heads of one size in this pack have different roots."
    chains = two_chains([one.blocks for one in bundles])
    paths = [] if chains is None else [f"bundles/{place + 1:03}.tar" for place in chains[:2]]
    of = [f"{' and '.join(paths)} have different blocks {chains[2]} of one dataset: there are two histories of it."] if chains else []
    return [*([heads] if contradicted(told) else []), *of]


def _with_facts(report: Report, found: _Contents, ledger: List[_Proof], parts: List[Report]) -> Report:
    bundles = [one for one in found.files if one.path.startswith("bundles/")]
    page = "Its first page is the one that its files make."
    proofs, told = f"{len(ledger)} proof{'' if len(ledger) == 1 else 's'}", len(parts)
    datasets = [("dataset", f"{text}, {one.path}") for one in bundles for name, text in one.facts if name == "dataset"]
    chains = [one.sequence for one in ledger] or [0]
    range_of = [("ledger", f"{proofs} of blocks, sequence {min(chains)} to {max(chains)} of their chains")]
    looked = {True: "it says; nobody has looked", False: "a key of the policy"}
    origins = [("ledger", f"{one.facts['ledger']['origin']}, {looked[one.lack != '']}") for one in ledger if one.facts]
    seen = [line for one in ledger if one.facts for line in witness_lines(one.facts["witnessed"])]
    in_keys = "The files in keys/: they are the word of the sender, and nothing was judged by them."
    stamps = "Time stamps: unpack the zip, and proofstream verify ledger/*/*.json --tsa-ca CA.pem."
    rows = "Whether the rows follow from the blocks: unpack the zip, and proofstream verify --bundle bundles/*.tar."
    return replace(
        report,
        about=[
            ("files", f"{len(found.files) + 1}, of which {told} {'is' if told == 1 else 'are'} told below"),
            *datasets,
            *(range_of if ledger else []),
        ],
        signed=_each_once([_BY_NOBODY, *(line for one in parts for line in one.signed if line[0] == "key"), *origins]),
        when=times(_each_once(seen)[:_MOST_TOLD], not any(one.lack for one in ledger)),
        checked=[
            "The zip has the form of a pack, and each of its bytes follows from its files.",
            *([page] if found.is_whole else []),
            *([f"{proofs}: each block is in its bundle, and an entry of the ledger."] if ledger and report.code == 0 else []),
        ],
        open=[
            *([in_keys] if any(one.folder == "keys" for one in found.held) else []),
            *([stamps] if any(one.has_stamp for one in ledger) else []),
            *([rows] if found.bundles else []),
        ],
        hashes=[(one.path, one.sha256) for one in found.files[:100]],
    )


def _is_of_stranger(report: Report, keys: Dict[str, str]) -> bool:
    """What no key of the ledger has signed anybody can have made."""
    return any(name == "key" and key not in keys for name, key in report.signed)


def _head_of(each: Sequence[Report], strangers: Sequence[Report], histories: List[str], is_whole: bool) -> Report:
    """The worst verdict, of the first that has it. `strangers` are good by themselves, and signed by a key that nobody has named."""
    bad = [one for verdict in _WORST_FIRST for one in each if one.verdict == verdict]
    ends = {"verified": "and each file is as it was signed", "not judged": "but not judged: whom to trust is yours to say"}
    worst, why = "verified", histories
    if bad:
        worst, why = bad[0].verdict, [f"{bad[0].file}: {bad[0].headline}.", *bad[0].why]
    elif strangers:
        stranger = f"{strangers[0].file} is signed by a key that neither you nor a ledger of your policy has named."
        worst, why = "not judged", [stranger, _NAME_IT]
    elif histories:
        worst, ends = "not judged", {"not judged": "and it shows two histories"}
    if worst == "altered":
        return replace(altered(_WHAT, [one for one in why if one != NOT_SHOWN], "Do not trust this pack"), remarks=histories)
    headline = f"Whole, {ends.get(worst, f'but {worst}')}" if is_whole else "Cannot be judged here"
    return Report(_WHAT, worst, headline, why, remarks=histories)


def _each_once(lines: Sequence[Line]) -> List[Line]:
    return list(dict.fromkeys(lines))

"""Files of evidence, several at once and of any kind, judged by what is in them, by what lies beside them, and by whom the reader
trusts. Nobody is asked. The same as src/libraries/evidence/judge.ts of Proofstream."""

import io
import os
from dataclasses import replace
from datetime import datetime
from typing import Any, BinaryIO, Iterable, List, Optional, Tuple, Union

from . import _json, proof
from ._answer_report import answer_report, failed_report
from ._bundle import HEAD_BYTES, is_bundle, open_bundle
from ._ledger import Part, judge, kind_of, trust_of
from ._ledger_report import altered_ledger, ledger_report, suggestion_remark
from ._other import other_report
from ._pack import is_pack, pack_reports
from ._policy import Policy
from ._receipt import Beside, Trust, beside_of
from ._report import Report, change_remark
from ._texts import text_form
from ._two_histories import Shows, Told, shows_of, with_histories

#: A path, or what a file has in it.
File = Union[str, "os.PathLike[str]", bytes]


class _Given:
    """A file, and its kind. `name`: its path, where it came by one. A bundle and a pack are not read as a whole."""

    def __init__(self, file: File, is_packed: bool = False) -> None:
        self.name = None if isinstance(file, bytes) else os.fspath(file)
        with _opened(file) as opened:
            head = opened.read(HEAD_BYTES)
            # What is no file gives its bytes once.
            is_file = not is_packed and (self.name is None or os.path.isfile(self.name))
            self.is_pack, self.is_bundle = is_file and is_pack(head), is_file and is_bundle(head)
            self.is_small = not self.is_pack and not self.is_bundle
            self.data = head + opened.read() if self.is_small else b""
        self.known: Tuple[Optional[str], Any] = kind_of(self.data) if self.is_small else (None, None)
        self.file = file


def report(
    files: Iterable[File],
    *,
    signer: Optional[str] = None,
    policy: Union[str, bytes, Policy, None] = None,
    now: Optional[datetime] = None,
) -> List[Report]:
    """What is to be said of files of evidence of any kind, in their order. Paths are read; bytes are what a file has in it.

    All files lie beside one another: a proof shows what became of a receipt, and the rows of an answer that were saved apart belong to
    it, and have no report of their own. An evidence pack has a report, and then one for each file in it that is told of, named
    `pack.zip/path`: nothing in it lies beside other files. `signer`, `policy` and `now` as in `verify`. Raises OSError where a file
    cannot be read, and ValueError for a policy that cannot.
    """
    trust = trust_of(policy, signer, now)
    given = [_Given(file) for file in files]
    apart: List[_Given] = []
    small = iter(_told([one for one in given if one.is_small], trust, apart))
    told: List[Tuple[_Given, List[Report], Shows]] = []
    for one in given:
        if one.is_small:
            found, shows = next(small)
            told.append((one, [found], shows))
        else:
            with _opened(one.file) as opened:
                told.append((one, *_archive_reports(one, opened, trust)))
    firsts = with_histories([(found[0], shows) for _, found, shows in told])
    return [
        replace(report, file=_name_in(one.name, report.file))
        for first, (one, found, _) in zip(firsts, told)
        if one not in apart
        for report in [first, *found[1:]]
    ]


def _archive_reports(one: _Given, opened: BinaryIO, trust: Trust) -> Tuple[List[Report], Shows]:
    if one.is_bundle:
        return [open_bundle(opened, trust, "Name the policy to judge them by: --policy FILE.").report], {}
    return pack_reports(opened, trust, lambda files, by: _told([_Given(data, is_packed=True) for data in files], by, []))


def _name_in(name: Optional[str], path: Optional[str]) -> Optional[str]:
    return path if name is None else name if path is None else f"{name}/{path}"


def _told(given: List[_Given], trust: Trust, apart: List[_Given]) -> List[Told]:
    """Of small files that lie beside one another. `apart` takes the rows that belong to an answer."""
    proofs = [one.data if one.known[1] is None else one.known[1] for one in given if one.known[0] == "proof"]
    # They are for others: a file alone is opened once.
    beside = beside_of(proofs if len(given) > 1 else [], trust.policy)
    return [_judge(one, given, beside, trust, apart) for one in given]


def _opened(file: File) -> BinaryIO:
    return io.BytesIO(file) if isinstance(file, bytes) else open(file, "rb")


def _judge(one: _Given, given: List[_Given], beside: Beside, trust: Trust, apart: List[_Given]) -> Told:
    """The report, and the head that a ledger of the policy has signed."""
    if one.known[0] is None:
        return _judge_other(one, given, trust, apart), {}
    try:
        judged = judge(one.data, one.known, beside, trust)
        found, shows = ledger_report(judged, trust), shows_of(judged)
        unsigned = [*_within_remark(one.known[1]), *suggestion_remark(judged)]
    except proof.ProofError as error:
        found, unsigned, shows = altered_ledger(one.known[0], str(error.__cause__ or error)), [], {}
    return replace(found, remarks=[*change_remark(text_form(one.data)[1]), *unsigned]), shows


def _within_remark(document: Any) -> List[str]:
    if not isinstance(document, Part):
        return []
    return [f'Only its member "{document.within}" is signed. Nobody vouches for the rest of the file.']


def _judge_other(one: _Given, given: List[_Given], trust: Trust, apart: List[_Given]) -> Report:
    """An answer, perhaps with its rows in another of the files, or none of what is known."""
    try:
        body = proof.check(one.data, trust.signer)
        if body["output"] is None:
            body = _with_rows(one, given, trust, apart) or body
    except proof.ProofError as error:
        other = other_report(one.data) if error.outcome == "noProof" else None
        return failed_report(error) if other is None else other
    return answer_report(body, trust)


def _with_rows(one: _Given, given: List[_Given], trust: Trust, apart: List[_Given]) -> Any:
    """The answer with its rows out of the file beside it that has them; None where none has. Of two files the other one must have them."""
    fault: Optional[proof.ProofError] = None
    for other in given:
        if other is one or other.known[0] is not None or not _is_output(other.data):
            continue
        try:
            body = proof.check(one.data, trust.signer, other.data)
        except proof.ProofError as error:
            fault = error
            if len(given) == 2:
                apart.append(other)
            continue
        apart.append(other)
        return body
    if fault is not None and len(given) == 2:
        raise fault
    return None


def _is_output(data: bytes) -> bool:
    """Whether a file is rows that were saved apart: an answer without what signs it."""
    try:
        names, _ = _json.outline(data.decode("utf-8"))
    except ValueError:
        return False
    return names is not None and not names.isdisjoint({"data", "output"}) and "proof" not in names

"""What is said of a file of evidence, and its lines: the order and the words of every program that judges.

The same as report.ts and layout.ts in src/libraries/evidence of Proofstream. A report is texts alone.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from ._rows import Rows, clean_text

#: The exit code of each verdict: docs/spec/ledger.md#verdicts of Proofstream.
VERDICT_CODES = {
    "verified": 0,
    "included": 0,
    "signed": 0,
    "promised, not yet due": 0,
    "no evidence": 5,
    "altered": 10,
    "impossible": 11,
    "promise broken": 12,
    "witness quorum not met": 13,
    "not judged": 14,
}
ONLY_STORED = "That what was recorded is true: a proof binds what was stored, not what happened."
ONLY_SIGNER = "No time is shown by anybody but the signer."
_NO_TIME = "No time is shown: no witness has signed, and there is no time stamp."
_UNKNOWN_TIME = "No time is known: it is not said whose signatures count."
STRANGER = " by a key that nobody here knows"
_CELL_CHARS = 40
_TABLE_CHARS = 100
NOT_SHOWN = "Its content is not shown here, because nobody vouches for it."

#: A name and a text.
Line = Tuple[str, str]


@dataclass(frozen=True)
class Report:
    """What is said of one file. Pairs are a name and a text; the name may be empty."""

    #: What the file is, such as `a signed receipt of a batch`.
    what: str
    #: `verified`, `no evidence`, `altered`, or a verdict of `Judged`.
    verdict: str
    #: The verdict for a person, one line.
    headline: str
    #: Why, and what to do next, where the verdict is not the whole answer.
    why: List[str] = field(default_factory=list)
    rows: Optional[Rows] = None
    about: List[Line] = field(default_factory=list)
    signed: List[Line] = field(default_factory=list)
    when: List[Line] = field(default_factory=list)
    checked: List[str] = field(default_factory=list)
    #: What was not checked, and how it is.
    open: List[str] = field(default_factory=list)
    #: What is odd about the file and changes nothing.
    remarks: List[str] = field(default_factory=list)
    hashes: List[Line] = field(default_factory=list)
    #: Its path, where it came by one.
    file: Optional[str] = None
    #: It is good by itself, and signed by a key that nobody here knows.
    is_of_stranger: Optional[bool] = None

    @property
    def code(self) -> int:
        """What `proofstream verify` ends with."""
        return VERDICT_CODES[self.verdict]

    def lines(self, verbose: bool = False) -> List[str]:
        """As plain text, without control characters. `verbose`: hashes, too."""
        is_good = self.code == 0 and not self.is_of_stranger
        mark = "✓" if is_good else "✗" if self.verdict in ("altered", "promise broken") else "?"
        text = [
            f"{mark} {self.headline}",
            f"  {self.what if self.file is None else f'{self.file}: {self.what}'}",
            *(f"  {sentence}" for sentence in self.why),
            *([] if self.rows is None else _section(_rows_title(self.rows), _table(self.rows))),
            *_section("What it is about", _pairs(self.about)),
            *_section("Who signed", _pairs(self.signed)),
            *_section("When", _pairs(self.when)),
            *_section("Checked", [f"  - {one}" for one in self.checked]),
            *_section("Not checked", [f"  - {one}" for one in self.open]),
            *_section("Remarks", [f"  - {one}" for one in self.remarks]),
            *(_section("Hashes", _pairs(self.hashes)) if verbose else []),
        ]
        return [clean_text(line) for line in text]

    def json(self) -> Dict[str, Any]:
        """As a value of JSON."""
        rows = None if self.rows is None else vars(self.rows)
        known = {"code": self.code, **vars(self), "rows": rows, "isOfStranger": self.is_of_stranger}
        return {name: value for name, value in known.items() if value is not None and name != "is_of_stranger"}


def of_key(is_named: bool, is_known: bool) -> Dict[str, Any]:
    """What is said first of what is good by itself."""
    by = " by the key that you named" if is_named else "" if is_known else STRANGER
    return {"headline": f"Unchanged since it was signed{by}", "is_of_stranger": True if by == STRANGER else None}


def place_text(index: int, count: int, unit: str) -> str:
    """The place of an item that is counted from 0."""
    return "the only one" if count == 1 else f"the {nth(index)} of {count} {unit}"


def nth(index: int) -> str:
    number = str(index + 1)
    ending = {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th")
    return number + ("th" if number[-2:-1] == "1" else ending)


def body_line(name: str) -> Line:
    """The hash of a body, as it is printed of the file that was sent."""
    form = re.fullmatch("f1220([0-9a-f]{64})", name)
    return ("hash of the body", name) if form is None else ("SHA-256 of the body", form[1])


def altered(what: str, why: Sequence[str], headline: str = "Do not trust this file") -> Report:
    """Of what is not as it was signed nothing is shown: nobody vouches for it."""
    return Report(what, "altered", headline, [*why, NOT_SHOWN])


def worst_code(codes: Iterable[int]) -> int:
    """Of the codes of several files that which counts: nothing hides what is altered or broken, else the largest."""
    found = set(codes)
    bad = [code for code in (VERDICT_CODES["altered"], VERDICT_CODES["promise broken"]) if code in found]
    return bad[0] if bad else max(found, default=0)


def change_remark(changes: Sequence[str]) -> List[str]:
    """Of files that came by mail or through an editor."""
    if not changes:
        return []
    return [f"A transport of texts has changed the file ({', '.join(changes)}). It was judged by its content."]


def times(lines: Sequence[Line], is_judged: bool = True) -> List[Line]:
    """When, and whether anybody but the signer says so."""
    if any(name.startswith("witness ") for name, _ in lines):
        return list(lines)
    return [*lines, ("", ONLY_SIGNER if lines else _NO_TIME if is_judged else _UNKNOWN_TIME)]


def _section(title: str, lines: Sequence[str]) -> List[str]:
    return ["", title, *lines] if lines else []


def _pairs(pairs: Sequence[Line]) -> List[str]:
    width = max((len(name) for name, _ in pairs), default=0)
    return [f"  {text}" if name == "" else f"  {name.ljust(width)}  {_one_line(text)}" for name, text in pairs]


def _one_line(text: str) -> str:
    return re.sub("\r?\n", " ", text)


def _rows_title(rows: Rows) -> str:
    shown = len(rows.rows)
    return f"Rows ({rows.total})" if shown == rows.total else f"Rows (the first {shown} of {rows.total})"


def _table(shown: Rows) -> List[str]:
    rows = [[_cut(value) for value in row] for row in [*([shown.columns] if shown.columns else []), *shown.rows]]
    widths = [max(len(row[at]) if at < len(row) else 0 for row in rows) for at in range(len(rows[0]) if rows else 0)]
    fits, used = 0, 2
    for width in widths:
        used += width + 2
        if used > _TABLE_CHARS and fits > 0:
            break
        fits += 1
    lines = ["  " + "  ".join(_at(row, at).ljust(widths[at]) for at in range(fits)) for row in rows]
    more = [] if fits == len(widths) else [f"  … and {len(widths) - fits} more columns"]
    return [_trimmed(line) for line in lines] + more


def _at(row: List[str], at: int) -> str:
    return row[at] if at < len(row) else ""


def _trimmed(line: str) -> str:
    return re.sub(r"[\s\ufeff]+\Z", "", line)


def _cut(value: str) -> str:
    text = re.sub("[\r\n\t]+", " ", value)
    return text if len(text) <= _CELL_CHARS else f"{text[: _CELL_CHARS - 1]}…"

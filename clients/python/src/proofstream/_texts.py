"""A text file as mail, editors and terminals may have left it: docs/spec/ledger.md#texts of Proofstream.

The same as src/libraries/base/text-form.ts. What a file says is the text without what a transport put there.
"""

import re
from typing import List, Tuple

#: Texts of lines are small: of what is larger only the mark counts.
_MOST_LINE_BYTES = 1024 * 1024
_MARK = b"\xef\xbb\xbf"
_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_LINES = (
    (re.compile("\r\n"), "\n", "line ends of Windows"),
    (re.compile(r"(?<![\t ])[\t ]+(?=\n|\Z)"), "", "blanks at the ends of lines"),
    (re.compile(r"(?<!\n)\n*\Z"), "\n", "line ends at the end of the file"),
)


def text_form(data: bytes) -> Tuple[bytes, List[str]]:
    """The text in its own form, and in words what was changed. Bytes that are no text come back as they are."""
    data, changes = _without_mark(data)
    if data.lstrip(b" \t\n\r").startswith(b"{") or not 0 < len(data) <= _MOST_LINE_BYTES:
        return data, changes
    try:
        text = data.decode("utf-8")
    except ValueError:
        return data, changes
    told = list(changes)
    for pattern, to, what in _LINES:
        changed = pattern.sub(to, text)
        if changed != text:
            told.append(what)
        text = changed
    return (data if told == changes else text.encode("utf-8")), told


def _without_mark(data: bytes) -> Tuple[bytes, List[str]]:
    if data.startswith(_MARK):
        return data[len(_MARK) :], ["a byte order mark"]
    wide = _WIDE.get(data[:2])
    try:
        return (data, []) if wide is None else (data[2:].decode(wide).encode("utf-8"), ["UTF-16"])
    except ValueError:
        return data, []

"""What a file is that nobody signed, told by its first bytes, and the command that takes it.

The same as src/libraries/evidence/other-file.ts of Proofstream.
"""

import re
from typing import Optional

from ._report import Report
from ._texts import text_form

_HEAD_BYTES = 4096
_SPACE = r"[\t\n\v\f\r \xa0]"

#: Of bytes: how they begin, what that is, what takes it.
_MAGICS = (
    (
        b"PAR1",
        "a Parquet file: rows without a proof",
        "A signed answer comes with: proofstream query … --proof FILE. A bundle has blocks, rows and proof in one file.",
    ),
    (b"ARROW1", "an Arrow file: rows without a proof", "A signed answer comes with: proofstream query … --proof FILE."),
    (b"\x1f\x8b", "compressed by gzip", "Unpack it, and check what is in it."),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "Unpack it, and check what is in it."),
    (b"PK", "a zip archive or an office document", "Unpack it, and check the files in it."),
    (b"%PDF", "a PDF document", "A printed answer proves nothing. Ask for the file that was checked."),
    (b"\x89PNG", "a picture", "A picture of an answer proves nothing. Ask for the file that was checked."),
)

#: Of text.
_TEXTS = (
    (
        r"(?:#[^\n]*\n|[\t\v\f\r \xa0]*\n)*(?:log|witness|group|quorum)[\t ]",
        "a policy: which ledgers and witnesses count",
        "It says whom to trust, and is no evidence itself. Give it with the files that it is to judge: "
        "proofstream verify FILE --policy THIS.",
    ),
    (
        "-----BEGIN CERTIFICATE-----",
        "a certificate",
        "It goes with a proof that has a time stamp: proofstream verify PROOF --tsa-ca THIS.",
    ),
    (
        "-----BEGIN [A-Z ]*PRIVATE KEY-----",
        "a private key",
        "Give it to nobody. A person who has it can sign in the name of its node.",
    ),
    (r"PRIVATE\+KEY\+", "a private key", "Give it to nobody. A person who has it can sign in the name of its ledger."),
    (
        rf"did:key:z6Mk\w+{_SPACE}*\Z",
        "the name of a key",
        "It says who must have signed: proofstream verify FILE --signer did:key:….",
    ),
    (
        rf'{_SPACE}*\{{{_SPACE}*"@context"[\s\S]*did',
        "the document of a node with its keys",
        "It says which keys are of that address. Compare them with the signer of a file.",
    ),
    (
        f"{_SPACE}*<",
        "a page in HTML or XML",
        "Evidence is JSON, a .tlog-proof or a .tar. Was an error page saved in its place?",
    ),
)


def other_report(data: bytes) -> Optional[Report]:
    """None where nothing tells."""
    if not data:
        return _named("empty", "It has no byte. Was it saved whole?")
    start = text_form(data[:_HEAD_BYTES])[0][:_HEAD_BYTES]
    for magic, what, how in _MAGICS:
        if start.startswith(magic):
            return _named(what, how)
    text = start.decode("latin-1")
    for begin, what, how in _TEXTS:
        if re.match(begin, text, re.ASCII):
            return _named(what, how)
    return None


def _named(what: str, how: str) -> Report:
    return Report(what, "no evidence", "No evidence", [how])

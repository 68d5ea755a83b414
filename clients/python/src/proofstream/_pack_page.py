"""Which files an evidence pack has, and READ-ME-FIRST.html, which follows from them to the byte: whoever has them makes it anew.

Its words are part of the format: docs/spec/evidence-pack.md#the-page. The same as page.ts and files.ts in
src/libraries/evidence/pack of Proofstream.
"""

import hashlib
import re
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Dict, Iterable, List, Sequence, Tuple

from . import _json
from ._documents import DEPTH
from ._report import Line, body_line
from ._rows import clean_text
from ._signed_answer import datasets_of
from .proof import NEEDED

PAGE = "READ-ME-FIRST.html"
#: Of what is no answer: values take many times their text.
_MOST_VALUES = 1_000_000
_FORM = re.compile(
    r"(answers|receipts)/([0-9]{3})\.json|(bundles)/([0-9]{3})\.tar|(ledger)/([0-9]{3})/([0-9]{9})\.json"
    r"|(keys)/(?:did\.json|policy\.txt)|(statement)\.json"
)

_TOP = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Read me first: an evidence pack</title>
<style>
@page { size: A4; margin: 18mm }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 11pt/1.45 system-ui, sans-serif; color: #111; background: #fff }
h1, h2, h3 { line-height: 1.2 } h2 { margin-top: 2rem } h3 { margin-bottom: 0.3rem; break-after: avoid }
section { break-inside: avoid } dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); \
gap: 0.1rem 1rem; margin: 0.3rem 0 }
dt { color: #555 } dd { margin: 0; overflow-wrap: anywhere }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere } \
table { border-collapse: collapse; width: 100%; font-size: 9pt }
th, td { text-align: left; vertical-align: top; padding: 0.15rem 0.6rem 0.15rem 0; border-bottom: 1px solid #ccc; \
white-space: nowrap }
td:last-child { font: 7.5pt ui-monospace, monospace } tr { break-inside: avoid }
</style>
<h1>Read me first: an evidence pack</h1>
<p>This page came in a zip together with the files that it tells of. Somebody hands them to you to show what was stored in a \
dataset. This page is signed by nobody. What it says counts once a program has checked the whole zip.</p>
<h2>Check the zip</h2>
<p>Give the zip itself to a program, not the unpacked files. Take the program from somebody other than the sender of the zip. \
One is enough. If you doubt it, take another: they are written in different languages.</p>
<dl>
<dt>A page</dt><dd>Save /assets/verify.html of a Proofstream node that is not the sender's, go offline, drop the zip on it, and paste the \
policy.</dd>
<dt>Python</dt><dd><code>python3 ask.py --check pack.zip --policy policy.txt</code></dd>
<dt>Node.js</dt><dd><code>npx proofstream-verify pack.zip --policy policy.txt</code></dd>
</dl>
<p>The file policy.txt says which ledger you believe, and which witnesses. A node shows its own at /ledger/policy. \
Get it from the publisher or a witness, not from the sender. The folder keys of the zip holds what the sender says of keys. \
Compare it; no program trusts it. Without a policy a program checks what the files say by themselves, and ends with: not judged.</p>
<h2>What is in it</h2>
"""
_MIDDLE = """
<h2>What it does not show</h2>
<p>That what was recorded is true: all of this binds what was stored, not what happened. When something was stored, unless a \
witness or a time-stamp authority has signed: a program names them. Whose a key is: compare it with the key that its owner shows \
elsewhere.</p>
<h2>Files</h2>
<table>
<tr><th>File</th><th>Bytes</th><th>SHA-256</th></tr>
"""
_END = """
</table>
<p>For a folder of the ledger stands the SHA-256 of the lines that sha256sum prints of its files, by name.</p>
</html>
"""

#: What each kind is, what it shows, and what it does not.
_KINDS = {
    "answers": (
        "a saved answer, signed",
        "It shows that the holder of the key signed these rows as the answer to this question over these blocks. "
        "It does not show that the rows follow from the blocks, nor when the question was asked.",
    ),
    "bundles": (
        "a bundle: an answer with all its blocks and rows",
        "It shows that the answer was signed, and that no block and no row up to the named block is missing, changed or added. "
        "A reader who has it can run the question again, without any node.",
    ),
    "receipts": (
        "a signed receipt",
        "It shows what the node said of a batch that it was sent, and, with the proofs in the file, whether the batch is in the "
        "ledger. Only a witness that signed by the deadline shows since when. It does not show what was in the body: compare "
        "its hash with what sha256sum prints of the file that was sent.",
    ),
    "statement": (
        "what the node says of its key",
        "It shows which key the ledger names as that of its node. "
        "A reader who believes the ledger knows by it whose signatures these are.",
    ),
    "ledger": (
        "proofs that a ledger has blocks",
        "They show that these blocks are in the list that the ledger shows to everybody. "
        "Whether it shows everybody the same is what its witnesses sign.",
    ),
}


class PackFault(Exception):
    """Why a pack cannot be used: a sentence, and a verdict."""

    def __init__(self, sentence: str, verdict: str = "altered") -> None:
        super().__init__(sentence)
        self.verdict = verdict


class Order:
    """Holds names against the order of a pack, one after the other."""

    def __init__(self) -> None:
        self._last, self._counts = "", {"answers": 0, "bundles": 0, "receipts": 0}

    def next(self, path: str) -> Tuple[str, int, int]:
        """The folder, the number and the sequence. Raises PackFault for a name that does not come next."""
        form = _FORM.fullmatch(path)
        if form is None:
            raise PackFault(f"A pack has no file {path}.")
        folder, *digits = (part for part in form.groups() if part is not None)
        number, sequence, *_ = (*map(int, digits), 0, 0)
        is_next = folder in ("keys", "statement") or number == self._counts.get(folder, 0) + 1
        if folder == "ledger":
            is_next = 1 <= number <= self._counts["bundles"]
        if not is_next or path <= self._last:
            raise PackFault(f"{path} is not the file that comes next in a pack.")
        self._last = path
        if folder in self._counts:
            self._counts[folder] = number
        return folder, number, sequence

    def end(self) -> None:
        if not any(self._counts.values()):
            raise PackFault("It has neither an answer nor a receipt.")


@dataclass(frozen=True)
class PackedFile:
    """A file of a pack. `facts`: what the page tells of it."""

    path: str
    size: int
    sha256: str
    facts: Sequence[Line] = ()


def pack_page(files: Sequence[PackedFile]) -> bytes:
    """`files` in the order of the pack, without the page."""
    groups = [(name, list(held)) for name, held in groupby(files, _group_of)]
    sections = [text for name, held in groups for text in _section(name, held)]
    rows = [_row(name, held) for name, held in groups]
    return "".join((_TOP, "\n".join(sections), _MIDDLE, "\n".join(rows), _END)).encode("utf-8")


def _group_of(file: PackedFile) -> str:
    """A file is told by itself, proofs of the ledger by their folder."""
    return file.path[: file.path.rindex("/") + 1] if file.path.startswith("ledger/") else file.path


def _section(name: str, held: List[PackedFile]) -> List[str]:
    what, shows = _KINDS.get(re.split("[/.]", name)[0], ("", ""))
    if not what:
        return []
    facts = list(held[0].facts)
    if name.endswith("/"):
        first, last = (int(one.path[len(name) : -len(".json")]) for one in (held[0], held[-1]))
        facts[:0] = [("blocks", f"sequence {first} to {last}, {len(held)} proofs")]
    told = "\n".join(f"<dt>{_escaped(term)}</dt><dd>{_escaped(text)}</dd>" for term, text in facts)
    return [f"<section>\n<h3>{name}: {what}</h3>\n<dl>\n{told}\n</dl>\n<p>{shows}</p>\n</section>"]


def _row(name: str, held: List[PackedFile]) -> str:
    digest = held[0].sha256
    if name.endswith("/"):
        listed = "".join(f"{one.sha256}  {one.path[len(name) :]}\n" for one in held)
        digest = hashlib.sha256(listed.encode("ascii")).hexdigest()
    return f"<tr><td>{name}</td><td>{sum(one.size for one in held)}</td><td>{digest}</td></tr>"


def _escaped(text: str) -> str:
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        text = text.replace(sign, entity)
    return clean_text(text, "\n\t")


def facts_of(folder: str, data: bytes) -> List[Line]:
    """What the page tells of a file, as it stands there. ValueError where it cannot be read."""
    depth = _json.MOST_DEPTH if folder in ("answers", "bundles") else DEPTH
    text = data.decode("utf-8")
    names, values = _json.outline(text, depth)
    if values > _MOST_VALUES and not (names or set()).issuperset(NEEDED):
        raise ValueError(f"it has more than {_MOST_VALUES} values")
    value = _json.parse(text, depth)
    if folder == "receipts":
        return _receipt_facts(value)
    if folder not in ("ledger", "statement"):
        return _answer_facts(value)
    head, statement = _at(_at(value, "ledger"), "head"), _at(value, "statement")
    lines = [] if isinstance(head, _json.Number) or not isinstance(head, str) else head.split("\n")
    said = [("node", _at(statement, "node")), ("signed at", _at(statement, "time"))] if folder == "statement" else []
    return _texts([*said, *zip(("ledger", "entries", "root"), lines)])


def _dataset_name(one: Dict[str, str]) -> str:
    did = one["id"]
    return did if one.get("alias", did) == did else f"{one['alias']} ({did})"


def _answer_facts(answer: Any) -> List[Line]:
    asked = _at(answer, "input")
    lines: List[Tuple[str, Any]] = [("question", _at(asked, "query"))]
    for one in datasets_of(asked) if isinstance(asked, dict) else []:
        lines += [("dataset", _dataset_name(one)), ("up to block", one.get("blockHash")), ("data as of", one.get("blockTime"))]
    return _texts([*lines, ("signed by", _at(_at(answer, "proof"), "verificationMethod"))])


def _receipt_facts(document: Any) -> List[Line]:
    within = _at(document, "receipt")
    receipt = document if within is None else within
    promise = _at(receipt, "promise")
    body = [body_line(name) for _, name in _texts([("", _at(receipt, "bodyHash"))])]
    lines = (
        ("dataset", _at(_at(receipt, "dataset"), "alias")),
        ("status", _at(receipt, "status")),
        *body,
        ("block", _at(_at(receipt, "block"), "hash")),
        ("signed at", _at(receipt, "time")),
        ("ledger", _at(promise, "ledger")),
        ("deadline", _at(promise, "by")),
        ("signed by", _at(_at(receipt, "proof"), "verificationMethod")),
    )
    return _texts(lines)


def _texts(lines: Iterable[Tuple[str, Any]]) -> List[Line]:
    return [(name, value) for name, value in lines if isinstance(value, str) and not isinstance(value, _json.Number)]


def _at(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None

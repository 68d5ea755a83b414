"""JSON whose numbers keep their text, and its canonical form, which is what nodes hash and sign.

The rules are in docs/spec/proof.md#canonical-json of Proofstream. The standard library reads; numbers stay texts, so that
nothing is rounded before it is hashed.
"""

import json
import re
from json.decoder import scanstring
from typing import Any, List, Optional, Set, Tuple

MOST_DEPTH = 128
_MARK = re.compile(r'["\[\]{}]')
_EMPTY = re.compile(r"[ \t\n\r]*[\]}]")
_COLON = re.compile(r"[ \t\n\r]*:")
_HALF = re.compile("[\ud800-\udfff]")
_OBJECT = re.compile(r"[ \t\n\r]*\{")
_END = re.compile(r"[ \t\n\r]*\Z")
_INTEGER = re.compile(r"-?[0-9]{1,4000}")


class Number(str):
    """A number of JSON as it was written."""

    __slots__ = ()


def parse(text: str, most_depth: int = MOST_DEPTH) -> Any:
    """Objects, lists, texts, booleans, None, and `Number`. ValueError for what is no strict JSON."""
    if text.startswith("\ufeff"):
        raise ValueError("it begins with a byte order mark")
    try:
        value = json.loads(
            text, parse_int=Number, parse_float=Number, parse_constant=_no_constant, object_pairs_hook=_members
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    _check(value, most_depth)
    return value


def outline(text: str, most_depth: int = MOST_DEPTH) -> Tuple[Optional[Set[str]], int]:
    """The names of the members of the outermost object, None where it is none, and how many values there are in all.

    No value is made: they take many times their text. ValueError for what `parse` refuses, but only for some of it.
    """
    names: Set[str] = set()
    values, depth, at = 1, 0, 0
    for mark in iter(lambda: _MARK.search(text, at), None):
        values += text.count(",", at, mark.start())
        at = mark.end()
        if mark[0] == '"':
            name, at = scanstring(text, at)
            if depth == 1 and _COLON.match(text, at):
                names.add(name)
        elif mark[0] in "[{":
            depth += 1
            values += 0 if _EMPTY.match(text, at) else 1
            if depth > most_depth:
                raise ValueError("it is nested too deeply")
        else:
            depth -= 1
        if depth <= 0 and not _END.match(text, at):
            raise ValueError("has something after the value")
    return names if _OBJECT.match(text) else None, values


def canonical(value: Any) -> bytes:
    """The canonical bytes of what `parse` returned."""
    out: List[str] = []
    _write(value, out)
    return "".join(out).encode("ascii")


def plain(value: Any) -> Any:
    """The value with numbers as int and float."""
    if isinstance(value, Number):
        return int(value) if _INTEGER.fullmatch(value) else float(value)
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _members(pairs: List[Tuple[str, Any]]) -> Any:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("an object has a member twice")
    return members


def _check(value: Any, depth_left: int) -> None:
    if isinstance(value, (dict, list)):
        if depth_left == 0:
            raise ValueError("it is nested too deeply")
        for item in value if isinstance(value, list) else [*value.keys(), *value.values()]:
            if type(item) is not Number:
                _check(item, depth_left - 1)
    elif isinstance(value, str) and _HALF.search(value):
        raise ValueError("a text has half of a surrogate pair")


def _write(value: Any, out: List[str]) -> None:
    if value is None:
        out.append("null")
    elif value is True:
        out.append("true")
    elif value is False:
        out.append("false")
    elif isinstance(value, Number):
        out.append(_number(value))
    elif isinstance(value, str):
        out.append(_text(value))
    elif isinstance(value, list):
        out.append("[")
        for place, item in enumerate(value):
            if place > 0:
                out.append(",")
            _write(item, out)
        out.append("]")
    else:
        out.append("{")
        for place, name in enumerate(sorted(value)):
            if place > 0:
                out.append(",")
            out.append(_text(name) + ":")
            _write(value[name], out)
        out.append("}")


def _text(value: str) -> str:
    # The same as the canonical form but for U+007F, which it escapes.
    return json.dumps(value).replace("\x7f", "\\u007f")


def _number(token: str) -> str:
    if token.isdigit():
        return token
    if token == "-0":
        return "0"
    head, mark, exponent = token.replace("E", "e").partition("e")
    if mark == "":
        return token
    signed = exponent if exponent[0] in "+-" else f"+{exponent}"
    return f"{head}e{signed}"

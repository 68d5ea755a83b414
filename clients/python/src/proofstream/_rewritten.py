"""An output that a JSON library has parsed and printed again: 1.0 is 1 there, -0.0 is 0, integers beyond 2^53 are others.

Its hash differs, but one of the spellings that a library reads as the same doubles has the hash that was signed. The same as
`proofstream verify` does it.
"""

import re
import struct
from typing import Any, Callable, Dict, List, Tuple

from ._json import Number

_MOST_TRIES = 4096
_MOST_TOKENS = 500_000
_MOST_INTEGERS = 64

_Way = List[Tuple[Number, List[str]]]


def is_rewritten(output: Any, is_signed: Callable[[Any], bool]) -> bool:
    """True when numbers of `output`, spelled as nodes do, give what was signed: the rows are those, as doubles."""
    columns = [_ways(numbers) for numbers in _columns(output).values()]
    tokens = 1 + sum(len(ways[0]) for ways in columns if ways)
    left = min(_MOST_TRIES, -(-_MOST_TOKENS // tokens))
    chosen: Dict[int, str] = {}

    # Depth first, without recursion: a column has as many numbers as there are rows.
    def expand(column: int, way: _Way, at: int) -> List[Any]:
        if at < len(way):
            number, spellings = way[at]
            return [(column, way, at + 1, number, spelling) for spelling in spellings]
        if column + 1 < len(columns):
            return [(column + 1, next_way, 0, None, "") for next_way in columns[column + 1]]
        return []

    if not columns:
        return is_signed(output)
    choices: List[Any] = [(0, way, 0, None, "") for way in columns[0]][::-1]
    while choices and left > 0:
        column, way, at, number, spelling = choices.pop()
        if number is not None:
            chosen[id(number)] = spelling
        if at == len(way) and column + 1 == len(columns):
            left -= 1
            if is_signed(_with(output, chosen)):
                return True
        choices.extend(expand(column, way, at)[::-1])
    return False


def _columns(output: Any) -> Dict[Tuple[Any, ...], List[Number]]:
    """The numbers of each column, whatever the layout: those at one place but for the first index, that of the row."""
    found: Dict[Tuple[Any, ...], List[Number]] = {}

    def walk(value: Any, path: Tuple[Any, ...], is_in_row: bool) -> None:
        if isinstance(value, Number):
            found.setdefault(path, []).append(value)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                walk(item, (*path, index) if is_in_row else path, True)
        elif isinstance(value, dict):
            for name, member in value.items():
                walk(member, (*path, name), is_in_row)

    walk(output.get("data") if isinstance(output, dict) else None, (), False)
    return found


def _ways(numbers: List[Number]) -> List[_Way]:
    """The ways to spell a column, one for each kind that it may be of; those with the fewest spellings first."""
    ways = [[(number, spell(float(number), number)) for number in numbers] for spell in (_integers, _doubles, _floats)]
    found: List[_Way] = []
    for way in sorted(ways, key=_count):
        spellings = [one for _, one in way]
        if all(spellings) and spellings not in [[one for _, one in other] for other in found]:
            found.append(way)
    return found


def _count(way: _Way) -> float:
    product = 1.0
    for _, spellings in way:
        product *= len(spellings)
    return product


def _integers(value: float, token: str) -> List[str]:
    """Integers that a double reads as the same value, the one that is written first."""
    if re.search("[.eE]", token):
        return []
    if abs(value) < 2**53 or value in (float("inf"), float("-inf")):
        return [token]
    exact, step, others = int(value), 0, [str(token)]
    while len(others) <= _MOST_INTEGERS:
        near = [one for one in (exact + step, exact - step) if float(one) == value]
        if not near:
            break
        others.extend(str(one) for one in near)
        step += 1
    return list(dict.fromkeys(others))


def _doubles(value: float, _: str) -> List[str]:
    return ["0.0", "-0.0"] if value == 0 else [_spelled(value, repr(value), -5, 15)]


def _floats(value: float, _: str) -> List[str]:
    try:
        single = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return ["null"]
    if value == 0 or single == 0:
        return ["0.0", "-0.0"] if value == 0 else ["-0.0" if value < 0 else "0.0"]
    texts = (f"{single:.{digits}e}" for digits in range(9))
    return [_spelled(single, next(text for text in texts if _is_single(text, single)), -6, 12)]


def _is_single(text: str, single: float) -> bool:
    try:
        return bool(struct.unpack("f", struct.pack("f", float(text)))[0] == single)
    except OverflowError:
        return False


def _spelled(value: float, shortest: str, least: int, most: int) -> str:
    """A float as nodes print it: digits of `shortest`, exponents outside of 10^least to 10^most."""
    if value in (float("inf"), float("-inf")):
        return "null"
    head, _, exponent = shortest.lstrip("-").partition("e")
    whole, _, fraction = head.partition(".")
    digits = (whole + fraction).lstrip("0")
    place = int(exponent or 0) + len(whole) - 1 - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    sign = "-" if value < 0 else ""
    if place < least or place > most:
        return f"{sign}{digits[0]}{'.' if len(digits) > 1 else ''}{digits[1:]}e{'+' if place >= 0 else '-'}{abs(place)}"
    if place < 0:
        return f"{sign}0.{'0' * (-place - 1)}{digits}"
    return f"{sign}{digits[: place + 1].ljust(place + 1, '0')}.{digits[place + 1 :] or '0'}"


def _with(value: Any, chosen: Dict[int, str]) -> Any:
    if isinstance(value, Number):
        return Number(chosen.get(id(value), value))
    if isinstance(value, list):
        return [_with(item, chosen) for item in value]
    if isinstance(value, dict):
        return {name: _with(member, chosen) for name, member in value.items()}
    return value

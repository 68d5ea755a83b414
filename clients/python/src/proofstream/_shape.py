"""What members of JSON must be, of values that `_json.parse` returned. What does not fit is a ValueError."""

import re
from typing import Any, Callable, Dict, List, Sequence, TypeVar

from ._head import MOST, hash_of
from ._json import Number
from ._policy import from_base64

T = TypeVar("T")


def members(value: Any, name: str, needed: Sequence[str], allowed: Sequence[str] = (), others: bool = False) -> Dict[str, Any]:
    """An object with the needed members; with no others but the allowed, unless others are ignored."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not an object")
    missing = [one for one in needed if one not in value]
    foreign = [] if others else [one for one in value if one not in needed and one not in allowed]
    if missing or foreign:
        raise ValueError(f"{name} has no {missing[0]}" if missing else f"{name} has a member {foreign[0][:100]!r}")
    return value


def text_of(value: Any) -> str:
    if not isinstance(value, str) or isinstance(value, Number):
        raise ValueError("it has another value where a text must be")
    return value


def list_of(value: Any, item: Callable[[Any], T]) -> List[T]:
    if not isinstance(value, list):
        raise ValueError("it has another value where a list must be")
    return [item(one) for one in value]


def natural(value: Any) -> int:
    """An integer that a double holds exactly. 1.0 is one; where the spelling counts, the canonical form says so."""
    number = float(value) if isinstance(value, Number) else -1.0
    if not number.is_integer() or not 0 <= number <= MOST:
        raise ValueError("it has another value where an integer from 0 on must be")
    return int(number)


def base64_of(value: Any) -> bytes:
    data = from_base64(text_of(value))
    if data is None:
        raise ValueError("it has a text that is no base64")
    return data


def hash_text(value: Any) -> bytes:
    return hash_of(text_of(value))


def hex_of(value: Any) -> bytes:
    """The 32 bytes of 64 lower-case digits."""
    if not re.fullmatch("[0-9a-f]{64}", text_of(value)):
        raise ValueError("it has a text that is no hex of 32 bytes")
    return bytes.fromhex(value)

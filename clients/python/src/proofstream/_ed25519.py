"""Ed25519 as RFC 8032 §5.1 and §6 write it, by the strictest rule: docs/decisions/answers.md#signature-rule of Proofstream.

Checks only; nothing here signs. A check takes some milliseconds.
"""

import hashlib
from functools import lru_cache
from typing import Optional, Tuple

Point = Tuple[int, int, int, int]

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


@lru_cache(maxsize=64)  # All proofs of a pack lead to one head.
def is_signed(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature of 64 bytes is of this key of 32 bytes over the message."""
    public, r = _point(key), _point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if len(key) != 32 or len(signature) != 64 or public is None or r is None or s >= L:
        return False
    if _is_small(public) or _is_small(r):
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    return _equal(_times(s, BASE), _add(r, _times(h, public)))


def _add(a: Point, b: Point) -> Point:
    x, y = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    z, t = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = y - x, t - z, t + z, y + x
    return e * f % P, g * h % P, f * g % P, e * h % P


NEUTRAL: Point = (0, 1, 1, 0)


def _times(scalar: int, point: Point) -> Point:
    result = NEUTRAL
    while scalar:
        if scalar & 1:
            result = _add(result, point)
        point, scalar = _add(point, point), scalar >> 1
    return result


def _equal(a: Point, b: Point) -> bool:
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def _is_small(point: Point) -> bool:
    return _equal(_times(8, point), NEUTRAL)


def _point(data: bytes) -> Optional[Point]:
    """The point of an encoding; None where it is no point, or not the canonical encoding of it."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    if len(data) != 32 or y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


_base = _point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
assert _base is not None
BASE: Point = _base

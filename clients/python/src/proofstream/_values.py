"""Columns of an answer as Python values, by the types of its schema, and as data frames of pandas and polars.

Integers, decimals and times stay exact: an Int64 beside nulls is no float, a Decimal128 no double.
"""

import json
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, Callable, Dict, List, Mapping, Sequence

from ._json import Number



def reader_of(data_type: Any) -> Callable[[Any], Any]:
    """What turns a value of JSON, whose numbers are texts, into Python's for this Arrow type (as `schema` spells it)."""
    name, details = _named(data_type)
    if name == "Struct":
        fields = [(field["name"], reader_of(field["data_type"])) for field in details]
        return _or_none(lambda value: _struct(fields, value))
    if name in ("List", "LargeList", "FixedSizeList"):
        item = reader_of((details[0] if isinstance(details, list) else details)["data_type"])
        return _or_none(lambda value: [item(one) for one in value])
    if name == "Decimal128" and details[1] == "0":
        return _or_none(int)  # a sum of integers, or one beyond 64 bits
    return _or_none(_READERS.get(name, _as_written))


def _named(data_type: Any) -> Any:
    if isinstance(data_type, dict):
        [(name, details)] = data_type.items()
        return name, details
    return data_type, None


def _or_none(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def _struct(fields: Sequence[Any], value: Any) -> Dict[str, Any]:
    if isinstance(value, dict):
        return {name: read(value.get(name)) for name, read in fields}
    return {name: read(one) for (name, read), one in zip(fields, value)}


def _as_written(value: Any) -> Any:
    if isinstance(value, Number):
        return int(value) if value.lstrip("-").isdigit() else float(value)
    if isinstance(value, list):
        return [_as_written(one) for one in value]
    if isinstance(value, dict):
        return {name: _as_written(one) for name, one in value.items()}
    return value


def _instant(text: str) -> datetime:
    """A time of RFC 3339. Digits beyond the microsecond are cut, which a datetime has no room for."""
    zone = timezone.utc if text.endswith("Z") else None
    whole, _, fraction = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(whole).replace(microsecond=int(fraction[:6].ljust(6, "0") or 0), tzinfo=zone)


def _clock(text: str) -> time:
    whole, _, fraction = text.partition(".")
    return time.fromisoformat(whole).replace(microsecond=int(fraction[:6].ljust(6, "0") or 0))


_READERS: Dict[str, Callable[[Any], Any]] = {
    **{f"{sign}{bits}": int for sign in ("Int", "UInt") for bits in (8, 16, 32, 64)},
    **{f"Float{bits}": float for bits in (16, 32, 64)},
    "Decimal128": Decimal,
    "Decimal256": Decimal,
    "Date32": date.fromisoformat,
    "Timestamp": _instant,
    "Time32": _clock,
    "Time64": _clock,
    "Binary": bytes.fromhex,
    "LargeBinary": bytes.fromhex,
    "FixedSizeBinary": bytes.fromhex,
}


def to_pandas(names: List[str], types: List[Any], columns: List[List[Any]]) -> Any:
    import pandas

    def series(data_type: Any, values: List[Any]) -> Any:
        name, details = _named(data_type)
        if name in _READERS and name.startswith(("Int", "UInt")):
            return pandas.array(values, dtype=name)
        if name in ("Float32", "Float64"):
            return pandas.array(values, dtype=name)
        if name == "Boolean":
            return pandas.array(values, dtype="boolean")
        if name == "Utf8":
            return pandas.array(values, dtype="string")
        if name == "Timestamp":
            unit = {"Second": "s", "Millisecond": "ms", "Microsecond": "us", "Nanosecond": "ns"}[details[0]]
            zone = f"datetime64[{unit}, UTC]" if details[1] else f"datetime64[{unit}]"
            return pandas.Series(values, dtype=zone)
        return pandas.Series(values, dtype=object)

    made = [pandas.Series(series(data_type, values)) for data_type, values in zip(types, columns)]
    frame = pandas.concat(made, axis=1) if made else pandas.DataFrame()
    frame.columns = pandas.Index(names, dtype=object)
    return frame


def to_polars(names: List[str], types: List[Any], columns: List[List[Any]]) -> Any:
    import polars

    def of(data_type: Any) -> Any:
        name, details = _named(data_type)
        if name in ("List", "LargeList"):
            return polars.List(of(details["data_type"]))
        if name == "Struct":
            return polars.Struct({field["name"]: of(field["data_type"]) for field in details})
        if name in ("Decimal128", "Decimal256"):
            return polars.Decimal(details[0], details[1])
        if name == "Timestamp":
            unit: Any = {"Second": "ms", "Millisecond": "ms", "Microsecond": "us", "Nanosecond": "ns"}[details[0]]
            return polars.Datetime(unit, "UTC" if details[1] else None)
        known = {"Boolean": "Boolean", "Utf8": "String", "Date32": "Date", "Time32": "Time", "Time64": "Time"}
        known.update({"Binary": "Binary", "LargeBinary": "Binary", "FixedSizeBinary": "Binary", "Float16": "Float32"})
        known["Null"] = "Null"
        chosen = known.get(name, name)
        return getattr(polars, chosen, polars.Object)

    made = [
        polars.Series(name, values, dtype=of(data_type), strict=True)
        for name, data_type, values in zip(names, types, columns)
    ]
    return polars.DataFrame(made)


def json_line(value: Any) -> str:
    """JSON of rows and parameters: times as RFC 3339, bytes as hexadecimal digits, decimals with all their digits."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False, ensure_ascii=False)
    except _HasDecimal:
        return _slowly(value)
    except ValueError as error:
        raise ValueError(f"{error}: use None for a value that is missing") from None


class _HasDecimal(Exception):
    """The standard library has no way to write a number digit by digit."""


def _slowly(value: Any) -> str:
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is no number of JSON: use None for a value that is missing")
        return format(value, "f")
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(str(name))}:{_slowly(one)}" for name, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_slowly, value)) + "]"
    return json_line(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        raise _HasDecimal
    # Of pandas, and of numpy: what is missing, in the forms of times and of any type.
    if type(value).__name__ in ("NaTType", "NAType") or (type(value).__name__ == "datetime64" and value != value):
        return None
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise TypeError(f"{value!r} has no time zone: give it one, such as timezone.utc")
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, timedelta):
        raise TypeError("a duration has no form in JSON: send its seconds")
    # Of numpy: times would come out of it as plain integers, and arrays of one item as that item.
    if getattr(getattr(value, "dtype", None), "kind", "") in ("b", "i", "u", "f") and value.shape == ():
        scalar = value.item()
        if isinstance(scalar, (bool, int, float)):
            return scalar
    raise TypeError(f"{type(value).__name__} has no form in JSON")

"""The first rows of an output as texts, whichever JSON layout it has. The same as src/libraries/evidence/rows.ts of Proofstream."""

import json
import re
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from ._json import Number

#: Longer cells are cut: a report is for reading, the file has the whole value.
_CELL_CHARS = 500
#: What controls, and what reorders text for its reader.
_UNSAFE = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True)
class Rows:
    """The first rows of `total`. `columns` is empty where rows are arrays and no schema came with them."""

    columns: List[str]
    rows: List[List[str]]
    total: int


def first_rows(output: Any, most: int) -> Optional[Rows]:
    """None for an output that is no list of rows."""
    data = output.get("data") if isinstance(output, dict) else None
    if isinstance(data, dict):
        columns = [values[:most] if isinstance(values, list) else [] for values in data.values()]
        rows = [[_cell_at(column, at) for column in columns] for at in range(len(columns[0]) if columns else 0)]
        return Rows([clean_text(name) for name in data], rows, _count(data))
    if not isinstance(data, list):
        return None
    shown = data[:most]
    if shown and isinstance(shown[0], dict):
        names = list(shown[0])
        rows = [[cell(row[name]) if isinstance(row, dict) and name in row else "" for name in names] for row in shown]
        return Rows([clean_text(name) for name in names], rows, len(data))
    rows = [[cell(value) for value in row] if isinstance(row, list) else [cell(row)] for row in shown]
    return Rows(_schema_names(output), rows, len(data))


def _cell_at(column: List[Any], at: int) -> str:
    return cell(column[at]) if at < len(column) else ""


def _count(data: Dict[str, Any]) -> int:
    first = next(iter(data.values()), [])
    return len(first) if isinstance(first, list) else 0


def _schema_names(output: Dict[str, Any]) -> List[str]:
    schema = output.get("schema")
    fields = schema.get("fields") if isinstance(schema, dict) else None
    if not isinstance(fields, list):
        return []
    return [cell(field.get("name")) if isinstance(field, dict) else "" for field in fields]


def cell(value: Any) -> str:
    """A value of JSON as the text of a cell."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json_text(value)
    return clean_text(f"{text[:_CELL_CHARS]}…" if len(text) > _CELL_CHARS else text, "\n\t")


def json_text(value: Any) -> str:
    """The value as JSON without white space: members in their order, numbers as they are written, texts in raw Unicode."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json_text(name)}:{json_text(member)}" for name, member in value.items()) + "}"
    if isinstance(value, list):
        return f"[{','.join(map(json_text, value))}]"
    return json.dumps(value, ensure_ascii=False)


def clean_text(text: str, keep: str = "") -> str:
    """The text without control characters (escaped, but for those to keep) and without what reorders it for its reader."""
    return _UNSAFE.sub(lambda found: found[0] if found[0] in keep else _SHORT.get(found[0], f"\\u{ord(found[0]):04x}"), text)

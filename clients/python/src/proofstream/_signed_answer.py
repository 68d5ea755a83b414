"""What a saved answer says: which datasets, how many rows, and whether these are all. Nothing is checked here.

The same as src/libraries/proof/signed-answer.ts of Proofstream, of values that `_json.parse` returned.
"""

import re
from typing import Any, Dict, List, Optional

from ._json import Number

_MOST = 2**53 - 1


def text_at(value: Dict[str, Any], name: str) -> Optional[str]:
    text = value.get(name)
    return text if isinstance(text, str) and not isinstance(text, Number) else None


def _natural_at(value: Dict[str, Any], name: str) -> Optional[int]:
    number = value.get(name)
    read = float(number) if isinstance(number, Number) else -1.0
    return int(read) if 0 <= read <= _MOST and read.is_integer() else None


def datasets_of(asked: Dict[str, Any]) -> List[Dict[str, str]]:
    """The datasets that a question names: `id`, and what there is of `alias`, `blockHash` and `blockTime`."""
    value = asked.get("datasets")
    items = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
    known = [{name: text_at(one, name) for name in ("id", "alias", "blockHash", "blockTime")} for one in items]
    told = [{name: text for name, text in one.items() if text is not None} for one in known]
    return [one for one in told if "id" in one]


def rows_of(output: Any) -> Optional[int]:
    """How many rows an output has in any JSON layout; None where it is no list of rows."""
    data = output.get("data") if isinstance(output, dict) else None
    if isinstance(data, dict):
        data = next(iter(data.values()), [])
    return len(data) if isinstance(data, list) else None


def extent_of(asked: Dict[str, Any], output: Any) -> str:
    """`whole`: no row was left out; `cut`: rows beyond the limit were; `unknown`: the answer does not tell."""
    rows, limit = rows_of(output), _natural_at(asked, "limit")
    if isinstance(output, dict) and output.get("truncated") is True:
        return "cut"
    # Our outputs say when they are cut; of all others only one below its limit is surely whole.
    is_ours = re.fullmatch(r"SqlDuckDb/[0-9]+\.[0-9]+\.[0-9]+-[0-9]{1,9}", text_at(asked, "queryDialect") or "")
    if rows is None:
        return "unknown"
    return "whole" if is_ours or (limit is not None and rows < limit) else "unknown"


def extent_text(asked: Dict[str, Any], output: Any) -> str:
    rows, limit, skip = rows_of(output), _natural_at(asked, "limit"), _natural_at(asked, "skip") or 0
    if rows is None:
        return "not in this file; what was signed is the hash of its rows"
    count = f"{rows} {'row' if rows == 1 else 'rows'}{f' after the first {skip}' if skip else ''}"
    extent = extent_of(asked, output)
    if extent == "cut":
        return f"{count}, cut by limit {rows if limit is None else limit}"
    return f"{count}, none left out" if extent == "whole" else f"{count}; whether more were left out is not said"

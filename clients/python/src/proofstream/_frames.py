"""Data frames of pandas and polars as Parquet bodies. What Parquet would hold as something else is refused, with its column."""

from io import BytesIO
from typing import Any

_UNNAMED = "the index of the frame has no name: frame.rename_axis('id') makes it a column, frame.reset_index(drop=True) drops it"


def parquet_of(frame: Any) -> bytes:
    """The rows of the frame; of pandas with its index, where that is more than numbers of rows. TypeError and ValueError for
    what has no form in a file."""
    out = BytesIO()
    if hasattr(frame, "write_parquet"):
        frame.write_parquet(out)
    else:
        _with_index(frame).to_parquet(out, engine="pyarrow", index=False)
    return out.getvalue()


def _with_index(frame: Any) -> Any:
    """The frame with its index as columns: levels under their names, one without a name as `index`. Integers without a name
    may be what is left of numbers of rows, or keys: nobody can tell."""
    names = list(frame.index.names)
    is_numbered = names == [None] and type(frame.index).__name__ == "RangeIndex"
    if names == [None] and not is_numbered and "int" in str(frame.index.dtype).lower():
        raise ValueError(_UNNAMED)
    if len(names) > 1 and None in names:
        raise ValueError(f"level {names.index(None)} of the index has no name: frame.rename_axis([...]) gives names")
    whole = frame if is_numbered else frame.reset_index()
    for name, dtype in zip(whole.columns, whole.dtypes):
        if isinstance(name, tuple):
            raise ValueError(f"the column {name!r} has a name of several levels: frame.columns = [...] gives others")
        if str(dtype).startswith(("period", "interval")):
            raise TypeError(f"the column {name!r} holds values of the type {dtype}, which no dataset has")
    if not whole.columns.is_unique:
        raise ValueError(f"the frame has two columns {whole.columns[whole.columns.duplicated()][0]!r}")
    return whole

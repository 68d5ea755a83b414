"""A client of a node: ask, write, read the newest rows, have a proof run again. One class, the standard library only."""

import json
import os
import time
import uuid
import warnings
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, Dict, Iterable, List, Literal, Mapping, Optional, Sequence, Union, overload
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from . import _frames, _json, _values, proof

Rows = Union[Iterable[Mapping[str, Any]], bytes, str, "os.PathLike[str]", Any]

_MEDIA_TYPES = {
    ".ndjson": "application/x-ndjson",
    ".jsonl": "application/x-ndjson",
    ".json": "application/json",
    ".csv": "text/csv",
    ".geojson": "application/geo+json",
    ".parquet": "application/vnd.apache.parquet",
}
_RETRYABLE = (408, 429, 502, 503, 504)
#: Of an answer, and of what is said of a refusal: a server that sends more is no node.
_MOST_ANSWER_BYTES = 512 * 1024 * 1024
_MOST_PROBLEM_BYTES = 1024 * 1024
_LONGEST_PAUSE_S = 30.0
#: What a node answers at once, unless its operator has said otherwise.
_MOST_ROWS = 100_000


class NodeError(Exception):
    """What a node refused, in its own words. `kind` is that of docs/errors.md; `problem` the whole body (RFC 9457)."""

    def __init__(self, status: int, kind: str, message: str, problem: Mapping[str, Any]) -> None:
        hint = problem.get("hint")
        super().__init__(f"{message} {hint}" if hint else message)
        self.status = status
        self.kind = kind
        self.problem = problem


class Unreachable(Exception):
    """No answer came: nothing listens there, or the connection broke each time it was tried."""


class _SameOrigin(HTTPRedirectHandler):
    """A dataset that was renamed is read at its new address; no other host gets the token, or is believed."""

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Optional[Request]:
        asked, wanted = urlsplit(req.full_url), urlsplit(newurl)
        if (asked.scheme, asked.netloc) != (wanted.scheme, wanted.netloc):
            where = f"{wanted.scheme}://{wanted.hostname}"
            raise NodeError(code, "Unknown", f"{req.host} sends this request to {where}, which was not asked.", {})
        method = req.get_method()
        if method != "GET" and code < 307:
            return None
        return Request(newurl, data=req.data, headers=dict(req.header_items()), method=method)

    # Python before 3.11 does not know this status, with which a node answers.
    http_error_308 = HTTPRedirectHandler.http_error_302


_OPENER = build_opener(_SameOrigin)


@dataclass(frozen=True)
class Answer:
    """Rows with their types. With `proof=True` they were checked before you see them."""

    #: Names of the columns.
    columns: List[str]
    #: Their Arrow types, as `schema` of an answer spells them.
    types: List[Any]
    #: One list of values a column.
    values: List[List[Any]]
    #: Whether there were more rows than `limit`.
    truncated: bool
    #: The answer as received: what to save, and what `verify` takes. None without a proof.
    text: Optional[str]
    #: What was signed. None without a proof.
    checked: Optional[proof.Checked]

    def __len__(self) -> int:
        return len(self.values[0]) if self.values else 0

    def rows(self) -> List[Dict[str, Any]]:
        """The rows as dictionaries."""
        return [dict(zip(self.columns, row)) for row in zip(*self.values)]

    def to_pandas(self) -> Any:
        """A DataFrame of pandas, with nullable types: no integer becomes a float."""
        return _values.to_pandas(self.columns, self.types, self.values)

    def to_polars(self) -> Any:
        """A DataFrame of polars."""
        return _values.to_polars(self.columns, self.types, self.values)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Saves the answer with its proof, byte for byte as it was received."""
        if self.text is None:
            raise ValueError("the answer has no proof: ask with proof=True")
        Path(path).write_text(self.text, encoding="ascii")


class Node:
    """A node at an address. `server` and `token` come from PROOFSTREAM_SERVER and PROOFSTREAM_TOKEN where not given."""

    def __init__(
        self, server: Optional[str] = None, token: Optional[str] = None, timeout: float = 60, attempts: int = 5
    ) -> None:
        self.server = (server or os.environ.get("PROOFSTREAM_SERVER") or "http://127.0.0.1:8080").rstrip("/")
        self._token = token or os.environ.get("PROOFSTREAM_TOKEN")
        self._timeout = timeout
        self._attempts = attempts

    def query(
        self,
        sql: str,
        parameters: Union[Sequence[Any], Mapping[str, Any], None] = None,
        *,
        proof: bool = False,
        limit: Optional[int] = None,
        skip: int = 0,
        datasets: Optional[Sequence[Mapping[str, str]]] = None,
        signer: Optional[str] = None,
    ) -> Answer:
        """Asks one SELECT. Without `limit` all rows come that the node answers at once (100,000, unless its operator has said
        otherwise), and a UserWarning says when there were more; with it, `Answer.truncated` does.

        With `proof` the answer is signed, and checked before it is returned: ProofError where it does not stand, or was not
        signed by `signer`. Raises NodeError for what the node refuses.
        """
        asked: Dict[str, Any] = {"query": sql, "include": ["Schema", "Proof"] if proof else ["Schema"], "skip": skip}
        asked.update({} if datasets is None else {"datasets": list(datasets)})
        if parameters is not None:
            asked["parameters"] = dict(parameters) if isinstance(parameters, Mapping) else list(parameters)
        try:
            text = self._ask(asked, _MOST_ROWS if limit is None else limit)
        except NodeError as error:
            most = error.problem.get("limit")
            if limit is not None or not isinstance(most, dict) or most.get("name") != "resultRows":
                raise
            text = self._ask(asked, most["value"])
        answer = _answer(text, _checked(text, signer) if proof or signer is not None else None)
        if limit is None and answer.truncated:
            message = f"these are the first {len(answer)} rows of more: page with limit and skip, or export the dataset"
            warnings.warn(message, stacklevel=2)
        return answer

    def _ask(self, asked: Mapping[str, Any], limit: int) -> str:
        body = _values.json_line({**asked, "limit": limit}).encode()
        return self._call("POST", "/query", body, {"Content-Type": "application/json"}).decode("utf-8")

    def tail(self, dataset: str, limit: int = 100) -> List[Dict[str, Any]]:
        """The newest rows of a dataset (`account/name`), the oldest of them first."""
        text = self._call("GET", f"/{_path(dataset)}/tail?{urlencode({'limit': limit})}", None, {})
        rows: List[Dict[str, Any]] = json.loads(text)["data"]
        return rows

    def ingest(
        self,
        dataset: str,
        rows: Rows,
        *,
        create: bool = False,
        media_type: Optional[str] = None,
        key: Optional[str] = None,
        controls: Optional[Mapping[str, str]] = None,
    ) -> Dict[str, Any]:
        """Writes one batch: all of it is stored, or nothing. Returns the receipt, after the rows are durable.
        What the node changed or doubts is in its `warnings`, and a UserWarning each.

        `rows` are dictionaries, a DataFrame of polars or (with pyarrow) of pandas, bytes with their `media_type`, or the path
        of a file. The index of a frame of pandas becomes columns, but for plain numbers of rows. `create` makes the dataset where it is missing. `key` is the Idempotency-Key: give your own to repeat a
        batch after a crash without doubling it; without one, repeats within this call share one. `controls` are the
        parameters of docs/http-api.md, such as `eventTime`.
        """
        body, kind = _body(rows, media_type)
        query = urlencode({**({"create": "true"} if create else {}), **(controls or {})})
        headers = {"Content-Type": kind, "Idempotency-Key": key or str(uuid.uuid4())}
        text = self._call("POST", f"/{_path(dataset)}/ingest{'?' + query if query else ''}", body, headers)
        receipt: Dict[str, Any] = json.loads(text)
        for warning in receipt.get("warnings", []):
            warnings.warn(warning, stacklevel=2)
        return receipt

    @overload
    def receipt(self, receipt_id: str, signed: Literal[False] = False) -> Dict[str, Any]: ...

    @overload
    def receipt(self, receipt_id: str, signed: Literal[True]) -> bytes: ...

    def receipt(self, receipt_id: str, signed: bool = False) -> Union[Dict[str, Any], bytes]:
        """What became of a batch. Signed, it is the file as it came: save it, and `proofstream.verify` takes it."""
        query = "?include=signature" if signed else ""
        data = self._call("GET", f"/receipts/{quote(receipt_id, safe='')}{query}", None, {})
        receipt: Dict[str, Any] = {} if signed else json.loads(data)
        return data if signed else receipt

    def proof(self, of: str, format: str = "tlog-proof", wait: float = 90) -> bytes:
        """The proof that the ledger has a batch (by `receiptId`), a block (`account/name@hash`) or a row (`account/name@offset`).

        The file as it came: save it, and `proofstream.verify` takes it. `format` is `tlog-proof` or `json`. What the ledger
        does not have yet is asked for again for `wait` seconds, and then a NodeError with the kind `NotYetInLedger`.
        """
        dataset, at, place = of.partition("@")
        kind = "rows" if place.isdigit() else "blocks"
        what = f"{_path(dataset)}/{kind}/{quote(place, safe='')}" if at else f"receipts/{quote(of, safe='')}"
        return self._proof(f"/{what}", format, wait)

    def statement(self, format: str = "tlog-proof", wait: float = 90) -> bytes:
        """The proof of the newest statement of the node about itself: which keys are its own, and since when former ones sign nothing.

        The file as it came: `proofstream.verify` takes it as `beside` of a signed receipt. Otherwise as `proof`.
        """
        about = json.loads(self._call("GET", "/ledger", None, {}))
        if "statement" not in about:
            raise NodeError(404, "NoSuchProof", "The ledger of this node has no statement yet.", {})
        return self._proof(f"{about['path']}/statements/{about['statement']}", format, wait)

    def _proof(self, path: str, format: str, wait: float) -> bytes:
        end = time.monotonic() + wait
        while True:
            try:
                return self._call("GET", f"{path}/proof?{urlencode({'format': format})}", None, {"Accept": "*/*"})
            except NodeError as error:
                if error.kind != "NotYetInLedger" or time.monotonic() > end:
                    raise
                self._pause(1, error.problem.get("retryAfter"))

    def policy(self) -> bytes:
        """The key of the node's ledger and its witnesses, for `proofstream.verify`. A stranger's node may name any: compare them."""
        return self._call("GET", "/ledger/policy", None, {"Accept": "*/*"})

    def verify(self, answer: Union[str, bytes, Answer]) -> Dict[str, Any]:
        """Has the node run a proven answer again over the blocks that it names.

        Returns what it found. Raises NodeError with the kind `VerificationFailed::…` where it got other rows, and
        `VerificationInconclusive::…` where it cannot tell.
        """
        text = answer.text if isinstance(answer, Answer) else answer
        if text is None:
            raise ValueError("the answer has no proof: ask with proof=True")
        body = text.encode("utf-8") if isinstance(text, str) else text
        found: Dict[str, Any] = json.loads(self._call("POST", "/verify", body, {"Content-Type": "application/json"}))
        return found

    def export(self, dataset: str, path: Union[str, "os.PathLike[str]"], format: Optional[str] = None) -> int:
        """Saves a whole dataset in offset order and returns its bytes. The format is that of the file's name, or `format`:
        Parquet, Arrow, Csv, NdJson, GeoJson, Xlsx. The file appears when it is complete."""
        known = {".parquet": "Parquet", ".arrows": "Arrow", ".csv": "Csv", ".ndjson": "NdJson", ".geojson": "GeoJson"}
        known[".xlsx"] = "Xlsx"
        chosen = format or known.get(Path(path).suffix.lower())
        if format is None and Path(path).suffix.lower() == ".arrow":
            raise ValueError("a node sends Arrow as a stream, whose files end in .arrows: .arrow is the other form")
        if chosen is None:
            raise ValueError(f"the name of the file says no format: give one of {', '.join(known.values())}")
        target = Path(path)
        part = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
        request = self._request("GET", f"/{_path(dataset)}/export?{urlencode({'format': chosen})}", None, {"Accept": "*/*"})
        try:
            with self._open(request) as stream, open(part, "wb") as file:
                size = 0
                while piece := self._read(stream, 1 << 20):
                    size += file.write(piece)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        return size

    def _request(self, method: str, target: str, body: Optional[bytes], headers: Mapping[str, str]) -> Request:
        own = {"Accept": "application/json", "User-Agent": "proofstream-python/0.2"}
        if self._token is not None:
            own["Authorization"] = f"Bearer {self._token}"
        return Request(self.server + target, data=body, method=method, headers={**own, **headers})

    def _call(self, method: str, target: str, body: Optional[bytes], headers: Mapping[str, str]) -> bytes:
        request = self._request(method, target, body, headers)
        for attempt in range(1, self._attempts + 1):
            try:
                with self._open(request) as answer:
                    return self._whole(answer)
            except NodeError as error:
                if attempt == self._attempts or not error.problem.get("retryable", error.status in _RETRYABLE):
                    raise
                self._pause(attempt, error.problem.get("retryAfter"))
            except Unreachable:
                if attempt == self._attempts:
                    raise
                self._pause(attempt, None)
        raise AssertionError("attempts is at least 1")

    def _open(self, request: Request) -> Any:
        try:
            return _OPENER.open(request, timeout=self._timeout)
        except HTTPError as error:
            raise _problem(error) from None
        except (URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            raise Unreachable(f"no answer from {self.server}: {reason}") from error

    def _read(self, stream: Any, most_bytes: Optional[int] = None) -> bytes:
        """Bytes of an answer; one whose last chunk never came is none."""
        try:
            data: bytes = stream.read(most_bytes)
            return data
        except (HTTPException, OSError) as error:
            raise Unreachable(f"the answer from {self.server} broke off: {error!r}") from error

    def _whole(self, answer: Any) -> bytes:
        data = self._read(answer, _MOST_ANSWER_BYTES + 1)
        if len(data) > _MOST_ANSWER_BYTES:
            message = f"{self.server} answered with more than {_MOST_ANSWER_BYTES} bytes"
            raise NodeError(answer.status, "Unknown", message, {})
        if answer.length:
            raise Unreachable(f"the answer from {self.server} broke off: {answer.length} bytes did not come")
        return data

    def _pause(self, attempt: int, seconds: Optional[str]) -> None:
        wanted = float(seconds) if seconds is not None and seconds.isdigit() else 0.2 * 2**attempt
        time.sleep(min(wanted, _LONGEST_PAUSE_S))


def _problem(error: HTTPError) -> NodeError:
    try:
        body = json.loads(error.read(_MOST_PROBLEM_BYTES))
        kind, message = body["error"]["kind"], body["message"]
    except (ValueError, KeyError, TypeError, RecursionError, HTTPException, OSError):
        body, kind, message = {}, "Unknown", f"{error.code} {error.reason}, not in the words of a node"
    problem = {**body, "retryAfter": error.headers.get("Retry-After")}
    return NodeError(error.code, kind, message, problem)


def _path(dataset: str) -> str:
    account, slash, name = dataset.partition("/")
    if not slash or not account or not name or "/" in name:
        raise ValueError(f"{dataset!r} is no account/name")
    return f"{quote(account, safe='')}/{quote(name, safe='')}"


def _checked(text: str, signer: Optional[str]) -> proof.Checked:
    return proof.verify(text, signer)


def _answer(text: str, checked: Optional[proof.Checked]) -> Answer:
    output = _json.parse(text)["output"]
    fields = output["schema"]["fields"]
    readers = [_values.reader_of(field["data_type"]) for field in fields]
    data = output["data"]
    values = [[read(row[place]) for row in data] for place, read in enumerate(readers)]
    return Answer(
        columns=[field["name"] for field in fields],
        types=[_json.plain(field["data_type"]) for field in fields],
        values=values,
        truncated=output.get("truncated") is True,
        text=None if checked is None else text,
        checked=checked,
    )


def _body(rows: Rows, media_type: Optional[str]) -> "tuple[bytes, str]":
    if isinstance(rows, (bytes, bytearray)):
        if media_type is None:
            raise ValueError("bytes need their media_type, such as text/csv")
        return bytes(rows), media_type
    if isinstance(rows, (str, os.PathLike)):
        path = Path(rows)
        kind = media_type or _MEDIA_TYPES.get(path.suffix.lower())
        if kind is None:
            raise ValueError(f"the name {path.name} says no format: give media_type")
        return path.read_bytes(), kind
    if hasattr(rows, "write_parquet") or hasattr(rows, "to_parquet"):
        return _frames.parquet_of(rows), _MEDIA_TYPES[".parquet"]
    return b"".join(_line(row) for row in rows), _MEDIA_TYPES[".ndjson"]


def _demand_names(value: Any) -> None:
    """TypeError for a key that is no text, which JSON would make one of."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not isinstance(name, str):
                raise TypeError(f"{name!r} is the name of a value, and no text: a column has a text as its name")
            _demand_names(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _demand_names(inner)


def _line(row: Mapping[str, Any]) -> bytes:
    _demand_names(row)
    return _values.json_line(dict(row)).encode("utf-8") + b"\n"

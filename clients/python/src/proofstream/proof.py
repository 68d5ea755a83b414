"""Checks a saved answer offline: its hashes and its signature, as `proofstream verify --offline` does.

That the rows follow from the blocks is another question: `Node.verify` has a node run the statement again.
"""

import base64
import hashlib
import re
from dataclasses import dataclass
from typing import Any, Dict, Optional, Union

from . import _ed25519, _json
from ._rewritten import is_rewritten
from ._shape import members, text_of
from ._signed_answer import extent_of

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_SHA3 = bytes((0x16, 0x20))
_ED25519 = bytes((0xED, 0x01))
NEEDED = ("input", "subQueries", "commitment", "proof")
#: The rows of an answer have at most 256 MiB.
MOST_BYTES = 300 * 1024 * 1024
_MOST_VALUES = 1_000_000
PROOF_TYPE = "Ed25519Signature2020"


#: What a person took for a saved answer, by its first bytes.
_OTHERS = {
    b"\xff\xfe": "text in UTF-16; save it as UTF-8",
    b"\xfe\xff": "text in UTF-16; save it as UTF-8",
    b"\xef\xbb\xbf": "text with a byte order mark, which is not part of JSON; save it without",
    b"\x1f\x8b": "compressed by gzip; unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed by zstd; unpack it first",
    b"PK": "a zip archive or an office document",
    b"PAR1": "a Parquet file: rows without a proof",
    b"ARROW1": "an Arrow file: rows without a proof",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"manifest.json\0": "a bundle, which holds one: python -m proofstream FILE",
    b"<": "a page in HTML or XML",
}


class ProofError(Exception):
    """The answer does not stand. `kind` is that of docs/errors.md, or `OtherSigner`; of a file about a ledger also `Altered`.

    `outcome` says what that means: `failed`, do not trust it; `impossible`, it cannot be judged here; `noProof`, these bytes
    are no saved answer with a proof.
    """

    def __init__(self, outcome: str, kind: str, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.kind = kind


@dataclass(frozen=True)
class Checked:
    """What was signed, of an answer whose hashes and signature are good."""

    #: did:key of who signed.
    signer: str
    #: The signed question: statement, dialect, datasets with their blocks, limit.
    input: Dict[str, Any]
    #: The signed rows; None where the answer was saved without them.
    output: Optional[Dict[str, Any]]
    #: How numbers were spelled when the output was hashed: `verbatim`, as text. None without rows.
    form: Optional[str]
    #: `whole`: no row was left out; `cut`: rows beyond the limit were; `unknown`: the answer does not tell.
    extent: str


def verify(answer: Union[str, bytes], signer: Optional[str] = None) -> Checked:
    """Checks a saved answer, as it was received, and says what was signed.

    Raises ProofError where it does not stand: another question, other rows, no signature of this key. `signer` is the did:key
    that must have signed; without it every key will do: judge `Checked.signer` yourself.
    """
    body = check(answer, signer)
    output = None if body["output"] is None else _json.plain(body["output"])
    form = None if output is None else "verbatim"
    extent = extent_of(body["input"], body["output"])
    return Checked(body["proof"]["did"], _json.plain(body["input"]), output, form, extent)


def check(answer: Union[str, bytes], signer: Optional[str] = None, apart: Optional[bytes] = None) -> Dict[str, Any]:
    """The members of a saved answer that stands, with numbers as they are written. `apart`: its output, or an answer with it.

    Raises ProofError.
    """
    body = _read(answer, apart)
    commitment, proof = body["commitment"], body["proof"]
    if proof["type"] != PROOF_TYPE:
        raise ProofError("impossible", "UnsupportedProofType", f"only proofs of the type {PROOF_TYPE} can be checked")
    for part, kind in (("input", "InputHash"), ("subQueries", "SubQueriesHash")):
        if _hash(body[part]) != commitment[f"{part}Hash"]:
            raise _failed(kind, f"the commitment is of another {part}")
    signed = _json.canonical(commitment)
    if not _ed25519.is_signed(proof["key"], signed, proof["signature"]):
        raise _failed("BadSignature", "the signature is not of this key over this commitment")
    if body["output"] is not None:
        _demand_output(body["output"], commitment["outputHash"])
    if signer is not None and signer != proof["did"]:
        raise ProofError("failed", "OtherSigner", f"it is signed by {proof['did']}, not by {signer}")
    return body


def _failed(kind: str, message: str) -> ProofError:
    return ProofError("failed", f"InvalidRequest::{kind}", message)


def _hash(value: Any) -> str:
    return "f1620" + hashlib.sha3_256(_json.canonical(value)).hexdigest()


def _demand_output(output: Any, expected: str) -> None:
    if _hash(output) == expected:
        return
    if is_rewritten(output, lambda spelled: _hash(spelled) == expected):
        message = "read as doubles the numbers are those that were signed: a JSON library has printed them again"
        raise ProofError("impossible", "InvalidRequest::RewrittenOutput", message)
    raise _failed("OutputHash", "the rows are not those that were signed")


def _read(answer: Union[str, bytes], apart: Optional[bytes]) -> Dict[str, Any]:
    if len(answer) > MOST_BYTES:
        raise ProofError("noProof", "InvalidRequest", f"this is no saved answer: it has more than {MOST_BYTES} bytes")
    try:
        text = answer.decode("utf-8") if isinstance(answer, bytes) else answer
        # Of what is no answer not many values are made: they take many times its bytes.
        names, values = _json.outline(text)
        is_answer = names is not None and names.issuperset(NEEDED)
        body = _json.parse(text) if is_answer or values <= _MOST_VALUES else names and dict.fromkeys(names)
        saved = None if apart is None else _json.parse(apart.decode("utf-8"))
    except ValueError as error:
        what = other_kind(answer)
        why = f"the JSON {error}" if what is None else f"it is {what}"
        raise ProofError("noProof", "MalformedJson", f"this is no saved answer: {why}") from error
    try:
        shaped = _shaped(body)
        if shaped["output"] is None and saved is not None:
            within = saved.get("output") if isinstance(saved, dict) else None
            shaped["output"] = saved if within is None else within
        return shaped
    except (ValueError, RecursionError) as error:
        raise ProofError("noProof", "InvalidRequest", f"this is no answer with a proof: {error}") from error


def other_kind(file: Union[str, bytes]) -> Optional[str]:
    """`a picture`; None where the first bytes tell nothing."""
    data = file[:100].encode("utf-8", "replace") if isinstance(file, str) else bytes(file[:100])
    if not data:
        return "empty"
    return next((what for first, what in _OTHERS.items() if data.startswith(first)), None)


def _shaped(body: Any) -> Dict[str, Any]:
    members(body, "the answer", NEEDED, ("output", "ledger"))
    for name in ("input", "output"):
        if name in body and not isinstance(body[name], dict):
            raise ValueError(f"{name} is not an object")
    if not isinstance(body["subQueries"], list):
        raise ValueError("subQueries is not a list")
    for one in body["subQueries"]:
        _shaped(one)
    hashes = ("inputHash", "outputHash", "subQueriesHash")
    commitment, proof = body["commitment"], body["proof"]
    members(commitment, "commitment", hashes)
    members(proof, "proof", ("type", "verificationMethod", "proofValue"))
    signature = decoded(proof["proofValue"], "proof.proofValue", 64)
    if len(signature) != 64:
        raise ValueError("proof.proofValue has not 64 bytes")
    return {
        "input": body["input"],
        "output": body.get("output"),
        "subQueries": body["subQueries"],
        "commitment": {name: _normal_hash(commitment[name], name) for name in hashes},
        "proof": {
            "type": text_of(proof["type"]),
            "did": proof["verificationMethod"],
            "key": key_of(proof["verificationMethod"]),
            "signature": signature,
        },
    }


def _normal_hash(value: Any, name: str) -> str:
    data = decoded(value, name, 37)
    if data[:2] != _SHA3 or len(data) != 34:
        raise ValueError(f"{name} is no multihash of SHA3-256")
    return "f" + data.hex()


def key_of(did: Any) -> bytes:
    if not isinstance(did, str) or not did.startswith("did:key:z"):
        raise ValueError("proof.verificationMethod is no did:key")
    data = decoded(did[len("did:key:") :], "proof.verificationMethod", 34)
    if data[:2] != _ED25519 or len(data) != 34:
        raise ValueError("proof.verificationMethod is no Ed25519 key")
    return data[2:]


def decoded(text: Any, name: str, most: int) -> bytes:
    """Bytes of a multibase text: `f`, `F`, `u` or `z`, without padding and stray bits."""
    if not isinstance(text, str) or isinstance(text, _json.Number) or len(text) > 1 + 2 * most:
        raise ValueError(f"{name} is no text of at most {most} bytes")
    base, digits = text[:1], text[1:]
    data: Optional[bytes] = None
    if base in ("f", "F") and re.fullmatch("[0-9a-f]*" if base == "f" else "[0-9A-F]*", digits) and len(digits) % 2 == 0:
        data = bytes.fromhex(digits)
    elif base == "u" and re.fullmatch("[A-Za-z0-9_-]*", digits) and len(digits) % 4 != 1:
        data = base64.urlsafe_b64decode(digits + "=" * (-len(digits) % 4))
        if base64.urlsafe_b64encode(data).rstrip(b"=").decode() != digits:
            data = None
    elif base == "z" and all(char in _BASE58 for char in digits):
        data = _base58(digits)
    if data is None or len(data) > most:
        raise ValueError(f"{name} is no multibase text of at most {most} bytes")
    return data


def _base58(digits: str) -> bytes:
    number = 0
    for char in digits:
        number = number * 58 + _BASE58.index(char)
    zeros = len(digits) - len(digits.lstrip("1"))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")

#!/usr/bin/env python3
"""Asks a node, checks the answer without any code of the node, and prints the rows.

    python3 ask.py 'select count(*) from demo.weather' [--server http://localhost:8080] [--save answer.json]
    python3 ask.py 'select * from demo.weather where station = $id' --param id=Oslo
    python3 ask.py --check answer.json [--signer did:key:z6Mk…] [--again]

Python's standard library only. An answer with a proof is canonical JSON: the bytes of a member, as received, are what
was hashed. So nothing here writes JSON, and numbers are never read as floats before they are hashed.
--again has the server run the question again over the blocks that the answer names, and prints what it found.
A file that was opened in an editor or pretty-printed since is put back into that form where nothing else was changed.
Exit code 0: checked. 1: the answer is not what the key signed. 2: no answer.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import sys
import urllib.error
import urllib.request

MULTIHASH = "f1620"  # multibase base16, then the multihash prefix of sha3-256 with 32 bytes


class Forged(Exception):
    """The answer is not what the key signed."""


def members(text):
    """The members of a JSON object: name to the text of its value, byte for byte."""
    if not text.startswith("{"):
        raise ValueError("it is not a JSON object")
    decoder = json.JSONDecoder()
    found, at = {}, 1
    while text[at] != "}":
        name, at = decoder.raw_decode(text, at + (text[at] == ","))
        _, end = decoder.raw_decode(text, at + 1)  # text[at] is the colon
        if name in found:
            raise Forged(f"the member {name} is there twice")
        found[name], at = text[at + 1 : end], end
    return found


def as_sent(text):
    """The text without what formatters add: white space between tokens, letters that the node had escaped."""
    tight = re.sub(r'("(?:[^"\\]|\\.)*")|\s+', lambda found: found[1] or "", text.removeprefix("\ufeff"))
    return re.sub(r"[^\x20-\x7e]", escaped, tight)


def escaped(found):
    units = found[0].encode("utf-16-be").hex()
    return "".join("\\u" + units[at : at + 4] for at in range(0, len(units), 4))


def sha3(text):
    return MULTIHASH + hashlib.sha3_256(text.encode("ascii")).hexdigest()


def check(text, signer=None):
    """Raises Forged unless hashes and signature are good. Returns input, output and the DID of the signer."""
    parts = members(text)
    if not {"input", "output", "subQueries", "commitment", "proof"} <= parts.keys():
        raise ValueError("it is not an answer with rows and their proof")
    signed = members(parts["commitment"])
    for part, name in (("input", "inputHash"), ("output", "outputHash"), ("subQueries", "subQueriesHash")):
        if json.loads(signed[name]) != sha3(parts[part]):
            raise Forged(f"{part} does not hash to {name}")
    if list(signed) != ["inputHash", "outputHash", "subQueriesHash"]:
        raise Forged("the commitment is not canonical")
    proof = json.loads(parts["proof"])
    did = proof["verificationMethod"]
    if proof["type"] != "Ed25519Signature2020" or not did.startswith("did:key:z"):
        raise Forged("the proof is of another type")
    key = base58(did[len("did:key:z") :])
    signature = base64.urlsafe_b64decode(proof["proofValue"][1:] + "==")
    if key[:2] != b"\xed\x01" or not verify(key[2:], parts["commitment"].encode("ascii"), signature):
        raise Forged("the signature is not of this key over this commitment")
    if signer is not None and did != signer:
        raise Forged(f"it is signed by {did}")
    return json.loads(parts["input"]), json.loads(parts["output"]), did


def rows_of(output):
    """The rows of any of the layouts, as lists."""
    data = output["data"]
    if isinstance(data, dict):
        return [list(row) for row in zip(*data.values())]
    return [list(row.values()) if isinstance(row, dict) else row for row in data]


def extent(asked, output):
    """How many rows, and whether that is all. Nodes say since version 2 of their dialect when rows were left out."""
    count = len(rows_of(output))
    rows = f"{count} row{'' if count == 1 else 's'}"
    if output.get("truncated"):
        return f"{rows}, cut by limit {asked['limit']}"
    version = asked.get("queryDialect", "").rpartition("-")[2]
    if count < asked.get("limit", 0) or (version.isdigit() and int(version) > 1):
        return f"{rows}, none left out"
    return f"{rows}; whether more were left out is not said"


def base58(text):
    alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    number = 0
    for char in text:
        number = number * 58 + alphabet.index(char)
    return number.to_bytes(34, "big")


# Ed25519 as RFC 8032 §5.1 and §6 write it.
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def add(a, b):
    x, y = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    z, t = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = y - x, t - z, t + z, y + x
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point, scalar = add(point, point), scalar >> 1
    return result


def point(data):
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - square) % P or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


def verify(key, message, signature):
    public, r = point(key), point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if len(key) != 32 or len(signature) != 64 or public is None or r is None or s >= L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    base = point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
    left, right = times(s, base), add(r, times(h, public))
    return all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))


def post(url, text, token):
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    with urllib.request.urlopen(urllib.request.Request(url, text.encode("ascii"), headers)) as answer:
        return answer.read().decode("utf-8")


def ask(server, sql, token, parameters):
    asked = {"query": sql, "include": ["Proof"], **({"parameters": parameters} if parameters else {})}
    return post(f"{server}/query", json.dumps(asked), token)


def run_again(server, text, token):
    """What the server says of the answer, line by line. Raises Forged where it got another one."""
    try:
        return json.loads(post(f"{server}/verify", text, token))["explanation"]
    except urllib.error.HTTPError as error:
        told = json.load(error)
        if told.get("error", {}).get("kind", "").startswith("VerificationFailed::OutputMismatch"):
            raise Forged(told["message"]) from error
        raise ValueError(f"the server could not run it again: {told.get('message')}") from error


def main():
    options = argparse.ArgumentParser()
    options.add_argument("query", nargs="?")
    options.add_argument("--server", default=os.environ.get("PROOFSTREAM_SERVER", "http://localhost:8080"))
    options.add_argument("--token")
    options.add_argument("--param", metavar="NAME=TEXT", action="append", default=[])
    options.add_argument("--save", metavar="FILE")
    options.add_argument("--check", metavar="FILE")
    options.add_argument("--signer", metavar="DID")
    options.add_argument("--again", action="store_true")
    given = options.parse_args()
    if not all("=" in param for param in given.param):
        options.error("a parameter is NAME=TEXT")
    try:
        if given.check is not None:
            with open(given.check, encoding="utf-8") as file:
                received = file.read()
            text = as_sent(received)
        elif given.query is None:
            options.error("give a query, or --check FILE")
        else:
            parameters = dict(param.split("=", 1) for param in given.param)
            received = text = ask(given.server, given.query, given.token, parameters)
        if given.save is not None:
            with open(given.save, "w", encoding="ascii") as file:
                file.write(text)
        asked, output, did = check(text, given.signer)
        found = run_again(given.server, text, given.token) if given.again else None
    except Forged as why:
        hint = "" if text == received.strip() else " It was reformatted since it was saved: keep it as received."
        sys.exit(f"Do not trust this answer: {why}.{hint}")
    except urllib.error.HTTPError as error:
        print(json.load(error).get("message"), file=sys.stderr)
        sys.exit(2)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        why = "it is no text" if isinstance(error, UnicodeError) else str(error) or type(error).__name__
        print(f"No answer that could be checked: {why}", file=sys.stderr)
        sys.exit(2)
    for row in rows_of(output):
        print("\t".join(str(value) for value in row))
    print(f"asked: {json.dumps(asked.get('query'), ensure_ascii=False)}", file=sys.stderr)
    if "parameters" in asked:
        print(f"with: {json.dumps(asked['parameters'], ensure_ascii=False)}", file=sys.stderr)
    for dataset in asked.get("datasets", []):
        made = f", made {dataset['blockTime']}" if "blockTime" in dataset else ""
        print(f"of: {dataset.get('alias')} at block {dataset.get('blockHash')}{made}", file=sys.stderr)
    print(f"answer: {extent(asked, output)}", file=sys.stderr)
    print(f"checked: hashes and signature are good, signed by {did}", file=sys.stderr)
    if found is None:
        print("not checked: that the rows follow from those blocks; --again has the server say", file=sys.stderr)
    for line in found or []:
        print(f"again: {line['about']}: {json.dumps(line['text'], ensure_ascii=False)}", file=sys.stderr)


if __name__ == "__main__":
    main()

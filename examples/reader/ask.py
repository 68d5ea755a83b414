#!/usr/bin/env python3
"""Asks a node, checks the answer without any code of the node, and prints the rows.

    python3 ask.py 'select count(*) from demo.weather' [--server http://localhost:8080] [--save answer.json]
    python3 ask.py 'select * from demo.weather where station = $id' --param id=Oslo
    python3 ask.py --check answer.json [--signer did:key:z6Mk…] [--again]
    python3 ask.py --proof batch.tlog-proof --policy policy.txt

Python's standard library only. An answer with a proof is canonical JSON: the bytes of a member, as received, are what
was hashed. So nothing here writes JSON, and numbers are never read as floats before they are hashed.
--again has the server run the question again over the blocks that the answer names, and prints what it found.
A file that was opened in an editor or pretty-printed since is put back into that form where nothing else was changed.
--proof checks that a block, a batch, a row or a statement is in a ledger: the policy says which keys count, nothing in the file does.
Exit code 0: checked. 1: the answer is not what the key signed. 2: no answer, or nothing that could be judged.
--proof ends with the codes of proofstream verify, 0, 10, 11, 13 or 14: docs/spec/ledger.md#verdicts
"""

import argparse
import base64
import datetime
import hashlib
import hmac
import io
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
    tight, at, text = io.StringIO(), 0, text.removeprefix("\ufeff")
    while (begin := text.find('"', at)) >= 0:
        tight.write(text[at:begin].translate(dict.fromkeys(b" \t\n\r")))
        _, at = json.decoder.scanstring(text, begin + 1)
        tight.write(text[begin:at])
    tight.write(text[at:].translate(dict.fromkeys(b" \t\n\r")))
    return re.sub(r"[^\x20-\x7e]", escaped, tight.getvalue())


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
    did = signer_of(json.loads(parts["proof"]), parts["commitment"])
    if signer is not None and did != signer:
        raise Forged(f"it is signed by {did}")
    return json.loads(parts["input"]), json.loads(parts["output"]), did


def signer_of(proof, text):
    """The DID of the key that has signed a text. Raises Forged."""
    did = proof["verificationMethod"]
    if proof["type"] != "Ed25519Signature2020" or not re.fullmatch(r"did:key:z(?!1)\w+", did):
        raise Forged("the proof is of another type")
    key = base58(did[len("did:key:z") :])
    signature = base64.urlsafe_b64decode(proof["proofValue"][1:] + "==")
    spelled = "u" + base64.urlsafe_b64encode(signature).decode("ascii").rstrip("=")
    good = key[:2] == b"\xed\x01" and proof["proofValue"] == spelled
    if not good or not verify(key[2:], text.encode("ascii"), signature):
        raise Forged("the signature is not of this key over this commitment or statement")
    return did


def rows_of(output):
    """The rows of any of the layouts, as lists."""
    data = output["data"]
    if isinstance(data, dict):
        return [list(row) for row in zip(*data.values())]
    return [list(row.values()) if isinstance(row, dict) else row for row in data]


def extent(asked, output):
    """How many rows, and whether that is all. Nodes that name the version of their engine say when rows were left out."""
    count = len(rows_of(output))
    rows = f"{count} row{'' if count == 1 else 's'}"
    if output.get("truncated"):
        return f"{rows}, cut by limit {asked['limit']}"
    version = asked.get("queryDialect", "").rpartition("-")[2]
    if count < asked.get("limit", 0) or version.isdigit():
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
    # Of such a point another key or message may be good too, and readers differ in whether they take it.
    if any(times(8, small)[0] % P == 0 for small in (public, r)):
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    base = point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
    left, right = times(s, base), add(r, times(h, public))
    return all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))


# Proofs of the ledger: docs/spec/ledger.md#proofs, and tlog-proof, tlog-policy and signed-note of https://c2sp.org.
ED25519, COSIGNATURE, MOST = 1, 4, 2**53 - 1
ANOTHER = "proofstream verify judges receipts and all else about a ledger"
CODES = {"included": 0, "altered": 10, "impossible": 11, "witness quorum not met": 13, "not judged": 14}
TEXT, HEX = "(?s:.*)", "[0-9a-f]{64}"
BARE = {"v": int, "kind": TEXT, "entry": TEXT}
ANY = {**BARE, "dataset": {"id": f"did:odf:fed01{HEX}", "salt": HEX}}
RECORD = {**ANY, "record": dict, "salt": HEX, "index": int, "count": int, "path": [TEXT]}
SHAPES = {"block": {**ANY, "block": {"hash": f"f1620{HEX}", "salt": HEX}}, "batch": RECORD, "row": RECORD}
SHAPES["statement"] = {**BARE, "statement": dict}
SIGNED = {"type": TEXT, "verificationMethod": TEXT, "proofValue": TEXT}
RETIRED = {"node": TEXT, "at": TEXT, "why": "rotated|leaked"}
ENGINE = {"name": TEXT, "version": TEXT, "sha256": HEX}
OF_NODE = {"type": "proofstream/statement/1", "ledger": {"origin": TEXT, "keys": [TEXT]}, "node": TEXT, "version": TEXT}
STATEMENT = {**OF_NODE, "engines": [ENGINE], "time": TEXT, "retired": [RETIRED], "proof": SIGNED}
PREVIOUS = {"origin": TEXT, "size": float, "root": TEXT, "reason": TEXT}


class Unjudged(Exception):
    """What is known of a file is right, and not enough: a verdict, and why."""


class Number(str):
    """A number of JSON as it was written."""


def forged_unless(holds, why):
    if not holds:
        raise Forged(why)


def from_base64(text):
    """The bytes of the one text that stands for them, or None."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return data if base64.b64encode(data).decode("ascii") == text else None


def size_of(text):
    forged_unless(re.fullmatch("0|[1-9][0-9]{0,15}", text) and int(text) <= MOST, "it has a number that is none")
    return int(text)


def key_of(text, kind, others):
    """Name, id and public key of a line of a policy."""
    form = re.fullmatch(r"([^+\s]+)\+([0-9a-f]{8})\+(.*)", text)
    name, number, data = form.groups() if form else ("", "", "")
    key = from_base64(data)
    if not key or key[1:] in [other for _, _, other in others]:
        raise ValueError("has a key that cannot be read, or that of a line above")
    if kind == COSIGNATURE and key[0] not in (ED25519, COSIGNATURE):
        return name, None, key[1:]  # Of a newer type: it has signed nothing that can be checked here.
    if len(key) != 33 or key[0] != kind or hashlib.sha256(name.encode() + b"\n" + key).digest()[:4].hex() != number:
        raise ValueError("has a key of another type, or whose id does not follow from it")
    return name, bytes.fromhex(number), key[1:]


def read_policy(data):
    """Keys of logs, keys of witnesses by their names, groups in order, and the quorum. ValueError names the line."""
    policy, free = ([], {}, [], []), set()  # Free are names that are not yet a member of a group.
    for number, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n"), 1):
        try:
            if re.search("[\0-\x08\x0b-\x1f\x7f]", line) or len(data) > 262144:
                raise ValueError("has a control character, or there are too many")
            read_line([word for word in re.split("[ \t]+", line) if word] or ["#"], policy, free)
        except ValueError as error:
            raise ValueError(f"line {number} of the policy {error}") from error
    if not policy[3]:
        raise ValueError("the policy has no quorum line")
    return (*policy[:3], policy[3][0])


def read_line(words, policy, free):
    (logs, witnesses, groups, quorum), (word, *items) = policy, words
    known = {*witnesses, *(name for name, _, _ in groups)}
    if word == "log" and len(items) in (1, 2):
        logs.append(key_of(items[0], ED25519, logs))
    elif word == "witness" and len(items) in (2, 3) and items[0] not in known | {"none"}:
        witnesses[items[0]] = key_of(items[1], COSIGNATURE, witnesses.values())
        free.add(items[0])
    elif word == "group" and len(items) > 2 and items[0] not in known | {"none"}:
        name, least, *of = items
        least = {"any": "1", "all": str(len(of))}.get(least, least)
        if not re.fullmatch("[1-9][0-9]{0,5}", least) or int(least) > len(of):
            raise ValueError(f"has a threshold that is not one from 1 to {len(of)}")
        if not free >= {*of} or len({*of}) < len(of):
            raise ValueError("has a member that no line above defines, or that is a member already")
        groups.append((name, int(least), of))
        free.symmetric_difference_update({name, *of})
    elif word == "quorum" and len(items) == 1 and not quorum and items[0] in known | {"none"}:
        quorum.append(items[0])
    elif not word.startswith("#"):
        raise ValueError("is none of log, witness, group and a first quorum, with new names and those of lines above")


def read_note(data):
    """The text of a signed note, and its signatures, lists by name and key id."""
    text, end, lines = data.decode("utf-8").rpartition("\n\n")
    good = end and lines.endswith("\n") and not re.search("[\0-\x09\x0b-\x1f]", text + lines)
    forged_unless(good and len(data) <= 131072 and lines.count("\n") <= 100, "the head is no note, or too long")
    signatures = {}
    for line in lines[:-1].split("\n"):
        mark, name, data = (line.split(" ", 2) + ["", ""])[:3]
        signature = from_base64(data)
        good = mark == "\u2014" and name and not re.search(r"[\s+]", name) and signature and len(signature) > 4
        forged_unless(good, "the head has a line of a signature that is none")
        signatures.setdefault((name, signature[:4]), []).append(signature[4:])
    return text + "\n", signatures


def open_head(data, policy):
    """Origin, size and root of a head, when which witnesses have signed it, and the verdict on what is below it."""
    logs, witnesses, groups, quorum = policy
    text, signatures = read_note(data)
    lines = text[:-1].split("\n")
    forged_unless(len(lines) >= 3 and "" not in lines, "the head is not of three lines")
    origin, size, [root] = lines[0], size_of(lines[1]), hashes_of(lines[2:3])
    if origin not in [name for name, _, _ in logs]:
        return origin, size, root, {}, ("not judged", f"the policy has no log {origin}")
    signed = False
    for name, number, key in logs:
        for signature in signatures.get((name, number), []):
            forged_unless(verify(key, text.encode(), signature), f"the signature of {name} is not good")
            signed = signed or name == origin
    forged_unless(signed, "the head is not signed by its ledger")
    times = {}
    for witness, (name, number, key) in witnesses.items():
        for signature in signatures.get((name, number), []):
            at = int.from_bytes(signature[:8], "big")
            good = at <= MOST and verify(key, f"cosignature/v1\ntime {at}\n{text}".encode(), signature[8:])
            forged_unless(good, f"the cosignature of {name} is not good")
            times[witness] = min(at, times.get(witness, at))
    enough = {*times}
    for group, least, members_of_it in groups:
        if sum(member in enough for member in members_of_it) >= least:
            enough.add(group)
    few = quorum != "none" and quorum not in enough
    return origin, size, root, times, ("witness quorum not met", "too few have signed the head") if few else None


def root_from(leaf, index, size, path):
    """The root to which a leaf leads (RFC 9162, 2.1.3.2), or None."""
    if index >= size:
        return None
    node, last, root = index, size - 1, hashlib.sha256(b"\0" + leaf).digest()
    for beside in path:
        if last == 0:
            return None
        if node % 2 or node == last:
            root = hashlib.sha256(b"\1" + beside + root).digest()
            while node % 2 == 0 and node:
                node, last = node >> 1, last >> 1
        else:
            root = hashlib.sha256(b"\1" + root + beside).digest()
        node, last = node >> 1, last >> 1
    return root if last == 0 else None


def hashes_of(lines):
    hashes = [from_base64(line) for line in lines]
    forged_unless(all(one is not None and len(one) == 32 for one in hashes), "it has a hash that is none")
    return hashes


def once(pairs):
    forged_unless(len({name for name, _ in pairs}) == len(pairs), "it has a member twice")
    return dict(pairs)


def canonical(value, depth=64):
    """The one text of a value of JSON that is hashed: docs/spec/proof.md#canonical-json. Forged where it has none."""
    if isinstance(value, Number):
        return re.sub("[eE]([0-9])", r"e+\1", value).replace("E", "e") if value != "-0" else "0"
    if isinstance(value, str):
        forged_unless(not re.search("[\ud800-\udfff]", value), "it has half of a surrogate pair")
    elif isinstance(value, (dict, list)):
        forged_unless(depth > 0, "it is nested too deeply")
        if isinstance(value, list):
            return f"[{','.join(canonical(item, depth - 1) for item in value)}]"
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name], depth - 1)}" for name in sorted(value)) + "}"
    return json.dumps(value).replace("\x7f", "\\u007f")


def is_natural(value):
    """Whether a number is an integer from 0 on that a float holds exactly, however it is spelled."""
    return isinstance(value, Number) and float(value).is_integer() and 0 <= float(value) <= MOST


def fits(value, shape):
    """Whether a value is what its shape says: a text of a pattern, a number, a list, an object."""
    if shape is float:
        return is_natural(value)
    if shape is int:
        return isinstance(value, Number) and size_of(value) >= 0
    if isinstance(shape, str):
        return type(value) is str and re.fullmatch(shape, value)
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(item, shape[0]) for item in value)
    if shape is dict or not isinstance(value, dict):
        return isinstance(value, dict)
    return value.keys() == shape.keys() and all(fits(value[name], member) for name, member in shape.items())


def shown_by(extra):
    """The entry, a line about it, and what it shows: of the canonical JSON of an extra line."""
    told = json.loads(extra, object_pairs_hook=once, parse_int=Number, parse_float=Number, parse_constant=size_of)
    text = canonical(told)
    known = isinstance(told, dict) and type(told.get("kind")) is str and is_natural(told.get("v"))
    forged_unless(known, "it has no version or kind")
    kind = told["kind"]
    if float(told["v"]) != 1 or kind not in SHAPES:
        raise Unjudged("impossible", f"this program does not know its kind {kind[:40]!r}; {ANOTHER}")
    entry = from_base64(told["entry"]) if fits(told, SHAPES[kind]) and text == extra else None
    forged_unless(entry, "it has other members than its kind, or is not canonical")
    root = root_of(told) if kind != "statement" else None
    if entry[0] not in (1, 2):
        raise Unjudged("impossible", f"its entry is of a newer ledger; {ANOTHER}")
    if kind == "statement":
        return entry, *stated(told["statement"], entry)
    sequence, did = int.from_bytes(entry[33:41], "big"), told["dataset"]["id"]
    tag = hmac.digest(bytes.fromhex(told["dataset"]["salt"]), did.encode(), "sha256")
    forged_unless(entry[0] == 1 and len(entry) == 137 and sequence <= MOST, "its entry is not that of a block")
    forged_unless(tag == entry[1:33], "the entry is of another dataset")
    has = {"block": entry[41:73], "batch": entry[73:105], "row": entry[105:]}[kind]
    forged_unless(root == has and (kind == "block" or has != bytes(32)), f"the entry has no such {kind}")
    shown = told["block"]["hash"] if kind == "block" else canonical(told["record"])
    return entry, f"of: {did}, block {sequence} of its chain", shown, None


def stated(statement, entry):
    """A line about a statement of a node of itself, its text, and the ledger that it is of."""
    renewed = [{}, {"previous": PREVIOUS}, {"previous": {**PREVIOUS, "seen": TEXT}}]
    good = any(fits(statement, {**STATEMENT, **more}) for more in renewed) and statement["ledger"]["keys"]
    forged_unless(good, "its statement has other members than a statement")
    for time in (statement["time"], *(former["at"] for former in statement["retired"])):
        forged_unless(re.fullmatch(r"[0-9T:-]{19}(\.[0-9]+)?Z", time), "its statement has a time that is none in UTC")
        # The calendar of Python begins with the year 1. Like the year 0, 2000 is a leap year.
        datetime.datetime.strptime(re.sub("^0000", "2000", time[:19]), "%Y-%m-%dT%H:%M:%S")
    is_entry = entry == b"\2" + hashlib.sha256(canonical(statement).encode()).digest()
    forged_unless(is_entry, "the entry is not that of the statement")
    unsigned = canonical({name: value for name, value in statement.items() if name != "proof"})
    signer = signer_of(statement["proof"], f"{statement['type']}\n{unsigned}")
    forged_unless(signer == statement["node"], "the statement is not signed by its node")
    return f"of: {signer}", canonical(statement), statement["ledger"]["origin"]


def root_of(told):
    """The tag of a block, or the root that has a record at its place; None where there is none."""
    if told["kind"] == "block":
        return hmac.digest(bytes.fromhex(told["block"]["salt"]), bytes.fromhex(told["block"]["hash"][1:]), "sha256")
    leaf = bytes.fromhex(told["salt"]) + canonical(told["record"]).encode()
    tree = root_from(leaf, int(told["index"]), int(told["count"]), hashes_of(told["path"]))
    return tree and hashlib.sha256(int(told["count"]).to_bytes(8, "big") + tree).digest()


def check_proof(data, policy):
    """What a .tlog-proof shows, and lines about it. Raises Forged, and Unjudged."""
    head_text, end, head = data.partition(b"\n\n")
    first, *lines = head_text.decode("utf-8").split("\n")
    forged_unless(end and first == "c2sp.org/tlog-proof@v1", "it is no tlog-proof, or one without a head")
    extra = lines.pop(0) if lines and lines[0].startswith("extra ") else None
    shown = from_base64(extra[len("extra ") :]) if extra and len(extra) <= 60000 else None
    forged_unless(extra is None or shown is not None, "its extra line is too long, or not base64")
    forged_unless(lines and lines[0].startswith("index ") and len(lines) <= 54, "it has no index, or too many hashes")
    index, path = size_of(lines[0][len("index ") :]), hashes_of(lines[1:])
    if shown is None:
        raise Unjudged("impossible", f"it has no extra line, which says what the entry is; {ANOTHER}")
    entry, about, what, stated_of = shown_by(shown.decode("utf-8"))
    origin, size, root, times, lack = open_head(head, policy)
    forged_unless(root_from(entry, index, size, path) == root, "the entry is not at this place of the tree")
    forged_unless(stated_of in (None, origin), "its statement is of another ledger")
    if lack:
        raise Unjudged(*lack)
    seen = (f"witness: {name} at {seconds} s since 1970" for name, seconds in times.items())
    return what, [about, f"ledger: {origin}, entry {index} of {size}", *seen]


def judge(data, policy):
    """The verdict on a file, then what it shows or why not, and lines about it."""
    if not data[:200].decode("latin-1").lstrip("\t\n\v\f\r \xa0").startswith("c2sp.org/tlog-proof@"):
        return "impossible", f"this program judges .tlog-proof alone; {ANOTHER}", []
    try:
        return ("included", *check_proof(data, policy))
    except Unjudged as why:
        return (*why.args, [])
    except (Forged, ValueError, ArithmeticError, RecursionError) as why:
        return "altered", str(why), []


def prove(proof_file, policy_file):
    try:
        with open(policy_file, "rb") as policy, open(proof_file, "rb") as file:
            verdict, what, lines = judge(file.read(300000), read_policy(policy.read(300000)))
    except (OSError, ValueError) as error:
        print(f"This cannot be judged: {error}", file=sys.stderr)
        sys.exit(2)
    if verdict == "included":
        print(what)
    for line in lines or [f"{verdict}: {what}." + " Do not trust this proof." * (verdict == "altered")]:
        print(line, file=sys.stderr)
    sys.exit(CODES[verdict])


def post(url, text, token):
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
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
    for name, what in {"save": "FILE", "check": "FILE", "signer": "DID", "proof": "FILE", "policy": "FILE"}.items():
        options.add_argument(f"--{name}", metavar=what)
    options.add_argument("--again", action="store_true")
    given = options.parse_args()
    if not all("=" in param for param in given.param):
        options.error("a parameter is NAME=TEXT")
    if (given.proof is None) != (given.policy is None):
        options.error("--proof and --policy go together")
    if given.proof is not None:
        return prove(given.proof, given.policy)
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

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
--proof checks that a block, a batch or a row is in a ledger: the policy says which keys count, nothing in the file does.
Exit code 0: checked. 1: the answer is not what the key signed. 2: no answer, or nothing that could be judged.
"""

import argparse
import base64
import hashlib
import hmac
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
    # Of such a point another key or message may be good too, and readers differ in whether they take it.
    if any(times(8, small)[0] % P == 0 for small in (public, r)):
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    base = point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
    left, right = times(s, base), add(r, times(h, public))
    return all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))

# Proofs of the ledger: https://c2sp.org/tlog-proof, tlog-policy, signed-note, tlog-checkpoint and tlog-cosignature.
ED25519, COSIGNATURE = 1, 4
MOST = 2**53 - 1


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


def key_of(text, kind):
    """Name, id and public key of a line of a policy."""
    name, number, data = text.split("+", 2)
    key = from_base64(data)
    if key is None or len(key) != 33 or key[0] != kind:
        raise ValueError(f"the policy has a key that is of another type: {name}")
    if hashlib.sha256(name.encode() + b"\n" + key).digest()[:4].hex() != number:
        raise ValueError(f"the policy has a key whose id does not follow from it: {name}")
    return name, bytes.fromhex(number), key[1:]


def read_policy(text):
    """Keys of logs, keys of witnesses by their names, groups in order, and the name of the quorum."""
    logs, witnesses, groups, quorum = [], {}, [], None
    for line in text.split("\n"):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        known = {*witnesses, *(name for name, _, _ in groups)}
        if words[0] == "log" and len(words) in (2, 3):
            logs.append(key_of(words[1], ED25519))
        elif words[0] == "witness" and len(words) in (3, 4) and words[1] not in known | {"none"}:
            witnesses[words[1]] = key_of(words[2], COSIGNATURE)
        elif words[0] == "group" and len(words) > 3 and words[1] not in known | {"none"} and known >= {*words[3:]}:
            least = {"any": 1, "all": len(words) - 3}.get(words[2]) or int(words[2])
            if not 0 < least <= len(words) - 3:
                raise ValueError("the policy has a threshold that its group cannot reach, or always does")
            groups.append((words[1], least, words[3:]))
        elif words[0] == "quorum" and len(words) == 2 and quorum is None and words[1] in known | {"none"}:
            quorum = words[1]
        else:
            raise ValueError(f"the policy has a line that is none: {line}")
    if quorum is None:
        raise ValueError("the policy has no quorum")
    return logs, witnesses, groups, quorum


def read_note(data):
    """The text of a signed note, and its signatures: name, key id, bytes."""
    forged_unless(len(data) <= 131072, "the head is too long")
    text, end, lines = data.decode("utf-8").rpartition("\n\n")
    forged_unless(end and lines.endswith("\n"), "the head is no note")
    forged_unless(not re.search("[\0-\x09\x0b-\x1f]", text + lines), "the head has a control character")
    signatures = []
    for line in lines[:-1].split("\n"):
        mark, name, data = (line.split(" ", 2) + ["", ""])[:3]
        signature = from_base64(data)
        good = mark == "\u2014" and name and not re.search(r"[\s+]", name) and signature and len(signature) > 4
        forged_unless(good, "the head has a line of a signature that is none")
        signatures.append((name, signature[:4], signature[4:]))
    forged_unless(len(signatures) <= 100, "the head has too many signatures")
    return text + "\n", signatures


def cosigned_at(text, key, signature):
    seconds = int.from_bytes(signature[:8], "big")
    message = f"cosignature/v1\ntime {seconds}\n{text}".encode()
    return seconds if seconds <= MOST and verify(key, message, signature[8:]) else None


def open_head(data, policy):
    """Origin, size and root of a head, the witnesses that have signed it and when, and whether they are enough."""
    logs, witnesses, groups, quorum = policy
    text, signatures = read_note(data)
    lines = text[:-1].split("\n")
    forged_unless(len(lines) >= 3 and "" not in lines, "the head is not of three lines")
    origin, size, root = lines[0], size_of(lines[1]), from_base64(lines[2])
    forged_unless(root is not None and len(root) == 32, "the head has no root")
    if origin not in [name for name, _, _ in logs]:
        raise ValueError(f"the policy has no log {origin}")
    signed = False
    for name, number, key in logs:
        for signature in [one for by, known_by, one in signatures if (by, known_by) == (name, number)]:
            forged_unless(verify(key, text.encode(), signature), f"the signature of {name} is not good")
            signed = signed or name == origin
    forged_unless(signed, "the head is not signed by its ledger")
    times = {}
    for witness, (name, number, key) in witnesses.items():
        found = [cosigned_at(text, key, one) for by, known_by, one in signatures if (by, known_by) == (name, number)]
        forged_unless(None not in found, f"the cosignature of {name} is not good")
        if found:
            times[witness] = min(found)
    enough = {*times}
    for group, least, members_of_it in groups:
        if sum(member in enough for member in members_of_it) >= least:
            enough.add(group)
    return origin, size, root, times, quorum == "none" or quorum in enough


def root_from(leaf, index, size, path):
    """The root to which a leaf leads (RFC 9162, 2.1.3.2), or None."""
    if index >= size:
        return None
    node, last, root = index, size - 1, leaf
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


def leaf_hash(data):
    return hashlib.sha256(b"\0" + data).digest()


def hashes_of(lines):
    hashes = [from_base64(line) for line in lines]
    forged_unless(all(one is not None and len(one) == 32 for one in hashes), "it has a hash that is none")
    return hashes


def once(pairs):
    forged_unless(len({name for name, _ in pairs}) == len(pairs), "it has a member twice")
    return dict(pairs)


def shown_by(extra):
    """The entry, and what it shows, of the canonical JSON of an extra line."""
    text = extra.decode("ascii")
    told = json.loads(text, object_pairs_hook=once)
    if told["v"] != 1 or told["kind"] not in ("block", "batch", "row"):
        raise ValueError("it is of a newer form")
    parts = members(text)
    more = ["block"] if told["kind"] == "block" else ["record", "salt", "index", "count", "path"]
    known = {"v", "kind", "entry", "dataset", *more}
    tight = "{" + ",".join(f'"{name}":{parts[name]}' for name in sorted(parts)) + "}"
    canonical = parts.keys() == known and parts["v"] == "1" and tight == text == as_sent(text)
    forged_unless(canonical, "its extra line is not canonical")
    entry = from_base64(told["entry"])
    forged_unless(entry, "it has no entry")
    if entry[0] not in (1, 2):
        raise ValueError("its entry is of a newer ledger")
    forged_unless(entry[0] == 1 and len(entry) == 137, "its entry is not that of a block")
    sequence = int.from_bytes(entry[33:41], "big")
    forged_unless(sequence <= MOST, "its entry has a sequence that is none")

    def salt_of(value):
        forged_unless(re.fullmatch("[0-9a-f]{64}", value), "it has a salt that is none")
        return bytes.fromhex(value)

    def tag(salt, data):
        return hmac.digest(salt_of(salt), data, "sha256")

    dataset = told["dataset"]
    did = re.fullmatch("did:odf:fed01[0-9a-f]{64}", dataset["id"])
    forged_unless(dataset.keys() == {"id", "salt"} and did, "it names no dataset")
    forged_unless(tag(dataset["salt"], did[0].encode()) == entry[1:33], "the entry is of another dataset")
    if told["kind"] == "block":
        block = told["block"]
        number = re.fullmatch("f(1620[0-9a-f]{64})", block["hash"])
        forged_unless(block.keys() == {"hash", "salt"} and number, "it names no block")
        forged_unless(tag(block["salt"], bytes.fromhex(number[1])) == entry[41:73], "the entry is of another block")
        return entry, sequence, did[0], block["hash"]
    forged_unless(isinstance(told["record"], dict), "its record is none")
    index, count = size_of(parts["index"]), size_of(parts["count"])
    leaf = leaf_hash(salt_of(told["salt"]) + parts["record"].encode("ascii"))
    tree = root_from(leaf, index, count, hashes_of(told["path"]))
    root = entry[73:105] if told["kind"] == "batch" else entry[105:]
    found = tree is not None and hashlib.sha256(count.to_bytes(8, "big") + tree).digest() == root
    forged_unless(found and root != bytes(32), f"the entry has no such {told['kind']}")
    return entry, sequence, did[0], parts["record"]


def check_proof(data, policy):
    """What a .tlog-proof shows. Raises Forged, and ValueError where the policy or this program cannot judge it."""
    forged_unless(len(data) <= 200000, "it is too long")
    head_text, end, head = data.partition(b"\n\n")
    first, *lines = head_text.decode("utf-8").split("\n")
    forged_unless(end and first == "c2sp.org/tlog-proof@v1", "it is no tlog-proof, or one without a head")
    extra = lines.pop(0) if lines and lines[0].startswith("extra ") else None
    forged_unless(extra is None or len(extra) <= 60000, "its extra line is too long")
    shown = None if extra is None else from_base64(extra[len("extra ") :])
    forged_unless(extra is None or shown is not None, "its extra line is not base64")
    forged_unless(lines and lines[0].startswith("index ") and len(lines) <= 54, "it has no index, or too many hashes")
    index, path = size_of(lines[0][len("index ") :]), hashes_of(lines[1:])
    if shown is None:
        raise ValueError("it has no extra line, which says what the entry is")
    entry, sequence, dataset, what = shown_by(shown)
    origin, size, root, times, enough = open_head(head, policy)
    forged_unless(root_from(leaf_hash(entry), index, size, path) == root, "the entry is not at this place of the tree")
    if not enough:
        raise ValueError("too few witnesses of the policy have signed the head")
    seen = [f"witness: {name} at {seconds} s since 1970" for name, seconds in times.items()]
    return what, [f"of: {dataset}, block {sequence} of its chain", f"ledger: {origin}, entry {index} of {size}", *seen]


def prove(proof_file, policy_file):
    try:
        with open(policy_file, encoding="utf-8") as file:
            policy = read_policy(file.read())
        with open(proof_file, "rb") as file:
            data = file.read(300000)
        try:
            what, lines = check_proof(data, policy)
        except UnicodeError as error:
            raise Forged("it is not UTF-8") from error
        except (LookupError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise Forged("its extra line is not of the right form") from error
    except Forged as why:
        sys.exit(f"Do not trust this proof: {why}.")
    except (OSError, ValueError, LookupError, RecursionError) as error:
        print(f"This cannot be judged: {error}", file=sys.stderr)
        sys.exit(2)
    print(what)
    for line in lines:
        print(line, file=sys.stderr)


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
    options.add_argument("--proof", metavar="FILE")
    options.add_argument("--policy", metavar="FILE")
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

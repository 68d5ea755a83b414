"""Judges files of evidence: python -m proofstream FILE… Prints a report of each; of an evidence pack also of the files in it.

Ends with the largest code, but 10 and then 12 before all others. 0: good. 5: no evidence, or a policy that cannot be read.
10: altered. 11: impossible to judge here. 12: a promise was broken. 13: too few witnesses. 14: not judged. What each means:
docs/spec/ledger.md#verdicts of Proofstream. 2: wrong options. 3: a file that cannot be read.
"""

import argparse
import io
import json
import os
import sys
from typing import List, Optional

from . import report
from ._report import worst_code
from .proof import key_of


def main(arguments: Optional[List[str]] = None) -> int:
    """The command. Returns its exit code."""
    options = argparse.ArgumentParser(
        "python -m proofstream", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("files", metavar="FILE", nargs="+", help="an answer, a bundle, a pack, a proof, a head, a receipt, …")
    options.add_argument("--policy", metavar="FILE", help="which ledgers and witnesses count, from somebody whom you trust")
    options.add_argument("--signer", metavar="DID", help="the did:key that must have signed")
    options.add_argument("--verbose", action="store_true", help="hashes, too")
    options.add_argument("--json", action="store_true", help="a line of JSON for each report")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    given = options.parse_args(arguments)
    if given.signer is not None and not _is_key(given.signer):  # Each true file would be called forged.
        options.error(f"--signer is '{given.signer}', which is no key such as did:key:z6Mk….")
    try:
        policy = None if given.policy is None else _read(given.policy)
        reports = report(given.files, signer=given.signer, policy=policy)
    except OSError as error:
        return _failed(3, f"{error.filename} cannot be read: {error.strerror}")
    except ValueError as error:
        return _failed(5, f"{given.policy} is no policy: {error}")
    texts = [json.dumps(one.json(), ensure_ascii=False) if given.json else "\n".join(one.lines(given.verbose)) for one in reports]
    try:
        print(("\n" if given.json else "\n\n").join(texts), flush=True)
    except BrokenPipeError:  # The reader of a pipe has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return worst_code(one.code for one in reports)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _is_key(text: str) -> bool:
    try:
        return bool(key_of(text))
    except ValueError:
        return False


def _failed(code: int, why: str) -> int:
    print(f"{why}.", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())

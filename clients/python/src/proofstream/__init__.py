"""Client of Proofstream data nodes: queries as data frames, ingest, and proofs checked offline. README.md shows how."""

from ._ledger import Judged, verify
from .node import Answer, Node, NodeError, Unreachable
from .proof import Checked, ProofError

__all__ = ["Answer", "Checked", "Judged", "Node", "NodeError", "ProofError", "Unreachable", "verify"]

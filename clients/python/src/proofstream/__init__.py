"""Client of Proofstream data nodes: queries as data frames, ingest, and proofs checked offline. README.md shows how."""

from .node import Answer, Node, NodeError, Unreachable
from .proof import Checked, ProofError, verify

__all__ = ["Answer", "Checked", "Node", "NodeError", "ProofError", "Unreachable", "verify"]

"""Client of Proofstream data nodes: queries as data frames, ingest, and evidence judged offline. README.md shows how."""

from ._evidence import report
from ._ledger import Judged, verify
from ._report import Report
from .node import Answer, Node, NodeError, Unreachable
from .proof import Checked, ProofError

__all__ = ["Answer", "Checked", "Judged", "Node", "NodeError", "ProofError", "Report", "Unreachable", "report", "verify"]

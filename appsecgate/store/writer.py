"""Every change that can be made to the store."""

from appsecgate.store.attempts import AttemptWrites
from appsecgate.store.audit import AuditWrites
from appsecgate.store.feedback import FeedbackWrites
from appsecgate.store.files import FileWrites
from appsecgate.store.projects import ProjectWrites
from appsecgate.store.reader import Reader
from appsecgate.store.scans import ScanWrites
from appsecgate.store.suppressions import SuppressionWrites
from appsecgate.store.sweeps import SweepWrites


class Writer(
    ProjectWrites,
    ScanWrites,
    FileWrites,
    AttemptWrites,
    FeedbackWrites,
    SuppressionWrites,
    AuditWrites,
    SweepWrites,
    Reader,
):
    """Changes inside one transaction: all of them are kept, or none."""

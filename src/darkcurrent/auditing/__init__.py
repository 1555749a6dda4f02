"""`darkcurrent.audit`: an audit by one call, in a notebook, a script or a test."""

from darkcurrent.auditing.call import audit
from darkcurrent.auditing.result import Audit

__all__ = ["Audit", "audit"]

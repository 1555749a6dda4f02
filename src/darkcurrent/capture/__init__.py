"""Asking what is scheduled, once, and keeping what came back."""

from darkcurrent.capture.glance import Glance, glance
from darkcurrent.capture.lock import is_running, journal_path
from darkcurrent.capture.reading import JournalSummary, read_journal
from darkcurrent.capture.rows import Row
from darkcurrent.capture.run import close_campaign, run_campaign
from darkcurrent.capture.service import check_identity, identify
from darkcurrent.capture.state import OPEN, CampaignState, Progress, campaign_state, reads_invalid

__all__ = [
    "OPEN",
    "CampaignState",
    "Glance",
    "JournalSummary",
    "Progress",
    "Row",
    "campaign_state",
    "check_identity",
    "close_campaign",
    "glance",
    "identify",
    "is_running",
    "journal_path",
    "read_journal",
    "reads_invalid",
    "run_campaign",
]

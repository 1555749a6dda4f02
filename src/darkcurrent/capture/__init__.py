"""Asking what is scheduled, once, and keeping what came back."""

from darkcurrent.capture.campaign import CampaignState, Progress, campaign_state
from darkcurrent.capture.reading import JournalSummary, read_journal
from darkcurrent.capture.rows import Row
from darkcurrent.capture.run import check_identity, journal_path, reads_invalid, run_campaign, summary_of

__all__ = [
    "CampaignState",
    "JournalSummary",
    "Progress",
    "Row",
    "campaign_state",
    "check_identity",
    "journal_path",
    "read_journal",
    "reads_invalid",
    "run_campaign",
    "summary_of",
]

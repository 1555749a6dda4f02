"""What a study will cost and what it can show, before any call is made."""

from darkcurrent.planning.budget import Allocation, best_allocation
from darkcurrent.planning.calls import CampaignPlan, Prices, load_prices, plan_campaigns
from darkcurrent.planning.chances import CellChances, Truth, chances

__all__ = [
    "Allocation",
    "CampaignPlan",
    "CellChances",
    "Prices",
    "Truth",
    "best_allocation",
    "chances",
    "load_prices",
    "plan_campaigns",
]

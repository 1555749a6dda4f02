"""From ledgers to cells: the three questions, each answered on its own."""

from __future__ import annotations

import platform
from importlib.metadata import version

import polars as pl

from darkcurrent._version import __version__
from darkcurrent.analysis.arms import evaluate_arms
from darkcurrent.analysis.campaigns import evaluate_campaign
from darkcurrent.analysis.clones import evaluate_clones
from darkcurrent.analysis.contrasts import evaluate_contrasts
from darkcurrent.analysis.frames import of
from darkcurrent.analysis.risks import evaluate_risk
from darkcurrent.analysis.signals import evaluate_signal
from darkcurrent.analysis.tests import evaluate_tests
from darkcurrent.capture import JournalSummary
from darkcurrent.declared import Declared
from darkcurrent.descriptive import pattern_counts, retest
from darkcurrent.gates import joint_label
from darkcurrent.patterns import pair_patterns
from darkcurrent.results import Analysis, AnalysisState, CampaignState, CellResult

__all__ = ["analyze"]


def analyze(
    declared: Declared, ledger: pl.DataFrame, summaries: dict[str, JournalSummary | None]
) -> Analysis:
    """Evaluate a study.

    Parameters
    ----------
    declared : Declared
        What was fixed before the first call.
    ledger : polars.DataFrame
        All campaigns' ledgers, one below the other.
    summaries : dict
        Configuration name to what its journal says; None where nothing was captured.
    """
    patterns = pair_patterns(ledger)
    campaigns = [
        evaluate_campaign(
            name,
            of(ledger, configuration=name),
            of(patterns, configuration=name),
            summaries[name],
            declared,
        )
        for name in declared.configurations
    ]
    held = {campaign.configuration for campaign in campaigns if campaign.state == "HOLD"}
    # Recorded data need not have every judge under every criterion; a scheduled campaign has.
    present = set(ledger.select("configuration", "criterion").unique().iter_rows())
    keys = [
        key
        for campaign in campaigns
        for criterion in declared.criteria
        if (key := (campaign.configuration, criterion)) in present
    ]
    clones = evaluate_clones(ledger, keys, held, declared)
    cells = []
    for configuration, criterion in keys:
        own = of(ledger, configuration=configuration, criterion=criterion)
        own_patterns = of(patterns, configuration=configuration, criterion=criterion)
        alone = (pl.col("arm") == "signal") & pl.col("context").is_null()
        signal = evaluate_signal(own.filter(alone), configuration in held, declared)
        clone = clones[configuration, criterion]
        cells.append(
            CellResult(
                configuration=configuration,
                criterion=criterion,
                state="NOT GRADED" if declared.ungraded else "HOLD" if configuration in held else "EVALUATED",
                clone=clone,
                signal=signal,
                patterns=pattern_counts(own_patterns),
                retest=retest(own),
                **evaluate_arms(own, own_patterns, configuration in held, declared),
                joint=joint_label(clone["core"].gate, signal.gate),
            )
        )
    return Analysis(
        schema="darkcurrent/analysis/1",
        study=declared.study,
        title=declared.title,
        study_digest=declared.study_digest,
        commitment=declared.commitment,
        state=_state({campaign.state for campaign in campaigns}),
        battery=declared.battery,
        gates=declared.gates.model_dump(mode="json"),
        method=declared.method.model_dump(mode="json"),
        campaigns=campaigns,
        cells=cells,
        tests=evaluate_tests(declared, ledger, held),
        contrasts=evaluate_contrasts(ledger, held, declared),
        risk=evaluate_risk(ledger, keys, held, declared),
        software=_software(),
    )


def _state(campaigns: set[CampaignState]) -> AnalysisState:
    return campaigns.pop() if len(campaigns) == 1 else "PARTIAL"


def _software() -> dict[str, str]:
    return {
        "darkcurrent": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "polars")},
    }

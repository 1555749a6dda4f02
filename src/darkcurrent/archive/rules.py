"""What holds between the rows of an archive's tables, rule by rule, as SQL that finds the rows that break it."""

# ruff: noqa: S608 - every name that is put into the SQL is one of our own

from __future__ import annotations

from typing import Final

__all__ = ["RULES"]

_SEQ = """
SELECT rowid FROM (
  SELECT rowid, seq, lag(seq, 1, 0) OVER (PARTITION BY configuration ORDER BY rowid) AS before FROM {table}
) WHERE seq <= before"""

_IN_ORDER = """
SELECT rowid FROM (
  SELECT t.rowid, lag(c.place, 1, -1) OVER (ORDER BY t.rowid) AS before, c.place
  FROM {table} t LEFT JOIN declared_configurations c ON c.name = t.configuration
) WHERE place IS NULL OR place < before"""

RULES: Final[tuple[tuple[str, str, str], ...]] = (
    ("items", "SELECT rowid FROM items WHERE number <> rowid", "the items are not in the order of the battery"),
    ("items", "SELECT rowid FROM (SELECT rowid, count(*) OVER (PARTITION BY id) AS n FROM items) WHERE n > 1",
     "this item is there twice"),
    ("candidates", "SELECT c.rowid FROM candidates c LEFT JOIN items i ON i.id = c.item WHERE i.id IS NULL",
     "this candidate belongs to no item"),
    ("candidates",
     "SELECT rowid FROM (SELECT rowid, count(*) OVER (PARTITION BY item, role) AS n FROM candidates) WHERE n > 1",
     "this item has the role twice"),
    ("candidates",
     """SELECT rowid FROM (
       SELECT rowid, min(characters) OVER s AS least, max(characters) OVER s AS most, min(bytes) OVER s AS low,
              max(bytes) OVER s AS high FROM candidates WINDOW s AS (PARTITION BY sha256)
     ) WHERE least <> most OR low <> high""", "the same digest stands for texts of two lengths"),
    ("candidates", "SELECT rowid FROM candidates WHERE bytes < characters OR bytes > 4 * characters",
     "no text has this length in characters and in bytes"),
    ("schedule", _IN_ORDER, "the configurations are not those, or not in the order, that the study declares"),
    ("schedule",
     """SELECT rowid FROM (
       SELECT rowid, position, row_number() OVER (PARTITION BY configuration ORDER BY rowid) - 1 AS due FROM schedule
     ) WHERE position <> due""", "the calls are not in the order of dispatch, or one is missing"),
    ("schedule", "SELECT rowid FROM (SELECT rowid, count(*) OVER (PARTITION BY call_id) AS n FROM schedule) WHERE n > 1",
     "this call is scheduled twice"),
    ("schedule",
     "SELECT s.rowid FROM schedule s LEFT JOIN declared_criteria c ON c.name = s.criterion WHERE c.name IS NULL",
     "the criterion is none that the study declares"),
    ("schedule",
     """SELECT rowid FROM (SELECT rowid, min(rubric) OVER (PARTITION BY criterion) AS one, rubric FROM schedule)
     WHERE one <> rubric""", "the criterion has another rubric in other calls"),
    ("schedule",
     """SELECT s.rowid FROM schedule s LEFT JOIN items i ON i.id = s.item
     WHERE i.id IS NULL OR (i.stratum, i.cluster, i.prompt) <> (s.stratum, s.cluster, s.prompt)""",
     "item, stratum, cluster and prompt are not those of the items' table"),
    *(
        ("schedule",
         f"""SELECT s.rowid FROM schedule s LEFT JOIN candidates c ON c.item = s.item AND c.role = s.{role}
         WHERE s.{role} IS NOT NULL AND c.sha256 IS DISTINCT FROM s.{text}""",
         f"the text `{text}` is not that of the role `{role}` of its item")
        for role, text in (("slot_a", "text_a"), ("slot_b", "text_b"), ("third", "text_c"))
    ),
    ("schedule",
     """SELECT rowid FROM schedule WHERE (context IS NOT DISTINCT FROM 'present') <> (third IS NOT NULL)
     OR (third IS NULL) <> (text_c IS NULL)""", "a third candidate is shown without its context, or the other way round"),
    ("schedule",
     """SELECT rowid FROM schedule WHERE arm = 'clone' AND ("order" <> 'IDENTICAL' OR slot_a <> slot_b
     OR text_a <> text_b OR null_stratum IS NULL OR target IS NOT NULL)""", "a clone is two times one text, and has no target"),
    ("schedule",
     """SELECT rowid FROM schedule WHERE arm <> 'clone' AND ("order" = 'IDENTICAL' OR slot_a = slot_b
     OR null_stratum IS NOT NULL)""", "only a clone shows one text twice"),
    ("schedule", "SELECT rowid FROM schedule WHERE target IS NOT NULL AND target NOT IN (slot_a, slot_b)",
     "the target stands in neither slot"),
    ("schedule",
     """SELECT rowid FROM (
       SELECT rowid, count(*) FILTER ("order" = 'AB') OVER pair AS ab, count(*) FILTER ("order" = 'BA') OVER pair AS ba,
              min(target) OVER pair AS one, max(target) OVER pair AS other,
              count(target) OVER pair AS targets
       FROM (SELECT rowid, *, CASE "order" WHEN 'AB' THEN slot_a ELSE slot_b END AS u,
                    CASE "order" WHEN 'AB' THEN slot_b ELSE slot_a END AS v FROM schedule WHERE arm <> 'clone')
       WINDOW pair AS (PARTITION BY configuration, criterion, arm, item, step, context, u, v)
     ) WHERE ab <> 1 OR ba <> 1 OR one <> other OR targets NOT IN (0, 2)""",
     "its pair has not one call in each order with the slots swapped"),
    *(
        rule
        for table in ("intents", "terminals")
        for rule in (
            (table, _IN_ORDER, "the configurations are not in the order that the study declares"),
            (table, f"SELECT rowid FROM (SELECT rowid, count(*) OVER (PARTITION BY call_id) AS n FROM {table}) WHERE n > 1",
             "this call has two of them"),
            (table,
             f"""SELECT t.rowid FROM {table} t LEFT JOIN schedule s USING (call_id)
             WHERE s.configuration IS DISTINCT FROM t.configuration""", "this call is not scheduled for its configuration"),
        )
    ),
    *((table, _SEQ, "the rows are not in the order of the journal") for table in ("intents", "terminals", "events")),
    ("events", _IN_ORDER, "the configurations are not in the order that the study declares"),
    ("intents", "SELECT rowid FROM intents WHERE retries > refusals", "it went again more often than it was refused"),
    ("terminals",
     """SELECT t.rowid FROM terminals t LEFT JOIN intents i USING (call_id)
     WHERE i.seq IS NULL OR i.seq >= t.seq OR i.refusals <> i.retries""", "its intent is missing, or came later"),
    ("terminals", "SELECT rowid FROM terminals WHERE (value IS NULL) <> (reason IS NOT NULL)",
     "a call has either a verdict or a reason why there is none"),
    ("terminals", "SELECT rowid FROM terminals WHERE NOT kept AND value IS NOT NULL", "a verdict was read in no reply"),
    ("terminals", "SELECT rowid FROM terminals WHERE kept AND status <> 'answered'", "a call that was not answered has no reply"),
    ("events", "SELECT rowid FROM events WHERE (kind = 'stopped') <> (state IS NOT NULL)",
     "a campaign that ended, and no other event, has a state"),
)  # fmt: skip
"""Table, the rows that break the rule, and what is wrong with them. Every name in the SQL is one of our own."""

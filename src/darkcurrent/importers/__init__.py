"""Verdicts that others recorded, as a study that is analysed and never graded."""

from darkcurrent.importers.folder import ImportedStudy, load_imported
from darkcurrent.importers.run import FORMATS, import_verdicts

__all__ = ["FORMATS", "ImportedStudy", "import_verdicts", "load_imported"]

"""The panels: ipywidgets with one picture and one sentence each, every control an attribute."""

from utils.widgets.quiz import Quiz
from utils.widgets.table_explorer import TableExplorer
from utils.widgets.training_monitor import TrainingMonitor

__all__ = ["Quiz", "TableExplorer", "TrainingMonitor"]

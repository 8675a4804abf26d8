"""The panels: ipywidgets with one picture and one sentence each, every control an attribute."""

from utils.widgets.attention_explorer import AttentionExplorer
from utils.widgets.budget_planner import BudgetPlanner
from utils.widgets.cache_explorer import CacheExplorer
from utils.widgets.config_reader import ConfigReader
from utils.widgets.generation_stepper import GenerationStepper
from utils.widgets.lens import Lens
from utils.widgets.quiz import Quiz
from utils.widgets.table_explorer import TableExplorer
from utils.widgets.temperature_explorer import TemperatureExplorer
from utils.widgets.training_monitor import TrainingMonitor
from utils.widgets.width_explorer import WidthExplorer

__all__ = [
    "AttentionExplorer",
    "BudgetPlanner",
    "CacheExplorer",
    "ConfigReader",
    "GenerationStepper",
    "Lens",
    "Quiz",
    "TableExplorer",
    "TemperatureExplorer",
    "TrainingMonitor",
    "WidthExplorer",
]

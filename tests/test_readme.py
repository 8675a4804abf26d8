"""The README and the guide for contributors: what they show runs, what they link to is there."""

import re

import pytest
from notebook_files import LESSONS, ROOT, prose

README, GUIDE, TEACHING = ROOT / "README.md", ROOT / ".github" / "CONTRIBUTING.md", ROOT / ".github" / "TEACHING.md"


def test_the_readme_has_a_readable_length():
    assert 400 <= len(README.read_text(encoding="utf-8").split()) <= 1000


def test_the_snippet_of_the_readme_runs():
    (snippet,) = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)
    space = {}
    exec(compile(snippet.replace("\ngenerate(", "\nmade = generate("), "README.md", "exec"), space)
    assert space["made"].shape == (1, 8)
    assert space["made"][0, :3].tolist() == [1, 2, 3]
    assert sum(parameter.numel() for parameter in space["model"].parameters()) == 114_944


@pytest.mark.parametrize("path", [README, GUIDE, TEACHING], ids=lambda path: path.name)
def test_relative_links_lead_to_a_file(path):
    links = re.findall(r"\]\(([^)\s#]+)", re.sub(r"`[^`\n]*`", "", path.read_text(encoding="utf-8")))
    assert [link for link in links if "://" not in link and not (path.parent / link).exists()] == []


def test_the_files_that_the_guide_names_are_there():
    text = GUIDE.read_text(encoding="utf-8") + README.read_text(encoding="utf-8")
    named = re.findall(r"`((?:utils|tests|solutions|lessons)/[\w./]*)`", text)
    assert len(named) > 5
    named = [name for name in named if not re.search(r"NN|N_M|two_words", name)]  # to be written
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_plans_for_teaching_name_sections_and_exercises_that_exist():
    text = TEACHING.read_text(encoding="utf-8")
    lessons = {path.name[:2]: prose(path) for path in LESSONS}
    sections = re.findall(r"(\d\d) §(\d+)", text)
    exercises = re.findall(r"\b(\d\.\d)\b", text)
    assert len(sections) > 15
    assert len(exercises) > 15
    assert [where for where in sections if f"\n## {where[1]}. " not in lessons[where[0]]] == []
    assert [name for name in exercises if f"### Exercise {name} " not in lessons[f"0{name[0]}"]] == []

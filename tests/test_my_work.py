"""Lessons arrive in my_work/ once, and nothing that is there is ever touched, whenever a start is killed."""

import json
import os
import subprocess
import sys

import pytest

from utils.environment import ROOT
from utils.files import new_file
from utils.start.my_work import copy_lessons, edition_of

NAME = "01_tokens.ipynb"
NEW = "01_tokens (new edition).ipynb"
# delivers, and is gone at the n-th file operation, as under kill -9
KILLED = """
import errno, os, sys
from pathlib import Path
from utils.start.my_work import copy_lessons
left, links = int(sys.argv[2]), sys.argv[3] == "links"
def hook(event, arguments):
    global left
    if event == "os.link" and not links:
        raise OSError(errno.EPERM, "no links on this disk")
    if event in ("open", "os.link", "os.rename", "os.remove", "os.mkdir"):
        left -= 1
        if left == 0:
            os._exit(9)
root = Path(sys.argv[1])
sys.addaudithook(hook)
copy_lessons(root / "lessons", root / "my_work")
"""


def write(path, *sources, output=""):
    cells = [{"cell_type": "code", "source": [source], "outputs": [output]} for source in sources]
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def course(tmp_path):
    write(tmp_path / "lessons" / NAME, "first edition")
    write(tmp_path / "lessons/02_next.ipynb", "next")
    return tmp_path


def start(course):
    return copy_lessons(course / "lessons", course / "my_work")


def test_each_lesson_is_copied_once_byte_for_byte(course):
    assert start(course) == ["2 lessons copied to my_work/"]
    assert files(course / "my_work") == [".editions.json", NAME, "02_next.ipynb"]
    assert (course / "my_work" / NAME).read_bytes() == (course / "lessons" / NAME).read_bytes()
    assert start(course) == []


def test_the_students_file_stays_as_it_is(course):
    start(course)
    write(course / "my_work" / NAME, "mine")
    mine = (course / "my_work" / NAME).read_bytes()
    assert start(course) == []
    write(course / "lessons" / NAME, "second edition")
    assert [NEW in line for line in start(course)] == [True]
    assert start(course) == []
    assert (course / "my_work" / NAME).read_bytes() == mine
    assert edition_of(course / "my_work" / NEW) == edition_of(course / "lessons" / NAME)


def test_clocks_never_matter(course):
    start(course)
    for folder, time in [("lessons", 2_000_000_000), ("my_work", 1)]:
        os.utime(course / folder / NAME, (time, time))
    assert start(course) == []


@pytest.mark.parametrize(
    ("editions", "arrived"),
    [
        ([("first edition", "another machine's output")], set()),
        ([("second edition", ""), ("first edition", "")], {NEW}),  # an old one that returns is known
        ([("second edition", ""), ("third edition", "")], {NEW, "01_tokens (new edition 2).ipynb"}),
    ],
)
def test_each_new_edition_arrives_once_under_a_free_name(course, editions, arrived):
    start(course)
    before = set(files(course / "my_work"))
    for source, output in editions:
        write(course / "lessons" / NAME, source, output=output)
        start(course)
    assert set(files(course / "my_work")) - before == arrived


def test_a_deleted_lesson_comes_back(course):
    start(course)
    (course / "my_work" / NAME).unlink()
    assert start(course) == ["1 lesson copied to my_work/"]


@pytest.mark.parametrize(
    ("name", "content", "beside"),
    [
        (NAME, "", NEW),
        ("02_next.ipynb", "no notebook", "02_next (new edition).ipynb"),
        (NAME, '{"cells": [{"cell_type": "code", "source": ["first edition"], "outputs": ["mine"]}]}', None),
        (".progress.json", "mine", None),
    ],
)
def test_a_file_that_was_there_before_us_is_kept(course, name, content, beside):
    mine = course / "my_work" / name
    mine.parent.mkdir()
    mine.write_text(content, encoding="utf-8")
    said = [line for line in start(course) if "new edition" in line]
    assert len(said) == bool(beside)
    assert all(beside in line for line in said)
    assert mine.read_text(encoding="utf-8") == content
    assert set(files(mine.parent)) == {".editions.json", NAME, "02_next.ipynb", name} | {beside} - {None}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"01_tokens.ipynb": 5}', "\udcff"])
def test_an_unreadable_record_is_set_aside(course, text):
    start(course)
    write(course / "my_work" / NAME, "mine")
    record = course / "my_work/.editions.json"
    for kept in [".editions (unreadable).json", ".editions (unreadable 2).json"]:
        record.write_bytes(text.encode("utf-8", "surrogateescape"))
        assert kept in start(course)[0]
        assert (course / "my_work" / kept).exists()
    assert edition_of(course / "my_work" / NAME) not in json.loads(record.read_text(encoding="utf-8"))[NAME]


def test_links_stay_links_to_where_the_student_put_the_files(course, tmp_path_factory):
    there = tmp_path_factory.mktemp("synchronised")
    (course / "my_work").symlink_to(there)
    (there / ".editions.json").symlink_to(there / "record.json")
    (there / "record.json").write_text("{}", encoding="utf-8")
    assert start(course) == ["2 lessons copied to my_work/"]
    assert (there / ".editions.json").is_symlink()
    assert set(json.loads((there / "record.json").read_text(encoding="utf-8"))) == {NAME, "02_next.ipynb"}
    assert start(course) == []


def test_a_file_that_appears_meanwhile_wins(course, monkeypatch):
    (course / "my_work").mkdir()
    target = course / "my_work" / NAME
    for link in [os.link, refuse]:
        monkeypatch.setattr(os, "link", link)
        target.write_text("mine", encoding="utf-8")
        monkeypatch.setattr(os.path, "lexists", lambda path: False)
        assert not new_file(target, b"theirs")
        assert target.read_text(encoding="utf-8") == "mine"


def refuse(*arguments):
    raise PermissionError("no links on this disk")


@pytest.mark.parametrize("links", ["links", "no links"])
@pytest.mark.parametrize("student", ["fresh", "edited"])
def test_killed_at_every_file_operation(tmp_path, links, student):
    for operation in range(1, 60):
        course = tmp_path / str(operation)
        course.mkdir()
        write(course / "my_work/own.ipynb", "own")
        write(course / "lessons" / NAME, "first edition")
        if student == "edited":
            start(course)
            write(course / "my_work" / NAME, "mine")
            write(course / "lessons" / NAME, "second edition")
        before = {path: path.read_bytes() for path in (course / "my_work").glob("*.ipynb")}
        command = [sys.executable, "-c", KILLED, course, str(operation), links]
        done = subprocess.run(command, cwd=ROOT)
        start(course)
        assert start(course) == []
        assert all(path.read_bytes() == content for path, content in before.items())
        arrived = NEW if student == "edited" else NAME
        assert edition_of(course / "my_work" / arrived) == edition_of(course / "lessons" / NAME)
        assert set(files(course / "my_work")) == {".editions.json", NAME, "own.ipynb", arrived}
        if done.returncode == 0:
            break
        assert done.returncode == 9
    assert operation > 8
    assert done.returncode == 0

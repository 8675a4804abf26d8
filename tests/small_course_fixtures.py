"""Fixtures of the tests that start `python3 -m utils`: a course that was never opened, one that was, small disks."""

import contextlib
import shutil
import socket
import subprocess

import pytest
from small_course import WHEELS, Project, write_wheel

NO_DISK = "A full and a read-only disk are tried on small disks of our own: run the tests as root on Linux, with mount."


@pytest.fixture(scope="session")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    for (name, version), modules in WHEELS.items():
        write_wheel(folder, name, version, modules)
    return folder


@pytest.fixture(scope="session")
def first_start(tmp_path_factory, wheels):
    """A course opened for the first time, in the C locale, in a folder that is not ASCII: project and output."""
    project = Project(tmp_path_factory.mktemp("first") / "my course é ü", wheels).write()
    return project, project.lab("--collaborative", "--ip=0.0.0.0", PYTHONUTF8="0", LC_ALL="C")


@pytest.fixture
def bare(tmp_path, wheels):
    """A course that was never opened."""
    return Project(tmp_path / "course", wheels).write()


@pytest.fixture
def opened(tmp_path, wheels, first_start):
    """A course that was opened before, and moved since."""
    shutil.copytree(first_start[0].root, tmp_path / "course", symlinks=True)
    project = Project(tmp_path / "course", wheels)
    project.started.unlink()
    return project


@pytest.fixture
def silent_index():
    """An index that takes pip's call and never answers: the environment that leads there, and a wait for the call."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        server.settimeout(30)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/"
        yield {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": address}, lambda: stack.enter_context(server.accept()[0])


@pytest.fixture
def small_disk(tmp_path):
    """Mount a disk of our own in place of a folder, with the options given."""
    mounted = []

    def mount(folder, options):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], capture_output=True)
        if done.returncode:
            pytest.skip(NO_DISK)
        mounted.append(folder)

    if not shutil.which("mount"):
        pytest.skip(NO_DISK)
    yield mount
    for folder in mounted:
        subprocess.run(["umount", folder], check=True)

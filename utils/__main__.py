"""The course's commands: `python3 -m utils lab | test | build`, from another folder `python3 PATH/utils lab`."""
# Python 2.7 and 3.6 must be able to read this file, to be told in words that they are too old: no f-strings here

import os
import platform
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OLDEST, TOO_NEW = (3, 11), (3, 15)  # torch 2.13.0 has wheels for Python 3.11 to 3.14
INTEL_MAC = (
    "PyTorch 2.13 does not exist for Intel Macs, nor for an Intel build of Python on an Apple silicon Mac:"
    " use a Mac with Apple silicon, macOS 14 or later and an arm64 Python, or another computer."
)


def refusal():
    """One sentence on why this course cannot run here, or None."""
    # whoever built torch for an Intel Mac may go on
    has_torch = any(os.path.isdir(os.path.join(folder, "torch")) for folder in sys.path)
    if (platform.system(), platform.machine()) == ("Darwin", "x86_64") and not has_torch:
        return INTEL_MAC
    version = tuple(sys.version_info[:2])
    if OLDEST <= version < TOO_NEW:
        return None
    age = "old" if version < OLDEST else "new"
    this = ".".join(str(number) for number in version)
    example = "py -3.12" if os.name == "nt" else "python3.12"
    return (
        "Python " + this + " is too " + age + " for this course: install Python 3.11, 3.12, 3.13 or 3.14"
        " and run the same command with it, for example `" + example + " -m utils lab`."
    )


def parse(arguments):
    """Return the known options, and the further ones that go to JupyterLab or to the notebook builder."""
    import argparse

    from utils.environment import COMMAND

    parser = argparse.ArgumentParser(prog=COMMAND, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    lab = commands.add_parser("lab", help="open the course in JupyterLab", allow_abbrev=False)
    lab.add_argument("--cpu", action="store_true", help="install torch without GPU support: a small download")
    lab.add_argument("--no-model", action="store_true", help="leave out the real model of lesson 09 (98 MB)")
    lab.add_argument("--port", type=int, metavar="N", help="serve on this port instead of a free one")
    lab.add_argument("--no-browser", action="store_true", help="only print the address")
    lab.epilog = "Further options go to JupyterLab as they are."
    commands.add_parser("test", help="run every test")
    commands.add_parser("build", help="run the solutions and derive the lessons from them", add_help=False)
    options, further = parser.parse_known_args(arguments)
    if further and options.command == "test":
        parser.error("unrecognized arguments: " + " ".join(further))
    return options, further


def main():
    """Run the command; return its exit code."""
    reason = refusal()
    if reason:
        sys.stderr.write(reason + "\n")
        return 1
    if not __package__:  # started by path: the project's root takes the place of utils/
        sys.path[0] = ROOT
    options, further = parse(sys.argv[1:])

    from utils.start import launcher

    if options.command == "lab":
        model = not options.no_model
        return launcher.in_words(launcher.lab, options.cpu, model, options.port, options.no_browser, further)
    if options.command == "test":
        return launcher.in_words(launcher.test)
    return launcher.in_words(launcher.build, further)


if __name__ == "__main__":
    sys.exit(main())

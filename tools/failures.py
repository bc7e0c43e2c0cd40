"""What can go wrong while the course is being installed, each in one sentence that says what to do."""

import io
import platform
import re
import shutil
import sys
import tempfile

SPACE_NEEDED = 2.0  # GB: 1.5 installed, and room to unpack
SPACE_FOR_MORE = 0.5  # GB, for a layer on top

# What pip and the system say of each trouble.
NO_SPACE = re.compile(r"Errno 28|No space left on device|WinError 112|not enough space on the disk", re.I)
NO_NETWORK = re.compile(  # the last retry failed too, or the connection broke during a download
    r"Retry\(total=0|Max retries exceeded|Could not fetch URL|ReadTimeout|IncompleteRead|ProtocolError", re.I
)
RETRY = re.compile(r"WARNING: Retrying \(Retry\(")
# The second is how pip says it where constraints.txt names a version.
NO_VERSION = re.compile(r"(?:No matching distribution found for|Cannot install) ([A-Za-z0-9][\w.-]*)")


class CannotGoOn(Exception):
    """What is wrong and what to do about it, in one sentence for the person who typed the command."""


def say(sentence):
    print(sentence, flush=True)  # at once, also where the output goes into a file


def show_every_letter():
    """Let a screen, file or pipe that does not know a letter, as "→" in cp1252, show "?" for it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def this_python():
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def check_space(folder, needed=SPACE_NEEDED):
    free = shutil.disk_usage(folder).free / 1e9
    if free < needed:
        raise CannotGoOn(
            f"The disk of {folder} is nearly full: {needed:.1f} GB are needed and {free:.1f} GB are free, so"
            " make room and try again."
        )


def explain_os_error(error, folder):
    if NO_SPACE.search(str(error)):
        return f"The disk of {folder} is full: make room (about {SPACE_NEEDED:.0f} GB) and try again."
    if isinstance(error, PermissionError):
        return f"{folder} cannot be changed ({error.strerror}): close what is using it, or see whose it is."
    return f"{folder} could not be made: {error}."


def explain_pip(said, task):
    """Turn what pip said on its way out into one sentence."""
    if NO_SPACE.search(said):
        return (
            f"The disk is full, so I could not {task}: make room (about {SPACE_NEEDED:.0f} GB, also in"
            f" {tempfile.gettempdir()}) and try again."
        )
    if NO_NETWORK.search(said):  # before NO_VERSION: without a network pip finds no version of anything
        return f"The package index cannot be reached, so I could not {task}: check the network and try again."
    missing = NO_VERSION.search(said)
    if missing:
        return (
            f"There is no fitting {missing.group(1)} for Python {this_python()} on {platform.system()}"
            f" ({platform.machine()}): try a Python from 3.10 to 3.14."
        )
    return f"I could not {task}. What pip said:\n{said.strip() or 'nothing'}"

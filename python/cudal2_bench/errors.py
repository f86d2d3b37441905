"""The program's exit codes as exceptions (docs/method.md, "Exit codes"). Used by api.py."""
from __future__ import annotations

from typing import Dict, Optional, Type


class BenchError(Exception):
    """What the program said, its exit code, and the result where one was written all the same."""

    code = 70

    def __init__(self, message: str, code: Optional[int] = None, result: object = None) -> None:
        super().__init__(message)
        self.code = self.code if code is None else code
        self.result = result


class Regression(BenchError):
    """compare: a candidate became slower."""

    code = 1


class Incomparable(BenchError):
    """Nothing to compare, cells failed or are missing, or somebody who was named was measured nowhere."""

    code = 2


class VerificationFailed(BenchError):
    """A contender computed a wrong result."""

    code = 3


class UsageError(BenchError):
    """A wrong option, value or name."""

    code = 64


class DataError(BenchError):
    """An input file cannot be read, or its content is wrong."""

    code = 65


class Unavailable(BenchError):
    """Device, driver or library are not there."""

    code = 69


class BrokenPromise(BenchError):
    """A fault of the harness itself, or out of host memory."""

    code = 70


class CannotCreate(BenchError):
    """Output cannot be created."""

    code = 73


class OutputError(BenchError):
    """A write, sync or rename failed."""

    code = 74


class TryAgain(BenchError):
    """A lock is held, or the run was told to stop with work left: run again with resume=True."""

    code = 75


class Interrupted(BenchError):
    """Ctrl-C: run again with resume=True."""

    code = 130


_KINDS = (Regression, Incomparable, VerificationFailed, UsageError, DataError, Unavailable, BrokenPromise, CannotCreate,
          OutputError, TryAgain, Interrupted)
_BY_CODE: Dict[int, Type[BenchError]] = {kind.code: kind for kind in _KINDS}


def error_of(code: int, stderr: str, result: object = None) -> BenchError:
    """The exception for an exit code; its message is the program's last line, without the program's name."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    told = [line for line in lines if line.startswith("cudal2-bench: ")]
    message = (told or lines or ["exit code %d" % code])[-1]
    if message.startswith("cudal2-bench: "):
        message = message[len("cudal2-bench: "):]
    return _BY_CODE.get(code, BenchError)(message, code, result)

"""A client of a running `cudal2-bench serve` (docs/serve.md): submissions in, outcomes out.

    from cudal2_bench.served import Client, serving
    with serving("cpu") as url:
        outcome = Client(url).measure({"candidate": "blocked", "problem": "64x64x64"})

Standard library only. Used by gym.py and openenv.py."""
from __future__ import annotations

import contextlib
import json
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from typing import Any, Dict, Iterator, Mapping, Optional, Sequence

from ._program import program
from .errors import BenchError, DataError, TryAgain, Unavailable

WAIT_SECONDS = 60
LISTENING = re.compile(r"listening on (http://\S+)")


class Client:
    """`token` as in the server's --tokens file. `patience`: seconds that one outcome may take, the queue
    included."""

    def __init__(self, url: str = "http://127.0.0.1:8090", token: Optional[str] = None, patience: float = 3600.0) -> None:
        self.url, self.token, self.patience = url.rstrip("/"), token, patience

    def submit(self, submission: Mapping[str, Any]) -> str:
        """The job's id. DataError: it is malformed; TryAgain: the server is full, ends, or is gone."""
        return str(self.ask("/v1/jobs", submission)["id"])

    def outcome(self, job: str) -> Dict[str, Any]:
        """Waits until the job is done. TryAgain after `patience`, or where the server that has the job is
        gone: submit it again."""
        until = time.monotonic() + self.patience
        while True:
            left = max(0, min(WAIT_SECONDS, int(until - time.monotonic())))
            found = self.ask("/v1/jobs/%s?wait=%d" % (job, left))
            if found["state"] == "done":
                return found
            if time.monotonic() >= until:
                raise TryAgain("%s: job %s was not done after %.0f s" % (self.url, job, self.patience))

    def measure(self, submission: Mapping[str, Any]) -> Dict[str, Any]:
        """Submits and waits."""
        return self.outcome(self.submit(submission))

    def ask(self, path: str, body: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
        """One request; POST with a body."""
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        request = urllib.request.Request(self.url + path, None if body is None else json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=WAIT_SECONDS + 30) as answer:
                found: Dict[str, Any] = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            raise _refusal(error, self.url + path) from error
        except (urllib.error.URLError, OSError) as error:
            raise Unavailable("%s: %s" % (self.url, error)) from error


def _refusal(error: urllib.error.HTTPError, where: str) -> BenchError:
    text = error.read(4000).decode("utf-8", "replace")
    try:
        text = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError):
        pass
    kind = TryAgain if error.code in (429, 502, 503, 504, 507) else DataError  # 502, 504: a balancer whose server went
    return kind("%s: %d: %s" % (where, error.code, text))


@contextlib.contextmanager
def serving(device: str = "cpu", options: Sequence[str] = (), directory: Optional[str] = None) -> Iterator[str]:
    """A server of one's own on a free port of this machine: its URL. Its jobs are kept in `directory`, else
    nowhere.

    Unavailable with its own words where it does not start."""
    with contextlib.ExitStack() as stack:
        jobs = directory or stack.enter_context(tempfile.TemporaryDirectory())
        server = subprocess.Popen([program(), "serve", "--device", device, "--listen", "127.0.0.1:0", "--output",
                                   jobs + "/jobs", "--quiet", *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        stack.callback(_end, server)
        line = server.stdout.readline() if server.stdout else ""
        found = LISTENING.search(line)
        if not found:
            raise Unavailable("serve does not start: %s" % line.strip())
        yield found.group(1)


def _end(server: "subprocess.Popen[str]") -> None:
    server.terminate()
    try:
        server.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        server.kill()
        server.communicate()

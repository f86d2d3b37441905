"""compilers.py: runs nvcc for import.py, several at a time, each in a session of its own: a signal for the
whole group, as of Ctrl-C or timeout(1), reaches import.py alone, which lets them end, or ends them with all
that they have started."""
import os
import signal
import subprocess
import threading


class Ended(Exception):
    """A compiler that was ended before its time: nothing is known of the file."""


class Compilers:
    def __init__(self):
        self.lock, self.running, self.ended = threading.Lock(), set(), False

    def run(self, command, seconds):
        """The exit status, None after so many seconds, and what was said. Raises Ended."""
        with self.lock:
            if self.ended:
                raise Ended
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                     start_new_session=True)
            self.running.add(child)
        status = None
        try:
            said = child.communicate(timeout=seconds)[0]
            status = child.returncode
        except subprocess.TimeoutExpired:
            self.kill(child)
            said = child.communicate()[0]
        finally:
            with self.lock:
                self.running.discard(child)
        if self.ended and status != 0:
            raise Ended
        return status, said

    @staticmethod
    def kill(child):
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def end(self):
        """All of them, and none begins any more. For a signal handler of the main thread, which never holds
        the lock."""
        with self.lock:
            self.ended = True
            for child in self.running:
                self.kill(child)

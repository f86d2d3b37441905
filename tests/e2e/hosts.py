#!/usr/bin/env python3
"""A load balancer in front of several servers, and clients that only know its address (e2e_serve_hosts.sh).

    hosts.py balance URL...             forwards each request to the next server in turn; the first line says where it
                                        listens, URLs are read anew from standard input, a line each time
    hosts.py ask URL JOBS               submits JOBS problems one by one, reads each outcome, and submits what a server
                                        took with it again; a line of JSON with what it met

The balancer knows nothing of jobs: a server that does not answer is passed over, and a request that it had
begun ends with 502."""
import http.client
import json
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "python"))
from cudal2_bench.errors import TryAgain  # noqa: E402
from cudal2_bench.served import Client  # noqa: E402


class Balancer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, urls):
        super().__init__(("127.0.0.1", 0), Forward)
        self.urls, self.turn, self.lock = urls, 0, threading.Lock()

    def in_turn(self):
        """All servers, another one first each time."""
        with self.lock:
            self.turn += 1
            at = self.turn % len(self.urls)
            return self.urls[at:] + self.urls[:at]


class Forward(BaseHTTPRequestHandler):
    def do_GET(self):
        self.forward(None)

    def do_POST(self):
        self.forward(self.rfile.read(int(self.headers["Content-Length"])))

    def forward(self, body):
        for url in self.server.in_turn():
            host = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=100)
            try:
                host.connect()
            except OSError:
                continue  # nothing was asked of it yet
            self.answer(host, body)
            return
        self.send_error(502)

    def answer(self, host, body):
        headers = {"Content-Type": "application/json"} if body is not None else {}
        try:
            host.request(self.command, self.path, body, headers)
            found = host.getresponse()
            status, text = found.status, found.read()
        except (OSError, http.client.HTTPException):
            status, text = 502, b"{}"
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def balance(urls):
    server = Balancer(urls)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("listening on http://127.0.0.1:%d" % server.server_address[1], flush=True)
    for line in sys.stdin:
        server.urls = line.split()


def ask(url, jobs):
    client, met = Client(url, patience=100), {"ok": 0, "again": 0}
    wanted = [{"candidate": "steady", "problem": "24x16x%d" % (8 + 8 * i), "half_width": 0.5, "seconds": 0.2} for i in range(jobs)]
    ids = [client.submit(one) for one in wanted]
    print(json.dumps({"submitted": len(set(ids))}), flush=True)
    for one, job in zip(wanted, ids):
        try:
            found = client.outcome(job)
        except TryAgain:
            met["again"] += 1
            found = client.measure(one)
        met["ok"] += found["verdict"] == "ok" and found["id"] == job
    print(json.dumps(met))


if __name__ == "__main__":
    if sys.argv[1] == "balance":
        balance(sys.argv[2:])
    else:
        ask(sys.argv[2], int(sys.argv[3]))

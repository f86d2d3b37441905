"""The client of `cudal2-bench serve`: against a stand-in that answers as docs/serve.md says, and against the
real server on the CPU where it is built with libmicrohttpd."""
import http.server
import json
import re
import subprocess
import tempfile
import threading
import unittest

from kernel_policy import harness, records, served

USUAL = {"persistent": {"BM": 128, "BN": 128, "CLUSTER_M": 1, "CLUSTER_N": 1, "walk": 8}}


class StandIn(http.server.BaseHTTPRequestHandler):
    """Gives the first job an outcome, the second none; the second is queued when it is first asked for."""

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self):
        seen = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["jobs"]
        self.server.seen = seen
        if self.headers.get("Authorization") != "Bearer secret":
            self.answer(401, {"error": "no token"})
        elif seen[0]["problem"] == "1x1x1":
            self.answer(202, {"jobs": [{"error": "too small", "status": 400}]})
        else:
            self.answer(202, {"jobs": [{"id": "job%d" % i} for i in range(len(seen))]})

    def do_GET(self):
        self.server.asked += 1
        if "job0" in self.path:
            self.answer(200, {"state": "done", "reward": {"value": 1.25}})
        elif self.server.asked == 2:
            self.answer(200, {"state": "queued"})
        else:
            self.answer(200, {"state": "done", "reward": None})

    def log_message(self, *_):
        pass


class TestClient(unittest.TestCase):
    def setUp(self):
        self.server = http.server.HTTPServer(("127.0.0.1", 0), StandIn)
        self.server.asked, self.server.seen = 0, None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        self.problem = records.Problem(4096, 4096, 512, "nn", "f32", "offline")

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()

    def test_a_group_is_one_batch_and_no_reward_stays_none(self):
        found = served.Server(self.url, "secret").rewards(
            self.problem, ["persistent BM=128 BN=256", "persistent BM=64 BN=64 walk=-16"], USUAL, seconds=2)
        self.assertEqual((found, self.server.asked), ([1.25, None], 3))
        first, second = self.server.seen
        self.assertEqual((first["kernel"], first["problem"], first["accumulate"], first["mode"], first["seconds"]),
                         ("persistent", "4096x4096x512", "f32", "offline", 2))
        self.assertEqual(first["parameters"], {"BM": 128, "BN": 256, "CLUSTER_M": 1, "CLUSTER_N": 1, "RASTER": 8, "DOWN": 0})
        self.assertEqual((second["parameters"]["RASTER"], second["parameters"]["DOWN"]), (16, 1))

    def test_a_refusal_is_told_in_the_server_s_words(self):
        with self.assertRaisesRegex(RuntimeError, "401: .*no token"):
            served.Server(self.url).outcomes([{"problem": "64x64x64"}])
        with self.assertRaisesRegex(RuntimeError, "refused: too small"):
            served.Server(self.url, "secret").outcomes([{"problem": "1x1x1"}])

    def test_walks_of_the_records_have_a_raster(self):
        self.assertEqual(served.raster_of(-1, 1, 64), (8, 0))
        self.assertEqual(served.raster_of(8, 32, 32), (8, 0))
        self.assertEqual(served.raster_of(-32, 32, 16), (1, 0))
        with self.assertRaisesRegex(ValueError, "no RASTER"):
            served.raster_of(7, 32, 32)

    def test_failures_cost_and_speedups_become_logarithms(self):
        self.assertEqual([served.log_reward(v, -2.0) for v in (None, 0.0, 1.0)], [-2.0, -2.0, 0.0])


@unittest.skipUnless(harness.find_program(), "no cudal2-bench is built: the client is not tested with the real server")
class TestRealServer(unittest.TestCase):
    def test_a_plugin_s_reward(self):
        with tempfile.TemporaryDirectory() as directory:
            server = subprocess.Popen([str(harness.find_program()), "serve", "--device", "cpu", "--listen", "127.0.0.1:0",
                                       "--output", directory + "/jobs"], stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True)
            try:
                line = server.stdout.readline()
                found = re.search(r"http://127\.0\.0\.1:\d+", line)
                if not found:
                    self.skipTest("cudal2-bench serve does not run here: %s" % line.strip())
                job = {"candidate": "blocked", "problem": "64x64x64", "accumulate": "f32", "seconds": 1, "half_width": 0.5}
                outcome, = served.Server(found.group(0), patience=120).outcomes([job])
            finally:
                server.terminate()
                server.communicate(timeout=60)
        self.assertEqual(outcome["verdict"], "ok")
        self.assertGreater(outcome["reward"]["value"], 0)


if __name__ == "__main__":
    unittest.main()

"""One run as Ray tasks, a shard and a GPU each, and the merge of them; for those who have Ray.

    python scripts/ray/shards.py -n 8 -o out/grid.json -- run --config grid

OUT lies on a file system that every node sees, and so does the program ($CUDAL2_BENCH, or cudal2-bench of
PATH). A task whose node is lost, or that ends with 75 (try again) or by a signal, starts again and goes on
where its shard stopped.
"""

import argparse
import os
import subprocess
import sys

import ray

AGAIN = 75


class Again(Exception):
    """The task is to be tried again: its journal has what was measured."""


def run_shard(program, words, index, count, output):
    command = [program, *words, "--shard", "%d/%d" % (index, count), "--output", output]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    last = (done.stderr.strip().splitlines() or [""])[-1]
    if done.returncode == AGAIN or done.returncode < 0:
        raise Again("shard %d ended with %d: %s" % (index, done.returncode, last))
    return done.returncode, last


def measure(options, program, shards):
    """Runs these shards; tells of those that did not end well. The merge says what that means."""
    task = ray.remote(num_gpus=options.gpus, num_cpus=1, max_retries=options.retries, retry_exceptions=[Again])(run_shard)
    waiting = {task.remote(program, options.words, i, options.shards, options.output): i for i in shards}
    while waiting:
        ready, _ = ray.wait(list(waiting))
        for done in ready:
            index = waiting.pop(done)
            try:
                code, last = ray.get(done)
            except ray.exceptions.RayError as error:
                code, last = AGAIN, str(error).strip().splitlines()[-1]
            print("shard %d: exit status %d%s" % (index, code, ": " + last if code else ""), flush=True)


def missing_of(text):
    """The shards of "--array=1,4-6"."""
    shards = []
    for part in text.strip().splitlines()[-1].removeprefix("--array=").split(","):
        first, _, last = part.partition("-")
        shards.extend(range(int(first), int(last or first) + 1))
    return shards


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--shards", type=int, required=True)
    parser.add_argument("-o", "--output", type=os.path.abspath, required=True, help="the result; shards lie beside it")
    parser.add_argument("--gpus", type=float, default=1, help="of a task; 0 for --device cpu")
    parser.add_argument("--retries", type=int, default=10, help="of a task")
    parser.add_argument("--rounds", type=int, default=2, help="how often missing shards are started again")
    parser.add_argument("words", nargs="+", metavar="WORD", help="behind --: run or tune, and its options")
    options = parser.parse_args()
    program = os.environ.get("CUDAL2_BENCH", "cudal2-bench")
    os.makedirs(os.path.dirname(options.output), exist_ok=True)
    ray.init(log_to_driver=False)
    shards = range(options.shards)
    for _ in range(options.rounds + 1):
        measure(options, program, shards)
        merge = subprocess.run([program, "merge", options.output], stdout=subprocess.PIPE, text=True, check=False)
        print(merge.stdout, end="", flush=True)
        if merge.returncode != 2:
            break
        shards = missing_of(merge.stdout)
    return merge.returncode


if __name__ == "__main__":
    sys.exit(main())

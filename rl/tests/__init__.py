"""Tests of rl/: `python3 -m unittest discover -s rl/tests -t rl`. Those of the policy are skipped without
torch."""

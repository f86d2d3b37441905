"""scripts/portfolio.py: which kernels a portfolio takes, and what a choice among them loses."""
import importlib.util
import math
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "portfolio.py"


@unittest.skipUnless(importlib.util.find_spec("numpy"), "no numpy")
class Portfolio(unittest.TestCase):
    def setUp(self):
        spec = importlib.util.spec_from_file_location("portfolio", SCRIPT)
        self.it = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.it)

    def test_a_kernel_is_a_key_without_its_launch(self):
        keys = ["persistent:BM=64,RASTER=%d,DOWN=%d,BN=8,FETCH=128,EARLY=1" % each for each in ((1, 0), (8, 1))]
        self.assertEqual({self.it.kernel_of("nn", k) for k in keys}, {"nn persistent:BM=64,BN=8"})
        self.assertNotEqual(self.it.kernel_of("nn", keys[0]), self.it.kernel_of("tn", keys[0]))

    def test_what_a_launch_decides_is_said_by_the_kernels_manifest(self):
        keys = ["multistage:BM=64,RASTER=%d,EARLY=%d" % each for each in ((8, 0), (8, 1), (16, 1))]
        self.assertEqual([self.it.kernel_of("nn", k) for k in keys],
                         ["nn multistage:BM=64,RASTER=8"] * 2 + ["nn multistage:BM=64,RASTER=16"])

    def test_kernels_are_taken_for_what_they_add(self):
        import numpy
        slower = numpy.array([[1.0, 1.5, 1.2], [1.0, 1.5, 1.2], [1.9, 1.0, 1.2]])
        self.assertEqual(self.it.greedy(numpy.log(slower), 2), [2, 0])
        self.assertEqual(self.it.greedy(numpy.log(slower), 9), [2, 0, 1])

    def test_a_portfolio_that_adds_nothing_is_not_filled(self):
        import numpy
        self.assertEqual(self.it.greedy(numpy.log(numpy.array([[1.0, 1.5]])), 2), [0])
        self.assertEqual(self.it.greedy(numpy.full((1, 2), math.inf), 2), [])

    def test_losses_are_of_what_is_allowed(self):
        import numpy
        time, guess = numpy.array([100.0, 110.0, 130.0, math.inf]), numpy.array([3.0, 2.0, 1.0, 0.0])
        everything = self.it.losses(guess, time, numpy.ones(4, bool))
        self.assertEqual([round(v, 6) for v in everything], [0, 30, 0, 0])
        some = self.it.losses(guess, time, numpy.array([False, True, True, True]))
        self.assertEqual([round(v, 6) for v in some], [10, 30, 10, 10])
        self.assertEqual(self.it.losses(guess, time, numpy.zeros(4, bool))[0], 100)


if __name__ == "__main__":
    unittest.main()

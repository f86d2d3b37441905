/*
 * choice.h - what is uncertain about the better of two when one half of the values chooses and the other half scores.
 */
#ifndef CUDAL2_STATS_CHOICE_H
#define CUDAL2_STATS_CHOICE_H

/* The variance that choosing adds to the mean of the two scores and that the scatter of the scored values does not
 * show. difference: of the two's mean logs over all values; error: its standard error. 0 where either is NaN.
 *
 * Let D1 and D2 be the differences on the halves, independent, of mean d and deviation s = error * sqrt(2), and p =
 * E[sgn D]. A half is scored by the other's choice, so that the estimate is the mean of the two less T = (sgn(D1) D2 +
 * sgn(D2) D1) / 4, of variance (E D^2 + E|D|^2) / 8 - p^2 d^2 / 4, where E D^2 = s^2 + d^2. Within a half all values
 * are of one of the two, so their scatter shows s^2 / 8 of it, as if it had been chosen beforehand; the returned (d^2 +
 * E|D|^2 - 2 p^2 d^2) / 8 is missing: a choice is made once for a half, and both may err the same way. It is s^2 / 4 pi
 * where the two are alike, most at d = 1.1 s, and vanishes where they differ by some deviations.
 * E|D| and p are those of a normal D around the difference seen. */
double stats_choice_variance(double difference, double error);

#endif

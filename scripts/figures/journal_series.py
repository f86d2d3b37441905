"""journal_series.py: the times of a series as a journal writes them (harness/record/series_text.h). Imported
by data.py and ../price_journal.py."""

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def times_ns(series):
    """In ns, one a block; a series is its text, or an object with it as `values` (docs/results.md)."""
    step, shortest, digits = (series if isinstance(series, str) else series["values"]).split(":")
    times, number, shift = [], 0, 0
    for digit in map(DIGITS.index, digits):
        number |= (digit & 31) << shift
        shift += 5
        if digit < 32:
            times.append((int(shortest) + number) * float(step))
            number = shift = 0
    return times

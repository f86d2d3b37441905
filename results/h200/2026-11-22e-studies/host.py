"""How fast the host was during a grid, by tenths of its cells in the order they were measured: host.py RUN...

launch: median, over problems of up to 2^28 multiplications, of cublas-nn's wall time less its device time, us.
block:  what a block of cells under 4 us takes beside what kept the device busy, ms.
"""
import gzip
import json
import os
import statistics
import sys


def head(text):  # of a thinned series: unit:median:...
    unit, median = text.split(':')[:2]
    return float(unit) * float(median)


def key(cell):
    return cell['m'], cell['n'], cell['k']


for run in sys.argv[1:]:
    lines = map(json.loads, gzip.open(run + '/journal.jsonl.gz', 'rt'))
    cells = [line['data'] for line in lines if line['kind'] == 'cell']
    timings = {key(c): c['contenders'].get('cublas-nn', {}).get('timings', {})
               for c in json.load(gzip.open(run + '/result.json.gz'))['cells']}
    launch, block = [], []
    for tenth in range(10):
        part = cells[tenth * len(cells) // 10:(tenth + 1) * len(cells) // 10]
        small = [timings[key(c)] for c in part if c['m'] * c['n'] * c['k'] <= 2 ** 28]
        overhead = [t['wall']['median_ns'] - t['device']['median_ns'] for t in small if t.get('wall') and t.get('device')]
        launch.append('%5.1f' % (statistics.median(overhead) / 1e3))
        quick = [c for c in part if min(head(x['device']) for x in c['contenders'] if 'device' in x) < 4e3]
        blocks = sum(sum(c['group_blocks']) for c in quick)
        idle = sum(c['phase_seconds']['measure'] - c['busy_seconds'] for c in quick)
        block.append('%5.1f' % (1e3 * idle / blocks) if blocks else '    -')
    print('%-28s launch %s' % (os.path.basename(run), ' '.join(launch)))
    print('%-28s block  %s' % ('', ' '.join(block)))

# Paper, Fig. 3: speedup over cublaslt-autotuning-max, a dot a shape, and the mean of each bin of size.
points = data.'/points.csv'
means = data.'/means.csv'
set yrange [floor(10 * least_in(points, 14)) * 10 - 1 : ceil(10 * greatest_in(points, 14)) * 10 + 1]
@signed
set xzeroaxis ls 5
unset key
dots = "points using (column(10 + p)):(100 * column(14)) skip 1 with points pt 7 ps 0.28 lc rgb '#a64292c6'"
axis(p) = word('log2_mnk mean_dimension largest_dimension', p)
head(p) = p == 1 ? 'log2(MNK)' : p == 2 ? 'mean of M, N and K' : 'largest of M, N and K'
size(e) = e < 10 ? sprintf('%d', 2 ** e) : sprintf('%dk', 2 ** (e - 10))
legend = bins > 0 ? '(dot: a shape, line: mean by size)' : '(dot: a shape; too few reached the wanted precision for a mean)'
set multiplot layout 1, 3 title candidate.' over '.reference."\n".words.' '.legend font ',12' noenhanced
set title font ',11'
do for [p = 1:3] {
    set title '('.word('a b c', p).') by '.head(p)
    set xlabel head(p) noenhanced
    if (p == 1) { set ylabel 'speedup, %' } else { unset ylabel }
    if (p == 1) { set format x '%.0f'; set xtics 6 } else { set format x ''; set xtics 1; do for [e = 0:20:2] { set xtics add (size(e) e) } }
    set xrange [least_in(points, 10 + p) - 0.6 : greatest_in(points, 10 + p) + 0.6]
    if (bins > 0) {
        plot @dots, means using (strcol(8) eq axis(p) ? column(12) : NaN):(100 * column(13)) skip 1 with linespoints ls 4 pt 7 ps 0.6
    } else {
        plot @dots
    }
}
unset multiplot

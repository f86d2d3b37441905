# Paper, Fig. 4: what the kernel's parameters go with. (a)-(d): area of a dot = number of shapes; line: mean. (e), (f): boxes.
correlations = data.'/correlations.csv'
panel(p) = word('BM:by:M BN:by:N BK:by:K BM:by:BN stages:by:K swizzle:stride:by:MNK', p)
# Title with the two correlations; the file has one row a panel, in this order.
field(p, i) = system(sprintf("awk -F, 'NR == %d { print $%d }' %s", p + 1, i, correlations))
number(text) = text eq '' ? 'unknown' : sprintf('%+.2f', real(text))
head(p) = sprintf("(%s) %s, %s\nPearson %s, Spearman %s", word('a b c d e f', p), field(p, 5), shapes(field(p, 6)), number(field(p, 7)), number(field(p, 8)))
set datafile separator whitespace
set style fill transparent solid 0.55 noborder
log2(x) = log(x) / log(2)
set multiplot layout 2, 3 title words.' (area of a dot: number of shapes; line: mean; box: quartiles)' font ',13' noenhanced margins 0.065, 0.985, 0.08, 0.86 spacing 0.075, 0.17
set title font ',11'
unset key
file(p) = data.'/'.word('bm-m bn-n bk-k bm-bn stages swizzle', p).'.dat'
# Of one column of a file: number of lines, least, greatest, number of different values.
count(p) = int(system('wc -l <'.file(p)))
least(p) = real(system("sort -g ".file(p)." | awk 'NR == 1 { print $1 }'"))
greatest(p) = real(system("sort -g ".file(p)." | awk 'END { print $1 }'"))
extreme_y(p, sign) = real(system(sprintf("awk '!n++ || %d * $2 > %d * m { m = $2 } END { print m }' %s", sign, sign, file(p))))
kinds(p) = int(system("awk '!seen[$1]++ { n++ } END { print n }' ".file(p)))
means(p) = "< awk '{ s[$1] += $2 * $3; n[$1] += $3 } END { for (x in s) print x, s[x] / n[x] }' ".file(p)." | sort -g"
dots = 'with points pt 7 ps variable lc rgb "#804292c6"'
do for [p = 1:6] {
    set title head(p)
    set xlabel word('M N K BN stages swizzle', p).(p == 6 ? ' stride' : '')
    set ylabel word('BM BN BK BM log2(K) log2(MNK)', p)
    set xtics auto
    set yrange [*:*]
    unset logscale x
    if (count(p) == 0) {
        # None of the kernels chosen has this parameter.
        set xrange [0:1]
        set yrange [0:1]
        plot NaN
    } else { if (p <= 3) {
        set logscale x 2
        set xrange [least(p) / 1.5 : greatest(p) * 1.5]
        set xtics (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536)
        set yrange [0:*]
        plot file(p) using 1:2:(0.2 + 0.12 * sqrt($3)) @dots, means(p) using 1:2 with linespoints ls 4 pt 7 ps 0.4
    } else { if (p == 4) {
        set xrange [0 : greatest(p) * 1.15]
        set yrange [0:*]
        plot file(p) using 1:2:(0.2 + 0.12 * sqrt($3)) @dots
    } else {
        set style boxplot outliers pt 7 fraction 0.95
        set boxwidth 0.5
        set xrange [0.3 : kinds(p) + 0.7]
        set yrange [extreme_y(p, -1) - 0.5 : extreme_y(p, 1) + 0.5]
        plot file(p) using (1):2:(0):1 with boxplot ps 0.4 lc rgb '#4292c6'
    }}}
}
unset multiplot

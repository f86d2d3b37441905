# Paper, Fig. 4: what the kernel's parameters go with. Area of a dot = number of shapes; line: mean, in (f) of sizes that differ by less
# than four times. A parameter that none of the kernels chosen has leaves words in its panel's place.
correlations = data.'/correlations.csv'
# Title with the two correlations; the file has one row a panel, in this order.
field(p, i) = system(sprintf("awk -F, 'NR == %d { print $%d }' %s", p + 1, i, correlations))
number(text) = text eq '' ? 'unknown' : sprintf('%+.2f', real(text))
name(p) = sprintf('(%s) %s', word('a b c d e f', p), field(p, 5))
head(p) = sprintf("%s, %s\nPearson %s, Spearman %s", name(p), shapes(field(p, 6)), number(field(p, 7)), number(field(p, 8)))
parameter(p) = word('BM BN BK BM stages swizzle', p).(p == 6 ? ' stride' : '')
set datafile separator whitespace
set style fill transparent solid 0.55 noborder
set multiplot layout 2, 3 title words.' (area of a dot: number of shapes; line: mean)' font ',12' noenhanced margins 0.09, 0.96, 0.115, 0.855 spacing 0.095, 0.22
set title font ',10'
unset key
file(p) = data.'/'.word('bm-m bn-n bk-k bm-bn stages-k swizzle-mnk', p).'.dat'
# Of a file: number of lines; of its first column: least, greatest.
count(p) = int(system('wc -l <'.file(p)))
least(p) = real(system("sort -g ".file(p)." | awk 'NR == 1 { print $1 }'"))
greatest(p) = real(system("sort -g ".file(p)." | awk 'END { print $1 }'"))
# Means by the first column, or by bins of it that are so wide, each at the mean of its places.
means(p, width) = sprintf("< awk '{ b = %d ? int($1 / %d) : $1; s[b] += $2 * $3; x[b] += $1 * $3; n[b] += $3 } END { for (b in n) print x[b] / n[b], s[b] / n[b] }' %s | sort -g", \
    width, width, file(p))
dots = "using 1:2:(0.2 + 0.12 * sqrt($3)) with points pt 7 ps variable lc rgb '#804292c6'"
line = 'using 1:2 with linespoints ls 4 pt 7 ps 0.4'
axes = "set xtics nomirror auto; set ytics nomirror auto; set xlabel word('M N K BN K log2(MNK)', p); set ylabel parameter(p) offset 1, 0 font ',11'"
none = "set border 0; unset xtics; unset ytics; unset xlabel; unset ylabel; set xrange [0:1]; set yrange [0:1]"
do for [p = 1:6] {
    unset label
    unset logscale
    if (count(p) == 0) {
        @none
        set title name(p)
        set label 1 "none of the kernels chosen\nhas a parameter ".parameter(p) at graph 0.5, 0.5 center font ',11' noenhanced
        plot NaN
    } else {
        @frame
        @axes
        set title head(p)
        set yrange [0:*]
        if (p == 4) {
            set xrange [0 : greatest(p) * 1.15]
            plot file(p) @dots
        } else { if (p == 6) {
            set logscale y 2
            set yrange [0.8:*]
            set xrange [least(p) - 1 : greatest(p) + 1]
            plot file(p) @dots, means(p, 2) @line
        } else {
            set logscale x 2
            set xtics ('1' 1, '4' 4, '16' 16, '64' 64, '256' 256, '1k' 1024, '4k' 4096, '16k' 16384, '64k' 65536)
            set xrange [least(p) / 1.5 : greatest(p) * 1.5]
            plot file(p) @dots, means(p, 0) @line
        }}
    }
}
unset multiplot

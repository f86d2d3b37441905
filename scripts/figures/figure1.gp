# Paper, Fig. 1: mean speedup over each baseline, a panel a mode. Whiskers: 95% interval of the mean over the shapes.
# bars-MODE.dat has a line for each bar: place, mean, low, high, colour, shapes; all in percent.
bars(mode) = data.'/bars-'.mode.'.dat'
panels = words(modes)
set datafile separator whitespace
# Both panels share an axis that holds 0, with room for labels and key above.
set yrange [1.15 * bottom : 1.3 * top]
set xrange [-0.6 : words(families) - 0.4]
set style fill solid 1.0 noborder
set xtics scale 0 nomirror font ',10'
set xtics ('' 0)
# "cublaslt-heuristic" on two lines.
label(family) = family[1:9] eq 'cublaslt-' ? "cublaslt\n".family[10:] : family
do for [f = 1:words(families)] { set xtics add (label(word(families, f)) f - 1) }
@signed
set bmargin 3.2
set key top center horizontal samplen 1 width 1
count(mode) = system("awk '$6 > n { n = $6 } END { print n }' ".bars(mode))
set multiplot layout 1, panels title words font ',13' noenhanced
do for [p = 1:panels] {
    mode = word(modes, p)
    set title sprintf('(%s) %s: mean over %s', word('a b', p), mode, shapes(count(mode)))
    if (p == 1) { set ylabel 'mean speedup of '.candidate.', %' noenhanced } else { unset ylabel }
    plot bars(mode) using 1:2:(0.26):5 with boxes lc rgb variable notitle, \
         bars(mode) using 1:3:(0):($4 - $3) with vectors nohead ls 5 notitle, \
         bars(mode) using 1:4:(sprintf('%.1f', $2)) with labels offset 0, 0.6 font ',9' textcolor rgb '#222222' notitle, \
         for [l = 1:3] keyentry with boxes ls l title word('NN TN max', l)
}
unset multiplot

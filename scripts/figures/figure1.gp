# Paper, Fig. 1: mean speedup over each baseline, a panel a mode. Whiskers: 95% interval of the mean over the shapes.
# bars-MODE.dat has a line for each bar: place, mean, low, high, colour, shapes; all in percent.
bars(mode) = data.'/bars-'.mode.'.dat'
panels = words(modes)
set datafile separator whitespace
# Both panels share an axis that holds 0, with room for labels and key above.
set yrange [1.15 * bottom : 1.5 * top]
set xrange [-0.6 : words(families) - 0.4]
set style fill solid 1.0 noborder
set xtics scale 0 nomirror font ',9'
set xtics ('' 0)
# "cublaslt-heuristic", "strongest" and "torch.matmul" on two lines.
cut(family) = strstrt(family, '-') > 0 ? strstrt(family, '-') : strstrt(family, '.')
label(family) = cut(family) > 0 ? family[1:cut(family) - 1]."\n".family[cut(family) + 1:] : family
do for [f = 1:words(families)] { set xtics add (label(word(families, f)) f - 1) }
@signed
set bmargin 3.2
set key top center horizontal samplen 1 width 1 font ',10'
count(mode) = system("awk '$6 > n { n = $6 } END { print n }' ".bars(mode))
set multiplot layout 1, panels title candidate."\n".words font ',12' noenhanced
set title font ',11'
do for [p = 1:panels] {
    mode = word(modes, p)
    set title sprintf('(%s) %s: mean over %s', word('a b', p), mode, shapes(count(mode)))
    if (p == 1) { set ylabel 'mean speedup, %' } else { unset ylabel }
    plot bars(mode) using 1:2:(0.26):5 with boxes lc rgb variable notitle, \
         bars(mode) using 1:3:(0):($4 - $3) with vectors nohead ls 5 notitle, \
         bars(mode) using 1:4:(sprintf('%.1f', $2)) with labels left rotate by 90 offset 0, 0.3 font ',9' textcolor rgb '#222222' notitle, \
         for [l = 1:3] keyentry with boxes ls l title word('NN TN max', l)
}
unset multiplot

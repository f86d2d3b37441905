# Paper, Fig. 1: mean speedup over each baseline, a panel a mode. Whiskers: 95% interval of the mean over the shapes.
bars = data.'/bars.csv'
panels = words(modes)
# Both panels share an axis that begins at 0 and ends above the highest whisker.
top = greatest_in(bars, 13) > greatest_in(bars, 11) ? greatest_in(bars, 13) : greatest_in(bars, 11)
top = top > 0 ? top : 0.01
bottom = least_in(bars, 12) < least_in(bars, 11) ? least_in(bars, 12) : least_in(bars, 11)
bottom = bottom < 0 ? bottom : 0
set yrange [100 * bottom * 1.15 : 100 * top * 1.3]
set xrange [-0.6 : words(families) - 0.4]
set style fill solid 1.0 noborder
set xtics scale 0 nomirror font ',10'
set xtics ('' 0)
# "cublaslt-heuristic" on two lines.
label(family) = family[1:9] eq 'cublaslt-' ? "cublaslt\n".family[10:] : family
do for [f = 1:words(families)] { set xtics add (label(word(families, f)) f - 1) }
set format y '%+.0f'
set bmargin 3.2
layouts = 'nn tn max -'
layout(l) = word(layouts, l) eq '-' ? '' : word(layouts, l)
shift(l) = l == 1 ? -0.27 : l == 3 ? 0.27 : 0
place(mode, l, f) = strcol(2) eq mode && strcol(9) eq layout(l) && strcol(8) eq word(families, f) ? f - 1 + shift(l) : NaN
set key top center horizontal samplen 1 width 1
count(mode) = system(sprintf("awk -F, '$2 == \"%s\" && $10 > n { n = $10 } END { print n }' %s", mode, bars))
set multiplot layout 1, panels title words font ',13' noenhanced
do for [p = 1:panels] {
    mode = word(modes, p)
    set title sprintf('(%s) %s: mean over %s', word('a b', p), mode, shapes(count(mode)))
    if (p == 1) { set ylabel 'mean speedup of '.candidate.', %' noenhanced } else { unset ylabel }
    plot for [l = 1:4] for [f = 1:words(families)] bars using (place(mode, l, f)):(100 * column(11)):(0.26) skip 1 \
             with boxes ls l == 4 ? 7 : l title (f == 1 && l < 4 ? word('NN TN max', l) : ''), \
         for [l = 1:4] for [f = 1:words(families)] bars \
             using (place(mode, l, f)):(100 * column(12)):(0):(100 * (column(13) - column(12))) skip 1 with vectors nohead ls 5 notitle, \
         for [l = 1:4] for [f = 1:words(families)] bars \
             using (place(mode, l, f)):(100 * (strcol(13) eq '' ? column(11) : column(13))):(sprintf('%.1f', 100 * column(11))) skip 1 \
             with labels offset 0, 0.6 font ',9' textcolor rgb '#222222' notitle
}
unset multiplot

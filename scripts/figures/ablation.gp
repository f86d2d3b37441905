# Paper, section 5.2: the same kernel with other tile heights on one shape.
bars = data.'/bars.csv'
set style fill solid 1.0 noborder
@signed
set ylabel 'speedup over '.reference.', %' font ',11' noenhanced
set xlabel 'BM'
set title shape.", ".kernel."\n".words font ',11'
set xzeroaxis ls 5
set boxwidth 0.6
set offsets 0.6, 0.6, graph 0.12, 0
# Bars stand on 0 or hang from it, whatever their signs.
low = least_in(bars, 14) < 0 ? 112 * least_in(bars, 14) : 0
set yrange [low : *]
if (greatest_in(bars, 13) <= 0) set yrange [low : 0]
unset key
plot bars using 0:(100 * column(13)):xtic(12) skip 1 with boxes ls 3, \
     bars using 0:(100 * column(14)):(0):(100 * (column(15) - column(14))) skip 1 with vectors nohead ls 5, \
     bars using 0:(column(13) < 0 ? NaN : 100 * (strcol(15) eq '' ? column(13) : column(15))):(sprintf('%+.1f', 100 * column(13))) \
         skip 1 with labels offset 0, 0.7 font ',10', \
     bars using 0:(column(13) < 0 ? 100 * (strcol(14) eq '' ? column(13) : column(14)) : NaN):(sprintf('%+.1f', 100 * column(13))) \
         skip 1 with labels offset 0, -0.7 font ',10'

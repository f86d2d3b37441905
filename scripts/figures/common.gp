# What every figure shares: colours that stay apart for the colour-blind and in grey, thin axes, quiet grids.
set datafile separator comma
set encoding utf8
set style line 1 lc rgb '#9ecae1' # NN
set style line 2 lc rgb '#4292c6' # TN
set style line 3 lc rgb '#08519c' # the faster of both
set style line 4 lc rgb '#d95f02' lw 2.5 # means
set style line 5 lc rgb '#444444' lw 1
set style line 6 lc rgb '#4292c6'
frame = "set border 3 lc rgb '#444444' lw 0.8; set tics nomirror out scale 0.5 font ',10' textcolor rgb '#222222'"
set xlabel font ',11'
set ylabel font ',11'
@frame
set grid ytics lc rgb '#dddddd' lw 0.6 lt 1
set title font ',13' textcolor rgb '#111111' noenhanced
set key noenhanced
# Speedups have a sign, and 0 has none.
signed = "set format y '%+.0f'; set ytics add ('0' 0)"
# Extremes of a column of a CSV file with a head line; 0 when it is empty. (`stats` would warn of a single value and obey
# ranges that are set.)
extreme(file, i, sign) = real(system(sprintf("awk -F, 'NR > 1 && $%d != \"\" && (!n++ || %d * $%d > %d * m) { m = $%d } END { print m + 0 }' %s", \
    i, sign, i, sign, i, file)))
least_in(file, i) = extreme(file, i, -1)
greatest_in(file, i) = extreme(file, i, 1)
shapes(n) = n eq '1' ? '1 shape' : n.' shapes'

# Share of the runs that stay at or below a value. The caller has set (src/report/outputs-plot.c):
#   term_svg, output, data: blocks of value share-percent; heading, subheading, source; n_series, series_N, with_key,
#   key_chars: letters of the longest, x_label
if (term_svg) {
  set terminal svg size 760,500 dynamic font "DejaVu Sans,13" background "white" noenhanced
} else {
  set terminal pngcairo size 1140,750 font "DejaVu Sans,14" background "white" noenhanced
}
set output output
array colours[7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
array marks[7] = [7, 5, 9, 13, 11, 6, 4]
colour(i) = colours[(i - 1) % 7 + 1]
mark(i) = marks[(i - 1) % 7 + 1]
dashes(i) = (i - 1) % 5 + 1
key_columns = floor(700.0 / (8 * key_chars + 90))
key_rows = with_key ? ceil(n_series / (key_columns < 1 ? 1.0 : key_columns > 4 ? 4.0 : key_columns + 0.0)) : 0
set label 1 heading at screen 0.5,0.955 center font ",15"
set label 2 subheading at screen 0.5,0.905 center
set label 3 source at screen 0.97,0.022 right font ",10" textcolor "#555555"
set lmargin at screen 0.11
set rmargin at screen 0.95
set tmargin at screen 0.86
set bmargin at screen (0.17 + 0.042 * key_rows)
if (with_key) { set key at screen 0.5,0.045 center bottom maxrows key_rows reverse Left samplen 3 width 2 spacing 1.1 } else { unset key }
set border 3
set xtics nomirror
set ytics nomirror
set grid xtics ytics linetype 1 linecolor "#dddddd"
set xlabel x_label
set ylabel "runs at or below (%)"
set yrange [0:102]
set offsets graph 0.03, graph 0.03, 0, 0
plot for [i=1:n_series] data index i - 1 using 1:2 with steps linewidth 2 dashtype dashes(i) linecolor rgb colour(i) notitle, \
     for [i=1:n_series] data index i - 1 using 1:($2 > 0 ? $2 : NaN) with points pointtype mark(i) pointsize 0.8 linecolor rgb colour(i) notitle, \
     for [i=1:n_series] NaN with linespoints linewidth 2 dashtype dashes(i) pointtype mark(i) pointsize 0.8 linecolor rgb colour(i) title value(sprintf("series_%d", i))

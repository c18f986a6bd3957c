# Bars lying beside each other, one group an x, one bar a series. The caller has set (src/report/outputs-plot.c):
#   term_svg, output, data: "x" then median min max of each series; heading, subheading, source
#   n_x, n_series, series_N, with_key, margin: letters of the longest x, spread: draw min to max, y_label
rows = n_x * (n_series + 0.6)
height = 190 + rows * (n_series > 1 ? 16 : 24)
if (term_svg) {
  set terminal svg size 860,height dynamic font "DejaVu Sans,13" background "white" noenhanced
} else {
  set terminal pngcairo size 1290,(height * 1.5) font "DejaVu Sans,14" background "white" noenhanced
}
set output output
array colours[7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
array fills[7] = [3, 1, 2, 4, 5, 6, 7]
colour(i) = colours[(i - 1) % 7 + 1]

set label 1 heading at screen 0.5,(1 - 22.0 / height) center font ",15"
set label 2 subheading at screen 0.5,(1 - 46.0 / height) center
set label 3 source at screen 0.98,(10.0 / height) right font ",10" textcolor "#555555"
set lmargin at screen (0.03 + 0.0099 * (margin < 45 ? margin : 45))
set rmargin at screen 0.94
set tmargin at screen (1 - (with_key ? 92.0 : 66.0) / height)
set bmargin at screen (78.0 / height)
if (with_key) { set key at screen 0.5,(1 - 70.0 / height) center horizontal reverse Left samplen 2 } else { unset key }

set border 1
set xtics nomirror
set ytics nomirror scale 0
set grid xtics linetype 1 linecolor "#dddddd"
set xlabel y_label
set xrange [0:*]
set offsets 0, graph 0.06, 0, 0
set yrange [(n_x - 0.4):-0.6]
thick = 0.8 / n_series
place(row, i) = row - 0.4 + thick * (i - 0.5)
label(v) = abs(v) >= 1000 ? sprintf(" %.0f", v) : sprintf(" %.4g", v)
# Patterns tell the series apart without colours, and every bar says its value.
plot data using (0):0:ytic(1) with points pointtype 0 linecolor rgb "#ffffff" notitle, \
     for [i=1:n_series] data using (0):(place($0, i)):(0):(column(3 * i - 1)):(place($0, i) - thick * 0.46):(place($0, i) + thick * 0.46) \
       with boxxyerror linewidth 1 linecolor rgb colour(i) fillstyle pattern fills[(i - 1) % 7 + 1] border title value(sprintf("series_%d", i)), \
     for [i=1:n_series] data using (column(3 * i + 1)):(place($0, i)):(label(column(3 * i - 1))) with labels left font ",10" notitle, \
     for [i=1:n_series] data using (spread ? column(3 * i - 1) : NaN):(place($0, i)):(column(3 * i)):(column(3 * i + 1)) with xerrorbars pointtype 0 linecolor rgb "#000000" notitle

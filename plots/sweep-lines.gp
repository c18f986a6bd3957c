# A value over x for several series; with two panels bandwidth, then time. The caller has set (src/report/outputs-plot.c):
#   term_svg, output, data: blocks of x median min max time-median time-min time-max "x"; heading, subheading, source
#   n_series, series_N, with_key, key_chars: letters of the longest   panels 1|2   log_x, log_y   log_time: of the second panel   named: tics at the values themselves
#   n_x, x_chars: how many of these, letters of the longest
#   spread: draw min to max        x_label, y_label
if (term_svg) {
  set terminal svg size (panels == 2 ? 960 : 640),500 dynamic font "DejaVu Sans,13" background "white" noenhanced
} else {
  set terminal pngcairo size (panels == 2 ? 1440 : 960),750 font "DejaVu Sans,14" background "white" noenhanced
}
set output output

# Legible in black and white: every series has its mark and its dashes, not a colour alone (palette: Okabe and Ito).
array colours[7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
array marks[7] = [7, 5, 9, 13, 11, 6, 4]
colour(i) = colours[(i - 1) % 7 + 1]
mark(i) = marks[(i - 1) % 7 + 1]
dashes(i) = (i - 1) % 5 + 1

# The key stands under the panels, in as many columns as fit.
key_columns = floor((panels == 2 ? 900.0 : 580.0) / (8 * key_chars + 90))
key_rows = with_key ? ceil(n_series / (key_columns < 1 ? 1.0 : key_columns > 4 ? 4.0 : key_columns + 0.0)) : 0
turn = named && x_chars * n_x > (panels == 2 ? 40 : 60)
bottom = 0.17 + 0.042 * key_rows + (turn ? 0.0105 * (x_chars < 30 ? x_chars : 30) : 0)
set multiplot layout 1,panels margins (panels == 2 ? 0.085 : 0.12),0.965,bottom,0.84 spacing 0.1,0
set label 1 heading at screen 0.5,0.955 center font ",15"
set label 2 subheading at screen 0.5,0.905 center
set label 3 source at screen 0.97,0.022 right font ",10" textcolor "#555555"
if (log_x) { set logscale x 2 }
set xtics nomirror rotate by (turn ? -35 : 0)
set ytics nomirror
set border 3
set offsets graph 0.03, graph 0.03, 0, 0
set grid xtics ytics linetype 1 linecolor "#dddddd"
set xlabel x_label
if (with_key) { set key at screen 0.5,0.045 center bottom maxrows key_rows reverse Left samplen 3 width 2 spacing 1.1 } else { unset key }

set ylabel y_label
if (log_y && panels == 1) { set logscale y 10 } else { set yrange [0:*] }
if (named) {
  plot for [i=1:n_series] data index i - 1 using 1:2:xtic(8) with linespoints linewidth 1.8 dashtype dashes(i) pointtype mark(i) pointsize 0.9 \
         linecolor rgb colour(i) title value(sprintf("series_%d", i)), \
       for [i=1:n_series] data index i - 1 using 1:(spread ? $3 : NaN):(0):($4 - $3) with vectors nohead linewidth 3 linecolor rgb colour(i) notitle
} else {
  plot for [i=1:n_series] data index i - 1 using 1:2 with linespoints linewidth 1.8 dashtype dashes(i) pointtype mark(i) pointsize 0.9 \
         linecolor rgb colour(i) title value(sprintf("series_%d", i)), \
       for [i=1:n_series] data index i - 1 using 1:(spread ? $3 : NaN):(0):($4 - $3) with vectors nohead linewidth 3 linecolor rgb colour(i) notitle
}

if (panels == 2) {
  unset label
  unset key
  if (log_time) {
    set logscale y 10
    set yrange [*:*]
  } else { set yrange [0:*] }
  set format y (log_time ? '%.0f' : '%g')
  set ylabel "time (us)"
  if (named) {
    plot for [i=1:n_series] data index i - 1 using 1:5:xtic(8) with linespoints linewidth 1.8 dashtype dashes(i) pointtype mark(i) pointsize 0.9 linecolor rgb colour(i) notitle, \
         for [i=1:n_series] data index i - 1 using 1:(spread ? $6 : NaN):(0):($7 - $6) with vectors nohead linewidth 3 linecolor rgb colour(i) notitle
  } else {
    plot for [i=1:n_series] data index i - 1 using 1:5 with linespoints linewidth 1.8 dashtype dashes(i) pointtype mark(i) pointsize 0.9 linecolor rgb colour(i) notitle, \
         for [i=1:n_series] data index i - 1 using 1:(spread ? $6 : NaN):(0):($7 - $6) with vectors nohead linewidth 3 linecolor rgb colour(i) notitle
  }
}
unset multiplot

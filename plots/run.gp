# Bus bandwidth and time over message size. The caller has set (see src/report/plot.c):
#   term_svg  1: SVG, 0: PNG        output  file to write        data  file with: size_bytes time_us busbw_gbps algorithm-index
#   heading, subheading, source     texts                        n_series, series_1 ... names of the algorithm/protocol pairs
# Runs alone: gnuplot -e "term_svg=1; output='x.svg'; ..." run.gp
if (term_svg) {
  set terminal svg size 900,480 dynamic font "DejaVu Sans,13" background "white" noenhanced
} else {
  set terminal pngcairo size 1350,720 font "DejaVu Sans,14" background "white" noenhanced
}
set output output

# Legible in black and white: every series differs by its mark, not by colour alone (palette: Okabe and Ito).
array colours[7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
array marks[7] = [7, 5, 9, 13, 11, 6, 4]
colour(i) = colours[(i - 1) % 7 + 1]
mark(i) = marks[(i - 1) % 7 + 1]

# Sizes as people write them ("32KiB"; gnuplot's own prefix would be "ki"), not more than fit.
stats data using 1 nooutput name 'SIZE'
stats data using 2 nooutput name 'TIME'
octaves = ceil(log(SIZE_max) / log(2)) - floor(log(SIZE_min) / log(2))
every_octave = octaves <= 7 ? 1 : octaves <= 14 ? 2 : 5
set xtics nomirror ()
do for [e = 0:45:every_octave] { set xtics add (sprintf('%d%s', 2**(e % 10), word('B KiB MiB GiB TiB', e / 10 + 1)) 2.0**e) }
set multiplot layout 1,2 margins 0.085,0.97,0.19,0.83 spacing 0.11,0
set label 1 heading at screen 0.5,0.955 center font ",15"
set label 2 subheading at screen 0.5,0.905 center
set label 3 source at screen 0.97,0.022 right font ",10" textcolor "#555555"

set logscale x 2
set ytics nomirror
set border 3
set grid xtics ytics linetype 1 linecolor "#dddddd"
set xlabel "message size (bytes)"
set key top left reverse Left samplen 2 spacing 1.1

set yrange [0:*]
set ylabel "bus bandwidth (GB/s = 10^9 bytes/s)"
plot data using 1:3 with lines linewidth 1.5 linecolor "#999999" notitle, \
     for [i=1:n_series] data using ($4 == i ? $1 : NaN):3 with points pointtype mark(i) pointsize 1 linecolor rgb colour(i) \
     title value(sprintf("series_%d", i))

unset label
if (TIME_max / TIME_min >= 8) {
  set logscale y 10
  set yrange [*:*]
} else { set yrange [0:*] }
set format y '%g'
set ylabel "time (us)"
unset key
plot data using 1:2 with lines linewidth 1.5 linecolor "#999999" notitle, \
     for [i=1:n_series] data using ($4 == i ? $1 : NaN):2 with points pointtype mark(i) pointsize 1 linecolor rgb colour(i) notitle
unset multiplot

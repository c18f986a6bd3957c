# Measured and predicted over message size, the error below. The caller has set (see src/report/validate-plot.c):
#   term_svg  1: SVG, 0: PNG     output  file to write     data  file with: size_bytes measured predicted error-percent (predicted time over measured, less 1)
#   heading, subheading, source  texts     quantity  axis of the upper half     log_y  1: times, 0: bandwidths
if (term_svg) {
  set terminal svg size 900,640 dynamic font "DejaVu Sans,13" background "white" noenhanced
} else {
  set terminal pngcairo size 1350,960 font "DejaVu Sans,14" background "white" noenhanced
}
set output output

# Sizes as people write them ("32KiB"; gnuplot's own prefix would be "ki"), not more than fit.
stats data using 1 nooutput name 'SIZE'
octaves = ceil(log(SIZE_max) / log(2)) - floor(log(SIZE_min) / log(2))
every_octave = octaves <= 7 ? 1 : octaves <= 14 ? 2 : 5
set xtics nomirror ()
do for [e = 0:45:every_octave] { set xtics add (sprintf('%d%s', 2**(e % 10), word('B KiB MiB GiB TiB', e / 10 + 1)) 2.0**e) }
set multiplot
set label 1 heading at screen 0.5,0.965 center font ",15"
set label 2 subheading at screen 0.5,0.925 center
set label 3 source at screen 0.97,0.018 right font ",10" textcolor "#555555"

set logscale x 2
set ytics nomirror
set border 3
set grid xtics ytics linetype 1 linecolor "#dddddd"
set lmargin at screen 0.12
set rmargin at screen 0.97
set key top left reverse Left samplen 2 spacing 1.1

# Legible in black and white: what was measured is points, what is predicted a line (palette: Okabe and Ito).
set tmargin at screen 0.89
set bmargin at screen 0.42
set ylabel quantity
if (log_y) { set logscale y 10 } else { set yrange [0:*] }
plot data using 1:3 with linespoints linewidth 2 pointtype 4 pointsize 0.7 linecolor rgb "#d55e00" title "predicted", \
     data using 1:2 with points pointtype 7 pointsize 0.9 linecolor rgb "#0072b2" title "measured"

unset label
unset logscale y
set yrange [*<-10:10<*]
set tmargin at screen 0.34
set bmargin at screen 0.11
set xlabel "message size (bytes)"
set ylabel "predicted time\nover measured, %"
set key off
plot 0 with lines linewidth 1 linecolor rgb "#555555", \
     data using 1:4 with linespoints linewidth 1.5 pointtype 7 pointsize 0.7 linecolor rgb "#d55e00"
unset multiplot

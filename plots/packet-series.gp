# Queue, rate and pauses of the worst ports over time. The caller has set (see src/report/packets-plot.c):
#   term_svg  1: SVG, 0: PNG        output  file to write        data  a block a port, two empty lines between, of: time_us queue_kib rate_gbps paused
#   heading, subheading, source     texts                        n_ports, port_1 ... names of the ports, the worst first
#   n_samples  lines of a block     paused  1: some port was paused
# Runs alone: gnuplot -e "term_svg=1; output='x.svg'; ..." packet-series.gp
if (term_svg) {
  set terminal svg size 900,800 dynamic font "DejaVu Sans,13" background "white" noenhanced
} else {
  set terminal pngcairo size 1350,1200 font "DejaVu Sans,14" background "white" noenhanced
}
set output output

# Legible in black and white: every port differs by its dashes and its mark, not by colour alone (palette: Okabe and Ito).
array colours[6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#000000"]
array marks[6] = [7, 5, 9, 13, 11, 6]
array dashes[6] = ["", "-", ".", "-.", "-..", "--."]
# A mark now and then, at another place for each port: lines that coincide still show.
apart = n_samples > 12 ? n_samples / 12 : 1
shift(i) = (i - 1) * apart / n_ports
set for [i=1:n_ports] style line i linewidth 1.5 dashtype dashes[i] linecolor rgb colours[i] pointtype marks[i] pointsize 0.8

set multiplot layout 3,1 margins 0.095,0.97,0.105,0.855 spacing 0,0.05
set label 1 heading at screen 0.5,0.972 center font ",15"
set label 2 subheading at screen 0.5,0.942 center
set label 3 source at screen 0.97,0.014 right font ",10" textcolor "#555555"
set border 3
set xtics nomirror format ""
set ytics nomirror
set grid xtics ytics linetype 1 linecolor "#dddddd"
set xrange [0:*]
set yrange [0:*]
set ylabel "queue (KiB)" offset 0.5,0
set key at screen 0.53,0.925 center top maxrows 2 width 2 Left reverse samplen 4 spacing 1.1
plot for [i=1:n_ports] data index i-1 using 1:2 with lines linestyle i notitle, \
     for [i=1:n_ports] data index i-1 using 1:2 every apart::shift(i) with points linestyle i notitle, \
     for [i=1:n_ports] keyentry with linespoints linestyle i title value(sprintf("port_%d", i))
unset key
unset label
set ylabel "rate (GB/s = 10^9 bytes/s)"
plot for [i=1:n_ports] data index i-1 using 1:3 with lines linestyle i notitle, \
     for [i=1:n_ports] data index i-1 using 1:3 every apart::shift(i) with points linestyle i notitle
set xtics format "%g"
set xlabel "time (us)"
set ylabel "share of time paused"
set yrange [0:1.05]
if (!paused) { set label 4 "no port was paused" at graph 0.5,0.5 center textcolor "#555555" }
plot for [i=1:n_ports] data index i-1 using 1:4 with lines linestyle i notitle, \
     for [i=1:n_ports] data index i-1 using 1:4 every apart::shift(i) with points linestyle i notitle
unset multiplot

# Queue, rate and pauses of the worst ports over time, from `collsim run --fidelity packet --series FILE.csv`. Runs alone:
#   gnuplot -e "data='FILE.csv'; output='FILE.svg'" plots/packet-series.gp        (output ending in .png: a PNG)
# heading (optional): the title. most (optional): ports drawn, 6.
if (!exists("data") || !exists("output")) { print "set data='FILE.csv' and output='FILE.svg' with -e"; exit status 2 }
if (!exists("heading")) heading = data
if (!exists("most")) most = 6
if (output[strlen(output) - 2:] eq "svg") {
  set terminal svg size 900,720 dynamic font "DejaVu Sans,13" background "white" noenhanced
} else {
  set terminal pngcairo size 1350,1080 font "DejaVu Sans,14" background "white" noenhanced
}
set output output
set datafile separator ","
rows = sprintf("< tail -n +2 '%s' | sed 's/ -> />/; s/ #/#/'", data)
# Ports in the file's order: the worst first.
ports = system(sprintf("tail -n +2 '%s' | cut -d, -f2 | sed 's/ -> />/; s/ #/#/' | awk '!seen[$0]++' | head -n %d", data, most))
n = words(ports)

# Legible in black and white: every port has its own dashes (palette: Okabe and Ito).
array colours[7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
colour(i) = colours[(i - 1) % 7 + 1]
of(i, value) = strcol(2) eq word(ports, i) ? value : NaN

set multiplot layout 3,1 title heading margins 0.1,0.74,0.09,0.93 spacing 0,0.07
set border 3
set xtics nomirror
set ytics nomirror
set grid xtics ytics linetype 1 linecolor "#dddddd"
set yrange [0:*]
set key at screen 0.76,0.93 left top Left reverse samplen 2 spacing 1.1
set ylabel "queue (KiB)"
plot for [i=1:n] rows using 1:(of(i, $3 / 1024)) with lines linewidth 1.5 dashtype i linecolor rgb colour(i) title word(ports, i)
unset key
set ylabel "rate on the wire (GB/s)"
plot for [i=1:n] rows using 1:(of(i, $4)) with lines linewidth 1.5 dashtype i linecolor rgb colour(i) notitle
set ylabel "share of time paused"
set yrange [0:1]
set xlabel "time (us)"
plot for [i=1:n] rows using 1:(of(i, $5)) with lines linewidth 1.5 dashtype i linecolor rgb colour(i) notitle
unset multiplot

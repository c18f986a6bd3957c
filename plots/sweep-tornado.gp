# Lying bars from a zero line, the largest on top: effects of settings, or loads of links. The caller has set (src/report/outputs-plot.c):
#   term_svg, output, data: "x" percent min max; heading, subheading, source
#   n_x, margin: letters of the longest x, spread: draw min to max, reference: a line there if not 0, decimals, y_label
height = 170 + n_x * 26
if (term_svg) {
  set terminal svg size 860,height dynamic font "DejaVu Sans,13" background "white" noenhanced
} else {
  set terminal pngcairo size 1290,(height * 1.5) font "DejaVu Sans,14" background "white" noenhanced
}
set output output
set label 1 heading at screen 0.5,(1 - 22.0 / height) center font ",15"
set label 2 subheading at screen 0.5,(1 - 46.0 / height) center
set label 3 source at screen 0.98,(10.0 / height) right font ",10" textcolor "#555555"
set lmargin at screen (0.03 + 0.0099 * (margin < 45 ? margin : 45))
set rmargin at screen 0.95
set tmargin at screen (1 - 66.0 / height)
set bmargin at screen (78.0 / height)
unset key
set border 1
set xtics nomirror
set ytics nomirror scale 0
set grid xtics linetype 1 linecolor "#dddddd"
set xlabel y_label
if (reference) { set xrange [0:*] }
if (reference) { set offsets 0, graph 0.12, 0, 0 } else { set offsets graph 0.12, graph 0.12, 0, 0 }
set yrange [-0.6:(n_x - 0.4)]
set arrow 1 from 0, graph 0 to 0, graph 1 nohead linewidth 1.5 linecolor "#000000" front
if (reference) { set arrow 2 from reference, graph 0 to reference, graph 1 nohead dashtype 2 linecolor "#000000" front }
form = sprintf(reference ? "%%.%df" : "%%+.%df", decimals)
# The number stands to the right of its bar, or of the zero line.
place(v, b) = spread && b > v ? (b > 0 ? b : 0) : (v > 0 ? v : 0)
plot data using (0):0:(0):2:($0 - 0.36):($0 + 0.36):ytic(1) with boxxyerror linecolor rgb "#0072b2" fillstyle solid 0.55 border, \
     data using (place($2, $4)):0:(sprintf("  " . form, $2)) with labels left font ",11", \
     data using (spread ? $2 : NaN):0:3:4 with xerrorbars pointtype 0 linecolor rgb "#000000"

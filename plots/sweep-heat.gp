# A field of values over two axes, each cell with its number. The caller has set (src/report/outputs-plot.c):
#   term_svg, output, data: x y value "value" "x" "y"; heading, subheading, source
#   cell: width of a column, top: end of the scale if not 0, n_x, n_y, margin: letters of the longest y, x_chars: of the longest x, x_label, y_label, value_label
width = 280 + 8 * margin + (n_x * cell > 420 ? n_x * cell : 420)
row = cell > 44 ? (top ? 28 : 44) : cell
turn = 8 * x_chars > (n_x * cell > 420 ? cell : 420 / n_x)
height = 200 + (turn ? 50 : 0) + (n_y * row > 176 ? n_y * row : 176)
if (term_svg) {
  set terminal svg size width,height dynamic font "DejaVu Sans,13" background "white" noenhanced
} else {
  set terminal pngcairo size (width * 1.5),(height * 1.5) font "DejaVu Sans,14" background "white" noenhanced
}
set output output
set label 1 heading at screen 0.5,(1 - 22.0 / height) center font ",15"
set label 2 subheading at screen 0.5,(1 - 46.0 / height) center
set label 3 source at screen 0.98,(10.0 / height) right font ",10" textcolor "#555555"
set lmargin at screen ((62.0 + 8 * margin) / width)
set rmargin at screen (1 - 150.0 / width)
set tmargin at screen (1 - 72.0 / height)
set bmargin at screen ((86.0 + (turn ? 50 : 0)) / height)
unset key
set border 3
set xtics nomirror scale 0 rotate by (turn ? -30 : 0)
set ytics nomirror scale 0
set xlabel x_label
set ylabel y_label offset character -1, 0
set cblabel value_label offset character 2.2, 0
set xrange [-0.5:(n_x - 0.5)]
if (top) { set cbrange [0:top] }
set yrange [(n_y - 0.5):-0.5]
# One hue from light to dark: the order stays in black and white. The darkest part is left out, so that black numbers stay legible.
set palette defined (0 "#ffffff", 1 "#6fa8d6")
# Boxes, not an image: an image needs two columns.
plot data using 1:2:($1 - 0.5):($1 + 0.5):($2 - 0.5):($2 + 0.5):3:xtic(5):ytic(6) with boxxyerror fillstyle solid 1 noborder linecolor palette, \
     data using 1:2:4 with labels font ",12"

/* Progress: a thread redraws one line while the main thread computes, so that a long size does not look like a hang. */
#include "cli/cli.h"

#include <string.h>
#include <unistd.h>

#define FIRST_US 500000 /* shorter work shows nothing */
#define REDRAW_US 250000
enum { WIDTH = 30 };

static GMutex lock;
static struct {
  guint done, of;
  const char *what;
  gint64 started_us; /* 0: nothing is going on */
  gboolean shown, thread_runs, even;
} state;

static gboolean is_wanted(void) {
  const char *term = g_getenv("TERM");
  return isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
}

/* ", 40 s left", ", 12 min left", ", 3.5 h left" */
static void print_left(double seconds) {
  if (seconds < 120) fprintf(stderr, ", %.0f s left", seconds);
  else if (seconds < 7200) fprintf(stderr, ", %.0f min left", seconds / 60);
  else fprintf(stderr, ", %.1f h left", seconds / 3600);
}

static void draw_locked(void) {
  gint64 elapsed_us = g_get_monotonic_time() - state.started_us;
  if (!state.started_us || elapsed_us < FIRST_US) return;
  char bar[WIDTH + 1] = "";
  for (guint i = 0; i < WIDTH; i++) bar[i] = i * state.of < state.done * WIDTH ? '#' : '.';
  fprintf(stderr, "\r\033[K[%s] %u/%u %s, %d s", bar, state.done, state.of, state.what, (int)(elapsed_us / 1000000));
  if (state.even && state.done > 0) print_left((double)elapsed_us * 1e-6 * (state.of - state.done) / state.done);
  fflush(stderr);
  state.shown = TRUE;
}

static gpointer redraw(gpointer data) {
  for (;;) {
    g_usleep(REDRAW_US);
    g_mutex_lock(&lock);
    draw_locked();
    g_mutex_unlock(&lock);
  }
  return NULL;
}

static void note(guint done, guint of, const char *what, gboolean even) {
  static gint64 first_us;
  if (!is_wanted()) return;
  if (!first_us) first_us = g_get_monotonic_time();
  g_mutex_lock(&lock);
  state.done = done;
  state.of = of;
  state.what = what;
  state.even = even;
  state.started_us = first_us;
  if (!state.thread_runs) g_thread_unref(g_thread_new("progress", redraw, NULL));
  state.thread_runs = TRUE;
  g_mutex_unlock(&lock);
}

void cli_progress(guint done, guint of, const char *what) { note(done, of, what, FALSE); }
void cli_progress_even(guint done, guint of, const char *what) { note(done, of, what, TRUE); }

void cli_progress_clear(void) {
  g_mutex_lock(&lock);
  if (state.shown) fputs("\r\033[K", stderr);
  fflush(stderr);
  state.shown = FALSE;
  state.started_us = 0;
  g_mutex_unlock(&lock);
}

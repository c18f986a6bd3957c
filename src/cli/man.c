/* The man page, from the verbs' tables: `collsim __man` writes docs/man/collsim.1. */
#include "cli/cli.h"

#include "collsim/version.h"

#include <string.h>

/* roff takes '-' for a hyphen, '\' for an escape, and a leading '.' or "'" for a request. */
static void put_escaped(FILE *out, const char *text) {
  if (*text == '.' || *text == '\'') fputs("\\&", out);
  for (const char *c = text; *c; c++) {
    if (*c == '-') fputs("\\-", out);
    else if (*c == '\\') fputs("\\e", out);
    else fputc(*c, out);
  }
}

static void put_option(const CliOption *option, void *data) {
  FILE *out = data;
  fputs(".TP\n", out);
  if (option->letter) fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
  fputs("\\fB\\-\\-", out);
  put_escaped(out, option->name);
  fputs("\\fR", out);
  if (option->arg) {
    fputs(" \\fI", out);
    put_escaped(out, option->arg);
    fputs("\\fR", out);
  }
  fputc('\n', out);
  put_escaped(out, option->help);
  fputs(".\n", out);
}

static void put_verb(FILE *out, const CliVerb *verb) {
  fprintf(out, ".SS \"collsim %s", verb->name);
  if (*verb->operands) fprintf(out, " %s", verb->operands);
  fputs("\"\n", out);
  put_escaped(out, verb->summary);
  fputs(".\n", out);
  g_auto(GStrv) paragraphs = g_strsplit(verb->about ? verb->about : "", "\n\n", -1);
  for (char **paragraph = paragraphs; *paragraph; paragraph++) {
    fputs(".PP\n", out);
    put_escaped(out, *paragraph);
    fputc('\n', out);
  }
  cli_verb_foreach_option(verb, put_option, out);
}

static void put_examples(FILE *out) {
  fputs(".SH EXAMPLES\n", out);
  for (const CliVerb *const *verb = cli_verbs; *verb; verb++)
    for (const char *const *line = (*verb)->examples; line && *line; line += 2) {
      fputs(".TP\n.B ", out);
      put_escaped(out, line[0]);
      fputc('\n', out);
      put_escaped(out, line[1]);
      fputs(".\n", out);
    }
}

static const char head[] =
  ".SH NAME\ncollsim \\- how long a collective takes on a GPU cluster, and why\n"
  ".SH SYNOPSIS\n.B collsim\n.I VERB\n[\\fIOPTIONS\\fR] ...\n"
  ".SH DESCRIPTION\n"
  "collsim simulates collective communication of GPUs as NCCL does it: it reads an NCCL topology file, finds the rings, trees,\n"
  "channels, algorithm and protocol that NCCL would use, and moves every slice over shared links in simulated time.\n"
  "Sizes are those of nccl\\-tests (8, 64K, 1G: powers of 1024); times, rates and other values need their unit (600ns, 400Gb/s).\n"
  ".SH VERBS\n";

static const char tail[] =
  ".SH EXIT STATUS\n"
  ".TP\n.B 0\nfine\n.TP\n.B 1\nfindings: a check found something, or results differ\n.TP\n.B 2\nbad usage or bad input\n"
  ".TP\n.B 3\na stated limit was reached\n.TP\n.B 70\na bug in collsim\n.TP\n.B 130\ninterrupted; the rows done so far were printed\n"
  ".SH ENVIRONMENT\n"
  ".TP\n.B NCCL_*\ntaken as NCCL takes them; \\fBcollsim env\\fR lists all, with what the simulator does about each\n"
  ".TP\n.B TERM\nno progress line if it is \"dumb\"\n"
  ".TP\n.B NO_COLOR\nhonoured in any case: collsim writes no colour\n"
  ".SH FILES\n"
  ".TP\n.I ~/.nccl.conf\n.TQ\n.I /etc/nccl.conf\nNCCL variables, read as NCCL reads them\n";

void cli_print_man(FILE *out) {
  fprintf(out, ".TH COLLSIM 1 \"\" \"collsim %s\"\n%s", COLLSIM_VERSION, head);
  for (const CliVerb *const *verb = cli_verbs; *verb; verb++) put_verb(out, *verb);
  put_examples(out);
  fputs(tail, out);
}

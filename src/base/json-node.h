/*
 * base/json-node.h - what the two halves of the JSON reader share; private to them.
 *
 * json-parse.c makes the nodes, json-read.c answers questions about them.
 */
#ifndef CSIM_BASE_JSON_NODE_H
#define CSIM_BASE_JSON_NODE_H

#include "base/arena.h"
#include "base/json-read.h"

struct CsimJson {
  CsimJsonDoc *doc;
  CsimJson *parent, *next, *first;
  CsimJson **sorted; /* an object's members by key; NULL when it has fewer than two */
  const char *key;   /* decoded; NULL in an array */
  const char *text;  /* decoded text, or the number's letters; NULL for other types */
  uint32_t line, col, key_line, key_col;
  uint32_t n; /* children */
  uint8_t type;
  uint8_t boolean;
  uint8_t known;   /* a getter or a loop has met it */
  uint8_t visited; /* its members were asked for or looped over */
  uint8_t ignored; /* nothing below is of interest */
};

struct CsimJsonDoc {
  const char *name; /* interned */
  char *buffer;     /* the document, texts decoded in place */
  CsimArena *arena; /* nodes and numbers' letters */
  CsimDiag *diag;   /* borrowed, may be NULL */
  CsimJson *root;
  guint n_values;
  GHashTable *asked; /* base/asked.h */
};

/* Fills doc->root from `length` bytes of doc->buffer; FALSE with a finding. */
gboolean csim_json_parse(CsimJsonDoc *doc, gsize length);

#endif

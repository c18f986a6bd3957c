/* The double binary tree: a tree for every size, children and parents agree, and the second is the first
 * mirrored or shifted. */
#include "nccl/trees.h"

#include <glib.h>

static int depth_of(int tree, int n, int node) {
  int depth = 0;
  for (CsimBtree b = csim_btree(tree, n, node); b.up >= 0; b = csim_btree(tree, n, b.up))
    g_assert_cmpint(++depth, <, n);
  return depth;
}

static void check_links(int tree, int n, int node) {
  CsimBtree b = csim_btree(tree, n, node);
  for (int i = 0; i < 2; i++) {
    if (b.down[i] < 0) continue;
    CsimBtree child = csim_btree(tree, n, b.down[i]);
    g_assert_cmpint(child.up, ==, node);
    g_assert_cmpint(child.child_type, ==, i);
  }
  if (b.up >= 0) g_assert_cmpint(csim_btree(tree, n, b.up).down[b.child_type], ==, node);
}

static void test_every_size(void) {
  for (int n = 1; n <= 130; n++)
    for (int tree = 0; tree < 2; tree++) {
      int roots = 0, log = 0;
      while ((2 << log) <= n) log++;
      for (int node = 0; node < n; node++) {
        check_links(tree, n, node);
        roots += csim_btree(tree, n, node).up < 0;
        g_assert_cmpint(depth_of(tree, n, node), <=, log + 1);
      }
      g_assert_cmpint(roots, ==, 1);
    }
}

/* Eight nodes: 0 - 4 - (2 - (1, 3), 6 - (5, 7)). */
static void test_eight(void) {
  static const int up[8] = {-1, 2, 4, 2, 0, 6, 4, 6};
  for (int node = 0; node < 8; node++) {
    g_assert_cmpint(csim_btree(0, 8, node).up, ==, up[node]);
    int mirrored = csim_btree(1, 8, 7 - node).up;
    g_assert_cmpint(mirrored, ==, up[node] < 0 ? -1 : 7 - up[node]);
  }
}

/* An odd number of nodes: the second tree is shifted by one, so its root is node 1. */
static void test_odd(void) {
  g_assert_cmpint(csim_btree(1, 5, 1).up, ==, -1);
  for (int node = 0; node < 5; node++) {
    int up = csim_btree(0, 5, node).up;
    g_assert_cmpint(csim_btree(1, 5, (node + 1) % 5).up, ==, up < 0 ? -1 : (up + 1) % 5);
  }
}

/* A leaf of one tree works in the other (even number of nodes), which is what the two trees are for. */
static void test_leaves(void) {
  for (int node = 0; node < 16; node++) {
    gboolean leaf0 = csim_btree(0, 16, node).down[0] < 0 && csim_btree(0, 16, node).down[1] < 0;
    gboolean leaf1 = csim_btree(1, 16, node).down[0] < 0 && csim_btree(1, 16, node).down[1] < 0;
    g_assert_true(leaf0 != leaf1);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/trees/every-size", test_every_size);
  g_test_add_func("/trees/eight", test_eight);
  g_test_add_func("/trees/odd", test_odd);
  g_test_add_func("/trees/leaves", test_leaves);
  return g_test_run();
}

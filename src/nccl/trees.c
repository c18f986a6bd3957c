/* Double binary tree between nodes. */
#include "nccl/trees.h"

/* Right child: the farthest power of two below that is still inside. */
static int right_child(int n, int node, int low) {
  while (low > 0 && node + low >= n) low >>= 1;
  return low > 0 ? node + low : -1;
}

static int lowest_bit(int n, int node) {
  int bit = 1;
  while (bit < n && !(node & bit)) bit <<= 1;
  return bit;
}

static CsimBtree plain(int n, int node) {
  int bit = lowest_bit(n, node);
  if (node == 0) return (CsimBtree){-1, {-1, n > 1 ? bit >> 1 : -1}, 0};
  int up = (node ^ bit) | (bit << 1);
  if (up >= n) up = node ^ bit;
  int low = bit >> 1;
  return (CsimBtree){up, {low > 0 ? node - low : -1, right_child(n, node, low)}, node < up ? 0 : 1};
}

static int back(int n, int shift, int node) {
  if (node < 0) return -1;
  return shift ? (node + 1) % n : n - 1 - node;
}

CsimBtree csim_btree(int tree, int n, int node) {
  if (tree == 0) return plain(n, node);
  int shift = n % 2;
  CsimBtree t = plain(n, shift ? (node - 1 + n) % n : n - 1 - node);
  return (CsimBtree){
      back(n, shift, t.up), {back(n, shift, t.down[0]), back(n, shift, t.down[1])}, t.child_type};
}

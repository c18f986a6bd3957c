/*
 * kernels.cu - the device code of the probes; kernels.ptx is made of it by tools/ptx.sh and becomes part of the binary.
 *
 * Needs clang only, no CUDA toolkit: what CUDA's headers would declare is declared here. The driver compiles the PTX for the GPU
 * it finds (Volta and later). Every kernel is plain: what is measured is the hardware, not how well this is tuned.
 */
#define kernel extern "C" __attribute__((global))

typedef unsigned int U32;
typedef unsigned long long U64;
typedef U32 Pack __attribute__((ext_vector_type(4))); /* 16 bytes: one load, one store */

static __attribute__((device)) U64 thread_index() {
  return (U64)__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
}
static __attribute__((device)) U64 thread_count() {
  return (U64)__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x();
}

/* What a launch costs by itself. */
kernel void probe_nop() {}

/* n packs; either side may be a peer's memory. Four loads are under way before the first store, as in copy loops that are meant to
 * be fast. */
kernel void probe_copy(Pack *dst, const Pack *src, U64 n) {
  U64 step = thread_count(), i = thread_index();
  for (; i + 3 * step < n; i += 4 * step) {
    Pack a = src[i], b = src[i + step], c = src[i + 2 * step], d = src[i + 3 * step];
    dst[i] = a;
    dst[i + step] = b;
    dst[i + 2 * step] = c;
    dst[i + 3 * step] = d;
  }
  for (; i < n; i += step) dst[i] = src[i];
}

/* Two GPUs, one thread each, pass a number to and fro through each other's memory. The deadline, in clocks, ends a wait for a
 * partner that never came, so that no kernel spins for ever. */
kernel void probe_ping(volatile int *mine, volatile int *peer, int rounds, int first, long long deadline) {
  long long start = __nvvm_read_ptx_sreg_clock64();
  for (int i = 1; i <= rounds; i++) {
    if (first) *peer = i;
    while (*mine != i)
      if (__nvvm_read_ptx_sreg_clock64() - start > deadline) return;
    if (!first) *peer = i;
  }
}

/* Small whole numbers, so that sums of thousands of ranks are exact in a float. */
static __attribute__((device)) float value(U64 rank, U64 index) {
  U32 x = (U32)index * 2654435761u + (U32)(index >> 32) * 2246822519u + (U32)rank * 3266489917u;
  x ^= x >> 15;
  return (float)(x * 2246822519u >> 29);
}

kernel void probe_fill(float *data, U64 n, U64 rank) {
  for (U64 i = thread_index(); i < n; i += thread_count()) data[i] = value(rank, i);
}

/* Element i is the sum over n_ranks ranks from first_rank + i / block on, each of its element first + i % block. Wrong ones are
 * counted. */
kernel void probe_check(const float *data, U64 n, U64 block, U64 first_rank, U64 n_ranks, U64 first, U64 *wrong) {
  for (U64 i = thread_index(); i < n; i += thread_count()) {
    float want = 0;
    for (U64 k = 0; k < n_ranks; k++) want += value(first_rank + i / block + k, first + i % block);
    if (data[i] != want) __nvvm_atom_add_gen_ll((long long *)wrong, 1);
  }
}

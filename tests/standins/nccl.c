/*
 * libnccl.so.2 for tests: a stand-in, not NCCL. Ranks meet in a POSIX shared-memory block named by the unique id; every call copies
 * what its rank sends there, waits for all ranks, and computes what it receives. Up to 16 ranks and 256 KiB a rank (for send and
 * receive: 64 KiB a pair). So processes, threads, groups, checks and time limits of the probe can be tested.
 *   STANDIN_NCCL_WRONG=1   rank 1 gets one wrong element      STANDIN_NCCL_FAIL=1   communicators cannot be made
 *   STANDIN_NCCL_HANG=1    rank 1 never comes to a collective STANDIN_NCCL_DIE=1    rank 1's process dies in one
 *   STANDIN_NCCL_TOPO=FILE what it says is the topology
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_RANKS 16
#define SLOT (256 << 10)
#define PAIR (64 << 10)
#define MAX_CALLS 512
enum { SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4 };

typedef struct {
  char internal[128];
} Id;

typedef struct {
  atomic_int arrived, detecting;
  char slots[MAX_RANKS][SLOT];
  char pairs[MAX_RANKS][MAX_RANKS][PAIR];
} Block;

typedef struct {
  Block *block;
  int rank, n, epoch;
} Comm;

enum { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, REDUCE, SEND, RECV };
typedef struct {
  int kind, root;
  const void *send;
  void *recv;
  size_t count;
  Comm *comm;
} Call;

static __thread Call calls[MAX_CALLS];
static __thread int n_calls, depth;

static int asked(const char *name) {
  return getenv(name) != NULL;
}

/* --- the two halves of a call ------------------------------------------------------ */

static void give(const Call *c) {
  Block *b = c->comm->block;
  size_t bytes = c->count * 4;
  if (c->kind == SEND)
    memcpy(b->pairs[c->comm->rank][c->root], c->send, bytes);
  else if (c->kind != RECV)
    memcpy(b->slots[c->comm->rank], c->send, c->kind == REDUCE_SCATTER ? bytes * (size_t)c->comm->n : bytes);
}

static void sum(const Call *c, size_t first) {
  for (size_t i = 0; i < c->count; i++) {
    float value = 0;
    for (int r = 0; r < c->comm->n; r++) value += ((const float *)(const void *)c->comm->block->slots[r])[first + i];
    ((float *)c->recv)[i] = value;
  }
}

static void take(const Call *c) {
  Block *b = c->comm->block;
  size_t bytes = c->count * 4;
  switch (c->kind) {
  case ALL_REDUCE: sum(c, 0); break;
  case REDUCE:
    if (c->comm->rank == c->root) sum(c, 0);
    break;
  case REDUCE_SCATTER: sum(c, (size_t)c->comm->rank * c->count); break;
  case BROADCAST: memcpy(c->recv, b->slots[c->root], bytes); break;
  case ALL_GATHER:
    for (int r = 0; r < c->comm->n; r++) memcpy((char *)c->recv + (size_t)r * bytes, b->slots[r], bytes);
    break;
  case RECV: memcpy(c->recv, b->pairs[c->root][c->comm->rank], bytes); break;
  default: break;
  }
  if (asked("STANDIN_NCCL_WRONG") && c->comm->rank == 1 && c->recv) *(float *)c->recv += 1;
}

/* The communicators of the calls at hand, each once. */
static int comms(Comm **out) {
  int n = 0;
  for (int i = 0, k; i < n_calls; i++) {
    for (k = 0; k < n && out[k] != calls[i].comm; k++) continue;
    if (k == n) out[n++] = calls[i].comm;
  }
  return n;
}

static void meet(Comm **list, int n) {
  int epoch = ++list[0]->epoch;
  for (int i = 1; i < n; i++) list[i]->epoch = epoch;
  atomic_fetch_add(&list[0]->block->arrived, n);
  while (atomic_load(&list[0]->block->arrived) < epoch * list[0]->n) usleep(50);
}

static int flush(void) {
  Comm *list[MAX_RANKS];
  int n = comms(list);
  for (int i = 0; i < n; i++) {
    if (asked("STANDIN_NCCL_HANG") && list[i]->rank == 1) pause();
    if (asked("STANDIN_NCCL_DIE") && list[i]->rank == 1) raise(SIGKILL);
  }
  for (int i = 0; i < n_calls; i++) give(&calls[i]);
  if (n > 0) meet(list, n);
  for (int i = 0; i < n_calls; i++) take(&calls[i]);
  if (n > 0) meet(list, n);
  n_calls = 0;
  return 0;
}

static int add(Call call) {
  size_t limit = call.kind == SEND || call.kind == RECV ? PAIR : SLOT;
  if (call.count * 4 > limit || n_calls == MAX_CALLS) return INVALID_ARGUMENT;
  calls[n_calls++] = call;
  return depth > 0 ? 0 : flush();
}

/* --- interface --------------------------------------------------------------------- */

EXPORT int ncclGetVersion(int *version);
EXPORT int ncclGetVersion(int *version) {
  *version = 22803;
  return 0;
}
EXPORT const char *ncclGetErrorString(int result);
EXPORT const char *ncclGetErrorString(int result) {
  return result == SYSTEM_ERROR ? "unhandled system error" : "invalid argument";
}
EXPORT const char *ncclGetLastError(void *comm);
EXPORT const char *ncclGetLastError(void *comm) {
  return "the stand-in was told to fail\n";
}
EXPORT int ncclGetUniqueId(Id *id);
EXPORT int ncclGetUniqueId(Id *id) {
  memset(id, 0, sizeof *id);
  snprintf(id->internal, sizeof id->internal, "/collsim-standin-%d", (int)getpid());
  int fd = shm_open(id->internal, O_CREAT | O_TRUNC | O_RDWR, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(Block)) != 0) return SYSTEM_ERROR;
  close(fd);
  return 0;
}

/* What NCCL would write: the file named by STANDIN_NCCL_TOPO, or an empty system. */
static void dump(void) {
  const char *path = getenv("NCCL_TOPO_DUMP_FILE"), *from = getenv("STANDIN_NCCL_TOPO");
  FILE *out = path ? fopen(path, "w") : NULL, *in = out && from ? fopen(from, "r") : NULL;
  char buffer[4096];
  if (!out) return;
  if (!in) fputs("<system version=\"1\"/>\n", out);
  for (size_t n; in && (n = fread(buffer, 1, sizeof buffer, in)) > 0;) fwrite(buffer, 1, n, out);
  if (in) fclose(in);
  fclose(out);
}

/* For a dump NCCL detects the topology a second time, together with the other ranks of the host. */
static void detect_again(const Comm *comm) {
  if (!asked("NCCL_TOPO_DUMP_FILE") || asked("NCCL_HOSTID") || depth > 0) return;
  atomic_fetch_add(&comm->block->detecting, 1);
  while (atomic_load(&comm->block->detecting) < comm->n) usleep(50);
}

EXPORT int ncclCommInitRank(void **out, int n, Id id, int rank);
EXPORT int ncclCommInitRank(void **out, int n, Id id, int rank) {
  if (asked("STANDIN_NCCL_FAIL")) return SYSTEM_ERROR;
  int fd = shm_open(id.internal, O_RDWR, 0600);
  void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(Block), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED || n > MAX_RANKS) return SYSTEM_ERROR;
  close(fd);
  Comm *comm = calloc(1, sizeof *comm);
  *comm = (Comm){(Block *)memory, rank, n, 0};
  *out = comm;
  detect_again(comm);
  if (rank == 0) dump();
  return 0;
}
EXPORT int ncclCommDestroy(void *comm);
EXPORT int ncclCommDestroy(void *comm) {
  char name[64];
  snprintf(name, sizeof name, "/collsim-standin-%d", (int)getpid());
  if (((Comm *)comm)->rank == 0) shm_unlink(name);
  munmap(((Comm *)comm)->block, sizeof(Block));
  free(comm);
  return 0;
}
EXPORT int ncclGroupStart(void);
EXPORT int ncclGroupStart(void) {
  depth++;
  return 0;
}
EXPORT int ncclGroupEnd(void);
EXPORT int ncclGroupEnd(void) {
  return --depth > 0 ? 0 : flush();
}
EXPORT int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, void *comm, void *stream);
EXPORT int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, void *comm, void *stream) {
  return add((Call){ALL_REDUCE, 0, send, recv, count, (Comm *)comm});
}
EXPORT int ncclAllGather(const void *send, void *recv, size_t count, int type, void *comm, void *stream);
EXPORT int ncclAllGather(const void *send, void *recv, size_t count, int type, void *comm, void *stream) {
  return add((Call){ALL_GATHER, 0, send, recv, count, (Comm *)comm});
}
EXPORT int ncclReduceScatter(const void *send, void *recv, size_t count, int type, int op, void *comm, void *stream);
EXPORT int ncclReduceScatter(const void *send, void *recv, size_t count, int type, int op, void *comm, void *stream) {
  return add((Call){REDUCE_SCATTER, 0, send, recv, count, (Comm *)comm});
}
EXPORT int ncclBroadcast(const void *send, void *recv, size_t count, int type, int root, void *comm, void *stream);
EXPORT int ncclBroadcast(const void *send, void *recv, size_t count, int type, int root, void *comm, void *stream) {
  return add((Call){BROADCAST, root, send, recv, count, (Comm *)comm});
}
EXPORT int ncclReduce(const void *send, void *recv, size_t count, int type, int op, int root, void *comm, void *stream);
EXPORT int ncclReduce(const void *send, void *recv, size_t count, int type, int op, int root, void *comm, void *stream) {
  return add((Call){REDUCE, root, send, recv, count, (Comm *)comm});
}
EXPORT int ncclSend(const void *send, size_t count, int type, int peer, void *comm, void *stream);
EXPORT int ncclSend(const void *send, size_t count, int type, int peer, void *comm, void *stream) {
  return add((Call){SEND, peer, send, NULL, count, (Comm *)comm});
}
EXPORT int ncclRecv(void *recv, size_t count, int type, int peer, void *comm, void *stream);
EXPORT int ncclRecv(void *recv, size_t count, int type, int peer, void *comm, void *stream) {
  return add((Call){RECV, peer, NULL, recv, count, (Comm *)comm});
}

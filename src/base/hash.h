/*
 * base/hash.h - 64-bit FNV-1a, for digests that must be the same everywhere.
 *
 * Used by: run digests, catalogue digest, comparison with NCCL vectors. Numbers
 * go in as little-endian bytes on every machine. Not for hash tables that hostile
 * input can fill.
 * Source: Fowler, Noll, Vo; IETF draft-eastlake-fnv.
 */
#ifndef CSIM_BASE_HASH_H
#define CSIM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define CSIM_HASH_INIT UINT64_C(0xcbf29ce484222325)
#define CSIM_HASH_PRIME UINT64_C(0x100000001b3)

static inline uint64_t csim_hash_byte(uint64_t hash, uint8_t byte) {
  return (hash ^ byte) * CSIM_HASH_PRIME;
}

static inline uint64_t csim_hash_bytes(uint64_t hash, const void *data, size_t length) {
  const uint8_t *p = data;
  for (size_t i = 0; i < length; i++) hash = csim_hash_byte(hash, p[i]);
  return hash;
}

static inline uint64_t csim_hash_u32(uint64_t hash, uint32_t value) {
  for (int i = 0; i < 32; i += 8) hash = csim_hash_byte(hash, (uint8_t)(value >> i));
  return hash;
}

static inline uint64_t csim_hash_u64(uint64_t hash, uint64_t value) {
  return csim_hash_u32(csim_hash_u32(hash, (uint32_t)value), (uint32_t)(value >> 32));
}

#endif

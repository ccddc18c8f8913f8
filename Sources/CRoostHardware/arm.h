// arm64: the cryptographic extensions (AES with PMULL, SHA1, SHA2).

#include <arm_neon.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

#pragma clang assume_nonnull begin

#define ROOST_AES "aes"
#define ROOST_SHA "sha2"

// AES-256. `keys` are fifteen round keys of 16 bytes, aligned to 16; `counter`, `chain` and `block` are 16 bytes.
ROOST_SWIFT_BODY(ROOST_AES, roost_aes_encrypt, (void *block, const void *keys))
ROOST_SWIFT_BODY(ROOST_AES, roost_aes_invert_keys, (void *inverse_keys, const void *keys))
ROOST_SWIFT_BODY(ROOST_AES, roost_aes_counter,
                 (void *output, const void *input, long block_count, void *counter, const void *keys))
ROOST_SWIFT_BODY(ROOST_AES, roost_aes_encrypt_chain,
                 (void *output, const void *input, long block_count, void *chain, const void *keys))
ROOST_SWIFT_BODY(ROOST_AES, roost_aes_decrypt_chain,
                 (void *output, const void *input, long block_count, void *chain, const void *inverse_keys))

// GHASH and GCM. `table` is 256 bytes, aligned to 16; `state` is 16 bytes.
ROOST_SWIFT_BODY(ROOST_AES, roost_ghash_prepare, (void *table, const void *hash_key))
ROOST_SWIFT_BODY(ROOST_AES, roost_ghash_update,
                 (void *state, const void *input, long block_count, const void *table))
ROOST_SWIFT_BODY(ROOST_AES, roost_gcm_batches,
                 (void *output, const void *input, long batch_count, void *counter, void *state, const void *keys,
                  const void *table, _Bool hashes_output))

// SHA-1 and SHA-256. `state` is eight words.
ROOST_SWIFT_BODY(ROOST_SHA, roost_sha1_compress, (void *state, const void *blocks, long block_count))
ROOST_SWIFT_BODY(ROOST_SHA, roost_sha256_compress,
                 (void *state, const void *blocks, long block_count, const void *constants))

// Products of polynomials are 128-bit integers to C, which Swift does not import as vectors.
#define ROOST_INLINE(features) static inline __attribute__((always_inline, target(features)))

// Carry-less products of the lower halves, and of the upper halves.
ROOST_INLINE("aes") uint64x2_t roost_multiply_low(uint64x2_t a, uint64x2_t b) {
    return vreinterpretq_u64_p128(vmull_p64((poly64_t)a[0], (poly64_t)b[0]));
}
ROOST_INLINE("aes") uint64x2_t roost_multiply_high(uint64x2_t a, uint64x2_t b) {
    return vreinterpretq_u64_p128(vmull_p64((poly64_t)a[1], (poly64_t)b[1]));
}

#pragma clang assume_nonnull end

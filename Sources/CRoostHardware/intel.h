// x86-64: AES-NI, PCLMULQDQ and the SHA extensions; VAES and VPCLMULQDQ, which do the same to two blocks at once.

#include <immintrin.h>

#pragma clang assume_nonnull begin

#define ROOST_AES "aes,ssse3"
#define ROOST_GHASH "pclmul,ssse3"
#define ROOST_GCM "aes,pclmul,ssse3"
#define ROOST_WIDE_AES "vaes,avx2"
#define ROOST_WIDE_GCM "vaes,vpclmulqdq,pclmul,avx2"
#define ROOST_SHA "sha,ssse3,sse4.1"

// AES-256. `keys` are fifteen round keys of 16 bytes, aligned to 16; `counter`, `chain` and `block` are 16 bytes.
ROOST_SWIFT_BODY(ROOST_AES, roost_aes_encrypt, (void *block, const void *keys))
ROOST_SWIFT_BODY(ROOST_AES, roost_aes_invert_keys, (void *inverse_keys, const void *keys))
ROOST_SWIFT_BODY(ROOST_AES, roost_aes_counter,
                 (void *output, const void *input, long block_count, void *counter, const void *keys))
ROOST_SWIFT_BODY(ROOST_AES, roost_aes_encrypt_chain,
                 (void *output, const void *input, long block_count, void *chain, const void *keys))
ROOST_SWIFT_BODY(ROOST_AES, roost_aes_decrypt_chain,
                 (void *output, const void *input, long block_count, void *chain, const void *inverse_keys))

ROOST_SWIFT_BODY(ROOST_WIDE_AES, roost_aes_counter_wide,
                 (void *output, const void *input, long batch_count, void *counter, const void *keys))

// GHASH and GCM. `table` is 512 bytes, aligned to 32; `state` is 16 bytes.
ROOST_SWIFT_BODY(ROOST_GHASH, roost_ghash_prepare, (void *table, const void *hash_key))
ROOST_SWIFT_BODY(ROOST_GHASH, roost_ghash_update,
                 (void *state, const void *input, long block_count, const void *table))
ROOST_SWIFT_BODY(ROOST_GCM, roost_gcm_batches,
                 (void *output, const void *input, long batch_count, void *counter, void *state, const void *keys,
                  const void *table, _Bool hashes_output))
ROOST_SWIFT_BODY(ROOST_GCM, roost_gcm_open_tail,
                 (void *blocks, long block_count, const void *counter, const void *pre_counter, void *state,
                  const void *keys, const void *table))
ROOST_SWIFT_BODY(ROOST_WIDE_GCM, roost_gcm_batches_wide,
                 (void *output, const void *input, long batch_count, void *counter, void *state, const void *keys,
                  const void *table, _Bool hashes_output))

// SHA-1 and SHA-256. `state` is eight words.
ROOST_SWIFT_BODY(ROOST_SHA, roost_sha1_compress, (void *state, const void *blocks, long block_count))
ROOST_SWIFT_BODY(ROOST_SHA, roost_sha256_compress,
                 (void *state, const void *blocks, long block_count, const void *constants))

// Instructions whose intrinsics are macros, which Swift does not import.
#define ROOST_INLINE(features) static inline __attribute__((always_inline, target(features)))

// Carry-less products of the lower halves, and of the upper halves.
ROOST_INLINE("pclmul") __m128i roost_multiply_low(__m128i a, __m128i b) { return _mm_clmulepi64_si128(a, b, 0x00); }
ROOST_INLINE("pclmul") __m128i roost_multiply_high(__m128i a, __m128i b) { return _mm_clmulepi64_si128(a, b, 0x11); }
ROOST_INLINE("vpclmulqdq,avx") __m256i roost_multiply_low_wide(__m256i a, __m256i b) {
    return _mm256_clmulepi64_epi128(a, b, 0x00);
}
ROOST_INLINE("vpclmulqdq,avx") __m256i roost_multiply_high_wide(__m256i a, __m256i b) {
    return _mm256_clmulepi64_epi128(a, b, 0x11);
}

// The sum of both halves.
ROOST_INLINE("avx2") __m128i roost_add_halves(__m256i a) {
    return _mm_xor_si128(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
}

// Which registers the operating system saves when it switches threads (XCR0); only where CPUID says OSXSAVE.
static inline unsigned roost_saved_registers(void) {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

// Four rounds of SHA-1 with the function and constant of rounds 0 to 19, 20 to 39, 40 to 59, 60 to 79.
ROOST_INLINE("sha") __m128i roost_sha1_rounds0(__m128i abcd, __m128i e) { return _mm_sha1rnds4_epu32(abcd, e, 0); }
ROOST_INLINE("sha") __m128i roost_sha1_rounds1(__m128i abcd, __m128i e) { return _mm_sha1rnds4_epu32(abcd, e, 1); }
ROOST_INLINE("sha") __m128i roost_sha1_rounds2(__m128i abcd, __m128i e) { return _mm_sha1rnds4_epu32(abcd, e, 2); }
ROOST_INLINE("sha") __m128i roost_sha1_rounds3(__m128i abcd, __m128i e) { return _mm_sha1rnds4_epu32(abcd, e, 3); }

#pragma clang assume_nonnull end

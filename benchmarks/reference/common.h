/* What the yardsticks of all games stand on: random numbers, sets of bits, 0/1 bytes. The numbers are splitmix64's, as in
 * trick_core.rng, so that a game in C draws the kernel's own deals and choices.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__BMI2__) || defined(__AVX2__)
#include <immintrin.h>
#endif

typedef uint64_t u64;
#define INLINE static inline __attribute__((always_inline))
#define EXPORT __attribute__((visibility("default")))

/* What play writes besides the state: nothing; observation in words and mask; observation in bytes too. */
enum { STATE_ONLY, PACKED, BYTES };

static const u64 GOLDEN = 0x9E3779B97F4A7C15ull;

INLINE u64 mix(u64 x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

/* First state of the stream that an episode's cards come from. */
INLINE u64 stream_key(u64 seed, u64 number)
{
    return mix(mix(mix(seed + GOLDEN) ^ GOLDEN) + number * GOLDEN);
}

INLINE int below(u64 word, u64 n) { return (int)(((word >> 32) * n) >> 32); }

INLINE int count(u64 word) { return __builtin_popcountll(word); }

/* Index of the k-th bit set. */
INLINE int pick(u64 word, int k)
{
#ifdef __BMI2__
    return __builtin_ctzll(_pdep_u64(1ull << k, word));
#else
    while (k-- > 0)
        word &= word - 1;
    return __builtin_ctzll(word);
#endif
}

/* The lowest `number` bits (1..64, constant) as 0/1 bytes. */
INLINE void spread(u64 word, int8_t *out, int number)
{
#ifdef __AVX512BW__
    _mm512_mask_storeu_epi8(out, ~0ull >> (64 - number), _mm512_maskz_set1_epi8(word, 1));
    return;
#elif defined(__AVX2__)
    const __m256i lane = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201ull);
    while (number >= 32) {
        __m256i copies = _mm256_shuffle_epi8(_mm256_set1_epi32((int)word), lane);
        __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(copies, bit), bit);
        _mm256_storeu_si256((__m256i *)out, _mm256_and_si256(set, _mm256_set1_epi8(1)));
        word >>= 32;
        out += 32;
        number -= 32;
    }
#endif
#ifdef __BMI2__
    for (; number >= 8; number -= 8, word >>= 8, out += 8) {
        u64 bytes = _pdep_u64(word & 255, 0x0101010101010101ull);
        memcpy(out, &bytes, 8);
    }
#endif
    for (int i = 0; i < number; i++)
        out[i] = (int8_t)(word >> i & 1);
}

/* Append `width` bits; all positions are known when compiling. */
INLINE void put(u64 *words, int *at, u64 value, int width)
{
    int word = *at >> 6, shift = *at & 63;
    words[word] |= value << shift;
    if (shift + width > 64)
        words[word + 1] |= value >> (64 - shift);
    *at += width;
}

/* Random legal play of Bolola in C: the yardstick for the compiled kernels.
 *
 * The same game as bolola_env: the contract is a row of numbers, a table keeps all that the observation needs
 * (beliefs included), and play can stop and go on after any single action. The same random numbers: splitmix64
 * streams keyed by (seed, number of the deal), so every deal and every choice is the kernel's own. The same
 * writing policy: observation and mask after every action that leaves somebody on turn; the part of the
 * observation that describes the contract only when the deal has changed.
 *
 * Not covered, since random play never needs it: custom deals, rewards other than points.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__BMI2__) || defined(__AVX2__)
#include <immintrin.h>
#endif

typedef uint64_t u64;
#define INLINE static inline __attribute__((always_inline))
#define EXPORT __attribute__((visibility("default")))

enum { CARDS = 52, TRICKS = 13, TIERS = 7, ACTIONS = 56, PLAY_WORDS = 14, ROW_WORDS = 20, WORDS = PLAY_WORDS + ROW_WORDS };
enum { STATE_ONLY, PACKED, BYTES };

#define SUIT_BITS ((1ull << 13) - 1)
#define ALL_CARDS ((1ull << CARDS) - 1)
#define NAME_TRUMP_ACTIONS (15ull << CARDS)

/* One contract. Mirrored by ROW in bolola.py. */
typedef struct {
    int32_t card_points[CARDS];  /* points to the taker, by card id */
    int32_t trick_value[TRICKS]; /* points for a trick itself, by tricks finished before it */
    u64 locked;                  /* cards of the suit locked at first; 0: none, or the trump suit */
    u64 tiers[TIERS];            /* duties when void, the most urgent first */
    u64 under_duty;              /* cards that must go under a higher card of the suit led */
    u64 scoring;                 /* cards that score */
    u64 row_words[ROW_WORDS];    /* the contract's part of the observation */
    int8_t num_tiers, last_value, trumps, lock_trump, early_stop;
    int8_t fixed_trump;          /* 0..3; -1: the starter names it */
    int8_t fixed_starter;        /* 0..3; -1: from the seed */
} row_t;

/* One table. Mirrored by TABLE in bolola.py. */
typedef struct {
    u64 hands[4], played[4], trick[4], can[4];
    u64 legal, ruled, lead_set, below, above, trump_set, locked, key;
    u64 seed, number, random;
    int32_t points[4], scores[4], gain[4], pot;
    int8_t seat, winner, leader, starter, trick_size, trick_number, trump, deal, taken[4], shown;
} table_t;

static const u64 GOLDEN = 0x9E3779B97F4A7C15ull;

INLINE u64 mix(u64 x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

INLINE u64 stream_key(u64 seed, u64 number, u64 domain)
{
    return mix(mix(mix(seed + GOLDEN) ^ (domain + GOLDEN)) + number * GOLDEN);
}

INLINE int below(u64 word, u64 n) { return (int)(((word >> 32) * n) >> 32); }

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

/* The lowest `count` bits (a constant multiple of 8) as 0/1 bytes. */
INLINE void spread(u64 word, int8_t *out, int count)
{
#ifdef __AVX512BW__
    _mm512_mask_storeu_epi8(out, ~0ull >> (64 - count), _mm512_maskz_set1_epi8(word, 1));
    return;
#elif defined(__AVX2__)
    const __m256i lane = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201ull);
    while (count >= 32) {
        __m256i copies = _mm256_shuffle_epi8(_mm256_set1_epi32((int)word), lane);
        __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(copies, bit), bit);
        _mm256_storeu_si256((__m256i *)out, _mm256_and_si256(set, _mm256_set1_epi8(1)));
        word >>= 32;
        out += 32;
        count -= 32;
    }
#endif
    for (; count > 0; count -= 8, word >>= 8, out += 8) {
#ifdef __BMI2__
        u64 bytes = _pdep_u64(word & 255, 0x0101010101010101ull);
        memcpy(out, &bytes, 8);
#else
        for (int i = 0; i < 8; i++)
            out[i] = (int8_t)(word >> i & 1);
#endif
    }
}

/* Every card in turn goes to a seat with the chance that its free places give. */
INLINE void shuffle(table_t *t, u64 random)
{
    int place[CARDS];
    for (int card = 0; card < CARDS; card++)
        place[card] = below(mix(random + (u64)card * GOLDEN), (u64)(CARDS - card));
    int first = 13, second = 26, third = 39;
    u64 upto0 = 0, upto1 = 0, upto2 = 0; /* cards of seat 0, of seats 0-1, of seats 0-2 */
    for (int card = 0; card < CARDS; card++) {
        int a = place[card] < first, b = place[card] < second, c = place[card] < third;
        first -= a;
        second -= b;
        third -= c;
        upto0 |= (u64)a << card;
        upto1 |= (u64)b << card;
        upto2 |= (u64)c << card;
    }
    t->hands[0] = upto0;
    t->hands[1] = upto1 & ~upto0;
    t->hands[2] = upto2 & ~upto1;
    t->hands[3] = ALL_CARDS & ~upto2;
}

INLINE void set_trump(const row_t *row, table_t *t, int suit)
{
    t->trump = (int8_t)suit;
    t->trump_set = SUIT_BITS << (13 * suit);
    t->above = t->trump_set;
    if (row->lock_trump)
        t->locked = t->trump_set;
}

INLINE void clear_trick(table_t *t)
{
    t->lead_set = t->below = 0;
    t->above = t->trump_set;
    t->pot = 0;
    t->trick_size = 0;
    t->winner = -1;
}

/* Legal cards: those of the first tier that the hand holds; `ruled`: the tiers before it. */
INLINE void find_legal(const row_t *row, table_t *t)
{
    u64 hand = t->hands[t->seat];
    if (t->trick_size == 0) {
        u64 open = ALL_CARDS & ~t->locked;
        t->legal = hand & open ? hand & open : hand;
        t->ruled = hand & open ? 0 : open;
        return;
    }
    u64 follow = hand & t->lead_set;
    if (follow) {
        u64 before = 0;
        if (t->lead_set == t->trump_set) {
            if (follow & t->above) {
                t->legal = follow & t->above;
                t->ruled = 0;
                return;
            }
            before = t->above;
        }
        u64 duty = row->under_duty & t->below;
        t->legal = follow & duty ? follow & duty : follow;
        t->ruled = follow & duty ? before : before | duty;
        return;
    }
    u64 before = t->lead_set;
    if (hand & t->trump_set) {
        t->legal = hand & t->above ? hand & t->above : hand & t->trump_set;
        t->ruled = hand & t->above ? before : before | t->above;
        return;
    }
    before |= t->trump_set;
    for (int i = 0; i < row->num_tiers; i++) {
        if (hand & row->tiers[i]) {
            t->legal = hand & row->tiers[i];
            t->ruled = before;
            return;
        }
        before |= row->tiers[i];
    }
    t->legal = hand;
    t->ruled = before;
}

INLINE void start_deal(const row_t *row, table_t *t)
{
    shuffle(t, t->key + (u64)(t->deal + 1) * 0xD1342543DE82EF95ull);
    for (int seat = 0; seat < 4; seat++) {
        t->played[seat] = t->trick[seat] = 0;
        t->can[seat] = ALL_CARDS;
        t->points[seat] = 0;
        t->taken[seat] = 0;
    }
    t->trick_number = 0;
    t->trump = -1;
    t->trump_set = 0;
    t->locked = row->locked;
    clear_trick(t);
    t->seat = t->leader = t->starter;
    if (row->trumps) {
        if (row->fixed_trump < 0) {
            t->legal = NAME_TRUMP_ACTIONS;
            t->ruled = 0;
            return;
        }
        set_trump(row, t, row->fixed_trump);
    }
    find_legal(row, t);
}

INLINE void begin(const row_t *rows, table_t *t)
{
    t->key = stream_key(t->seed, t->number, 0);
    t->number++;
    t->shown = -1;
    t->deal = 0;
    for (int seat = 0; seat < 4; seat++)
        t->scores[seat] = t->gain[seat] = 0;
    t->starter = rows[0].fixed_starter >= 0 ? rows[0].fixed_starter : (int8_t)(mix(t->key) >> 62);
    start_deal(rows, t);
}

INLINE int deal_over(const row_t *row, const table_t *t)
{
    if (t->trick_number == TRICKS)
        return 1;
    if (!row->early_stop || t->trick_number < row->last_value)
        return 0;
    return !(row->scoring & ~(t->played[0] | t->played[1] | t->played[2] | t->played[3]));
}

INLINE void step(const row_t *rows, int num_rows, table_t *t, int action)
{
    const row_t *row = &rows[t->deal];
    memset(t->gain, 0, sizeof t->gain);
    if (action >= CARDS) {
        set_trump(row, t, action - CARDS);
        find_legal(row, t);
        return;
    }
    int seat = t->seat;
    u64 bit = 1ull << action, lower = bit - 1;
    t->can[seat] &= ~t->ruled;
    t->hands[seat] ^= bit;
    t->played[seat] |= bit;
    t->trick[seat] = bit;
    t->pot += row->card_points[action];
    if (bit & t->locked)
        t->locked = 0;
    if (t->trick_size == 0) {
        t->lead_set = SUIT_BITS << (13 * (action / 13));
        t->below = t->lead_set & lower;
        t->winner = (int8_t)seat;
        if (bit & t->trump_set)
            t->above = t->trump_set & ~lower & ~bit;
    } else if (bit & t->trump_set) {
        if (bit & t->above) {
            t->above &= ~lower & ~bit;
            t->winner = (int8_t)seat;
        }
        if (bit & t->lead_set)
            t->below |= t->lead_set & lower;
    } else if (bit & t->lead_set && !(bit & t->below)) {
        t->below = t->lead_set & lower;
        if (t->above == t->trump_set)
            t->winner = (int8_t)seat;
    }
    if (++t->trick_size < 4) {
        t->seat = (int8_t)((seat + 1) & 3);
        find_legal(row, t);
        return;
    }
    int winner = t->winner;
    int gain = t->pot + row->trick_value[t->trick_number];
    t->gain[winner] = gain;
    t->points[winner] += gain;
    t->taken[winner]++;
    t->trick_number++;
    t->leader = (int8_t)winner;
    memset(t->trick, 0, sizeof t->trick);
    clear_trick(t);
    if (!deal_over(row, t)) {
        t->seat = t->leader;
        find_legal(row, t);
    } else if (t->deal + 1 < num_rows) {
        for (int s = 0; s < 4; s++)
            t->scores[s] += t->points[s];
        t->deal++;
        t->starter = (int8_t)((t->starter + 1) & 3);
        start_deal(&rows[t->deal], t);
    } else {
        t->seat = -1;
        t->legal = t->ruled = 0;
    }
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

#define EACH_SEAT(expression, width) \
    { int s = a; put(w, &at, expression, width); } \
    { int s = b; put(w, &at, expression, width); } \
    { int s = c; put(w, &at, expression, width); } \
    { int s = d; put(w, &at, expression, width); }

/* What the seat on turn sees, less the contract's part. The order is that of bolola_env.observe.LAYOUT. */
INLINE void observe(const row_t *row, int match, const table_t *t, u64 *restrict out)
{
    int a = t->seat, b = (a + 1) & 3, c = (a + 2) & 3, d = (a + 3) & 3, at = 0;
    u64 hand = t->hands[a];
    u64 unseen = ALL_CARDS & ~hand & ~(t->played[0] | t->played[1] | t->played[2] | t->played[3]);
    u64 w[PLAY_WORDS] = {0};
    put(w, &at, hand, 52);
    put(w, &at, t->can[b] & unseen, 52);
    put(w, &at, t->can[c] & unseen, 52);
    put(w, &at, t->can[d] & unseen, 52);
    EACH_SEAT(t->trick[s], 52)
    EACH_SEAT(t->played[s], 52)
    put(w, &at, 1ull << t->trick_number, 13);
    put(w, &at, 1ull << t->trick_size, 4);
    put(w, &at, 1, 4);
    put(w, &at, 1ull << ((t->leader - a) & 3), 4);
    put(w, &at, 1ull << ((t->starter - a) & 3), 4);
    put(w, &at, (u64)(t->trump >= 0) << (t->trump & 3), 4);
    put(w, &at, row->trumps && t->trump < 0, 1);
    put(w, &at, t->locked != 0, 1);
    put(w, &at, match, 1);
    put(w, &at, 1ull << t->deal, 12);
    EACH_SEAT((u64)t->taken[s], 4)
    EACH_SEAT((u64)t->points[s] & ((1ull << 25) - 1), 25)
    EACH_SEAT((u64)t->scores[s] & ((1ull << 27) - 1), 27)
    for (int i = 0; i < PLAY_WORDS; i++)
        out[i] = w[i];
}

INLINE int64_t run(int form, const row_t *restrict rows, int num_rows, table_t *restrict tables, u64 *restrict words,
                   int8_t *restrict obs, int8_t *restrict mask, int64_t lo, int64_t hi, int64_t steps)
{
    int64_t taken = 0;
    for (int64_t i = lo; i < hi; i++) {
        table_t t = tables[i];
        u64 *restrict word = words + i * WORDS;
        int8_t *restrict byte = obs + i * WORDS * 64;
        for (int64_t n = 0; n < steps; n++) {
            if (t.seat < 0)
                begin(rows, &t);
            t.random += GOLDEN;
            int k = below(mix(t.random), (u64)__builtin_popcountll(t.legal));
            step(rows, num_rows, &t, pick(t.legal, k));
            taken++;
            if (form == STATE_ONLY || t.seat < 0)
                continue;
            int with_row = t.shown != t.deal;
            t.shown = t.deal;
            observe(&rows[t.deal], num_rows > 1, &t, word);
            if (with_row)
                memcpy(word + PLAY_WORDS, rows[t.deal].row_words, sizeof rows[0].row_words);
            if (form == BYTES) {
                for (int j = 0; j < PLAY_WORDS; j++)
                    spread(word[j], byte + 64 * j, 64);
                if (with_row)
                    for (int j = PLAY_WORDS; j < WORDS; j++)
                        spread(word[j], byte + 64 * j, 64);
            }
            spread(t.legal, mask + i * ACTIONS, ACTIONS);
        }
        tables[i] = t;
    }
    return taken;
}

#define PLAY(name, form)                                                                                        \
    EXPORT int64_t name(const row_t *rows, int num_rows, table_t *tables, u64 *words, int8_t *obs, int8_t *mask, \
                        int64_t lo, int64_t hi, int64_t steps)                                                  \
    {                                                                                                           \
        return run(form, rows, num_rows, tables, words, obs, mask, lo, hi, steps);                              \
    }
PLAY(play_state, STATE_ONLY)
PLAY(play_packed, PACKED)
PLAY(play_bytes, BYTES)

EXPORT size_t row_size(void) { return sizeof(row_t); }
EXPORT size_t table_size(void) { return sizeof(table_t); }
EXPORT const char *compiled_with(void) { return __VERSION__; }

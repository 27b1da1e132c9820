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
#include "common.h"

enum { CARDS = 52, TRICKS = 13, TIERS = 7, ACTIONS = 56, PLAY_WORDS = 14, ROW_WORDS = 20, WORDS = PLAY_WORDS + ROW_WORDS };

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

INLINE void begin(const row_t *rows, table_t *t, u64 key)
{
    t->key = key;
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

/* What the seat on turn sees; the contract's part only when the deal has changed. */
INLINE void show(int form, const row_t *rows, int num_rows, table_t *t, u64 *restrict word, int8_t *restrict byte)
{
    int with_row = t->shown != t->deal;
    t->shown = t->deal;
    observe(&rows[t->deal], num_rows > 1, t, word);
    if (with_row)
        memcpy(word + PLAY_WORDS, rows[t->deal].row_words, sizeof rows[0].row_words);
    if (form != BYTES)
        return;
    for (int j = 0; j < PLAY_WORDS; j++)
        spread(word[j], byte + 64 * j, 64);
    if (with_row)
        for (int j = PLAY_WORDS; j < WORDS; j++)
            spread(word[j], byte + 64 * j, 64);
}

INLINE void show_mask(const table_t *t, int8_t *mask) { spread(t->legal, mask, ACTIONS); }

INLINE int choose(const table_t *t, u64 random) { return pick(t->legal, below(random, (u64)count(t->legal))); }

#include "play.h"

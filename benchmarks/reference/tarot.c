/* Random legal play of four-player Tarot in C: the yardstick for the compiled kernels.
 *
 * The same game as tarot_env, from the deal (a petit sec is dealt anew) through bids, discard, chelem and poignees to the
 * settlement; a deal may start later, as its options say. A table keeps all that the observation needs (beliefs included), and
 * play can stop and go on after any single action. The same random numbers, so every deal and every choice is the kernel's own.
 * Observation and mask are written after every action that leaves somebody on turn.
 *
 * Not covered, since random play never needs it: custom deals, rewards other than points, what a seat off turn sees.
 *
 * A set of cards is two words, as in tarot_env.cards: suit cards 14 * suit + rank; and the Excuse (bit 0) and trumps 1..21.
 */
#include "common.h"

enum { CARDS = 78, EXCUSE_ID = 56, HAND = 18, CHIEN = 6, TRICKS = 18, LAST = TRICKS - 1, ACTIONS = 89, WORDS = 22 };
enum { PASS = 78, NO_CHELEM = 83, NO_POIGNEE = 85, TRIPLE = 3 };
enum { PLAYING, BID, DISCARD, CHELEM, POIGNEE, KEEP, OVER };
enum { FROM_BID, FROM_DISCARD, FROM_PLAY };

#define SUIT_BITS ((1ull << 14) - 1)
#define RANK(n) (((1ull) << (n)) * (1 | 1ull << 14 | 1ull << 28 | 1ull << 42))
#define ALL_SUITS ((1ull << EXCUSE_ID) - 1)
#define ALL_TRUMPS ((1ull << 22) - 1)
#define EXCUSE 1ull
#define PETIT 2ull
#define TRUMPS (ALL_TRUMPS ^ EXCUSE)
#define OUDLERS (EXCUSE | PETIT | 1ull << 21)
#define KINGS RANK(13)

/* By contract: 0 none, prise, garde, garde sans, garde contre. */
static const int8_t MULTIPLIER[5] = {0, 1, 2, 4, 6};
static const int8_t TAKES_CHIEN[5] = {0, 1, 1, 0, 0};
static const int8_t ASIDE_TO_TAKER[5] = {0, 1, 1, 1, 0};
/* By oudlers; by level of a poignee, 0 none. */
static const int8_t TARGET[4] = {56, 51, 41, 36};
static const int8_t POIGNEE_SIZE[4] = {0, 10, 13, 15};
static const int8_t POIGNEE_POINTS[4] = {0, 20, 30, 40};
/* Half points: of a suit card by rank; of a trump. */
#define SUIT_POINTS 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 5, 7, 9
static const int8_t HALF_POINTS[CARDS] = {SUIT_POINTS, SUIT_POINTS, SUIT_POINTS, SUIT_POINTS, 9, 9,
                                          [EXCUSE_ID + 2 ... CARDS - 2] = 1, 9};
enum { EXCUSE_POINTS = 9 };

/* What the options fix. Mirrored by ROW in tarot.py. */
typedef struct {
    int8_t start;       /* FROM_BID .. FROM_PLAY */
    int8_t forbid_pass; /* the last seat must bid when nobody has */
    int8_t dealer;      /* -1: from the seed */
    int8_t taker;       /* where the bidding is skipped; -1: from the seed */
    int8_t contract;    /* there; 0: from the seed */
} row_t;

/* One table. Mirrored by TABLE in tarot.py; the fields and their meaning are those of tarot_env.state.STATE. */
typedef struct {
    u64 hands[4], hands_trumps[4], played[4], played_trumps[4], trick[4], trick_trumps[4], can[4], can_trumps[4];
    u64 hide, hide_trumps, chien, chien_trumps, discard, discard_trumps, shown[4], kept, legal[2], ruled, ruled_trumps;
    u64 lead_set, best, above, key;
    int32_t gain[4], credit, taker_points, defence_points, pot, redeals;
    int8_t seat, phase, dealer, taker, contract, bids[4], spoken, chelem, hidden_size, leader, asked, level, shown_level[4];
    int8_t winner, trick_size, trick_number, taken[4], oudlers, excuse_seat, excuse_trick, petit_trick, deal;
    u64 seed, number, random;
} table_t;

INLINE int highest(u64 word) { return 63 - __builtin_clzll(word); }

/* Make exactly these cards legal: actions are the cards' ids. */
INLINE void set_legal(table_t *t, u64 suits, u64 trumps)
{
    t->legal[0] = suits | trumps << EXCUSE_ID;
    t->legal[1] = trumps >> (64 - EXCUSE_ID);
}

/* Actions that are no cards lie in the second word. */
INLINE void set_legal_calls(table_t *t, u64 first, u64 calls)
{
    t->legal[0] = 0;
    t->legal[1] = calls << (first - 64);
}

/* Every card in turn goes to a seat or the chien with the chance that its free places give. Returns the next random state. */
INLINE u64 shuffle(table_t *t, u64 random)
{
    int place[CARDS];
    for (int card = 0; card < CARDS; card++)
        place[card] = below(mix(random + (u64)card * GOLDEN), (u64)(CARDS - card));
    int free0 = HAND, free1 = 2 * HAND, free2 = 3 * HAND, free3 = 4 * HAND;
    for (int part = 0; part < 2; part++) {
        int first = part ? EXCUSE_ID : 0, last = part ? CARDS : EXCUSE_ID;
        u64 upto0 = 0, upto1 = 0, upto2 = 0, upto3 = 0; /* cards of seat 0, of seats 0-1, 0-2, 0-3 */
        for (int card = first; card < last; card++) {
            int a = place[card] < free0, b = place[card] < free1, c = place[card] < free2, d = place[card] < free3;
            free0 -= a;
            free1 -= b;
            free2 -= c;
            free3 -= d;
            upto0 |= (u64)a << (card - first);
            upto1 |= (u64)b << (card - first);
            upto2 |= (u64)c << (card - first);
            upto3 |= (u64)d << (card - first);
        }
        u64 *hands = part ? t->hands_trumps : t->hands;
        hands[0] = upto0;
        hands[1] = upto1 ^ upto0;
        hands[2] = upto2 ^ upto1;
        hands[3] = upto3 ^ upto2;
        *(part ? &t->chien_trumps : &t->chien) = (part ? ALL_TRUMPS : ALL_SUITS) ^ upto3;
    }
    return random + CARDS * GOLDEN;
}

INLINE int has_petit_sec(const table_t *t)
{
    const u64 *hands = t->hands_trumps;
    return (hands[0] == PETIT) | (hands[1] == PETIT) | (hands[2] == PETIT) | (hands[3] == PETIT);
}

INLINE void clear_trick(table_t *t)
{
    t->lead_set = t->best = 0;
    t->above = TRUMPS;
    t->pot = 0;
    t->trick_size = 0;
    t->winner = -1;
}

INLINE void clear_deal(table_t *t)
{
    for (int seat = 0; seat < 4; seat++) {
        t->played[seat] = t->played_trumps[seat] = t->trick[seat] = t->trick_trumps[seat] = t->shown[seat] = 0;
        t->can[seat] = ALL_SUITS;
        t->can_trumps[seat] = ALL_TRUMPS;
        t->shown_level[seat] = t->taken[seat] = 0;
        t->bids[seat] = -1;
        t->gain[seat] = 0;
    }
    t->hide = ALL_SUITS;
    t->hide_trumps = ALL_TRUMPS;
    t->hidden_size = CHIEN;
    t->discard = t->discard_trumps = t->kept = 0;
    t->credit = t->taker_points = t->defence_points = 0;
    t->seat = t->leader = (int8_t)((t->dealer + 1) & 3);
    t->phase = BID;
    t->contract = t->spoken = t->asked = t->level = t->trick_number = t->oudlers = 0;
    t->taker = t->chelem = t->excuse_seat = t->excuse_trick = t->petit_trick = -1;
    clear_trick(t);
}

INLINE void begin_contract(table_t *t)
{
    int taker = t->taker;
    t->seat = (int8_t)taker;
    t->phase = CHELEM;
    if (!TAKES_CHIEN[t->contract])
        return;
    t->phase = DISCARD;
    t->hands[taker] |= t->chien;
    t->hands_trumps[taker] |= t->chien_trumps;
    for (int i = 1; i < 4; i++) {
        t->can[(taker + i) & 3] &= ~t->chien;
        t->can_trumps[(taker + i) & 3] &= ~t->chien_trumps;
    }
    t->hide = ALL_SUITS & ~KINGS;
    t->hide_trumps = 0;
    t->hidden_size = 0;
}

INLINE void bid(table_t *t, int action)
{
    int number = action - PASS;
    t->bids[t->seat] = (int8_t)number;
    t->spoken++;
    if (number > 0) {
        t->taker = t->seat;
        t->contract = (int8_t)number;
    }
    t->seat = (t->seat + 1) & 3;
    if (t->spoken < 4)
        return;
    if (t->taker < 0)
        t->phase = OVER;
    else
        begin_contract(t);
}

/* Suit cards but kings; when none is left, trumps but oudlers. */
INLINE void discardable(const table_t *t, u64 *suits, u64 *trumps)
{
    *suits = t->hands[t->taker] & ~KINGS;
    *trumps = *suits ? 0 : t->hands_trumps[t->taker] & ~OUDLERS;
}

INLINE void discard(table_t *t, int card)
{
    int taker = t->taker;
    if (card < EXCUSE_ID) {
        u64 bit = 1ull << card;
        t->hands[taker] ^= bit;
        t->discard |= bit;
        t->hidden_size++;
    } else {
        u64 bit = 1ull << (card - EXCUSE_ID);
        t->hands_trumps[taker] ^= bit;
        t->discard_trumps |= bit;
        for (int seat = 0; seat < 4; seat++)
            t->can_trumps[seat] &= ~bit;
        t->can[taker] &= KINGS;
    }
    if (t->hidden_size + count(t->discard_trumps) == CHIEN)
        t->phase = CHELEM;
}

/* The trumps that count for a poignee: for a triple of a taker with four kings, discarded ones too. */
INLINE u64 counted_trumps(const table_t *t, int seat, int level)
{
    u64 trumps = t->hands_trumps[seat] & TRUMPS;
    if (level == TRIPLE && seat == t->taker && (t->hands[seat] & KINGS) == KINGS)
        trumps |= t->discard_trumps;
    return trumps;
}

/* The levels that a seat may show, bit level - 1 for each; the Excuse makes up for one missing trump. */
INLINE u64 levels(const table_t *t, int seat)
{
    int excuse = (int)(t->hands_trumps[seat] & EXCUSE);
    u64 found = 0;
    for (int level = 1; level <= TRIPLE; level++)
        found |= (u64)(count(counted_trumps(t, seat, level)) + excuse >= POIGNEE_SIZE[level]) << (level - 1);
    return found;
}

/* The next seat, from the one that will lead, that has a level available; without one the play begins. */
INLINE void ask_next(table_t *t)
{
    t->level = 0;
    t->kept = 0;
    while (t->asked < 4) {
        int seat = (t->leader + t->asked) & 3;
        t->asked++;
        if (levels(t, seat)) {
            t->phase = POIGNEE;
            t->seat = (int8_t)seat;
            return;
        }
    }
    t->phase = PLAYING;
    t->seat = t->leader;
}

INLINE void show_poignee(table_t *t, u64 cards)
{
    int seat = t->seat;
    t->shown[seat] = cards;
    t->shown_level[seat] = t->level;
    for (int i = 1; i < 4; i++)
        t->can_trumps[(seat + i) & 3] &= ~cards;
    t->hide_trumps &= ~cards;
    if (cards & EXCUSE)
        t->can_trumps[seat] &= cards;
    if (cards & t->discard_trumps)
        for (int i = 1; i < 4; i++)
            t->can[(seat + i) & 3] &= ~KINGS;
}

INLINE void choose_level(table_t *t, int level)
{
    if (level == 0)
        return;
    t->level = (int8_t)level;
    u64 trumps = counted_trumps(t, t->seat, level);
    int spare = count(trumps) - POIGNEE_SIZE[level];
    if (spare > 0)
        t->phase = KEEP;
    else
        show_poignee(t, spare < 0 ? trumps | EXCUSE : trumps);
}

INLINE void keep_back(table_t *t, int card)
{
    t->kept |= 1ull << (card - EXCUSE_ID);
    u64 showing = counted_trumps(t, t->seat, t->level) & ~t->kept;
    if (count(showing) == POIGNEE_SIZE[t->level]) {
        t->phase = POIGNEE;
        show_poignee(t, showing);
    }
}

/* Above the last trump kept back, with enough left above it. */
INLINE void find_legal_keeps(table_t *t)
{
    u64 trumps = counted_trumps(t, t->seat, t->level);
    int missing = count(trumps) - POIGNEE_SIZE[t->level] - count(t->kept);
    if (t->kept)
        trumps &= ~((2ull << highest(t->kept)) - 1);
    while (--missing > 0)
        trumps ^= 1ull << highest(trumps);
    set_legal(t, 0, trumps);
}

/* Legal cards: those of the first tier that the hand holds, and the Excuse; `ruled`: the tiers before it. */
INLINE void find_legal_plays(table_t *t)
{
    u64 suits = t->hands[t->seat], trumps = t->hands_trumps[t->seat];
    u64 ruled = 0, ruled_trumps = 0;
    if (t->winner >= 0) {
        u64 follow = suits & t->lead_set, over = trumps & t->above;
        if (follow) {
            suits = follow;
            trumps &= EXCUSE;
        } else {
            ruled = t->lead_set;
            if (over) {
                suits = 0;
                trumps = over | (trumps & EXCUSE);
            } else if (trumps & TRUMPS) {
                suits = 0;
                ruled_trumps = t->above;
            } else {
                ruled_trumps = TRUMPS;
            }
        }
    }
    set_legal(t, suits, trumps);
    t->ruled = ruled;
    t->ruled_trumps = ruled_trumps;
}

INLINE void find_legal(const row_t *rows, table_t *t)
{
    u64 suits, trumps;
    switch (t->phase) {
    case PLAYING:
        find_legal_plays(t);
        break;
    case BID:
        set_legal_calls(t, PASS, (30ull & ~((2ull << t->contract) - 1))
                                     | !(rows->forbid_pass && t->spoken == 3 && t->taker < 0));
        break;
    case DISCARD:
        discardable(t, &suits, &trumps);
        set_legal(t, suits, trumps);
        break;
    case CHELEM:
        set_legal_calls(t, NO_CHELEM, 3);
        break;
    case POIGNEE:
        set_legal_calls(t, NO_POIGNEE, 1 | levels(t, t->seat) << 1);
        break;
    case KEEP:
        find_legal_keeps(t);
        break;
    default:
        t->seat = -1;
        t->legal[0] = t->legal[1] = 0;
    }
}

INLINE void skip_bidding(const row_t *rows, table_t *t, u64 word)
{
    t->taker = rows->taker >= 0 ? rows->taker : (int8_t)(word >> 60 & 3);
    t->contract = rows->contract > 0 ? rows->contract : (int8_t)((word >> 58 & 3) + 1);
    begin_contract(t);
}

/* Six cards are discarded at random; no chelem, no poignees. */
INLINE void skip_to_play(table_t *t, u64 random)
{
    while (t->phase == DISCARD) {
        u64 suits, trumps, word = mix(random);
        random += GOLDEN;
        discardable(t, &suits, &trumps);
        discard(t, suits ? pick(suits, below(word, (u64)count(suits)))
                         : EXCUSE_ID + pick(trumps, below(word, (u64)count(trumps))));
    }
    t->chelem = 0;
    t->asked = 4;
    t->phase = PLAYING;
    t->seat = t->leader;
}

INLINE void begin(const row_t *rows, table_t *t, u64 key)
{
    u64 word = mix(key), random = key + GOLDEN;
    t->key = key;
    t->deal = 0;
    t->dealer = rows->dealer >= 0 ? rows->dealer : (int8_t)(word >> 62);
    t->redeals = -1;
    do {
        random = shuffle(t, random);
        t->redeals++;
    } while (has_petit_sec(t));
    clear_deal(t);
    if (rows->start != FROM_BID)
        skip_bidding(rows, t, word);
    if (rows->start == FROM_PLAY)
        skip_to_play(t, random);
    find_legal(rows, t);
}

/* The Excuse takes the 18th trick when it is led to it and its side took the 17 before. */
INLINE int excuse_takes(const table_t *t)
{
    if (t->trick_number != LAST || t->excuse_trick != LAST || t->excuse_seat != t->leader)
        return 0;
    return t->taken[t->taker] == (t->leader == t->taker ? LAST : 0);
}

INLINE int half_points(u64 suits, u64 trumps)
{
    return count(suits) + 8 * count(suits & KINGS) + 6 * count(suits & RANK(12)) + 4 * count(suits & RANK(11))
           + 2 * count(suits & RANK(10)) + count(trumps) + 8 * count(trumps & OUDLERS);
}

/* What each defender pays the taker at the end, in half points. */
INLINE int settlement(const table_t *t)
{
    int multiplier = MULTIPLIER[t->contract], points = t->taker_points, oudlers = t->oudlers;
    if (ASIDE_TO_TAKER[t->contract]) {
        u64 suits = TAKES_CHIEN[t->contract] ? t->discard : t->chien;
        u64 trumps = TAKES_CHIEN[t->contract] ? t->discard_trumps : t->chien_trumps;
        points += half_points(suits, trumps);
        oudlers += count(trumps & OUDLERS);
    }
    int distance = points - 2 * TARGET[oudlers], made = distance >= 0;
    int base = (50 + (made ? distance : -distance)) * multiplier, poignee = 0;
    for (int seat = 0; seat < 4; seat++)
        poignee += 2 * POIGNEE_POINTS[t->shown_level[seat]];
    /* The leader is now the winner of trick 18. */
    int excuse_took_it = t->excuse_trick == LAST && t->excuse_seat == t->leader;
    int petit = 0, chelem = 0;
    if (t->petit_trick == LAST - excuse_took_it)
        petit = t->leader == t->taker ? 20 : -20;
    if (t->taken[t->taker] == TRICKS)
        chelem = t->chelem == 1 ? 800 : 400;
    else
        chelem = -400 * (t->chelem == 1) - 400 * (t->taken[t->taker] == 0);
    return (made ? base + poignee : -base - poignee) + petit * multiplier + chelem;
}

INLINE void close_trick(table_t *t)
{
    int slam = excuse_takes(t), number = t->trick_number;
    int winner = slam ? t->leader : t->winner, taker_wins = winner == t->taker;
    int taker = taker_wins ? t->pot : 0, defence = taker_wins ? 0 : t->pot, oudlers = 0;
    if (taker_wins)
        oudlers = count((t->trick_trumps[0] | t->trick_trumps[1] | t->trick_trumps[2] | t->trick_trumps[3])
                        & OUDLERS & ~EXCUSE);
    if (t->excuse_trick == number) {
        int to_taker = (t->excuse_seat == t->taker) == (number != LAST || slam);
        taker += to_taker ? EXCUSE_POINTS : 0;
        defence += to_taker ? 0 : EXCUSE_POINTS;
        oudlers += to_taker;
        if (number != LAST && to_taker != taker_wins) { /* half a point for it */
            taker += taker_wins ? 1 : -1;
            defence += taker_wins ? -1 : 1;
        }
    }
    t->taker_points += taker;
    t->defence_points += defence;
    t->oudlers += (int8_t)oudlers;
    t->taken[winner]++;
    t->trick_number++;
    t->seat = t->leader = (int8_t)winner;
    int credit = t->credit + (taker - defence) * MULTIPLIER[t->contract];
    if (t->trick_number == TRICKS) {
        credit = settlement(t);
        t->phase = OVER;
    }
    int pay = credit - t->credit;
    t->credit = credit;
    for (int seat = 0; seat < 4; seat++) {
        t->trick[seat] = t->trick_trumps[seat] = 0;
        t->gain[seat] = seat == t->taker ? 3 * pay : -pay;
    }
    clear_trick(t);
}

INLINE void play_card(table_t *t, int card)
{
    int seat = t->seat;
    if (card < EXCUSE_ID) {
        u64 bit = 1ull << card;
        t->can[seat] &= ~t->ruled;
        t->can_trumps[seat] &= ~t->ruled_trumps;
        t->hands[seat] ^= bit;
        t->played[seat] |= bit;
        t->trick[seat] = bit;
        t->pot += HALF_POINTS[card];
        if (t->winner < 0) {
            t->lead_set = SUIT_BITS << (card / 14 * 14);
            t->best = bit;
            t->winner = (int8_t)seat;
        } else if (bit & t->lead_set && bit > t->best && t->above == TRUMPS) {
            t->best = bit;
            t->winner = (int8_t)seat;
        }
    } else if (card == EXCUSE_ID) {
        t->hands_trumps[seat] ^= EXCUSE;
        t->played_trumps[seat] |= EXCUSE;
        t->trick_trumps[seat] = EXCUSE;
        t->excuse_seat = (int8_t)seat;
        t->excuse_trick = t->trick_number;
    } else {
        u64 bit = 1ull << (card - EXCUSE_ID);
        t->can[seat] &= ~t->ruled;
        t->can_trumps[seat] &= ~t->ruled_trumps;
        t->hands_trumps[seat] ^= bit;
        t->played_trumps[seat] |= bit;
        t->trick_trumps[seat] = bit;
        t->pot += HALF_POINTS[card];
        if (bit & t->above) {
            t->above = TRUMPS & ~(bit | (bit - 1));
            t->winner = (int8_t)seat;
        }
        if (bit == PETIT)
            t->petit_trick = t->trick_number;
    }
    if (++t->trick_size < 4)
        t->seat = (int8_t)((seat + 1) & 3);
    else
        close_trick(t);
}

INLINE void step(const row_t *rows, int num_rows, table_t *t, int action)
{
    (void)num_rows;
    memset(t->gain, 0, sizeof t->gain);
    switch (t->phase) {
    case PLAYING:
        play_card(t, action);
        break;
    case BID:
        bid(t, action);
        break;
    case DISCARD:
        discard(t, action);
        break;
    case CHELEM:
        t->chelem = (int8_t)(action - NO_CHELEM);
        if (t->chelem)
            t->leader = t->taker;
        t->asked = 0;
        ask_next(t);
        break;
    case POIGNEE:
        choose_level(t, action - NO_POIGNEE);
        if (t->phase != KEEP)
            ask_next(t);
        break;
    default:
        keep_back(t, action);
        if (t->phase != KEEP)
            ask_next(t);
    }
    find_legal(rows, t);
}

INLINE int choose(const table_t *t, u64 random)
{
    int low = count(t->legal[0]), k = below(random, (u64)(low + count(t->legal[1])));
    return k < low ? pick(t->legal[0], k) : 64 + pick(t->legal[1], k - low);
}

/* Append a set of cards, by id. */
INLINE void put_cards(u64 *words, int *at, u64 suits, u64 trumps)
{
    put(words, at, suits | trumps << EXCUSE_ID, 64);
    put(words, at, trumps >> (64 - EXCUSE_ID), CARDS - 64);
}

INLINE u64 one_hot(int valid, int index) { return (u64)(valid != 0) << (index & 63); }

#define EACH_SEAT(call) \
    { int s = a; call; } \
    { int s = b; call; } \
    { int s = c; call; } \
    { int s = d; call; }

/* What the seat on turn sees, in the order of tarot_env.observe.LAYOUT. */
INLINE void observe(const row_t *rows, const table_t *t, u64 *restrict out)
{
    int a = t->seat, b = (a + 1) & 3, c = (a + 2) & 3, d = (a + 3) & 3, at = 0;
    int takes = a == t->taker, chien_shown = t->phase != BID && TAKES_CHIEN[t->contract], keeping = t->phase == KEEP;
    u64 aside = takes ? t->discard : 0;
    u64 suits = ALL_SUITS & ~(t->played[0] | t->played[1] | t->played[2] | t->played[3] | t->hands[a] | aside);
    u64 trumps = ALL_TRUMPS
                 & ~(t->played_trumps[0] | t->played_trumps[1] | t->played_trumps[2] | t->played_trumps[3]
                     | t->hands_trumps[a] | (takes ? t->discard_trumps : 0));
    u64 unknown = t->hidden_size && !(takes && chien_shown) ? ~0ull : 0;
    u64 *w = out;
    for (int i = 0; i < WORDS; i++)
        w[i] = 0;
    put_cards(w, &at, t->hands[a], t->hands_trumps[a]);
    put_cards(w, &at, t->can[b] & suits, t->can_trumps[b] & trumps);
    put_cards(w, &at, t->can[c] & suits, t->can_trumps[c] & trumps);
    put_cards(w, &at, t->can[d] & suits, t->can_trumps[d] & trumps);
    put_cards(w, &at, t->hide & suits & unknown, t->hide_trumps & trumps & unknown);
    put(w, &at, aside, 56);
    put(w, &at, one_hot(keeping, t->level - 1), 3);
    put(w, &at, keeping ? t->kept >> 1 : 0, 21);
    EACH_SEAT(put_cards(w, &at, t->trick[s], t->trick_trumps[s]))
    EACH_SEAT(put_cards(w, &at, t->played[s], t->played_trumps[s]))
    put_cards(w, &at, chien_shown ? t->chien : 0, chien_shown ? t->chien_trumps : 0);
    put(w, &at, t->discard_trumps >> 1, 21);
    EACH_SEAT(put(w, &at, t->shown[s], 22))
    EACH_SEAT(put(w, &at, one_hot(t->shown_level[s], t->shown_level[s] - 1), 3))
    EACH_SEAT(put(w, &at, one_hot(t->bids[s] >= 0, t->bids[s]), 5))
    put(w, &at, one_hot(t->contract, t->contract - 1), 4);
    put(w, &at, one_hot(t->taker >= 0, (t->taker - a) & 3), 4);
    put(w, &at, one_hot(1, (t->dealer - a) & 3), 4);
    put(w, &at, one_hot(1, (t->leader - a) & 3), 4);
    put(w, &at, 1, 4);
    put(w, &at, one_hot(1, t->phase), 6);
    put(w, &at, t->chelem == 1, 1);
    put(w, &at, (u64)rows->forbid_pass, 1);
    put(w, &at, one_hot(1, t->trick_number), 18);
    put(w, &at, one_hot(1, t->trick_size), 4);
    put(w, &at, one_hot(t->excuse_seat >= 0, (t->excuse_seat - a) & 3), 4);
    EACH_SEAT(put(w, &at, (u64)t->taken[s], 5))
    put(w, &at, (u64)t->taker_points, 8);
    put(w, &at, (u64)t->defence_points, 8);
    put(w, &at, (u64)t->oudlers, 2);
    put(w, &at, (u64)t->hidden_size, 3);
}

INLINE void show(int form, const row_t *rows, int num_rows, table_t *t, u64 *restrict word, int8_t *restrict byte)
{
    (void)num_rows;
    observe(rows, t, word);
    if (form == BYTES)
#pragma GCC unroll 22
        for (int i = 0; i < WORDS; i++)
            spread(word[i], byte + 64 * i, 64);
}

INLINE void show_mask(const table_t *t, int8_t *mask)
{
    spread(t->legal[0], mask, 64);
    spread(t->legal[1], mask + 64, ACTIONS - 64);
}

#include "play.h"

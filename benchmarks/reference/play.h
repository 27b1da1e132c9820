/* Random play of a game's tables, and what Python calls. Included last. The game has defined
 *
 *   row_t, table_t, WORDS, ACTIONS
 *   begin(rows, t, key)                       begin an episode
 *   choose(t, random)                         a legal action from a random word
 *   step(rows, num_rows, t, action)           take it
 *   show(form, rows, num_rows, t, word, byte) write what the seat on turn sees
 *   show_mask(t, mask)
 *
 * and table_t has the fields seed, number (episodes begun), random (stream of the choices) and seat (-1: over).
 */
INLINE int64_t run(int form, const row_t *restrict rows, int num_rows, table_t *restrict tables, u64 *restrict words,
                   int8_t *restrict obs, int8_t *restrict mask, int64_t lo, int64_t hi, int64_t steps)
{
    int64_t taken = 0;
    for (int64_t i = lo; i < hi; i++) {
        table_t t = tables[i];
        for (int64_t n = 0; n < steps; n++) {
            if (t.seat < 0) {
                begin(rows, &t, stream_key(t.seed, t.number));
                t.number++;
            }
            t.random += GOLDEN;
            step(rows, num_rows, &t, choose(&t, mix(t.random)));
            taken++;
            if (form == STATE_ONLY || t.seat < 0)
                continue;
            show(form, rows, num_rows, &t, words + i * WORDS, obs + i * WORDS * 64);
            show_mask(&t, mask + i * ACTIONS);
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

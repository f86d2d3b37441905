/*
 * order.c - Williams designs: a zigzag row, rotated and with random labels, new for each design. Relies on
 * base/random.c. Called by measure/cell_loop.c and block.c, once for each block.
 */
#include "stats/order.h"

static void new_design(struct order *o)
{
    for (unsigned i = 0; i < o->n; i++)
        o->label[i] = i;
    for (unsigned i = 0; i < o->rows; i++)
        o->row[i] = i;
    random_shuffle(&o->random, o->label, o->n);
    random_shuffle(&o->random, o->row, o->rows);
    o->next_row = 0;
}

void order_begin(struct order *o, unsigned n, uint64_t seed)
{
    *o = (struct order){.n = n, .rows = n % 2 == 0 || n == 1 ? n : 2 * n};
    random_seed(&o->random, seed);
    new_design(o);
}

/* The zigzag 0, 1, n-1, 2, n-2, ... whose neighbouring differences are all different modulo n. */
static unsigned zigzag(unsigned place, unsigned n)
{
    unsigned half = (place + 1) / 2;
    return place % 2 == 1 ? half : (n - half) % n;
}

void order_next(struct order *o, unsigned *out)
{
    if (o->next_row == o->rows)
        new_design(o);
    unsigned row = o->row[o->next_row++];
    for (unsigned place = 0; place < o->n; place++) {
        unsigned from = row < o->n ? place : o->n - 1 - place;
        out[place] = o->label[(zigzag(from, o->n) + row) % o->n];
    }
}

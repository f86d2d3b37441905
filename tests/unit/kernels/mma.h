/* mma.h - ldmatrix and mma.sync on the host, as the PTX manual has them, for tests/unit/kernels/test_decode.c,
 * which says LANES and includes cmocka.h before it. */
#ifndef CUDAL2_TESTS_MMA_H
#define CUDAL2_TESTS_MMA_H

/* ldmatrix.x4: lane l names row l % 8 of matrix l / 8; register j of lane l holds two elements of matrix j. */
static void ldmatrix(const int16_t *ring, const int place[LANES], int transposed, int16_t out[LANES][4][2])
{
    for (int j = 0; j < 4; j++) {
        unsigned banks = 0;
        for (int row = 0; row < 8; row++) {
            assert_int_equal(place[j * 8 + row] % 16, 0);
            banks |= 1u << place[j * 8 + row] / 16 % 8;
        }
        assert_int_equal(banks, 0xff);
        for (int lane = 0; lane < LANES; lane++)
            for (int e = 0; e < 2; e++) {
                int row = transposed ? lane % 4 * 2 + e : lane / 4, column = transposed ? lane / 4 : lane % 4 * 2 + e;
                out[lane][j][e] = ring[place[j * 8 + row] / 2 + column];
            }
    }
}

/* Rows that nobody reads may hold anything: sums wrap. */
static void add_to(int *sum, int value)
{
    *sum = (int)((unsigned)*sum + (unsigned)value);
}

/* mma.m16n8k16, row.col: A's registers are (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8); B's (2t, g), (2t + 8,
 * g). */
static void multiply(int16_t a[LANES][4][2], int16_t b[LANES][4][2], int first, int c[LANES][4])
{
    int left[16][16], right[16][8];
    for (int lane = 0; lane < LANES; lane++)
        for (int e = 0; e < 2; e++) {
            int g = lane / 4, k = lane % 4 * 2 + e;
            for (int r = 0; r < 4; r++)
                left[g + r % 2 * 8][k + r / 2 * 8] = a[lane][r][e];
            for (int r = 0; r < 2; r++)
                right[k + r * 8][g] = b[lane][first + r][e];
        }
    for (int lane = 0; lane < LANES; lane++)
        for (int e = 0; e < 4; e++)
            for (int k = 0; k < 16; k++)
                add_to(&c[lane][e], left[lane / 4 + e / 2 * 8][k] * right[k][lane % 4 * 2 + e % 2]);
}

#endif

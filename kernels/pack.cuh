/*
 * pack.cuh - how a packed operand lies, how eight elements are read from any address, and which lane stores what of a
 * row of C that begins anywhere: plain functions of numbers for persistent.cu with PACK 1, which
 * tests/unit/kernels/test_pack.c compiles for the host as well.
 *
 * A packed operand is the stages of shared memory, one after the other: block (tile, step) is what a stage has of that
 * tile's rows and 64 of K, so that one copy without a tensor map brings it. A block's rows are 128 bytes, eight chunks
 * of 16 bytes that trade places by the row, as wgmma's 128-byte swizzle wants them.
 */
#ifndef CUDAL2_PACK_CUH
#define CUDAL2_PACK_CUH

/* --- where a chunk's eight elements are in its matrix: from `column` of `row` on, or beyond its end --- */

struct pack_chunk {
    int row, column;
};

/* Chunk `slot` of the eight of row `row` of a block. */
DEVICE int pack_column(int row, int slot)
{
    return (slot ^ (row & 7)) * 8;
}

/* K along the rows: A, and B in layout TN. `row` of block (tile, step) of tiles `tall` rows high. */
DEVICE struct pack_chunk pack_along(int tile, int step, int row, int slot, int tall)
{
    struct pack_chunk c = {tile * tall + row, step * 64 + pack_column(row, slot)};
    return c;
}

/* K down the columns: B in layout NN. A block is boxes of 64 of K by 64 columns, the last one perhaps wider than the
 * tile. */
DEVICE struct pack_chunk pack_down(int tile, int step, int row, int slot, int wide)
{
    struct pack_chunk c = {step * 64 + row % 64, tile * wide + row / 64 * 64 + pack_column(row, slot)};
    return c;
}

/* --- eight elements from place `at` of a matrix of `total`, of which `inside` are wanted, by words of two --- */

/* Whether word j of five is read: it holds a wanted element, and the matrix has all of it. It begins at an even place,
 * one ahead of an odd `at`. */
DEVICE int pack_reads(int at, int j, int inside, int total)
{
    const int odd = at & 1, first = 2 * j - odd;
    return inside > 0 && first < inside && at + first + 1 < total;
}

/* Whether the last wanted element is in no word that is read: the matrix ends with it, in the middle of one. */
DEVICE int pack_lacks_last(int at, int inside, int total)
{
    return inside > 0 && at + inside == total && (total & 1);
}

/* Elements 2i and 2i + 1, zero for what is not inside. */
DEVICE u32 pack_inside(u32 pair, int i, int inside)
{
    return 2 * i + 1 < inside ? pair : 2 * i < inside ? pair & 0xffff : 0;
}

/* Wanted elements 2i and 2i + 1 of the words, zero for others. */
DEVICE u32 pack_pair(const u32 *word, int i, int odd, int inside)
{
    const u32 pair = odd ? word[i] >> 16 | word[i + 1] << 16 : word[i];
    return pack_inside(pair, i, inside);
}

/* --- the same by 16 bytes from aligned addresses (slide.cuh), of a row of a matrix of `total` --- */

struct pack_pull {
    u32 from;      /* the element of the matrix with which the first of two times 16 bytes begins */
    int slip;      /* elements from there to the chunk's first */
    int inside;    /* elements of the chunk that the row has */
    int low, high; /* which of both are read */
    int lacks;     /* of what it wants the matrix has no whole 16 bytes: it is read element by element */
};

/* Chunk `part` of the row that begins with element `begin` and has `columns`. */
DEVICE struct pack_pull pack_pull_of(u32 begin, int part, int columns, u32 total)
{
    const int left = columns - part * 8, inside = left < 0 ? 0 : left < 8 ? left : 8;
    const int slip = (int)(begin % 8), second = slip + inside > 8;
    const u32 from = begin / 8 * 8 + (u32)part * 8;
    const int lacks = inside > 0 && from + (second ? 16u : 8u) > total;
    struct pack_pull p = {from, slip, inside, inside > 0 && !lacks, second && !lacks, lacks};
    return p;
}

/* Where chunk `part` of row `row` lies, in chunks, among blocks of `tall` rows, `steps` a tile. */
DEVICE int pack_place_along(int row, int part, int tall, int steps)
{
    const int line = row % tall;
    return ((row / tall * steps + part / 8) * tall + line) * 8 + (part % 8 ^ (line & 7));
}

/* --- 64 elements of a row of C, of which `columns` are there, by a warp --- */

/* Lane l has elements 2l and 2l + 1. Where the row begins at an odd place it stores 2l + 1 and 2l + 2 together, the
 * second from its neighbour, and lane 0 element 0. */
struct pack_store {
    int at;   /* the first element that the lane stores with its pair */
    int many; /* of the pair: 0, 1 or 2 */
    int head; /* whether it stores its own first element by itself as well */
};

DEVICE struct pack_store pack_store_of(int lane, int odd, int columns)
{
    const int at = 2 * lane + odd, end = columns < 64 ? columns : 64, left = end - at;
    struct pack_store s = {at, left > 1 ? 2 : left > 0 ? 1 : 0, odd && lane == 0 && columns > 0};
    return s;
}

/* --- the same by eight lanes a row, 16 bytes each, and by two what is left at either end --- */

/* What lane `chunk` of eight stores of a row's 64 elements, of which `columns` are there; the row begins `place`
 * elements behind an address of 16 bytes. */
struct pack_wide {
    int head;  /* elements ahead of the first such address */
    int at;    /* the first of the lane's eight elements */
    int whole; /* whether it stores them */
    int first; /* whether it stores element `chunk`, of those ahead */
    int last;  /* the element that it stores of those behind the eights, or -1 */
};

DEVICE struct pack_wide pack_wide_of(int chunk, int place, int columns)
{
    const int end = columns < 0 ? 0 : columns < 64 ? columns : 64, ahead = (8 - place) % 8;
    const int head = ahead < end ? ahead : end, eights = (end - head) / 8, last = head + eights * 8 + chunk;
    struct pack_wide s = {head, head + chunk * 8, chunk < eights, chunk < head, last < end ? last : -1};
    return s;
}

#endif

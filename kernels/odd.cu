/*
 * odd.cu - persistent.cu for rows that begin anywhere, which no tensor map describes: any M, N and K.
 *
 * Before the first copy all CTAs put A and B into the workspace as the stages that they will multiply, and meet
 * (packing.cuh); a stage is then one copy of each without a map, and C is stored by 4 and 2 bytes (EPILOGUE 3). With
 * SPLIT_K that many CTAs share a tile's K through the workspace (REDUCE 2, split.cuh).
 *
 * Parameters: BM, BN, STAGES, CONSUMERS, PINGPONG, SPLIT_K, RASTER, DOWN, EARLY, as there; STORES 16: C is stored by
 * 16 bytes and, at the ends of a row, by 2 (EPILOGUE 4); PACKERS 1: every multiprocessor has a CTA that packs, whether
 * there is a tile for it or not; LOADS 16: A and B are packed by 16 bytes from aligned addresses (layout TN), else
 * by 4.
 */
#define PACK 1
#define ACROSS 0
#define CLUSTER_M 1
#define CLUSTER_N 1
#define ABREAST 1
#define REDUCE (SPLIT_K > 1 ? 2 : 0)
#define PARTS 1
#define ONE_TILE 0
#define QUEUE 0
#define STREAM_K 0
#define KEEP 0
#define HOLD 0
#define PEEK 0
#define TAIL 0
#define EPILOGUE (SPLIT_K > 1 ? 0 : STORES == 16 ? 4 : 3)
#define EVICT 0
#define STREAM 0
#define MIN_BLOCKS 1
#include "persistent.cu"

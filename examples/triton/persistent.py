"""persistent.py: C = A * B in Triton by a persistent kernel with tensor maps (TMA) and autotune
configurations: a block of threads for each multiprocessor, which takes one tile after the other. The referee
table's Triton family (scripts/referee.sh). B is row-major K x N (layout nn) or N rows of K elements (tn). It
needs triton alone."""
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": 8}, num_warps=warps, num_stages=stages)
           for m, n, k, warps, stages in [(128, 256, 64, 8, 3), (256, 128, 64, 8, 3), (128, 128, 64, 8, 4),
                                          (128, 128, 64, 4, 4), (128, 128, 128, 8, 3), (128, 64, 64, 4, 5), (64, 128, 64, 4, 5),
                                          (64, 64, 128, 4, 4), (64, 64, 64, 4, 6)]]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def matmul(a_desc, b_desc, c_desc, M, N, K, LAYOUT_TN: tl.constexpr, ACC_F32: tl.constexpr, BLOCK_M: tl.constexpr,
           BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    SUM: tl.constexpr = tl.float32 if ACC_F32 else tl.float16
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), rows * columns, tl.num_programs(0), flatten=True):
        group = tile // (GROUP_M * columns)
        in_group = min(rows - group * GROUP_M, GROUP_M)
        row = group * GROUP_M + tile % (GROUP_M * columns) % in_group
        column = tile % (GROUP_M * columns) // in_group
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=SUM)
        for k in range(0, K, BLOCK_K):
            a = a_desc.load([row * BLOCK_M, k])
            if LAYOUT_TN:
                total = tl.dot(a, b_desc.load([column * BLOCK_N, k]).T, total, out_dtype=SUM)
            else:
                total = tl.dot(a, b_desc.load([k, column * BLOCK_N]), total, out_dtype=SUM)
        c_desc.store([row * BLOCK_M, column * BLOCK_N], total.to(c_desc.dtype))


# What scripts/adapters/triton.py cannot guess: the launch, and the boxes of the tensor maps.
cudal2 = {
    "grid": ["min(SM_COUNT, ceildiv(M, BLOCK_M) * ceildiv(N, BLOCK_N))", 1, 1],
    "boxes": {"a_desc": ["BLOCK_M", "BLOCK_K"],
              "b_desc": {"nn": ["BLOCK_K", "BLOCK_N"], "tn": ["BLOCK_N", "BLOCK_K"]},
              "c_desc": ["BLOCK_M", "BLOCK_N"]},
}

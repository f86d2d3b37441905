"""matmul.py: C = A * B in Triton by tensor maps (TMA), with autotune configurations, as an example of what
scripts/adapters/triton.py takes. B is row-major K x N (layout nn) or N rows of K elements (tn). It needs
triton alone."""
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": 64, "GROUP_M": 8}, num_warps=warps, num_stages=stages)
           for m, n, warps, stages in [(128, 256, 8, 3), (128, 128, 4, 4), (128, 128, 8, 4), (64, 128, 4, 4),
                                       (128, 64, 4, 5), (64, 64, 4, 5)]]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def matmul(a_desc, b_desc, c_desc, M, N, K, LAYOUT_TN: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
           BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group = tl.program_id(0) // (GROUP_M * columns)
    in_group = min(rows - group * GROUP_M, GROUP_M)
    row = group * GROUP_M + tl.program_id(0) % (GROUP_M * columns) % in_group
    column = tl.program_id(0) % (GROUP_M * columns) // in_group
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = a_desc.load([row * BLOCK_M, k])
        if LAYOUT_TN:
            total = tl.dot(a, b_desc.load([column * BLOCK_N, k]).T, total)
        else:
            total = tl.dot(a, b_desc.load([k, column * BLOCK_N]), total)
    c_desc.store([row * BLOCK_M, column * BLOCK_N], total.to(tl.float16))


# What scripts/adapters/triton.py cannot guess: the launch, and the boxes of the tensor maps.
cudal2 = {
    "grid": ["ceildiv(M, BLOCK_M) * ceildiv(N, BLOCK_N)", 1, 1],
    "boxes": {"a_desc": ["BLOCK_M", "BLOCK_K"],
              "b_desc": {"nn": ["BLOCK_K", "BLOCK_N"], "tn": ["BLOCK_N", "BLOCK_K"]},
              "c_desc": ["BLOCK_M", "BLOCK_N"]},
}

"""gemm.py: C = A * B in the CuTe DSL, the plainest that there is, as an example of what
scripts/adapters/cute.py takes: one kernel, whose tensors are A, B and C. B is row-major K x N (layout nn) or
N rows of K elements (tn)."""
import cutlass
import cutlass.cute as cute

TILE = 16


@cute.kernel
def product(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, tn: cutlass.Constexpr):
    x, y, _ = cute.arch.thread_idx()
    bx, by, _ = cute.arch.block_idx()
    row, column = by * TILE + y, bx * TILE + x
    if row < c.shape[0] and column < c.shape[1]:
        total = cutlass.Float32(0)
        for k in range(a.shape[1]):
            if cutlass.const_expr(tn):
                total += a[row, k].to(cutlass.Float32) * b[column, k].to(cutlass.Float32)
            else:
                total += a[row, k].to(cutlass.Float32) * b[k, column].to(cutlass.Float32)
        c[row, column] = total.to(c.element_type)


@cute.jit
def gemm(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, tn: cutlass.Constexpr):
    product(a, b, c, tn).launch(grid=[1, 1, 1], block=[TILE, TILE, 1])  # the harness launches by what stands below


cudal2 = {"grid": [f"ceildiv(N, {TILE})", f"ceildiv(M, {TILE})", 1], "block": [TILE, TILE, 1]}

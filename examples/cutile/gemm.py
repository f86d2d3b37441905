"""gemm.py: C = A * B in cuTile, as an example of what scripts/adapters/cutile.py takes. B is row-major K x N
(layout nn) or N rows of K elements (tn). cuTile itself is all that it needs."""
import cuda.tile as ct

TM, TN, TK = 128, 128, 64


@ct.kernel
def gemm(a, b, c, tn: ct.Constant[bool]):
    row, column = ct.bid(0), ct.bid(1)
    total = ct.full((TM, TN), 0, ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(TM, TK))):
        left = ct.load(a, index=(row, k), shape=(TM, TK), padding_mode=ct.PaddingMode.ZERO)
        if tn:
            right = ct.load(b, index=(column, k), shape=(TN, TK), padding_mode=ct.PaddingMode.ZERO)
            total = ct.mma(left, ct.transpose(right), total)
        else:
            right = ct.load(b, index=(k, column), shape=(TK, TN), padding_mode=ct.PaddingMode.ZERO)
            total = ct.mma(left, right, total)
    ct.store(c, index=(row, column), tile=ct.astype(total, c.dtype))


cudal2 = {"grid": [f"ceildiv(M, {TM})", f"ceildiv(N, {TN})", 1]}

"""gemm.py: C = A * B in TileLang, with configurations, as an example of what scripts/adapters/tilelang.py
takes. B is row-major K x N (layout nn) or N rows of K elements (tn); M, N and K are symbols, known at the
launch."""
import tilelang.language as T


def gemm(M, N, K, tn, dtype, sums, BM, BN, BK, stages, threads):
    @T.prim_func
    def product(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K) if tn else (K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, BN), T.ceildiv(M, BM), threads=threads) as (bx, by):
            left = T.alloc_shared((BM, BK), dtype)
            right = T.alloc_shared((BN, BK) if tn else (BK, BN), dtype)
            out = T.alloc_shared((BM, BN), dtype)
            total = T.alloc_fragment((BM, BN), sums)
            T.clear(total)
            for k in T.Pipelined(T.ceildiv(K, BK), num_stages=stages):
                T.copy(A[by * BM, k * BK], left)
                if tn:
                    T.copy(B[bx * BN, k * BK], right)
                else:
                    T.copy(B[k * BK, bx * BN], right)
                T.gemm(left, right, total, transpose_B=tn)
            T.copy(total, out)
            T.copy(out, C[by * BM, bx * BN])
    return product


# Each is a kernel of the set in each layout; the harness races them.
cudal2 = {"configs": [{"BM": m, "BN": n, "BK": 64, "stages": stages, "threads": threads}
                      for m, n, stages, threads in [(128, 256, 3, 256), (128, 128, 4, 256), (128, 64, 4, 128), (64, 64, 4, 128)]]}

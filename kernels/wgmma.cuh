/*
 * wgmma.cuh - sm_90a: tensor copies, transaction barriers and warpgroup products as inline wrappers.
 *
 * wgmma's width is part of its name and its accumulators are that many operands, so the asm text is put together by the
 * preprocessor: WG_REGISTERS below picks one row of a table of operand lists.
 */
#ifndef CUDAL2_WGMMA_CUH
#define CUDAL2_WGMMA_CUH

#include "common.cuh"

/* --- barriers of shared memory ---------------------------------------------------------------------------- */

DEVICE void barrier_init(u32 barrier, u32 arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/* Makes initialised barriers visible to the copy engine and, if there is one, to the cluster. */
DEVICE void barrier_init_fence()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

DEVICE void barrier_expect(u32 barrier, u32 bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

DEVICE void barrier_arrive(u32 barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/*
 * Arrives at the same barrier of CTA `rank` of the cluster. Without `.cluster`: it orders no ordinary stores between
 * the CTAs, and with it every arrival is preceded by a MEMBAR.GPU.
 */
DEVICE void barrier_arrive_at(u32 barrier, u32 rank)
{
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(cluster_address(barrier, rank)) : "memory");
}

DEVICE void barrier_wait(u32 barrier, u32 parity)
{
    asm volatile("{\n.reg .pred p;\nAGAIN:\n mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n @p bra DONE;\n "
                 "bra AGAIN;\nDONE:\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

/* Whether the phase is over; waits for nothing. */
DEVICE bool barrier_test(u32 barrier, u32 parity)
{
    u32 over;
    asm volatile("{\n.reg .pred p;\n mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(over)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return over;
}

/* As barrier_wait(), and sees what the CTAs of the cluster stored before they completed the phase. */
DEVICE void barrier_wait_cluster(u32 barrier, u32 parity)
{
    asm volatile("{\n.reg .pred p;\nAGAIN:\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
                 " @p bra DONE;\n bra AGAIN;\nDONE:\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

/* To another CTA's shared memory; the bytes count towards `barrier` there. Both are cluster addresses. */
DEVICE void store_async8(u32 to, uint2 v, u32 barrier)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(to),
                 "r"(v.x), "r"(v.y), "r"(barrier)
                 : "memory");
}

/* --- tensor copies ---------------------------------------------------------------------------------------- */

DEVICE void tensor_prefetch(const TensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* What is marked with it is the first to leave the L2 cache. */
DEVICE u64 evict_first()
{
    u64 policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

/* A box from global to shared memory; x counts elements of the inner dimension. EVICT_FIRST: as evict_first(). */
template <int EVICT_FIRST> DEVICE void tensor_load(u32 to, const TensorMap *map, int x, int y, u32 barrier)
{
    if (EVICT_FIRST) {
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
                     "[%1, {%2, %3}], [%4], %5;" ::"r"(to),
                     "l"(map), "r"(x), "r"(y), "r"(barrier), "l"(evict_first())
                     : "memory");
    } else {
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
            "[%4];" ::"r"(to),
            "l"(map), "r"(x), "r"(y), "r"(barrier)
            : "memory");
    }
}

/* The same into every CTA of the cluster whose bit of `mask` is set. */
template <int EVICT_FIRST>
DEVICE void tensor_load_multicast(u32 to, const TensorMap *map, int x, int y, u32 barrier, u16 mask)
{
    if (EVICT_FIRST) {
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                     ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, %6;" ::"r"(to),
                     "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(mask), "l"(evict_first())
                     : "memory");
    } else {
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
            "[%1, {%2, %3}], [%4], %5;" ::"r"(to),
            "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(mask)
            : "memory");
    }
}

template <int EVICT_FIRST> DEVICE void tensor_store(const TensorMap *map, u32 from, int x, int y)
{
    if (EVICT_FIRST) {
        asm volatile(
            "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;" ::"l"(map),
            "r"(x), "r"(y), "r"(from), "l"(evict_first())
            : "memory");
    } else {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x),
                     "r"(y), "r"(from)
                     : "memory");
    }
}

/* So many bytes, of which 16 each belong together, from global to shared memory, as they lie. */
DEVICE void bulk_load(u32 to, const void *from, u32 bytes, u32 barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

DEVICE void tensor_store_commit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Until at most PENDING groups of this thread's stores still read shared memory. */
template <int PENDING> DEVICE void tensor_store_wait()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

/* Ordinary writes to shared memory before, the copy engine's reads after. */
DEVICE void proxy_fence()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

template <int ID> DEVICE void named_barrier(u32 threads)
{
    asm volatile("bar.sync %0, %1;" ::"n"(ID), "r"(threads) : "memory");
}

/* Counts towards the barrier without waiting there. */
template <int ID> DEVICE void named_barrier_arrive(u32 threads)
{
    asm volatile("bar.arrive %0, %1;" ::"n"(ID), "r"(threads) : "memory");
}

template <int REGISTERS> DEVICE void registers_grow()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

template <int REGISTERS> DEVICE void registers_shrink()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

/* --- warpgroup products ----------------------------------------------------------------------------------- */

DEVICE void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

DEVICE void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int PENDING> DEVICE void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

/*
 * Matrix descriptor of a 128-byte-swizzled operand, its low and its high word. K-major: rows of 64 k, groups of eight
 * rows 1024 bytes apart (`leading` is ignored). MN-major: rows of 64 m or n; eight rows of k are 1024 bytes apart from
 * the next eight, 64 m or n from the next 64 by `leading`. Shared memory ends below 256 KB, so that what lies n bytes
 * further has a low word greater by n / 16.
 */
DEVICE u32 wgmma_descriptor_low(u32 address, u32 leading)
{
    return (address >> 4 & 0x3FFF) | leading >> 4 << 16;
}

DEVICE u64 wgmma_descriptor(u32 low)
{
    u64 r;
    asm("mov.b64 %0, {%1, %2};" : "=l"(r) : "r"(low), "r"(1024 >> 4 | 1 << 30));
    return r;
}

/* Operand lists in blocks of eight. */
#define WG_P0 "%0,%1,%2,%3,%4,%5,%6,%7"
#define WG_P1 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define WG_P2 ",%16,%17,%18,%19,%20,%21,%22,%23"
#define WG_P3 ",%24,%25,%26,%27,%28,%29,%30,%31"
#define WG_P4 ",%32,%33,%34,%35,%36,%37,%38,%39"
#define WG_P5 ",%40,%41,%42,%43,%44,%45,%46,%47"
#define WG_P6 ",%48,%49,%50,%51,%52,%53,%54,%55"
#define WG_P7 ",%56,%57,%58,%59,%60,%61,%62,%63"
#define WG_P8 ",%64,%65,%66,%67,%68,%69,%70,%71"
#define WG_P9 ",%72,%73,%74,%75,%76,%77,%78,%79"
#define WG_P10 ",%80,%81,%82,%83,%84,%85,%86,%87"
#define WG_P11 ",%88,%89,%90,%91,%92,%93,%94,%95"
#define WG_P12 ",%96,%97,%98,%99,%100,%101,%102,%103"
#define WG_P13 ",%104,%105,%106,%107,%108,%109,%110,%111"
#define WG_P14 ",%112,%113,%114,%115,%116,%117,%118,%119"
#define WG_P15 ",%120,%121,%122,%123,%124,%125,%126,%127"

#define WG_O(i)                                                                                                        \
    WG_CONSTRAINT(d[i]), WG_CONSTRAINT(d[i + 1]), WG_CONSTRAINT(d[i + 2]), WG_CONSTRAINT(d[i + 3]),                    \
        WG_CONSTRAINT(d[i + 4]), WG_CONSTRAINT(d[i + 5]), WG_CONSTRAINT(d[i + 6]), WG_CONSTRAINT(d[i + 7])
#define WG_PLACES_8 WG_P0
#define WG_OPERANDS_8 WG_O(0)
#define WG_PLACES_16 WG_PLACES_8 WG_P1
#define WG_OPERANDS_16 WG_OPERANDS_8, WG_O(8)
#define WG_PLACES_24 WG_PLACES_16 WG_P2
#define WG_OPERANDS_24 WG_OPERANDS_16, WG_O(16)
#define WG_PLACES_32 WG_PLACES_24 WG_P3
#define WG_OPERANDS_32 WG_OPERANDS_24, WG_O(24)
#define WG_PLACES_40 WG_PLACES_32 WG_P4
#define WG_OPERANDS_40 WG_OPERANDS_32, WG_O(32)
#define WG_PLACES_48 WG_PLACES_40 WG_P5
#define WG_OPERANDS_48 WG_OPERANDS_40, WG_O(40)
#define WG_PLACES_56 WG_PLACES_48 WG_P6
#define WG_OPERANDS_56 WG_OPERANDS_48, WG_O(48)
#define WG_PLACES_64 WG_PLACES_56 WG_P7
#define WG_OPERANDS_64 WG_OPERANDS_56, WG_O(56)
#define WG_PLACES_72 WG_PLACES_64 WG_P8
#define WG_OPERANDS_72 WG_OPERANDS_64, WG_O(64)
#define WG_PLACES_80 WG_PLACES_72 WG_P9
#define WG_OPERANDS_80 WG_OPERANDS_72, WG_O(72)
#define WG_PLACES_88 WG_PLACES_80 WG_P10
#define WG_OPERANDS_88 WG_OPERANDS_80, WG_O(80)
#define WG_PLACES_96 WG_PLACES_88 WG_P11
#define WG_OPERANDS_96 WG_OPERANDS_88, WG_O(88)
#define WG_PLACES_104 WG_PLACES_96 WG_P12
#define WG_OPERANDS_104 WG_OPERANDS_96, WG_O(96)
#define WG_PLACES_112 WG_PLACES_104 WG_P13
#define WG_OPERANDS_112 WG_OPERANDS_104, WG_O(104)
#define WG_PLACES_128 WG_PLACES_112 WG_P14 WG_P15
#define WG_OPERANDS_128 WG_OPERANDS_112, WG_O(112), WG_O(120)

/* Half a row more, for widths of 8 modulo 16 in fp32. */
#define WG_O4(i) WG_CONSTRAINT(d[i]), WG_CONSTRAINT(d[i + 1]), WG_CONSTRAINT(d[i + 2]), WG_CONSTRAINT(d[i + 3])
#define WG_PLACES_76 WG_PLACES_72 ",%72,%73,%74,%75"
#define WG_OPERANDS_76 WG_OPERANDS_72, WG_O4(72)
#define WG_PLACES_84 WG_PLACES_80 ",%80,%81,%82,%83"
#define WG_OPERANDS_84 WG_OPERANDS_80, WG_O4(80)
#define WG_PLACES_92 WG_PLACES_88 ",%88,%89,%90,%91"
#define WG_OPERANDS_92 WG_OPERANDS_88, WG_O4(88)

#define WG_PLACES_120 WG_PLACES_112 WG_P14
#define WG_OPERANDS_120 WG_OPERANDS_112, WG_O(112)
#define WG_PLACES_4 "%0,%1,%2,%3"
#define WG_OPERANDS_4 WG_O4(0)
#define WG_PLACES_12 WG_PLACES_8 ",%8,%9,%10,%11"
#define WG_OPERANDS_12 WG_OPERANDS_8, WG_O4(8)
#define WG_PLACES_20 WG_PLACES_16 ",%16,%17,%18,%19"
#define WG_OPERANDS_20 WG_OPERANDS_16, WG_O4(16)
#define WG_PLACES_28 WG_PLACES_24 ",%24,%25,%26,%27"
#define WG_OPERANDS_28 WG_OPERANDS_24, WG_O4(24)
#define WG_PLACES_36 WG_PLACES_32 ",%32,%33,%34,%35"
#define WG_OPERANDS_36 WG_OPERANDS_32, WG_O4(32)
#define WG_PLACES_44 WG_PLACES_40 ",%40,%41,%42,%43"
#define WG_OPERANDS_44 WG_OPERANDS_40, WG_O4(40)
#define WG_PLACES_52 WG_PLACES_48 ",%48,%49,%50,%51"
#define WG_OPERANDS_52 WG_OPERANDS_48, WG_O4(48)
#define WG_PLACES_60 WG_PLACES_56 ",%56,%57,%58,%59"
#define WG_OPERANDS_60 WG_OPERANDS_56, WG_O4(56)
#define WG_PLACES_68 WG_PLACES_64 ",%64,%65,%66,%67"
#define WG_OPERANDS_68 WG_OPERANDS_64, WG_O4(64)
#define WG_PLACES_100 WG_PLACES_96 ",%96,%97,%98,%99"
#define WG_OPERANDS_100 WG_OPERANDS_96, WG_O4(96)
#define WG_PLACES_108 WG_PLACES_104 ",%104,%105,%106,%107"
#define WG_OPERANDS_108 WG_OPERANDS_104, WG_O4(104)
#define WG_PLACES_116 WG_PLACES_112 ",%112,%113,%114,%115"
#define WG_OPERANDS_116 WG_OPERANDS_112, WG_O4(112)
#define WG_PLACES_124 WG_PLACES_120 ",%120,%121,%122,%123"
#define WG_OPERANDS_124 WG_OPERANDS_120, WG_O4(120)

/* A product's columns: those of the tile, or its rows where the products lie across. */
#if ACROSS
#define WG_N BM
#else
#define WG_N BN
#endif

/* Whether its left operand is M-major, its right one N-major. */
#define WG_LEFT_TRANSPOSED (ACROSS && !LAYOUT_TN)
#define WG_RIGHT_TRANSPOSED (!ACROSS && !LAYOUT_TN)
#if WG_LEFT_TRANSPOSED
#define WG_LEFT "1"
#else
#define WG_LEFT "0"
#endif
#if WG_RIGHT_TRANSPOSED
#define WG_RIGHT "1"
#else
#define WG_RIGHT "0"
#endif

/* A warpgroup's accumulators for 64 x WG_N: fp32, or packed pairs of fp16. */
#if WIDE_ACCUMULATOR
typedef float wgmma_register;
#define WG_REGISTERS (WG_N / 2)
#define WG_CONSTRAINT(x) "+f"(x)
#define WG_TYPE "f32"
#else
typedef u32 wgmma_register;
#define WG_REGISTERS (WG_N / 4)
#define WG_CONSTRAINT(x) "+r"(x)
#define WG_TYPE "f16"
#endif

#if WG_REGISTERS == 8
#define WG_PLACES WG_PLACES_8
#define WG_OPERANDS WG_OPERANDS_8
#define WG_DESCRIPTORS "%8, %9"
#define WG_SCALE "%10"
#elif WG_REGISTERS == 16
#define WG_PLACES WG_PLACES_16
#define WG_OPERANDS WG_OPERANDS_16
#define WG_DESCRIPTORS "%16, %17"
#define WG_SCALE "%18"
#elif WG_REGISTERS == 24
#define WG_PLACES WG_PLACES_24
#define WG_OPERANDS WG_OPERANDS_24
#define WG_DESCRIPTORS "%24, %25"
#define WG_SCALE "%26"
#elif WG_REGISTERS == 32
#define WG_PLACES WG_PLACES_32
#define WG_OPERANDS WG_OPERANDS_32
#define WG_DESCRIPTORS "%32, %33"
#define WG_SCALE "%34"
#elif WG_REGISTERS == 40
#define WG_PLACES WG_PLACES_40
#define WG_OPERANDS WG_OPERANDS_40
#define WG_DESCRIPTORS "%40, %41"
#define WG_SCALE "%42"
#elif WG_REGISTERS == 48
#define WG_PLACES WG_PLACES_48
#define WG_OPERANDS WG_OPERANDS_48
#define WG_DESCRIPTORS "%48, %49"
#define WG_SCALE "%50"
#elif WG_REGISTERS == 56
#define WG_PLACES WG_PLACES_56
#define WG_OPERANDS WG_OPERANDS_56
#define WG_DESCRIPTORS "%56, %57"
#define WG_SCALE "%58"
#elif WG_REGISTERS == 64
#define WG_PLACES WG_PLACES_64
#define WG_OPERANDS WG_OPERANDS_64
#define WG_DESCRIPTORS "%64, %65"
#define WG_SCALE "%66"
#elif WG_REGISTERS == 72
#define WG_PLACES WG_PLACES_72
#define WG_OPERANDS WG_OPERANDS_72
#define WG_DESCRIPTORS "%72, %73"
#define WG_SCALE "%74"
#elif WG_REGISTERS == 76
#define WG_PLACES WG_PLACES_76
#define WG_OPERANDS WG_OPERANDS_76
#define WG_DESCRIPTORS "%76, %77"
#define WG_SCALE "%78"
#elif WG_REGISTERS == 80
#define WG_PLACES WG_PLACES_80
#define WG_OPERANDS WG_OPERANDS_80
#define WG_DESCRIPTORS "%80, %81"
#define WG_SCALE "%82"
#elif WG_REGISTERS == 84
#define WG_PLACES WG_PLACES_84
#define WG_OPERANDS WG_OPERANDS_84
#define WG_DESCRIPTORS "%84, %85"
#define WG_SCALE "%86"
#elif WG_REGISTERS == 88
#define WG_PLACES WG_PLACES_88
#define WG_OPERANDS WG_OPERANDS_88
#define WG_DESCRIPTORS "%88, %89"
#define WG_SCALE "%90"
#elif WG_REGISTERS == 92
#define WG_PLACES WG_PLACES_92
#define WG_OPERANDS WG_OPERANDS_92
#define WG_DESCRIPTORS "%92, %93"
#define WG_SCALE "%94"
#elif WG_REGISTERS == 96
#define WG_PLACES WG_PLACES_96
#define WG_OPERANDS WG_OPERANDS_96
#define WG_DESCRIPTORS "%96, %97"
#define WG_SCALE "%98"
#elif WG_REGISTERS == 104
#define WG_PLACES WG_PLACES_104
#define WG_OPERANDS WG_OPERANDS_104
#define WG_DESCRIPTORS "%104, %105"
#define WG_SCALE "%106"
#elif WG_REGISTERS == 112
#define WG_PLACES WG_PLACES_112
#define WG_OPERANDS WG_OPERANDS_112
#define WG_DESCRIPTORS "%112, %113"
#define WG_SCALE "%114"
#elif WG_REGISTERS == 128
#define WG_PLACES WG_PLACES_128
#define WG_OPERANDS WG_OPERANDS_128
#define WG_DESCRIPTORS "%128, %129"
#define WG_SCALE "%130"
#elif WG_REGISTERS == 4
#define WG_PLACES WG_PLACES_4
#define WG_OPERANDS WG_OPERANDS_4
#define WG_DESCRIPTORS "%4, %5"
#define WG_SCALE "%6"
#elif WG_REGISTERS == 12
#define WG_PLACES WG_PLACES_12
#define WG_OPERANDS WG_OPERANDS_12
#define WG_DESCRIPTORS "%12, %13"
#define WG_SCALE "%14"
#elif WG_REGISTERS == 20
#define WG_PLACES WG_PLACES_20
#define WG_OPERANDS WG_OPERANDS_20
#define WG_DESCRIPTORS "%20, %21"
#define WG_SCALE "%22"
#elif WG_REGISTERS == 28
#define WG_PLACES WG_PLACES_28
#define WG_OPERANDS WG_OPERANDS_28
#define WG_DESCRIPTORS "%28, %29"
#define WG_SCALE "%30"
#elif WG_REGISTERS == 36
#define WG_PLACES WG_PLACES_36
#define WG_OPERANDS WG_OPERANDS_36
#define WG_DESCRIPTORS "%36, %37"
#define WG_SCALE "%38"
#elif WG_REGISTERS == 44
#define WG_PLACES WG_PLACES_44
#define WG_OPERANDS WG_OPERANDS_44
#define WG_DESCRIPTORS "%44, %45"
#define WG_SCALE "%46"
#elif WG_REGISTERS == 52
#define WG_PLACES WG_PLACES_52
#define WG_OPERANDS WG_OPERANDS_52
#define WG_DESCRIPTORS "%52, %53"
#define WG_SCALE "%54"
#elif WG_REGISTERS == 60
#define WG_PLACES WG_PLACES_60
#define WG_OPERANDS WG_OPERANDS_60
#define WG_DESCRIPTORS "%60, %61"
#define WG_SCALE "%62"
#elif WG_REGISTERS == 68
#define WG_PLACES WG_PLACES_68
#define WG_OPERANDS WG_OPERANDS_68
#define WG_DESCRIPTORS "%68, %69"
#define WG_SCALE "%70"
#elif WG_REGISTERS == 100
#define WG_PLACES WG_PLACES_100
#define WG_OPERANDS WG_OPERANDS_100
#define WG_DESCRIPTORS "%100, %101"
#define WG_SCALE "%102"
#elif WG_REGISTERS == 108
#define WG_PLACES WG_PLACES_108
#define WG_OPERANDS WG_OPERANDS_108
#define WG_DESCRIPTORS "%108, %109"
#define WG_SCALE "%110"
#elif WG_REGISTERS == 116
#define WG_PLACES WG_PLACES_116
#define WG_OPERANDS WG_OPERANDS_116
#define WG_DESCRIPTORS "%116, %117"
#define WG_SCALE "%118"
#elif WG_REGISTERS == 120
#define WG_PLACES WG_PLACES_120
#define WG_OPERANDS WG_OPERANDS_120
#define WG_DESCRIPTORS "%120, %121"
#define WG_SCALE "%122"
#elif WG_REGISTERS == 124
#define WG_PLACES WG_PLACES_124
#define WG_OPERANDS WG_OPERANDS_124
#define WG_DESCRIPTORS "%124, %125"
#define WG_SCALE "%126"
#else
#error "no wgmma of that width here"
#endif

/* D (64 x WG_N) = left (64 x 16) * right (16 x WG_N), plus D unless `accumulate` is 0. */
DEVICE void wgmma(wgmma_register (&d)[WG_REGISTERS], u64 left, u64 right, int accumulate)
{
    asm volatile("{\n.reg .pred p;\n setp.ne.b32 p, " WG_SCALE ", 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n" CUDAL2_STRING(WG_N) "k16." WG_TYPE "." ELEMENT "." ELEMENT
                                                                         " {" WG_PLACES "}, " WG_DESCRIPTORS
                                                                         ", p, 1, 1, " WG_LEFT ", " WG_RIGHT ";\n}"
                 : WG_OPERANDS
                 : "l"(left), "l"(right), "r"(accumulate));
}

#endif

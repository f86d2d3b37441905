/*
 * flush.cu - evicts the L2: the whole of a buffer of twice its size is read. It is written once, when it is new.
 */
extern "C" __global__ void __launch_bounds__(256) flush_write(uint4 *buffer, u64 count, u32 value)
{
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        buffer[i] = make_uint4(value, value, value, value);
}

/* The store never happens for a buffer that flush_write filled; it keeps the loads alive. */
extern "C" __global__ void __launch_bounds__(256) flush_read(uint4 *buffer, u64 count, u32 value)
{
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        uint4 got = buffer[i];
        if ((got.x | got.y | got.z | got.w) != value)
            buffer[i] = make_uint4(0, 0, 0, 0);
    }
}

/*
 * mock_cuda_memory.h - the memory calls of mock_cuda.h: device memory is host memory. Included there.
 */
#ifndef CUDAL2_TESTS_MOCK_CUDA_MEMORY_H
#define CUDAL2_TESTS_MOCK_CUDA_MEMORY_H

static cu_result m_memory_info(size_t *free_bytes, size_t *total)
{
    *free_bytes = 123456789;
    *total = (size_t)140 << 30;
    return CU_OK;
}

static cu_result m_memory_alloc(cu_pointer *memory, size_t bytes)
{
    if (bytes > (1u << 30))
        return CU_OUT_OF_MEMORY;
    *memory = (cu_pointer)(uintptr_t)calloc(1, bytes);
    mock.live_memory++;
    return CU_OK;
}

static cu_result m_memory_free(cu_pointer memory)
{
    free((void *)(uintptr_t)memory);
    mock.live_memory--;
    return CU_OK;
}

enum { PIECE = 4096 };

static cu_result m_virtual_granularity(size_t *bytes, const struct cu_memory_kind *kind, int option)
{
    assert_int_equal(kind->type, CU_MEMORY_PINNED);
    assert_int_equal(option, 0);
    *bytes = PIECE;
    return CU_OK;
}

static cu_result m_virtual_reserve(cu_pointer *address, size_t bytes, size_t alignment, cu_pointer wish,
                                   unsigned long long flags)
{
    assert_true(alignment == 0 && wish == 0 && flags == 0 && bytes % PIECE == 0);
    mock.fences.base = (cu_pointer)(uintptr_t)aligned_alloc(PIECE, bytes);
    mock.fences.reserved = bytes;
    mock.live_memory++;
    *address = mock.fences.base;
    return CU_OK;
}

static cu_result m_virtual_free(cu_pointer address, size_t bytes)
{
    assert_true(address == mock.fences.base && bytes == mock.fences.reserved && !mock.fences.mapped);
    return m_memory_free(address);
}

static cu_result m_virtual_create(unsigned long long *handle, size_t bytes, const struct cu_memory_kind *kind,
                                  unsigned long long flags)
{
    assert_true(bytes % PIECE == 0 && kind->location.type == CU_LOCATION_DEVICE && flags == 0);
    if (mock.fences.refuse)
        return CU_OUT_OF_MEMORY;
    mock.live_memory++;
    *handle = 99;
    return CU_OK;
}

static cu_result m_virtual_release(unsigned long long handle)
{
    assert_int_equal(handle, 99);
    mock.live_memory--;
    return CU_OK;
}

static cu_result m_virtual_map(cu_pointer address, size_t bytes, size_t offset, unsigned long long handle,
                               unsigned long long flags)
{
    assert_true(handle == 99 && offset == 0 && flags == 0);
    assert_true(address >= mock.fences.base + PIECE);
    assert_true(address + bytes + PIECE <= mock.fences.base + mock.fences.reserved);
    mock.fences.mapped = true;
    return CU_OK;
}

static cu_result m_virtual_unmap(cu_pointer address, size_t bytes)
{
    (void)address;
    (void)bytes;
    mock.fences.mapped = false;
    return CU_OK;
}

static cu_result m_virtual_access(cu_pointer address, size_t bytes, const struct cu_access *access, size_t count)
{
    assert_true(address % PIECE == 0 && bytes % PIECE == 0 && count == 1);
    assert_int_equal(access->flags, CU_ACCESS_READ_WRITE);
    return CU_OK;
}

static cu_result m_host_alloc(void **memory, size_t bytes, unsigned flags)
{
    assert_int_equal(flags, CU_HOST_PORTABLE_MAPPED);
    *memory = calloc(1, bytes);
    return CU_OK;
}

static cu_result m_host_free(void *memory)
{
    free(memory);
    return CU_OK;
}

static cu_result m_copy_in(cu_pointer to, const void *from, size_t bytes, cu_stream stream)
{
    (void)stream;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return CU_OK;
}

static cu_result m_copy_out(void *to, cu_pointer from, size_t bytes, cu_stream stream)
{
    (void)stream;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return CU_OK;
}

static cu_result m_memset8(cu_pointer memory, unsigned char value, size_t bytes, cu_stream stream)
{
    (void)memory;
    (void)value;
    (void)bytes;
    if (is_second(stream))
        return status();
    append(&(struct op){.kind = OP_NODE, .node_type = CU_NODE_MEMSET, .ns = 500});
    return CU_OK;
}

#endif

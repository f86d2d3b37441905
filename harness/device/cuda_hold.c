/*
 * cuda_hold.c - holds the stream: a wait for a word in host memory, which the host writes when all of a graph has been
 * launched. The stream's front end waits, and nothing runs on the device. Relies on driver.h. Called by cuda_segment.c
 * and cuda_try_hold.c.
 */
#include "device/cuda_device.h"

int cuda_hold(struct cuda_device *c, struct error *err)
{
    cu_pointer flag = (cu_pointer)(uintptr_t)&c->signals->handed_over;
    return driver_check(&c->driver, c->driver.stream_wait_value(c->stream, flag, ++c->hold_count, CU_WAIT_GEQ), err,
                        "cuStreamWaitValue32");
}

void cuda_hand_over(struct cuda_device *c)
{
    __atomic_store_n(&c->signals->handed_over, c->hold_count, __ATOMIC_RELEASE);
}

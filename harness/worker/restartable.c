/*
 * restartable.c - unregisters what the C library registered with rseq. Relies on the symbols that glibc names the place
 * by (2.35 and later; none: nothing is registered). Called by plugin_sandbox.c.
 */
#include "worker/restartable.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNREGISTER 1 /* RSEQ_FLAG_UNREGISTER */
/* Of struct rseq: where cpu_id is, which the library reads, and what it finds there where registering failed: it asks
 * the kernel then, and registers no thread. */
#define CPU_AT 4
#define FAILED (-2)
#if defined(__aarch64__)
#define SIGNATURE 0xd428bc00u
#else
#define SIGNATURE 0x53053053u
#endif
/* The length is to be the registered one, which is the library's affair. */
#define LENGTH_STEP 32u
#define LENGTH_MOST 512u

static char *thread_pointer(void)
{
#if defined(__x86_64__)
    char *pointer;
    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
#else
    return __builtin_thread_pointer();
#endif
}

bool restartable_leave(void)
{
    const ptrdiff_t *offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
    const unsigned *size = dlsym(RTLD_DEFAULT, "__rseq_size");
    if (!offset || !size || *size == 0)
        return true;
    char *area = thread_pointer() + *offset;
    bool left = false;
    for (unsigned length = LENGTH_STEP; length <= LENGTH_MOST && !left; length += LENGTH_STEP)
        left = syscall(SYS_rseq, area, length, UNREGISTER, SIGNATURE) == 0;
    if (left)
        *(volatile int32_t *)(area + CPU_AT) = FAILED;
    return left;
}

/*
 * cuda_threads.cuh - contenders of the red team on a GPU with a thread on the host that goes on in others' turns, and
 * an honest one whose helper sleeps there. Relies on make and plain of cuda.cu, which alone includes it, in the middle.
 */
#ifndef CUDAL2_REDTEAM_CUDA_THREADS_CUH
#define CUDAL2_REDTEAM_CUDA_THREADS_CUH

#include <semaphore.h>

static void spin_for(std::chrono::microseconds time)
{
    auto until = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < until)
        ;
}

/* Made by the first setup: it feeds a stream of its own with kernels that do nothing, or only computes. */
template <bool FEEDS> static int burning_setup(const cudal2_setup *setup, void **out, char *why)
{
    static bool begun;
    int status = make(setup, out, why);
    if (begun || status != CUDAL2_OK)
        return status;
    begun = true;
    std::thread([] {
        cudaStream_t side = nullptr;
        if (FEEDS)
            cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        for (;;) {
            if (FEEDS)
                decoy<<<1, 1, 0, side>>>((__half *)2);
            spin_for(std::chrono::microseconds(100));
        }
    }).detach();
    return status;
}

static sem_t woken;

static void help_when_woken()
{
    for (;;) {
        sem_wait(&woken);
        spin_for(std::chrono::microseconds(2000));
    }
}

/* Honest: each launch wakes a helper, which spins for 2 ms as OpenMP's threads do. */
static int woken_launch(void *state_of, size_t set, char *why)
{
    static bool begun;
    int waiting = 0;
    if (!begun) {
        begun = true;
        sem_init(&woken, 0, 0);
        std::thread(help_when_woken).detach();
    }
    if (sem_getvalue(&woken, &waiting) == 0 && waiting == 0)
        sem_post(&woken);
    return plain<0>(state_of, set, why);
}

#endif

/*
 * sanitized.h - whether a sanitizer's runtime is in the process. It has handlers for faults, looks at an allocator's
 * blocks, starts and traces a process of its own, and its shadow is larger than any limit of memory.
 */
#ifndef CUDAL2_BASE_SANITIZED_H
#define CUDAL2_BASE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#endif

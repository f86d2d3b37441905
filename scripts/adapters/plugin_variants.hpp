/*
 * plugin_variants.hpp - a plugin of a list of variants, which the harness races: its hooks, without a word of CUTLASS,
 * so that a list of thousands compiles at once. Included by cutlass_plugin.hpp, and by what cutlass_heuristic.py
 * writes.
 */
#pragma once

#include "abi/contender.h"

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace cudal2
{

/* How a kernel's tiles are dealt out: what CUTLASS takes at run time. */
struct Deal {
    char raster = 0; /* 'm' or 'n': along which the tiles run; 0: as CUTLASS likes */
    int swizzle = 1, splits = 1;
};

/* A kernel. The hooks are those of abi/contender.h. */
struct Ops {
    bool (*takes)(const cudal2_setup *setup, const Deal &deal);
    int (*setup)(const cudal2_setup *setup, const Deal &deal, void **state, char *why);
};

/* One way to do a problem; m is 0 where it is for any, else it is for this one. */
struct Variant {
    const char *key;
    const Ops *ops;
    Deal deal;
    int64_t m, n, k;

    bool is_for(const cudal2_problem &p) const
    {
        return m == 0 || (m == p.m && n == p.n && k == p.k);
    }
};

struct State {
    const char *key = nullptr;
    size_t workspace_bytes = 0;
    virtual ~State() = default;
    virtual int launch(size_t set, char *why) = 0;
};

/* No exception leaves a hook. */
template <typename Call> int guarded(char *why, const Call &call) noexcept
{
    try {
        return call();
    } catch (const std::exception &e) {
        std::snprintf(why, CUDAL2_WHY, "%.200s", e.what());
    } catch (...) {
        std::snprintf(why, CUDAL2_WHY, "it throws what is no std::exception");
    }
    return CUDAL2_LIBRARY_ERROR;
}

template <const auto &variants>
int list(const cudal2_setup *setup, cudal2_variant *out, size_t capacity, char *why) noexcept
{
    return guarded(why, [&] {
        size_t n = 0;
        for (const Variant &v : variants)
            if (n < capacity && v.is_for(setup->problem) && v.ops->takes(setup, v.deal))
                std::snprintf(out[n++].key, sizeof out->key, "%s", v.key);
        if (n == 0)
            std::snprintf(why, CUDAL2_WHY, "none of the variants is for this problem");
        return n > 0 ? static_cast<int>(n) : -CUDAL2_UNSUPPORTED;
    });
}

template <const auto &variants> int setup(const cudal2_setup *setup, void **state, char *why) noexcept
{
    return guarded(why, [&] {
        int status = CUDAL2_BAD_VARIANT;
        std::snprintf(why, CUDAL2_WHY, "no variant \"%.100s\"", setup->variant ? setup->variant : "");
        for (const Variant &v : variants) {
            if (!v.is_for(setup->problem) || (setup->variant && std::strcmp(setup->variant, v.key) != 0))
                continue;
            status = v.ops->setup(setup, v.deal, state, why);
            if (status == CUDAL2_OK)
                static_cast<State *>(*state)->key = v.key;
            if (status != CUDAL2_UNSUPPORTED || setup->variant)
                return status;
        }
        return status;
    });
}

inline int launch(void *state, size_t set, char *why) noexcept
{
    return guarded(why, [&] { return static_cast<State *>(state)->launch(set, why); });
}

inline void teardown(void *state) noexcept
{
    delete static_cast<State *>(state);
}

inline int describe(void *state, char *out, size_t capacity) noexcept
{
    const auto *s = static_cast<State *>(state);
    const int n = std::snprintf(out, capacity, "{\"accumulates\":\"f32\",\"variant\":\"%s\",\"workspace_bytes\":%zu}",
                                s->key, s->workspace_bytes);
    return n > 0 && static_cast<size_t>(n) < capacity ? CUDAL2_OK : CUDAL2_LIBRARY_ERROR;
}

template <const auto &variants>
constexpr cudal2_contender contender(const char *name, cudal2_layout layout, int cc, cudal2_dtype dtype = CUDAL2_F16)
{
    cudal2_contender c{};
    c.name = name;
    c.devices = CUDAL2_ON_CUDA;
    c.dtypes = CUDAL2_BIT(dtype);
    c.accumulates = CUDAL2_BIT(CUDAL2_ACC_F32);
    c.layout = layout;
    c.min_cc = c.max_cc = cc;
    c.list_variants = list<variants>;
    c.setup = setup<variants>;
    c.launch = launch;
    c.teardown = teardown;
    c.describe = describe;
    return c;
}

} // namespace cudal2

/* `nn` and `tn`: static arrays of Variant; `versions` as in struct cudal2_plugin. CUDAL2_CC is the architecture that is
 * built for. */
#define CUDAL2_PLUGIN_OF(family, nn, tn, dtype, versions)                                                              \
    static const cudal2_contender cudal2_contenders[] = {                                                              \
        ::cudal2::contender<nn>(family "-nn", CUDAL2_NN, CUDAL2_CC, dtype),                                            \
        ::cudal2::contender<tn>(family "-tn", CUDAL2_TN, CUDAL2_CC, dtype)};                                           \
    extern "C" {                                                                                                       \
    const uint32_t cudal2_plugin_abi = CUDAL2_ABI;                                                                     \
    const struct cudal2_plugin *cudal2_plugin(void)                                                                    \
    {                                                                                                                  \
        static const struct cudal2_plugin plugin = {family, cudal2_contenders, 2, versions, nullptr};                  \
        return &plugin;                                                                                                \
    }                                                                                                                  \
    }
#define CUDAL2_PLUGIN(family, nn, tn) CUDAL2_PLUGIN_OF(family, nn, tn, CUDAL2_F16, nullptr)

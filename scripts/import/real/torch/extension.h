/* torch/extension.h with a real libtorch: its tensors and operators, without Python. Binding to Python does nothing,
 * since the wrapper calls the function itself and a worker has no Python; nor does TORCH_LIBRARY, since two files of a
 * set may register one name. For import.py --real-torch. */
#pragma once
#include <ATen/ATen.h>
#include <torch/library.h>
#include <torch/types.h>

namespace cudal2_stand_in
{
struct Module {
    template <typename... Anything> Module &def(Anything &&...)
    {
        return *this;
    }
    template <typename... Anything> Module &impl(Anything &&...)
    {
        return *this;
    }
};
} // namespace cudal2_stand_in

#undef TORCH_LIBRARY
#undef TORCH_LIBRARY_FRAGMENT
#undef TORCH_LIBRARY_IMPL
#define TORCH_EXTENSION_NAME imported
#define PYBIND11_MODULE(name, variable)                                                                                \
    [[maybe_unused]] static void cudal2_bind_##name(::cudal2_stand_in::Module &variable)
#define TORCH_LIBRARY(name, variable) PYBIND11_MODULE(name, variable)
#define TORCH_LIBRARY_FRAGMENT(name, variable) PYBIND11_MODULE(name##_fragment, variable)
#define TORCH_LIBRARY_IMPL(name, key, variable) PYBIND11_MODULE(name##_##key, variable)

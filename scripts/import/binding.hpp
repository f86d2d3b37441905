/*
 * binding.hpp - what sources name of pybind11 and of torch's libraries when they bind a function to Python. Nothing is
 * bound: the wrapper calls the function itself, a worker has no Python, and two files of a set may register one name.
 * Included by include/stand_in.hpp and real/torch/extension.h.
 */
#pragma once

#include <string>

namespace cudal2_stand_in
{
struct Module {
    std::string text;
    std::string &doc()
    {
        return text;
    }
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

namespace pybind11
{
struct arg {
    explicit arg(const char *)
    {
    }
    template <typename T> arg &operator=(T &&)
    {
        return *this;
    }
};
struct none {
};
struct gil_scoped_release {
    gil_scoped_release()
    {
    }
};
} // namespace pybind11
namespace py = pybind11;

namespace torch
{
template <typename Function> Function *wrap_pybind_function(Function *f)
{
    return f;
}
} // namespace torch

#define TORCH_EXTENSION_NAME imported
#define PYBIND11_MODULE(name, variable)                                                                                \
    [[maybe_unused]] static void cudal2_bind_##name(::cudal2_stand_in::Module &variable)

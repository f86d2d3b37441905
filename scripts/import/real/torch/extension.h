/* torch/extension.h with a real libtorch: its tensors and operators, without Python. Binding to Python does nothing,
 * nor does TORCH_LIBRARY (binding.hpp). For import.py --real-torch. */
#pragma once
#include "../../binding.hpp"

#include <ATen/ATen.h>
#include <torch/library.h>
#include <torch/types.h>

#undef TORCH_LIBRARY
#undef TORCH_LIBRARY_FRAGMENT
#undef TORCH_LIBRARY_IMPL
#define TORCH_LIBRARY(name, variable) PYBIND11_MODULE(name, variable)
#define TORCH_LIBRARY_FRAGMENT(name, variable) PYBIND11_MODULE(name##_fragment, variable)
#define TORCH_LIBRARY_IMPL(name, key, variable) PYBIND11_MODULE(name##_##key, variable)

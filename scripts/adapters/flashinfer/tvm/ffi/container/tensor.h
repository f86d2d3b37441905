/* tvm/ffi/container/tensor.h of the stand-in: everything is in ffi.hpp. */
#pragma once
#include "../../../ffi.hpp"

/* tvm/ffi/extra/c_env_api.h of the stand-in: everything is in ffi.hpp. */
#pragma once
#include "../../../ffi.hpp"

/* c10/core/TensorImpl.h of the stand-in: everything is in stand_in.hpp. */
#pragma once
#include "../../stand_in.hpp"

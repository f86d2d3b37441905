/* c10/util/Half.h of the stand-in: everything is in stand_in.hpp. */
#pragma once
#include "../../stand_in.hpp"

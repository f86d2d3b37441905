/* torch/python.h with a real libtorch: there is no Python here, see extension.h beside it. For import.py --real-torch.
 */
#pragma once
#include <torch/extension.h>

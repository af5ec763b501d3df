// Turns preprocessed CUDA C into C++ for the shim.
#pragma once
#include <string>

// Returns C++ in which each `__shared__` variable is an array that the driver knows, each kernel takes its constant parameters by
// reference, and a table of the kernels is at the end. Sets `error` on failure.
std::string rewrite(const std::string &text, std::string &error);

-- Runs every test of the package: `luajit lua/tests/run.lua`, or only the tests of the named files. THORN_LIBRARY names the library if it
-- is not in this source tree. The exit code is 1 if a test fails.

local here = arg[0]:match("^(.*)[/\\]") or "."
package.path = here .. "/?.lua;" .. here .. "/../?.lua;" .. package.path

local harness = require("harness")

local FILES = {
    "documentation_test",
    "construct_test",
    "class_test",
    "number_test",
    "index_test",
    "view_test",
    "elementwise_test",
    "reduce_test",
    "matrix_test",
    "random_test",
    "serialize_test",
    "file_test",
    "arguments_test",
    "memory_test",
    "torch7_suite_test",
    "torch7_programs_test",
    "names_test",
    "utility_test",
    "paths_test",
    "cmdline_test",
    "tester_test",
    "nn_test",
    "nn_criterions_test",
    "nn_sparse_test",
    "nn_images_test",
    "nn_gradients_test",
    "dynamic_api",
    "dynamic_gradients",
    "dynamic_handles",
    "dynamic_hostile",
    "dynamic_memory",
    "dynamic_operators",
    "dynamic_programs",
    "dynamic_sparse",
    "dynamic_table",
}

for _, name in ipairs(#arg > 0 and arg or FILES) do
    local tests, failures = harness.tests, harness.failures
    require(name)
    print(("%-24s %4d tests, %d failed"):format(name, harness.tests - tests, harness.failures - failures))
end

print(("%d tests, %d checks, %d failed"):format(harness.tests, harness.checks, harness.failures))
os.exit(harness.failures == 0 and 0 or 1, true)

# The tests and the examples. Each is a ctest. With valgrind, every test in C and C++ has a second ctest, `valgrind:<name>`.
enable_language(CXX)
enable_testing()
find_package(Threads REQUIRED)
find_program(LUAJIT_EXECUTABLE luajit)
find_program(VALGRIND_EXECUTABLE valgrind)
find_program(GDB_EXECUTABLE gdb)
foreach(tool LUAJIT VALGRIND GDB)
  if(NOT ${tool}_EXECUTABLE)
    message(STATUS "thorn: ${tool} not found, its tests are left out")
  endif()
endforeach()

set(lua_environment "THORN_LIB=${shared}")

# Makes an executable with every warning. NO_SYSTEM_FROM_IMPORTED: also with the warnings of thorn.h.
function(thorn_add_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE thorn::thorn Threads::Threads m)
  target_compile_options(${name} PRIVATE -Wall -Wextra -pedantic)
  set_target_properties(${name} PROPERTIES
    C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    NO_SYSTEM_FROM_IMPORTED ON)
endfunction()

function(thorn_add_lua_test name script)
  add_test(NAME ${name} COMMAND "${LUAJIT_EXECUTABLE}" "${script}" ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${lua_environment}" TIMEOUT 300)
endfunction()

if(THORN_BUILD_TESTS)
  # The cache would hide accesses to freed memory. valgrind runs one thread at a time, so two are enough. If a test defines malloc itself,
  # to refuse memory, valgrind does not replace it.
  set(valgrind_environment TH_CACHE_LIMIT=0 TH_NUM_THREADS=2 THORN_UNDER_VALGRIND=1)
  set(valgrind_flags --quiet --leak-check=full --show-leak-kinds=definite,indirect,possible
    --errors-for-leak-kinds=definite,indirect,possible --error-exitcode=99 --soname-synonyms=somalloc=nouserintercepts)

  file(GLOB sources CONFIGURE_DEPENDS c_tests/test_*.c c_tests/test_*.cpp)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    thorn_add_program(${name} "${source}")
    # Tests of files, processes and threads need POSIX. assert is active in every build type.
    set_target_properties(${name} PROPERTIES C_EXTENSIONS ON CXX_EXTENSIONS ON)
    target_compile_options(${name} PRIVATE -UNDEBUG)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 300)
    # test_nomem_recorded counts its bytes itself, and would take minutes.
    if(VALGRIND_EXECUTABLE AND NOT name STREQUAL test_nomem_recorded)
      add_test(NAME valgrind:${name} COMMAND "${VALGRIND_EXECUTABLE}" ${valgrind_flags} $<TARGET_FILE:${name}>)
      set_tests_properties(valgrind:${name} PROPERTIES ENVIRONMENT "${valgrind_environment}" TIMEOUT 600)
    endif()
  endforeach()

  # test_share counts the entries of /dev/shm, to which no other test may add at the same time.
  foreach(name test_share valgrind:test_share)
    if(TEST ${name})
      set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
    endif()
  endforeach()

  # thorn.hpp also in the next standard. It must compile without warnings, also with these optional ones.
  file(GLOB sources CONFIGURE_DEPENDS c_tests/test_cxx*.cpp)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    thorn_add_program(${name}_20 "${source}")
    set_target_properties(${name}_20 PROPERTIES CXX_STANDARD 20)
    foreach(program ${name} ${name}_20)
      target_compile_options(${program} PRIVATE -Werror -Wshadow -Wconversion -Wsign-conversion)
    endforeach()
    add_test(NAME ${name}_20 COMMAND ${name}_20)
    set_tests_properties(${name}_20 PROPERTIES TIMEOUT 300)
  endforeach()

  foreach(program test_files test_sparse_files)
    target_compile_definitions(${program} PRIVATE "CORPUS=\"${PROJECT_SOURCE_DIR}/files/corpus\"")
  endforeach()

  file(GLOB sources CONFIGURE_DEPENDS c_tests/test_*program.c c_tests/test_*program.cpp)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    foreach(program ${name} ${name}_20)
      if(TARGET ${program})
        target_compile_definitions(${program} PRIVATE "PROGRAMS=\"${PROJECT_SOURCE_DIR}/tests/data/programs\"")
      endif()
    endforeach()
  endforeach()

  # A small BLAS for test_blas, and the machine's BLAS, if there is one, for all tests that multiply and decompose.
  foreach(bits 32 64)
    add_library(thorn_blas${bits} MODULE c_tests/blas/counting.c)
    target_compile_options(thorn_blas${bits} PRIVATE -Wall -Wextra -pedantic)
    target_link_libraries(thorn_blas${bits} PRIVATE m)
    target_compile_definitions(test_blas PRIVATE "BLAS${bits}=\"$<TARGET_FILE:thorn_blas${bits}>\"")
    add_dependencies(test_blas thorn_blas${bits})
  endforeach()
  target_compile_definitions(thorn_blas64 PRIVATE WIDE)
  target_link_libraries(test_blas PRIVATE ${CMAKE_DL_LIBS})
  find_library(THORN_BLAS NAMES libopenblas.so.0)
  if(THORN_BLAS)
    target_compile_definitions(test_blas PRIVATE "BLAS=\"${THORN_BLAS}\"")
    foreach(name test_linalg test_linalg_residuals test_linalg_scale test_matmul)
      add_test(NAME blas:${name} COMMAND ${name})
      set_tests_properties(blas:${name} PROPERTIES ENVIRONMENT "THORN_TEST_BLAS=${THORN_BLAS}" TIMEOUT 300)
    endforeach()
  else()
    message(STATUS "thorn: libopenblas.so.0 not found, the tests that use it are left out")
  endif()

  # cmake/archive.cmake assembles libthorn.a: registration at load, thread-local data and unwinding must still work.
  foreach(name test_memory test_threads test_unwind)
    thorn_add_program(static_${name} c_tests/${name}.c)
    set_target_properties(static_${name} PROPERTIES C_EXTENSIONS ON LINK_LIBRARIES "thorn::static;Threads::Threads;m")
    target_compile_options(static_${name} PRIVATE -UNDEBUG)
    add_test(NAME static:${name} COMMAND static_${name})
    set_tests_properties(static:${name} PROPERTIES TIMEOUT 300)
  endforeach()

  # The header alone, in every standard: included twice, by two files that are linked together.
  foreach(standard C:99 C:11 C:17 C:23 CXX:98 CXX:11 CXX:14 CXX:17 CXX:20)
    string(REPLACE ":" ";" parts "${standard}")
    list(POP_FRONT parts language number)
    if("${language}_${number}" STREQUAL "C_23" AND NOT "c_std_23" IN_LIST CMAKE_C_COMPILE_FEATURES)
      continue()
    endif()
    string(TOLOWER "${language}${number}" name)
    set(file $<IF:$<STREQUAL:${language},C>,c.c,cxx.cpp>)
    thorn_add_program(header_${name} "c_tests/header/${file}" c_tests/header/second.c c_tests/header/dlpack_first.c)
    target_compile_options(header_${name} PRIVATE -Werror)
    set_target_properties(header_${name} PROPERTIES ${language}_STANDARD ${number})
    add_test(NAME header:${name} COMMAND header_${name})
  endforeach()

  # thorn.hpp in several linked files, one of them without exceptions, and in a program without exceptions.
  foreach(standard 17 20)
    thorn_add_program(cxx_files_${standard} c_tests/cxx/main.cpp c_tests/cxx/second.cpp $<TARGET_OBJECTS:cxx_third_${standard}>)
    thorn_add_program(cxx_without_exceptions_${standard} c_tests/cxx/without_exceptions.cpp)
    add_library(cxx_third_${standard} OBJECT c_tests/cxx/third.cpp)
    target_link_libraries(cxx_third_${standard} PRIVATE thorn::cxx)
    foreach(name cxx_third_${standard} cxx_without_exceptions_${standard})
      target_compile_options(${name} PRIVATE -fno-exceptions)
    endforeach()
    foreach(name cxx_files_${standard} cxx_without_exceptions_${standard} cxx_third_${standard})
      target_compile_options(${name} PRIVATE -Wall -Wextra -Werror -pedantic)
      set_target_properties(${name} PROPERTIES CXX_STANDARD ${standard} CXX_EXTENSIONS OFF NO_SYSTEM_FROM_IMPORTED ON)
    endforeach()
    add_test(NAME header:cxx_files_${standard} COMMAND cxx_files_${standard})
    add_test(NAME header:cxx_without_exceptions_${standard} COMMAND cxx_without_exceptions_${standard})
  endforeach()

  # A second compiler, if there is one.
  find_program(THORN_CLANGXX NAMES clang++ clang++-19 clang++-16 clang++-14)
  if(THORN_CLANGXX)
    foreach(standard 17 20)
      add_test(NAME header:cxx_clang_${standard} COMMAND "${THORN_CLANGXX}" -std=c++${standard} -Wall -Wextra -Werror -pedantic -DTH_CHECKED -fsyntax-only
        "-I${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/c_tests/test_cxx.cpp" "${PROJECT_SOURCE_DIR}/c_tests/test_cxx_elements.cpp"
        "${PROJECT_SOURCE_DIR}/c_tests/test_cxx_names.cpp" "${PROJECT_SOURCE_DIR}/c_tests/test_cxx_selections.cpp")
    endforeach()
  else()
    message(STATUS "thorn: clang++ not found, its tests are left out")
  endif()

  # std::format, if the compiler has it.
  thorn_add_program(cxx_format c_tests/cxx/format.cpp)
  set_target_properties(cxx_format PROPERTIES CXX_STANDARD 20)
  target_compile_options(cxx_format PRIVATE -Werror)
  add_test(NAME header:cxx_format COMMAND cxx_format)
  set_tests_properties(header:cxx_format PROPERTIES SKIP_RETURN_CODE 77)

  # C++98 gives no warnings with TH_CHECKED either.
  add_test(NAME header:cxx98_checked COMMAND "${CMAKE_CXX_COMPILER}" -std=c++98 -Wall -Wextra -pedantic -Werror -DTH_CHECKED -fsyntax-only
    "-I${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/c_tests/header/cxx.cpp")

  # Clang in the standards of C, with the mark, too: it has other attributes before C23.
  find_program(THORN_CLANG NAMES clang clang-19 clang-16 clang-14)
  if(THORN_CLANG)
    foreach(standard 99 11 17 2x)
      add_test(NAME header:c${standard}_clang COMMAND "${THORN_CLANG}" -std=c${standard} -Wall -Wextra -pedantic -Werror -DTH_CHECKED -fsyntax-only
        "-I${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/c_tests/header/c.c")
      add_test(NAME header:c${standard}_clang_dropped COMMAND "${THORN_CLANG}" -std=c${standard} -DTH_CHECKED -fsyntax-only
        "-I${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/c_tests/header/dropped.c")
      set_tests_properties(header:c${standard}_clang_dropped PROPERTIES PASS_REGULAR_EXPRESSION "ignoring return value.*THTensor_zero")
    endforeach()
  else()
    message(STATUS "thorn: clang not found, its tests are left out")
  endif()

  # thorn.hpp drops no status.
  add_test(NAME header:cxx_checked COMMAND "${CMAKE_CXX_COMPILER}" -std=c++17 -Wall -Wextra -pedantic -Werror -DTH_CHECKED -fsyntax-only
    "-I${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/c_tests/test_cxx.cpp")

  # The warnings of the header.
  function(thorn_add_warning name pattern)
    add_test(NAME header:${name} COMMAND "${CMAKE_C_COMPILER}" -std=c99 -Wall -Wextra -pedantic -c -o /dev/null ${ARGN}
      "-I${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/c_tests/header/dropped.c")
    set_tests_properties(header:${name} PROPERTIES PASS_REGULAR_EXPRESSION "${pattern}")
  endfunction()
  thorn_add_warning(dropped_reference "unused-result")
  thorn_add_warning(other_constant "enum-conversion")
  thorn_add_warning(dropped_status "ignoring return value of .*THStatus.*nodiscard" -DTH_CHECKED)

  # The instructions of calls on small tensors, which benches/calls/limits.txt limits. The script is skipped on a processor without AVX2.
  find_program(THORN_PYTHON NAMES python3)
  find_file(THORN_CALLGRIND_H valgrind/callgrind.h)
  if(THORN_PYTHON AND VALGRIND_EXECUTABLE AND THORN_CALLGRIND_H)
    thorn_add_program(calls benches/calls/calls.c)
    add_test(NAME calls COMMAND "${THORN_PYTHON}" -B "${PROJECT_SOURCE_DIR}/scripts/calls.py" $<TARGET_FILE:calls>)
    set_tests_properties(calls PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 120)
  endif()

  # docs/guide: its programs must print the output on its pages.
  if(THORN_PYTHON)
    set(interpreter "")
    if(LUAJIT_EXECUTABLE)
      set(interpreter --luajit "${LUAJIT_EXECUTABLE}")
    endif()
    add_test(NAME guide COMMAND "${THORN_PYTHON}" "${PROJECT_SOURCE_DIR}/scripts/guide.py" --library "${shared}"
      --cc "${CMAKE_C_COMPILER}" --cxx "${CMAKE_CXX_COMPILER}" ${interpreter})
    set_tests_properties(guide PROPERTIES TIMEOUT 300)
    # The site is built, and its links lead somewhere. The test is skipped if pip cannot install mdBook.
    find_program(DOXYGEN_EXECUTABLE doxygen)
    if(DOXYGEN_EXECUTABLE)
      add_test(NAME guide:site COMMAND "${PROJECT_SOURCE_DIR}/scripts/site.sh" "${PROJECT_BINARY_DIR}/site")
      set_tests_properties(guide:site PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
    endif()
    # benches/peers: each function of the header has a row or a reason, and the pages agree with the record.
    add_test(NAME bench:rows COMMAND "${THORN_PYTHON}" -B "${PROJECT_SOURCE_DIR}/benches/peers/coverage.py")
    add_test(NAME bench:pages COMMAND "${THORN_PYTHON}" -B "${PROJECT_SOURCE_DIR}/benches/peers/report.py" --check)
    # The binary interface compared with the last release, and the script that compares.
    add_test(NAME abi COMMAND "${THORN_PYTHON}" -B "${PROJECT_SOURCE_DIR}/scripts/abi.py")
    add_test(NAME abi:changes COMMAND "${THORN_PYTHON}" -B "${PROJECT_SOURCE_DIR}/c_tests/abi_changes.py")
    set_tests_properties(abi abi:changes PROPERTIES ENVIRONMENT "CC=${CMAKE_C_COMPILER}" TIMEOUT 120)
    # Random calls whose gradients are compared with finite differences. The table of functions is generated from the header and api.json.
    set(plays "${PROJECT_BINARY_DIR}/sequences/plays.h")
    add_custom_command(OUTPUT "${plays}"
      COMMAND "${THORN_PYTHON}" -B "${PROJECT_SOURCE_DIR}/scripts/sequences.py" --differences "${plays}"
      DEPENDS scripts/sequences.py scripts/prototypes.py include/thorn.h src/capi/api.json WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    thorn_add_program(differences c_tests/sequences/differences.c "${plays}")
    target_include_directories(differences PRIVATE "${PROJECT_BINARY_DIR}/sequences")
    set_target_properties(differences PROPERTIES C_EXTENSIONS ON)
    add_test(NAME differences COMMAND differences)
    set_tests_properties(differences PROPERTIES TIMEOUT 300)
  else()
    message(STATUS "thorn: python3 not found, the tests of the guide, of the binary interface and of gradients of random calls are left out")
  endif()

  # thorn_mpi.h with each installed MPI, with 1, 2 and 4 ranks. scripts/mpi.sh also runs the tests under valgrind and AddressSanitizer,
  # which takes minutes. No other test runs at the same time, because ranks that wait for each other need the cores.
  foreach(mpi openmpi mpich)
    add_test(NAME mpi:${mpi} COMMAND "${PROJECT_SOURCE_DIR}/scripts/mpi.sh" ${mpi})
    set_tests_properties(mpi:${mpi} PROPERTIES
      ENVIRONMENT "${lua_environment};CARGO_TARGET_DIR=${THORN_CARGO_TARGET_DIR}" SKIP_RETURN_CODE 77 TIMEOUT 600 RUN_SERIAL ON)
  endforeach()

  # thorn_rendezvous.h with processes on 127.0.0.1, without NCCL.
  if(UNIX)
    thorn_add_program(test_rendezvous c_tests/nccl/test_rendezvous.c)
    target_include_directories(test_rendezvous PRIVATE c_tests)
    target_compile_options(test_rendezvous PRIVATE -Werror)
    add_test(NAME rendezvous COMMAND test_rendezvous)
    set_tests_properties(rendezvous PROPERTIES TIMEOUT 180)
  endif()

  # The debugger's view of handles, with the program's types.
  if(GDB_EXECUTABLE)
    thorn_add_program(gdb_handles c_tests/gdb/handles.c)
    target_compile_options(gdb_handles PRIVATE -g -O0)
    add_test(NAME gdb COMMAND "${GDB_EXECUTABLE}" -nx -batch -x scripts/gdb/thorn.py -x c_tests/gdb/check.py --args $<TARGET_FILE:gdb_handles>
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(gdb PROPERTIES TIMEOUT 120)
  endif()

  if(LUAJIT_EXECUTABLE)
    thorn_add_lua_test(header:cdef "${PROJECT_SOURCE_DIR}/c_tests/header/cdef.lua")
    file(GLOB scripts CONFIGURE_DEPENDS c_tests/*.lua)
    foreach(script IN LISTS scripts)
      cmake_path(GET script STEM name)
      thorn_add_lua_test(lua:${name} "${script}")
    endforeach()
    # The package for LuaJIT: its tests, and the ways to install it. Skipped with a message if luarocks or a Python wheel is missing.
    thorn_add_lua_test(lua:package "${PROJECT_SOURCE_DIR}/lua/tests/run.lua")
    foreach(way tree luarocks lupa)
      add_test(NAME lua:package:${way} COMMAND "${PROJECT_SOURCE_DIR}/scripts/lua-package.sh" ${way})
      set_tests_properties(lua:package:${way} PROPERTIES ENVIRONMENT "${lua_environment}" SKIP_RETURN_CODE 77 TIMEOUT 300)
    endforeach()
    # A sixth of the table with the kernels of each lower level. Skipped with a message if the machine lacks the level.
    foreach(level baseline avx2)
      thorn_add_lua_test(lua:table:${level} "${PROJECT_SOURCE_DIR}/c_tests/table.lua")
      set_tests_properties(lua:table:${level} PROPERTIES ENVIRONMENT "${lua_environment};TH_SIMD=${level};TH_TEST_SHARE=6" SKIP_RETURN_CODE 77)
    endforeach()
  endif()
endif()

if(THORN_BUILD_TESTS AND THORN_CUDA AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # GPU tests without a GPU: the driver, the compiler and the cuBLAS of tests/cuda_emu.
  set(emulator "CARGO_TARGET_DIR=${THORN_CARGO_TARGET_DIR}")
  # Each block of memory is a separate allocation, whose guard zones the driver checks.
  set(emulated "LD_LIBRARY_PATH=${THORN_CARGO_TARGET_DIR}/cuda_emu/lib;TH_CUDA_CACHE=;TH_CUDA_GROUPS=1;TH_CUDA_EXACT=1")
  add_test(NAME cuda:emulator COMMAND "${PROJECT_SOURCE_DIR}/scripts/cuda_emu.sh" --test)
  set_tests_properties(cuda:emulator PROPERTIES ENVIRONMENT "${emulator}" FIXTURES_SETUP cuda COST 1001 TIMEOUT 300)
  # The choice of NVRTC and cuBLAS.
  thorn_add_program(cuda_libraries tests/cuda_emu/libraries.c)
  add_test(NAME cuda:libraries COMMAND "${PROJECT_SOURCE_DIR}/tests/cuda_emu/libraries.sh" $<TARGET_FILE:cuda_libraries>)
  set_tests_properties(cuda:libraries PROPERTIES ENVIRONMENT "${emulator}" FIXTURES_REQUIRED cuda TIMEOUT 300)
  # Modes: as users run the library; with work deferred until a caller waits, and device memory that the host cannot access; with threads in
  # another order; with products by thorn's own kernels.
  set(mode_plain "TH_CUDA_EXACT=0")
  set(mode_deferred "THORN_EMU_ASYNC=1;THORN_EMU_PROTECT=1;TH_CUDA_EXACT=0")
  set(mode_permuted "THORN_EMU_SEED=7")
  add_test(NAME cuda:test_fused COMMAND test_fused gpus_run_expressions)
  set_tests_properties(cuda:test_fused PROPERTIES ENVIRONMENT "${emulated}" FIXTURES_REQUIRED cuda TIMEOUT 300)
  foreach(mode plain deferred)
    add_test(NAME cuda:test_program:${mode} COMMAND test_program programs_run_on_gpus)
    set_tests_properties(cuda:test_program:${mode} PROPERTIES ENVIRONMENT "${emulated};${mode_${mode}}" FIXTURES_REQUIRED cuda TIMEOUT 300)
  endforeach()
  # The programs that scripts/gpu.sh takes to a machine with a GPU, on the null driver.
  if(THORN_PYTHON)
    add_test(NAME cuda:pack COMMAND "${THORN_PYTHON}" -B "${PROJECT_SOURCE_DIR}/c_tests/gpu_pack.py")
    set_tests_properties(cuda:pack PROPERTIES
      ENVIRONMENT "${emulator};THORN_GPU_LIBRARY=${PROJECT_BINARY_DIR}/lib/libthorn.so" FIXTURES_REQUIRED cuda TIMEOUT 180)
  endif()
  set(mode_kernels "TH_CUDA_BLAS=0")
  foreach(program test_cuda test_streams test_graphs)
    foreach(mode plain deferred permuted kernels)
      add_test(NAME cuda:${program}:${mode} COMMAND ${program})
      set_tests_properties(cuda:${program}:${mode} PROPERTIES
        ENVIRONMENT "${emulated};${mode_${mode}}" FIXTURES_REQUIRED cuda TIMEOUT 300)
    endforeach()
  endforeach()
  # thorn_nccl.h on a stand-in for NCCL whose ranks are threads: with four GPUs, without a GPU, and in C++.
  add_library(thorn_nccl SHARED c_tests/nccl/nccl.c)
  target_compile_options(thorn_nccl PRIVATE -Wall -Wextra -pedantic)
  target_link_libraries(thorn_nccl PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
  thorn_add_program(test_nccl c_tests/nccl/test_nccl.c)
  thorn_add_program(nccl_cxx11 c_tests/nccl/cxx.cpp)
  set_target_properties(nccl_cxx11 PROPERTIES CXX_STANDARD 11)
  foreach(program test_nccl nccl_cxx11)
    target_include_directories(${program} PRIVATE c_tests/nccl c_tests)
    target_link_libraries(${program} PRIVATE thorn_nccl)
    target_compile_options(${program} PRIVATE -Werror)
  endforeach()
  target_compile_options(nccl_cxx11 PRIVATE -Wshadow -Wconversion -Wsign-conversion)
  foreach(mode plain deferred)
    add_test(NAME cuda:nccl:${mode} COMMAND test_nccl)
    set_tests_properties(cuda:nccl:${mode} PROPERTIES
      ENVIRONMENT "${emulated};${mode_${mode}};THORN_EMU_DEVICES=4" FIXTURES_REQUIRED cuda TIMEOUT 300)
  endforeach()
  add_test(NAME cuda:nccl:none COMMAND test_nccl)
  add_test(NAME header:nccl_cxx11 COMMAND nccl_cxx11)
  set_tests_properties(cuda:nccl:none header:nccl_cxx11 PROPERTIES TIMEOUT 120)
  if(LUAJIT_EXECUTABLE)
    thorn_add_lua_test(cuda:table "${PROJECT_SOURCE_DIR}/c_tests/table.lua")
    # A part of the table, because the emulator compiles each kernel for some seconds. scripts/gpu.sh runs the whole table on a GPU.
    set(on_cuda "${lua_environment};${emulated};TH_TEST_DEVICE=cuda")
    set_tests_properties(cuda:table PROPERTIES ENVIRONMENT "${on_cuda};TH_TEST_SHARE=18" FIXTURES_REQUIRED cuda COST 1000 TIMEOUT 900)
    # Functions that read or write numbers on the host, with device memory that the host cannot access, which makes calls slow.
    thorn_add_lua_test(cuda:table:protected "${PROJECT_SOURCE_DIR}/c_tests/table.lua" "^repeatInterleave" "^pad$" "quantile" "^renorm$" "^unravelIndex$"
      "^csrMatmulCsr$" "^csrSampledCsr$" "^csrTrtrs$" "^csrSolve$" "^csrCompress$" "^csrSoftmax" "^unique" "^maskedSelect$" "^nonzero$")
    set_tests_properties(cuda:table:protected PROPERTIES ENVIRONMENT "${on_cuda};THORN_EMU_PROTECT=1;TH_TEST_SHARE=6" FIXTURES_REQUIRED cuda)
    # Products of matrices and vectors without cuBLAS.
    thorn_add_lua_test(cuda:table:kernels "${PROJECT_SOURCE_DIR}/c_tests/table.lua"
      "^b?a?d?d?b?mm$" "^a?d?d?mv$" "^addr$" "^ger$" "atmul$" "dot$" "^einsum$" "^inner$" "^outer$" "^matrixPower$")
    set_tests_properties(cuda:table:kernels PROPERTIES ENVIRONMENT "${on_cuda};TH_CUDA_BLAS=0" FIXTURES_REQUIRED cuda)
  endif()
endif()

if(THORN_BUILD_EXAMPLES)
  add_custom_target(thorn_examples)
  file(GLOB sources CONFIGURE_DEPENDS examples/*.c examples/*.cpp)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    # A program in C++ that also exists in C.
    if(TARGET example_${name})
      string(APPEND name _cpp)
    endif()
    thorn_add_program(example_${name} "${source}")
    target_compile_definitions(example_${name} PRIVATE
      "DIGITS_CSV=\"${PROJECT_SOURCE_DIR}/examples/data/digits.csv\"" "DIGITS_PT=\"${PROJECT_SOURCE_DIR}/examples/data/digits.pt\""
      "GPT_TEXT=\"${PROJECT_SOURCE_DIR}/include/thorn.h\"" "SONNETS_TXT=\"${PROJECT_SOURCE_DIR}/examples/data/sonnets.txt\""
      "DIGITS_PT2=\"${PROJECT_SOURCE_DIR}/examples/data/digits.pt2\"" "SONNETS_PT2=\"${PROJECT_SOURCE_DIR}/examples/data/sonnets.pt2\"")
    set_target_properties(example_${name} PROPERTIES
      OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
    add_dependencies(thorn_examples example_${name})
    if(NOT name MATCHES "^cifar_like|^panels$")
      add_test(NAME example:${name} COMMAND example_${name})
      set_tests_properties(example:${name} PROPERTIES TIMEOUT 300)
    endif()
  endforeach()
  if(DEFINED emulated)
    # The same accuracy on the emulated driver, also if freed memory must be returned to the driver first.
    add_test(NAME cuda:example_digits COMMAND example_digits_cuda)
    set_tests_properties(cuda:example_digits PROPERTIES ENVIRONMENT "${emulated};THORN_EMU_FAIL_ALLOC=7" FIXTURES_REQUIRED cuda COST 100 TIMEOUT 300)
    # A GPU that fails or is too small must cause only an error.
    foreach(failure FAIL_LAUNCH=1 FAIL_LAUNCH=40 FAIL_LAUNCH=1000 MEMORY=600000)
      add_test(NAME cuda:${failure} COMMAND sh -c "\"$1\"; test $? = 1" sh $<TARGET_FILE:example_digits_cuda>)
      set_tests_properties(cuda:${failure} PROPERTIES ENVIRONMENT "${emulated};THORN_EMU_${failure}" FIXTURES_REQUIRED cuda TIMEOUT 300)
    endforeach()
  endif()

  # A copy in another format must give the checkpoint's results. A missing file, or a file of another network, is refused.
  set(copy "${PROJECT_BINARY_DIR}/examples/copy.safetensors")
  add_test(NAME example:checkpoint:copy COMMAND sh -c "\"$1\" --save \"$2\" && \"$1\" \"$2\"" sh $<TARGET_FILE:example_checkpoint> "${copy}")
  foreach(file missing.pt files/corpus/safetensors/dtypes.safetensors)
    cmake_path(GET file STEM name)
    add_test(NAME example:checkpoint:${name} COMMAND sh -c "\"$1\" \"$2\"; test $? = 1"
      sh $<TARGET_FILE:example_checkpoint> "${PROJECT_SOURCE_DIR}/${file}")
  endforeach()

  # The picture of README.md: panels reads what the other three programs write.
  add_test(NAME example:panels COMMAND sh -ec "\"$1\" >losses.txt; \"$2\" julia.png; \"$3\" edges.pgm; \"$4\" panels.png losses.txt julia.png edges.pgm"
    sh $<TARGET_FILE:example_digits_grad> $<TARGET_FILE:example_julia> $<TARGET_FILE:example_edges> $<TARGET_FILE:example_panels>
    WORKING_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
  set_tests_properties(example:panels PROPERTIES TIMEOUT 300 PASS_REGULAR_EXPRESSION "1216 x 300 pixels, a curve of 15 losses")

  if(LUAJIT_EXECUTABLE)
    set(arguments_inspect.lua files/corpus/safetensors/dtypes.safetensors)
    file(GLOB scripts CONFIGURE_DEPENDS examples/*.lua)
    foreach(script IN LISTS scripts)
      cmake_path(GET script FILENAME name)
      if(NOT name STREQUAL "cifar_like.lua")
        thorn_add_lua_test(example:${name} "${script}" ${arguments_${name}})
      endif()
    endforeach()
    # The last tensor of the file.
    set_tests_properties(example:inspect.lua PROPERTIES PASS_REGULAR_EXPRESSION "bool +bool +\\[2, 3\\]")
  endif()

  # A killed run of one program is continued by the next program, and has the same bits as a run that was never killed.
  set(run_cifar_like "'$<TARGET_FILE:example_cifar_like>'")
  set(run_cifar_like_cpp "'$<TARGET_FILE:example_cifar_like_cpp>'")
  set(programs cifar_like cifar_like_cpp)
  if(LUAJIT_EXECUTABLE)
    set(run_cifar_like.lua "'${LUAJIT_EXECUTABLE}' '${PROJECT_SOURCE_DIR}/examples/cifar_like.lua'")
    list(APPEND programs cifar_like.lua)
  endif()
  set(others ${programs})
  foreach(name IN LISTS programs)
    list(POP_FRONT others)
    list(APPEND others ${name})
    list(GET others 0 next)
    add_test(NAME example:${name} COMMAND sh "${PROJECT_SOURCE_DIR}/c_tests/resume.sh" "${PROJECT_BINARY_DIR}/examples/resume_${name}"
      "${run_${name}}" "${run_${next}}")
    set_tests_properties(example:${name} PROPERTIES ENVIRONMENT "${lua_environment}" TIMEOUT 300)
  endforeach()

  # An interpreter with NumPy: the first python3, or the system's, for which apt has NumPy.
  foreach(python python3 /usr/bin/python3)
    execute_process(COMMAND "${python}" -c "import numpy" RESULT_VARIABLE without_numpy OUTPUT_QUIET ERROR_QUIET)
    if(without_numpy EQUAL 0)
      add_test(NAME example:numpy_exchange.py COMMAND "${python}" "${PROJECT_SOURCE_DIR}/examples/python/numpy_exchange.py")
      set_tests_properties(example:numpy_exchange.py PROPERTIES ENVIRONMENT "${lua_environment};PYTHONDONTWRITEBYTECODE=1" TIMEOUT 300)
      break()
    endif()
  endforeach()
  if(NOT without_numpy EQUAL 0)
    message(STATUS "thorn: NumPy not found, its example is left out")
  endif()
endif()

# The label of a test is its part of scripts/test.sh. `slow` are tests that --quick leaves out.
set(slow test_linalg_residuals test_linalg_singular test_nomem test_nomem_recorded blas:test_linalg_residuals lua:empty lua:package
  example:gpt example:transformer)
get_property(tests DIRECTORY PROPERTY TESTS)
foreach(test IN LISTS tests)
  set(part c)
  if(test MATCHES "^(valgrind|cuda|mpi|guide)(:|$)")
    set(part ${CMAKE_MATCH_1})
  elseif(test MATCHES "^lua:(table|gradients|gradient_values|sparse)(:|$)")
    set(part table)
  endif()
  if(test IN_LIST slow)
    list(APPEND part slow)
  endif()
  set_property(TEST ${test} PROPERTY LABELS ${part})
  # Programs in an emulator run 10 to 20 times as long.
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    get_property(limit TEST ${test} PROPERTY TIMEOUT)
    if(limit)
      math(EXPR limit "20 * ${limit}")
      set_property(TEST ${test} PROPERTY TIMEOUT ${limit})
    endif()
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT THORN_UNDER_EMULATOR=1)
  endif()
endforeach()

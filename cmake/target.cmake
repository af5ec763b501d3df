# The system and the processor that the library is built for.
#
# How cargo builds: cargo_env is the prefix of its command, cargo_target has arguments for cargo and rustc, and cargo_out is the folder of the
# results. The three names of the shared library: library_file, the file; library_soname, the name that programs load; library_link, the name
# that linkers look for. On Windows, import_library is the name of the import library. dead_strip: the linker leaves out functions that a
# program does not call.

set(THORN_RUST_TARGET "" CACHE STRING "Target of rustc, such as aarch64-unknown-linux-musl; empty: derived from the toolchain of CMake")

set(rust_target "${THORN_RUST_TARGET}")
if(NOT rust_target AND CMAKE_CROSSCOMPILING)
  string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" processor)
  if(processor MATCHES "^(arm64|aarch64)$")
    set(processor aarch64)
  elseif(processor MATCHES "^(amd64|x86_64)$")
    set(processor x86_64)
  endif()
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(rust_target "${processor}-unknown-linux-gnu")
  elseif(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
    set(rust_target "${processor}-apple-darwin")
  elseif(CMAKE_SYSTEM_NAME STREQUAL "Windows")
    set(rust_target "${processor}-pc-windows-gnu")
  endif()
endif()
if(NOT CMAKE_SYSTEM_NAME MATCHES "^(Linux|Darwin|Windows)$" OR MSVC)
  message(FATAL_ERROR "thorn: builds for Linux, macOS, and Windows with mingw-w64, not for ${CMAKE_SYSTEM_NAME} with ${CMAKE_C_COMPILER_ID}")
endif()

# For another target, CMake's compiler links the library.
set(cargo_target)
set(cargo_env)
set(cargo_out "${THORN_CARGO_TARGET_DIR}/release")
if(rust_target)
  set(cargo_target --target "${rust_target}")
  string(TOUPPER "${rust_target}" variable)
  string(REPLACE "-" "_" variable "${variable}")
  set(cargo_env "${CMAKE_COMMAND}" -E env "CARGO_TARGET_${variable}_LINKER=${CMAKE_C_COMPILER}")
  set(cargo_out "${THORN_CARGO_TARGET_DIR}/${rust_target}/release")
endif()

if(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
  set(dead_strip -Wl,-dead_strip)
  set(library_link libthorn.dylib)
  set(library_file "libthorn.${PROJECT_VERSION}.dylib")
  set(library_soname "libthorn.${THORN_SOVERSION}.dylib")
  # Programs find the library through their run path: build.rs.
  set(imported_soname "@rpath/${library_soname}")
elseif(CMAKE_SYSTEM_NAME STREQUAL "Windows")
  # Programs load the file itself, and linkers read the import library.
  set(dead_strip -Wl,--gc-sections)
  set(library_link thorn.dll)
  set(library_file thorn.dll)
  set(library_soname)
  set(imported_soname)
  set(import_library libthorn.dll.a)
else()
  set(dead_strip -Wl,--gc-sections)
  set(library_link libthorn.so)
  set(library_file "libthorn.so.${PROJECT_VERSION}")
  set(library_soname "libthorn.so.${THORN_SOVERSION}")
  set(imported_soname "${library_soname}")
endif()

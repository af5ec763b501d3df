# Makes libthorn.a of rustc's: one object with what the functions of the library need, in which these functions are the only global symbols, and
# without Rust's debug information and bitcode. Sections stay apart, so that a program linked with --gc-sections takes what it calls. Where the
# tools for that are missing, the archive stays as rustc made it.
#
# cmake -DFROM=libthorn.a -DSHARED=libthorn.so -DTO=libthorn.a -DLINKER=ld -DOBJCOPY=objcopy -DNM=nm -DAR=ar -P archive.cmake
cmake_minimum_required(VERSION 3.21)

# An archive made of the same file in the same way stays, and so do programs linked with it.
file(MD5 "${FROM}" made_of)
file(MD5 "${CMAKE_CURRENT_LIST_FILE}" made_by)
set(made "${made_of} ${made_by} ${LINKER} ${OBJCOPY} ${NM} ${AR}")
if(EXISTS "${TO}" AND EXISTS "${TO}.made")
  file(READ "${TO}.made" previous)
  if(previous STREQUAL made)
    return()
  endif()
endif()

set(problem)
function(run)
  if(NOT problem)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
    if(NOT status STREQUAL "0")
      set(problem "${ARGV0}: ${status} ${errors}" PARENT_SCOPE)
    endif()
    set(output "${output}" PARENT_SCOPE)
  endif()
endfunction()

foreach(tool LINKER OBJCOPY NM AR)
  if(NOT ${tool})
    set(problem "there is no ${tool}")
  endif()
endforeach()

# What the shared library exports is what a program may call.
run("${NM}" -D --defined-only "${SHARED}")
string(REGEX MATCHALL "[A-Za-z0-9_]+\n" names "${output}")
list(TRANSFORM names STRIP)
if(NOT names AND NOT problem)
  set(problem "${NM} names no symbols of ${SHARED}")
endif()
set(object "${TO}.o")
list(JOIN names "\n-u " wanted)
file(WRITE "${object}.ld" "-u ${wanted}\n")
list(JOIN names "\n" kept)
file(WRITE "${object}.keep" "${kept}\n")

# Groups of sections, one of which remains in a program, must not have local symbols: --force-group-allocation makes plain sections of them.
run("${LINKER}" -r --gc-sections --strip-debug --force-group-allocation "@${object}.ld" -o "${object}" "${FROM}")
run("${OBJCOPY}" --strip-unneeded --keep-global-symbols "${object}.keep" -R .llvmbc -R .llvmcmd -R .comment "${object}")
file(REMOVE "${TO}" "${TO}.made")
run("${AR}" crsD "${TO}" "${object}")
if(problem)
  message(STATUS "thorn: libthorn.a stays as rustc made it: ${problem}")
  file(COPY_FILE "${FROM}" "${TO}")
endif()
file(REMOVE "${object}" "${object}.ld" "${object}.keep")
file(WRITE "${TO}.made" "${made}")

# Makes libthorn.a from rustc's archive: one object that contains the library's functions and the code that they need. Only these functions
# are global symbols, and Rust's debug information and bitcode are removed. Sections are kept, so that a program linked with --gc-sections
# contains only the functions that it calls. If the tools for that are missing, rustc's archive is used.
#
# cmake -DFROM=libthorn.a -DSHARED=libthorn.so -DTO=libthorn.a -DLINKER=ld -DOBJCOPY=objcopy -DNM=nm -DAR=ar -P archive.cmake
cmake_minimum_required(VERSION 3.21)

# An archive that was made from the same file in the same way is kept, so that programs are not linked again.
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

# Programs may call the functions that the shared library exports.
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

# In a group of sections, of which a program keeps only one copy, local symbols are not allowed: --force-group-allocation converts groups to
# plain sections.
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

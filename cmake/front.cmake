# Writes the first page of the reference: README.md, the contents of thorn.h with links to its chapters, and its conventions.
#
# cmake -DHEADER=thorn.h -DREADME=README.md [-DGUIDE=../guide] -DTO=front.md -P front.cmake
#
# With GUIDE, the address of the guide's pages, a link to the guide replaces README.md, because both are pages of one site.
cmake_minimum_required(VERSION 3.21)

# Brackets and semicolons would break CMake lists, so these texts are only searched and replaced.
file(READ "${README}" readme)
file(READ "${HEADER}" header)
# Doxygen copies the pictures of docs to the folder of the reference. Other files of the source tree are not pages of the reference, so
# links without a scheme are replaced by their text.
string(REGEX REPLACE "!\\[([^]]*)\\]\\(docs/([^)]*)\\)" "<img src=\"\\2\" alt=\"\\1\">" readme "${readme}")
string(REGEX REPLACE "\\[([^]]*)\\]\\([^):]*\\)" "\\1" readme "${readme}")
if(GUIDE)
  set(readme "# The reference\n\nThe comments of thorn.h, @ref thorn.hpp, @ref thorn_mpi.h and @ref thorn_nccl.h. \
<a href=\"${GUIDE}/index.html\">The guide</a> explains the library step by step.\n")
endif()

string(REGEX MATCHALL "@defgroup [a-z0-9_]+" labels "${header}")
set(contents "")
foreach(label IN LISTS labels)
  string(REPLACE "@defgroup " "" label "${label}")
  string(APPEND contents "- @ref ${label}\n")
endforeach()

# The comment at the top of the header, from the underlined heading on.
string(FIND "${header}" " * Conventions\n" start)
string(FIND "${header}" "\n */" end)
if(start LESS 0 OR end LESS start)
  message(FATAL_ERROR "thorn: ${HEADER} has no conventions at its top")
endif()
math(EXPR length "${end} - ${start}")
string(SUBSTRING "${header}" ${start} ${length} conventions)
string(REGEX REPLACE "\n \\* ?" "\n" conventions "\n${conventions}")
string(REGEX REPLACE "\nConventions\n=+\n" "" conventions "${conventions}")

file(WRITE "${TO}" "${readme}\n## Contents\n\n${contents}\n## Conventions\n${conventions}\n")

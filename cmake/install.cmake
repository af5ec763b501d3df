# cmake --install copies four components: `runtime`, which programs need to run, `devel`, which they need to be built and debugged, `lua`,
# the package for LuaJIT, which needs `runtime`, and `command`, the command thorn, which needs none of them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# thorn.pc finds its prefix relative to its own path, unless the library directory was given as an absolute path.
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(THORN_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
  set(THORN_PC_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
else()
  file(RELATIVE_PATH up "/${pkgconfig_dir}" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(THORN_PC_PREFIX "\${pcfiledir}/${up}")
  set(THORN_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(THORN_PC_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
else()
  set(THORN_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/thorn.pc.in thorn.pc @ONLY)

set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/thorn")
configure_package_config_file(cmake/thornConfig.cmake.in thornConfig.cmake INSTALL_DESTINATION "${config_dir}"
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
# Before 1.0, a change of the second version number is incompatible.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
else()
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file("${PROJECT_BINARY_DIR}/thornConfigVersion.cmake" COMPATIBILITY ${compatibility})

if(import_library)
  install(FILES "${shared}" DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
  install(FILES "${lib_dir}/${import_library}" "${static}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT devel)
else()
  install(FILES "${shared}" "${lib_dir}/${library_soname}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime)
  install(FILES "${lib_dir}/${library_link}" "${static}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT devel)
endif()
install(DIRECTORY include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT devel)
install(FILES "${PROJECT_BINARY_DIR}/thornConfig.cmake" "${PROJECT_BINARY_DIR}/thornConfigVersion.cmake"
  DESTINATION "${config_dir}" COMPONENT devel)
install(FILES "${PROJECT_BINARY_DIR}/thorn.pc" DESTINATION "${pkgconfig_dir}" COMPONENT devel)

# LuaJIT searches this folder by default if the prefix is /usr or /usr/local.
install(FILES lua/thorn.lua lua/torch.lua DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/lua/5.1" COMPONENT lua)
install(DIRECTORY lua/thorn DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/lua/5.1" COMPONENT lua)

if(THORN_BUILD_COMMAND)
  install(PROGRAMS "${command_dir}/bin/thorn" DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT command)
  install(DIRECTORY "${command_dir}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT command)
  foreach(place bash:bash-completion/completions/thorn zsh:zsh/site-functions/_thorn fish:fish/vendor_completions.d/thorn.fish)
    string(REPLACE ":" ";" parts "${place}")
    list(POP_FRONT parts shell path)
    cmake_path(GET path PARENT_PATH folder)
    cmake_path(GET path FILENAME name)
    install(FILES "${command_dir}/completions/${shell}" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/${folder}" RENAME "${name}"
      COMPONENT command)
  endforeach()
endif()

# Within another project CMAKE_INSTALL_DOCDIR belongs to that project.
set(doc_dir "${CMAKE_INSTALL_DOCDIR}")
if(NOT PROJECT_IS_TOP_LEVEL)
  set(doc_dir "${CMAKE_INSTALL_DATAROOTDIR}/doc/thorn")
endif()
install(FILES LICENSE-MIT LICENSE-APACHE LICENSE-THIRD-PARTY DESTINATION "${doc_dir}" COMPONENT runtime)

# The printers for gdb, in two places: under a simple name, and where a gdb with the same prefix looks when a program loads the library. The
# latter is a directory named after the library's own, which is known only when cmake --install gets the prefix.
install(FILES scripts/gdb/thorn.py DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/thorn" COMPONENT devel)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_DATAROOTDIR BASE_DIRECTORY "\${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE data_dir)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "\${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE library_dir)
install(CODE "file(INSTALL DESTINATION \"${data_dir}/gdb/auto-load${library_dir}\" TYPE FILE
  RENAME \"${library_file}-gdb.py\" FILES \"${PROJECT_SOURCE_DIR}/scripts/gdb/thorn.py\")" COMPONENT devel)

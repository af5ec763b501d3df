# The port of vcpkg: copy this folder to an overlay, and set the address and the hash of a release. Needs Rust (rustc 1.95 and cargo).
vcpkg_download_distfile(ARCHIVE
  URLS "https://example.org/thorn/thorn-${VERSION}.tar.gz"
  FILENAME "thorn-${VERSION}.tar.gz"
  SHA512 0)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${ARCHIVE}")

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES tools THORN_BUILD_COMMAND)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${features} -DTHORN_BUILD_TESTS=OFF -DTHORN_BUILD_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME thorn CONFIG_PATH lib/cmake/thorn)
vcpkg_fixup_pkgconfig()

# The build makes both libraries. A triplet uses one of them.
if(VCPKG_LIBRARY_LINKAGE STREQUAL "dynamic")
  file(REMOVE "${CURRENT_PACKAGES_DIR}/lib/libthorn.a" "${CURRENT_PACKAGES_DIR}/debug/lib/libthorn.a")
endif()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES thorn AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE-MIT" "${SOURCE_PATH}/LICENSE-APACHE" "${SOURCE_PATH}/LICENSE-THIRD-PARTY")

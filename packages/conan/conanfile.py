"""The recipe of Conan 2, for this source tree: `conan create packages/conan`. Needs Rust (rustc 1.95 and cargo)."""

import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Thorn(ConanFile):
    name = "thorn"
    description = "Torch tensors as a plain C library"
    license = "MIT OR Apache-2.0"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "files": [True, False], "cuda": [True, False]}
    default_options = {"shared": True, "files": True, "cuda": True}

    def set_version(self):
        manifest = Path(self.recipe_folder).parent.parent / "Cargo.toml"
        self.version = self.version or re.search(r'^version = "(.*)"', manifest.read_text(), re.MULTILINE)[1]

    def export_sources(self):
        root = Path(self.recipe_folder).parent.parent
        folders = "src blocks files lapack command include cmake lua scripts/header scripts/gdb benches docs".split()
        files = ["Cargo.*", "CMakeLists.txt", "build.rs", "cbindgen.toml", "LICENSE-*", "README.md"]
        for pattern in [*files, *(f"{folder}/*" for folder in folders)]:
            copy(self, pattern, root, self.export_sources_folder, excludes=("*/target/*", "files/corpus/*", "files/fuzz/*"))

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("CMake builds thorn on Linux only")

    # Neither a C++ library nor the build type changes the library.
    def configure(self):
        self.settings.rm_safe("compiler.libcxx")
        self.settings.rm_safe("compiler.cppstd")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for name in ("TESTS", "EXAMPLES", "COMMAND"):
            toolchain.cache_variables[f"THORN_BUILD_{name}"] = False
        toolchain.cache_variables["THORN_FILES"] = bool(self.options.files)
        toolchain.cache_variables["THORN_CUDA"] = bool(self.options.cuda)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE-*", self.source_folder, Path(self.package_folder) / "licenses")

    # The package has its own files for CMake.
    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/thorn"]
        self.cpp_info.set_property("pkg_config_name", "thorn")
        self.cpp_info.libs = ["thorn"]
        if not self.options.shared:
            self.cpp_info.system_libs = ["m", "pthread", "dl"]

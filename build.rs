//! Gives the shared library its soname, on macOS its install name, so that programs find the version that they were linked with. Makes the
//! linker merge functions with identical instructions, such as kernels of several dtypes, which saves 2 % of the library.

use std::env::{var, var_os};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// LLVM's linker, which Rust uses by default on x86-64, gold and mold support the option; GNU's linker does not.
const MERGE: &str = "-Wl,--icf=all";

/// Returns true if the linker can link a library with the option.
fn links_with(option: &str) -> Option<bool> {
    let folder = PathBuf::from(var_os("OUT_DIR")?);
    let source = folder.join("probe.rs");
    std::fs::write(&source, "#[unsafe(no_mangle)] pub extern \"C\" fn probe() {}").ok()?;
    let mut rustc = Command::new(var_os("RUSTC")?);
    rustc.args([
        "--edition=2024",
        "--crate-type=cdylib",
        "--target",
        &var("TARGET").ok()?,
        "-C",
        &format!("link-arg={option}"),
        "--out-dir",
    ]);
    rustc.arg(&folder).arg(&source);
    if let Some(linker) = var_os("RUSTC_LINKER") {
        rustc.arg("-C").arg([std::ffi::OsStr::new("linker="), &linker].into_iter().collect::<std::ffi::OsString>());
    }
    rustc.args(var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().split('\x1f').filter(|flag| !flag.is_empty()));
    Some(rustc.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?.success())
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libthorn.so.0");
        // A worker thread may outlive dlclose, so the code must stay loaded.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
        if links_with(MERGE) == Some(true) {
            println!("cargo:rustc-cdylib-link-arg={MERGE}");
        }
    }
    if var("CARGO_CFG_TARGET_OS").as_deref() == Ok("macos") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libthorn.0.dylib");
    }
}

//! Gives the shared library its soname, so that programs find the version they were linked against.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libthorn.so.0");
        // A worker thread may outlive dlclose: the code must stay.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}

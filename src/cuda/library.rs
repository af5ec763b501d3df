//! Libraries of CUDA in the folders where they are installed, beside those that the loader knows.

use std::ffi::{CString, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// Opens the libraries of CUDA that `library` needs, and it itself, by their paths, so that the loader then knows them by their names; says
/// where they were looked for. What the loader finds by itself is left to it.
pub fn preload(library: &str) -> String {
    let folders = folders();
    let looked = || {
        let mut looked = String::from("the loader's folders");
        folders.iter().for_each(|folder| looked.push_str(&format!(", {}", folder.display())));
        looked
    };
    let names = match library {
        // NVRTC does not look for its own second library beside itself.
        "nvrtc" => &["libnvrtc-builtins.so", "libnvrtc.so"][..],
        "cublas" => &["libcublasLt.so", "libcublas.so"],
        _ => &[],
    };
    if names.last().is_none_or(|name| open(name).is_some()) {
        return looked();
    }
    for folder in &folders {
        let mut files: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        files.sort();
        let opened = names.iter().all(|name| {
            let is_it = |path: &&PathBuf| path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name));
            files.iter().rev().filter(is_it).any(|path| open_path(path).is_some())
        });
        if opened {
            break;
        }
    }
    looked()
}

/// Opens a library that the loader finds, by its name without a version, for good; `None` if it finds none.
pub fn open(name: &str) -> Option<NonNull<c_void>> {
    [".13", ".12", ""].iter().find_map(|version| open_path(Path::new(&format!("{name}{version}"))))
}

fn open_path(path: &Path) -> Option<NonNull<c_void>> {
    let path = path.to_str().and_then(|path| CString::new(path).ok())?;
    // SAFETY: a library of CUDA, whose initialisers may run.
    NonNull::new(unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) })
}

/// Folders where CUDA may be installed, those that the user names first.
fn folders() -> Vec<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut folders: Vec<PathBuf> = variable("TH_CUDA_LIBRARIES").into_iter().collect();
    folders.extend(["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(variable).map(|root| root.join("lib64")));
    folders.push("/usr/local/cuda/lib64".into());
    for root in ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable) {
        for python in fs::read_dir(root.join("lib")).into_iter().flatten().flatten() {
            let packages = python.path().join("site-packages/nvidia");
            folders.extend(
                ["cu13/lib", "cuda_nvrtc/lib", "cublas/lib"].map(|folder| packages.join(folder)).into_iter().filter(|f| f.is_dir()),
            );
        }
    }
    folders
}

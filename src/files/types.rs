//! The types of the chapter "Files".

use std::ffi::{c_int, c_void};

/// Reads at most `size` bytes from the current position into `buffer`. Returns the number of bytes, 0 at the end, or a negative number on
/// failure.
pub type THReadFunction = Option<unsafe extern "C" fn(ctx: *mut c_void, buffer: *mut c_void, size: isize) -> isize>;
/// Sets the current position, like fseek: `offset` bytes from the beginning if `whence` is SEEK_SET (0), or from the end if `whence` is
/// SEEK_END (2). Returns the new position from the beginning, or a negative number on failure.
pub type THSeekFunction = Option<unsafe extern "C" fn(ctx: *mut c_void, offset: i64, whence: c_int) -> i64>;

/// A format of files.
pub type THFileFormat = i32;

/// The format of the file name's extension: `.pt` and `.pth`, `.t7`, `.npy`, `.npz`, `.safetensors`, `.mtx`, `.svm`, `.svmlight` and
/// `.libsvm`, `.csv`, `.tsv`, `.pgm`, `.ppm`, `.png`.
pub const TH_FILE_BY_NAME: THFileFormat = 0;
/// PyTorch's files since 1.6: a zip archive with a pickle.
pub const TH_FILE_PT: THFileFormat = 1;
/// PyTorch's files before 1.6, a sequence of pickles. Read-only.
pub const TH_FILE_PT_LEGACY: THFileFormat = 2;
/// Torch7's files, binary.
pub const TH_FILE_T7: THFileFormat = 3;
/// Torch7's files as text.
pub const TH_FILE_T7_ASCII: THFileFormat = 4;
/// NumPy's files of one array.
pub const TH_FILE_NPY: THFileFormat = 5;
/// NumPy's files of several arrays, a zip archive.
pub const TH_FILE_NPZ: THFileFormat = 6;
/// NumPy's files of several arrays, compressed. Only for writing: such files are read as `TH_FILE_NPZ`.
pub const TH_FILE_NPZ_DEFLATED: THFileFormat = 7;
/// safetensors.
pub const TH_FILE_SAFETENSORS: THFileFormat = 8;
/// ggml's files. Read-only.
pub const TH_FILE_GGUF: THFileFormat = 9;
/// A table of numbers as text, separated by commas.
pub const TH_FILE_CSV: THFileFormat = 10;
/// A table of numbers as text, separated by tabs.
pub const TH_FILE_TSV: THFileFormat = 11;
/// Images in PGM and PPM.
pub const TH_FILE_PNM: THFileFormat = 12;
/// Images in PNG.
pub const TH_FILE_PNG: THFileFormat = 13;
/// Matrix Market: a sparse or dense matrix as text.
pub const TH_FILE_MATRIX_MARKET: THFileFormat = 14;
/// svmlight, also called libsvm: a data set as text, with labels and a sparse matrix.
pub const TH_FILE_SVMLIGHT: THFileFormat = 15;
/// Programs that PyTorch exported. Only for reading: the tensors are the parameters, buffers and constants.
pub const TH_FILE_PT2: THFileFormat = 16;

/// A flag of `THArchive_openWith`: elements are always copied and never mapped.
pub const TH_OPEN_COPY: i32 = 1;

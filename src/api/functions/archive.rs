//! Files: archives, and files of one tensor.

use crate::api::table::table;
use crate::error::{Result, bail};
use crate::files::{Callbacks, Memory, Reading, THArchive, Writing, save as write};
use crate::ops::copy;
use std::ffi::{CStr, c_char, c_int};
use std::ptr::null;

fn opened(reading: Reading) -> Result<*mut THArchive> {
    THArchive::of_reading(reading).map(Box::into_raw)
}

fn text(text: &CStr) -> *const c_char {
    text.as_ptr()
}

macro_rules! archive_functions {
    ($do:ident) => {
        $do! { "";
            /// Opens the file `path` for reading. The format is recognised from the file's content. Pipes, devices and directories are
            /// refused. Free the archive with `THArchive_free`; NULL on error.
            THArchive_open(path: text) -> new_archive = opened(Reading::open(path)?);
            /// Opens a file as `THArchive_open` does, with `flags`: with `TH_OPEN_COPY` elements are always copied and never mapped; with 0
            /// they may be mapped. Free the archive with `THArchive_free`; NULL on error.
            THArchive_openWith(path: text, flags: code) -> new_archive = opened(Reading::open_with(path, flags)?);
            /// Opens a table of numbers whose columns are separated by the character `separator`. `THArchive_open` guesses the separator.
            /// Free the archive with `THArchive_free`; NULL on error.
            THArchive_openTable(path: text, separator: code) -> new_archive = opened(Reading::open_table(path, separator)?);
            /// Opens a file in memory: `size` bytes from `data` on. The memory must be valid and unchanged until the archive is freed.
            /// Tensors are copies. Free the archive with `THArchive_free`; NULL on error.
            THArchive_openMemory(data: memory_input, size: length) -> new_archive =
                // SAFETY: the caller keeps the memory valid and unchanged until the archive is freed.
                opened(Reading::of_memory(unsafe { Memory::new(data, size)? })?);
            /// Opens a file that two functions of the caller read: `read(context, buffer, size)` and `seek(context, offset, whence)`, which
            /// behave as fread and fseek. They are called until the archive is freed, by one thread at a time. The calling thread is either
            /// the thread that uses the archive, with its usual signal mask, or a thread of the library that blocks all signals and for
            /// which the thread that uses the archive waits. Free the archive with `THArchive_free`; NULL on error.
            THArchive_openCallbacks(read: read_function, seek: seek_function, context: context) -> new_archive =
                // SAFETY: the caller passes functions that behave as fread and fseek, and a context for them.
                opened(Reading::of_callbacks(unsafe { Callbacks::new(read, seek, context)? })?);
            /// Frees an archive; NULL is ignored. Tensors read from the archive stay valid. An archive created for writing and not closed
            /// leaves no file.
            THArchive_free(archive: archive_or_null) -> nothing = {
                if !archive.is_null() {
                    // SAFETY: the caller passes a handle from a function above, and ends its use.
                    drop(unsafe { Box::from_raw(archive) });
                }
                Ok(())
            };
            /// Returns the format of the file; `TH_FILE_BY_NAME` on error.
            THArchive_format(archive: archive) -> file_format = archive.format();
            /// Returns the number of tensors; -1 on error.
            THArchive_count(archive: archive) -> count = archive.reading().map(|a| a.count());
            /// Returns the name of tensor `index`, counted from 0. Borrowed: valid as long as the archive. NULL on error.
            THArchive_name(archive: archive, index: entry) -> borrowed_text = archive.reading()?.name(index).map(text);
            /// Returns the index of the first tensor named `name`; -1 if there is none.
            THArchive_find(archive: archive, name: text) -> count = Ok(archive.reading()?.find(name).unwrap_or(-1));
            /// Returns the dtype of tensor `index`; for a sparse tensor, the dtype of its values. `TH_UNDEFINED` on error, and for tensors
            /// of types that thorn does not have: quantised and complex ones.
            THArchive_dtype(archive: archive, index: entry) -> dtype = archive.reading()?.dtype(index).map(|dtype| dtype.code());
            /// Returns the block type of tensor `index`, whose bytes `THArchive_newBytes` returns; `TH_BLOCK_NONE` on error, for tensors
            /// without blocks, and for block types that thorn does not decode.
            THArchive_blockType(archive: archive, index: entry) -> block_type = archive.reading()?.block_type(index);
            /// Returns the number of dimensions of tensor `index`; -1 on error.
            THArchive_ndim(archive: archive, index: entry) -> size = archive.reading()?.sizes(index).map(|sizes| sizes.len() as i64);
            /// Returns the sizes of tensor `index`, one for each dimension. Borrowed: valid as long as the archive. NULL on error.
            THArchive_sizes(archive: archive, index: entry) -> borrowed_sizes = archive.reading()?.sizes(index).map(<[i64]>::as_ptr);
            /// Returns 1 if tensor `index` is sparse; 0 if it is not, and on error.
            THArchive_isSparse(archive: archive, index: entry) -> flag = Ok(archive.reading()?.entries(index)?.is_some());
            /// Returns the number of entries of the sparse tensor `index`; -1 on error, and if the tensor is not sparse.
            THArchive_nnz(archive: archive, index: entry) -> count = match archive.reading()?.entries(index)? {
                Some(nnz) => Ok(nnz),
                None => bail!(Argument, "tensor {index} is not sparse"),
            };
            /// Returns the number of keys of the metadata; -1 on error.
            THArchive_metadataCount(archive: archive) -> count = archive.reading().map(|a| a.keys());
            /// Returns key `index` of the metadata, counted from 0. Borrowed: valid as long as the archive. NULL on error.
            THArchive_metadataKey(archive: archive, index: entry) -> borrowed_text =
                archive.reading()?.metadata(index).map(|(key, _)| text(key));
            /// Returns the value of key `index` of the metadata, counted from 0. Borrowed: valid as long as the archive. NULL on error.
            THArchive_metadataValue(archive: archive, index: entry) -> borrowed_text =
                archive.reading()?.metadata(index).map(|(_, value)| text(value));
            /// Returns the value of `key` in the metadata. Borrowed: valid as long as the archive. NULL if there is no such key, and on
            /// error.
            THArchive_metadata(archive: archive, key: text) -> borrowed_text = Ok(archive.reading()?.value(key).map_or(null(), text));
            /// Returns tensor `index` with the strides that it has in the file. Tensors of one archive that share elements in the file
            /// share a storage here. Returns a new reference; NULL on error.
            THArchive_newTensor(archive: archive, index: entry) -> new = archive.reading()?.tensor(index);
            /// Returns the first tensor named `name`, read as by `THArchive_newTensor`. Returns a new reference; NULL on error, and if
            /// there is no such tensor.
            THArchive_newFind(archive: archive, name: text) -> new = {
                let archive = archive.reading()?;
                archive.tensor(archive.found(name)?)
            };
            /// Returns the bytes of the elements of tensor `index` in row-major order, unconverted, as a vector of uint8. This gives access
            /// to types that thorn does not have, such as float8, complex numbers and blocks of GGUF, and to types that thorn converts. In
            /// GGUF, the bytes of a tensor of unknown type extend to the next tensor. `TH_ERR_UNSUPPORTED` where the file stores elements
            /// as text or compressed, unless thorn lacks their type. Returns a new reference; NULL on error.
            THArchive_newBytes(archive: archive, index: entry) -> new = archive.reading()?.bytes(index);
            /// `r` = a copy of tensor `index`.
            THArchive_read(r: out, archive: archive, index: entry) = archive.reading()?.read_into(r, index);
            /// `r` = the first tensor named `name`, as `THTensor_copy` copies it: `r` keeps its dtype, device and shape.
            THArchive_copy(r: out, archive: archive, name: text) = {
                let archive = archive.reading()?;
                copy::copy(r, &archive.tensor(archive.found(name)?)?)
            };

            /// Creates an archive that `THArchive_close` writes to the file `path`. `format` is one of `TH_FILE_*`. Free the archive with
            /// `THArchive_free`; NULL on error.
            THArchive_create(path: text, format: file_format) -> new_archive =
                THArchive::of_writing(Writing::create(path, format)?).map(Box::into_raw);
            /// Adds a tensor with this name. A name can be used only once. The archive keeps a reference to the tensor's storage;
            /// `THArchive_close` reads its elements. Files of PyTorch and Torch7 keep strides and shared storages, and contain each storage
            /// whole. In other formats tensors are row-major.
            THArchive_add(archive: archive, name: text, t: input) = archive.writing()?.add(name, t);
            /// Adds a key and its value to the metadata. Files of NumPy, Matrix Market, svmlight, PGM and PPM have none. Tables accept only
            /// the names of their columns, under the keys `columns.0`, `columns.1` and so on.
            THArchive_addMetadata(archive: archive, key: text, value: text) = archive.writing()?.add_metadata(key, value);
            /// Sets the number of significant digits of floats in text formats, from 0 to 17. 0, the default, means the fewest digits that
            /// identify each number.
            THArchive_setPrecision(archive: archive, digits: int) = archive.writing()?.set_precision(digits);
            /// Writes the file. Afterwards the archive can only be freed. On failure an existing file is unchanged, and the archive may be
            /// closed again.
            THArchive_close(archive: archive) = archive.writing()?.close();
        }
    };
}

pub mod archives {
    //! Files.
    //!
    //! An archive is a file with named tensors: a checkpoint of PyTorch or Torch7, safetensors, GGUF, NumPy arrays, a matrix in Matrix
    //! Market format, a data set in svmlight format, a table of numbers or an image. An opened archive gives names, dtypes and sizes
    //! without reading elements. Nothing in the file is executed or trusted. Nested lists, dictionaries and tables become paths, and a
    //! tensor is named by its path: `model.layer.0.weight`. Numbers and texts in them become metadata under such paths. A file of one
    //! tensor is an archive with one tensor, whose name is "".
    //!
    //! `THArchive_newTensor` and `THArchive_newBytes` map tensors of 64 KiB or more whose elements the file stores in the same form as
    //! memory. Writes to a mapped tensor are private to the process. The file should not be changed in place: elements may then change, and
    //! access beyond the end of a truncated file raises SIGBUS. `numpy.save` and `torch.save` truncate an existing file and write it in
    //! place. Functions of thorn replace the file by a new one, and mapped tensors keep the elements of the old file. `THArchive_openWith`
    //! with `TH_OPEN_COPY` opens a file without mapping; `THTensor_newLoad` and `THArchive_read` copy as well. uint16 is read as int32, and
    //! uint32 as int64.
    //!
    //! An exported program of PyTorch 2.6 or later (`.pt2`) has the tensors of its parameters, buffers and constants, with the names of the
    //! state dict. Metadata has the versions and the names of the arguments of `forward`. Archives of several programs are refused.
    //!
    //! These block types of GGUF are decoded to float32: Q4_0 to Q8_0, Q2_K to Q6_K, IQ4_NL, IQ4_XS, TQ1_0, TQ2_0 and MXFP4.
    //! `THArchive_newBytes` returns the bytes of the others.
    //!
    //! Sparse tensors have separate functions; the functions of dense tensors refuse them with `TH_ERR_UNSUPPORTED`. PyTorch and SciPy
    //! (`scipy.sparse.save_npz`) store sparse tensors as coordinates (COO) or as compressed rows (CSR). A file of SciPy is one sparse
    //! tensor without a name. In Matrix Market format, `coordinate` files are sparse and `array` files are dense. Real numbers become
    //! float64, integers int64, and a pattern has the float64 value 1 at each entry. Symmetric and skew-symmetric matrices are expanded;
    //! complex ones are refused. Files compressed by gzip (`.mtx.gz`) are read, too. thorn writes the kind `general`, with the shortest
    //! numbers that read back the same, and a pattern if the values are Bool.
    //!
    //! A file in svmlight format, also called libsvm, has a line `label index:value index:value ... # comment` for each row, with ascending
    //! indices from 1. It is an archive with the float64 vector `labels` and the float64 matrix `data`, compressed by rows; pairs
    //! `qid:number` after the labels become the int64 vector `qid`. The number of columns is the greatest index, because the format does
    //! not have the number. `data` is written from a sparse matrix with all its entries, or from the elements of a dense one that are not
    //! 0. A file whose first row has a label only is read in this format if its name ends with `.svm`, `.svmlight` or `.libsvm`.
    //!
    //! A file is replaced as a whole: the new file is written to disk next to the old one and then renamed, so that a failure or a killed
    //! process leaves the old file intact. A file that this process may not write to is not replaced. On systems that support files without
    //! a name, as Linux does on most file systems, a killed process leaves no temporary file.
    //!
    //! Errors: `TH_ERR_IO`, the system or a function of the caller refused to read or write; `TH_ERR_FORMAT`, the file is broken, and the
    //! message gives the byte offset, or the file has no known format; `TH_ERR_UNSUPPORTED`, a tensor is of a kind that thorn does not
    //! have, or a format that thorn does not write.
    use super::*;
    archive_functions!(table);
    pub(crate) use archive_functions as functions;
}

macro_rules! file_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// Reads the only tensor of the file `path`. Elements are copied, so that the file may change afterwards. Returns a new
            /// reference.
            newLoad(path: text) -> new = Reading::open(path)?.only();
            /// Writes a tensor without a name to the file `path`. The file name's extension determines the format.
            save(t: input, path: text) = write(t, path);
        }
    };
}

pub mod tensors {
    //! Files.
    use super::*;
    file_functions!(table);
    pub(crate) use file_functions as functions;
}

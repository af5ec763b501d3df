//! Files: archives, and files of one tensor.

use crate::api::table::table;
use crate::error::{Result, bail};
use crate::files::{Callbacks, Memory, Reading, THArchive, Writing, save as write};
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
            /// Opens the file `path` for reading; its content tells the format. Pipes, devices and directories are refused. Free it with
            /// `THArchive_free`; NULL on error.
            THArchive_open(path: text) -> new_archive = opened(Reading::open(path)?);
            /// As `THArchive_open`, with `flags`: `TH_OPEN_COPY`, elements are always copied and never mapped; 0, they may be mapped. Free it
            /// with `THArchive_free`; NULL on error.
            THArchive_openWith(path: text, flags: code) -> new_archive = opened(Reading::open_with(path, flags)?);
            /// Opens a table of numbers whose columns are separated by the character `separator`, which `THArchive_open` guesses.
            /// Free it with `THArchive_free`; NULL on error.
            THArchive_openTable(path: text, separator: code) -> new_archive = opened(Reading::open_table(path, separator)?);
            /// Opens a file that lies in memory, from `data` on. The memory must stay as it is until the archive is freed; tensors are copies.
            /// Free it with `THArchive_free`; NULL on error.
            THArchive_openMemory(data: memory_input, size: length) -> new_archive =
                // SAFETY: the caller vouches for the memory.
                opened(Reading::of_memory(unsafe { Memory::new(data, size)? })?);
            /// Opens a file that two functions read: `read(context, buffer, size)` and `seek(context, offset, whence)`, which do what fread and
            /// fseek do. They are called with `context` until the archive is freed, by one thread at a time: the thread that uses the archive,
            /// which takes signals as always, or threads of the library, which take none and for which that thread waits. Free it with
            /// `THArchive_free`; NULL on error.
            THArchive_openCallbacks(read: read_function, seek: seek_function, context: context) -> new_archive =
                // SAFETY: the caller vouches for the functions.
                opened(Reading::of_callbacks(unsafe { Callbacks::new(read, seek, context)? })?);
            /// Frees an archive; NULL is ignored. Tensors of it stay. One that is written and was not closed leaves no file.
            THArchive_free(archive: archive_or_null) -> nothing = {
                if !archive.is_null() {
                    // SAFETY: the handle came from a function above and is the caller's to end.
                    drop(unsafe { Box::from_raw(archive) });
                }
                Ok(())
            };
            /// The format of the file; `TH_FILE_BY_NAME` on error.
            THArchive_format(archive: archive) -> file_format = archive.format();
            /// The number of tensors; -1 on error.
            THArchive_count(archive: archive) -> count = archive.reading().map(|a| a.count());
            /// The name of tensor `index`, from 0. Borrowed: valid as long as the archive. NULL on error.
            THArchive_name(archive: archive, index: entry) -> borrowed_text = archive.reading()?.name(index).map(text);
            /// The index of the first tensor named `name`; -1 if there is none.
            THArchive_find(archive: archive, name: text) -> count = Ok(archive.reading()?.find(name).unwrap_or(-1));
            /// The dtype of tensor `index`, that of the values if it is sparse; `TH_UNDEFINED` on error, and where thorn has no such tensors:
            /// quantised, complex.
            THArchive_dtype(archive: archive, index: entry) -> dtype = archive.reading()?.dtype(index).map(|dtype| dtype.code());
            /// The number of dimensions of tensor `index`; -1 on error.
            THArchive_ndim(archive: archive, index: entry) -> size = archive.reading()?.sizes(index).map(|sizes| sizes.len() as i64);
            /// The sizes of tensor `index`, as many as it has dimensions. Borrowed: valid as long as the archive. NULL on error.
            THArchive_sizes(archive: archive, index: entry) -> borrowed_sizes = archive.reading()?.sizes(index).map(<[i64]>::as_ptr);
            /// 1 if tensor `index` is sparse; 0 if it is not, and on error.
            THArchive_isSparse(archive: archive, index: entry) -> flag = Ok(archive.reading()?.entries(index)?.is_some());
            /// The number of entries of the sparse tensor `index`; -1 on error, and if it is not sparse.
            THArchive_nnz(archive: archive, index: entry) -> count = match archive.reading()?.entries(index)? {
                Some(nnz) => Ok(nnz),
                None => bail!(Argument, "tensor {index} is not sparse"),
            };
            /// The number of keys of the metadata; -1 on error.
            THArchive_metadataCount(archive: archive) -> count = archive.reading().map(|a| a.keys());
            /// Key `index` of the metadata, from 0. Borrowed: valid as long as the archive. NULL on error.
            THArchive_metadataKey(archive: archive, index: entry) -> borrowed_text =
                archive.reading()?.metadata(index).map(|(key, _)| text(key));
            /// The value of key `index` of the metadata, from 0. Borrowed: valid as long as the archive. NULL on error.
            THArchive_metadataValue(archive: archive, index: entry) -> borrowed_text =
                archive.reading()?.metadata(index).map(|(_, value)| text(value));
            /// The value of `key` in the metadata. Borrowed: valid as long as the archive. NULL if there is none, and on error.
            THArchive_metadata(archive: archive, key: text) -> borrowed_text = Ok(archive.reading()?.value(key).map_or(null(), text));
            /// Tensor `index` with the strides that it has in the file. Tensors that share elements in the file share a storage here, if they
            /// come from the same archive. Returns a new reference; NULL on error.
            THArchive_newTensor(archive: archive, index: entry) -> new = archive.reading()?.tensor(index);
            /// The first tensor named `name`, as `THArchive_newTensor` gives it. Returns a new reference; NULL on error, and if there is none.
            THArchive_newFind(archive: archive, name: text) -> new = {
                let archive = archive.reading()?;
                archive.tensor(archive.found(name)?)
            };
            /// The bytes of the elements of tensor `index` in row-major order, as the file has them: uint8 with one dimension. They serve types
            /// that thorn does not have, as float8, complex numbers and blocks of GGUF, and types that it converts. In GGUF, bytes of an
            /// unknown type reach to the next tensor. `TH_ERR_UNSUPPORTED` where the file has elements as a text or compressed, unless thorn
            /// lacks their type. Returns a new reference; NULL on error.
            THArchive_newBytes(archive: archive, index: entry) -> new = archive.reading()?.bytes(index);
            /// `r` = tensor `index`, copied.
            THArchive_read(r: out, archive: archive, index: entry) = archive.reading()?.read_into(r, index);

            /// An archive that will be the file `path`, which `THArchive_close` writes. `format` is one of `TH_FILE_*`. Free it with
            /// `THArchive_free`; NULL on error.
            THArchive_create(path: text, format: file_format) -> new_archive =
                THArchive::of_writing(Writing::create(path, format)?).map(Box::into_raw);
            /// Adds a tensor of this name, of which there may be one. The archive keeps a reference to its storage; `THArchive_close` reads its
            /// elements. PyTorch's and Torch7's files keep strides and the storages that tensors share, each whole; in others tensors are
            /// row-major.
            THArchive_add(archive: archive, name: text, t: input) = archive.writing()?.add(name, t);
            /// Adds a key and its value to the metadata, which NumPy's files, Matrix Market's, PGM and PPM do not have. Tables have names of
            /// columns, `columns.0` and so on, and nothing else.
            THArchive_addMetadata(archive: archive, key: text, value: text) = archive.writing()?.add_metadata(key, value);
            /// Floats in texts get `digits` significant digits, 0 to 17; 0, as at first, stands for as many as tell them apart.
            THArchive_setPrecision(archive: archive, digits: int) = archive.writing()?.set_precision(digits);
            /// Writes the file. Then the archive is only to be freed. If it fails, what was there before is as it was, and the archive may be
            /// closed again.
            THArchive_close(archive: archive) = archive.writing()?.close();
        }
    };
}

pub mod archives {
    //! Files.
    //!
    //! An archive is a file with named tensors: a checkpoint of PyTorch or Torch7, safetensors, GGUF, NumPy's arrays, a matrix of Matrix
    //! Market, a table of numbers or an image. One that is opened tells names, dtypes and sizes without reading elements; nothing in it is
    //! executed or trusted. Lists, dictionaries and tables become paths as names, `model.layer.0.weight`, and the numbers and texts in them
    //! metadata under such paths. A file that is one tensor has one whose name is "".
    //!
    //! `THArchive_newTensor` and `THArchive_newBytes` map elements that lie in the file as in memory, from 64 KiB on. Writes to such a
    //! tensor stay private. The file should stay as it is: if a program changes it in place, elements may change, and access beyond the end
    //! of a file that was cut short raises SIGBUS. `numpy.save` and `torch.save` cut a file to nothing and write it anew in place.
    //! Functions of thorn replace the file by a new one, and mapped tensors keep the elements of the old one. `THArchive_openWith` with
    //! `TH_OPEN_COPY` opens a file of which nothing is mapped; `THTensor_newLoad` and `THArchive_read` copy as well. uint16 is read as
    //! int32 and uint32 as int64.
    //!
    //! GGUF's blocks are decoded to float32: Q4_0 to Q8_0, Q2_K to Q6_K, IQ4_NL, IQ4_XS, TQ1_0, TQ2_0 and MXFP4. `THArchive_newBytes`
    //! returns the bytes of others.
    //!
    //! Sparse tensors have functions of their own: those of dense ones refuse them, `TH_ERR_UNSUPPORTED`. PyTorch's files have them in
    //! coordinates (COO) and by compressed rows (CSR), and so have SciPy's (`scipy.sparse.save_npz`), which are one sparse tensor without a
    //! name. Matrix Market's `coordinate` files are coordinates, and their `array` files dense: real numbers are float64, integers int64, a
    //! pattern has values 1 of float64; symmetric and skew-symmetric ones are read whole, complex ones refused, and those that gzip
    //! compressed (`.mtx.gz`) read too. What is written is `general`, its numbers the shortest that read back the same, and a pattern where
    //! values are bool.
    //!
    //! A file is written as a whole: beside its name first, then to disk, and then renamed, so that a failure or a killed process leaves
    //! the file that was there. A file that this process may not write to is not replaced. Where the system has files without a name, as
    //! Linux does on most file systems, a killed process leaves nothing else.
    //!
    //! Errors: `TH_ERR_IO`, the system or a function of the caller refused to read or write; `TH_ERR_FORMAT`, the file is broken or of no
    //! known format, and at which byte; `TH_ERR_UNSUPPORTED`, a tensor is of a kind that thorn does not have, or a format is not written.
    use super::*;
    archive_functions!(table);
    pub(crate) use archive_functions as functions;
}

macro_rules! file_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// The tensor of the file `path`, which has one. Its elements are read: the file may change afterwards. Returns a new reference.
            newLoad(path: text) -> new = Reading::open(path)?.only();
            /// Writes a tensor to the file `path`, whose ending names the format. It has no name in the file.
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

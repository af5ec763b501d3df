//! Files: sparse tensors in archives, and files of one sparse tensor.

use super::files::{of_file, to_file};
use crate::api::sparse::Sparse;
use crate::api::table::table;
use crate::files::{Reading, save_sparse};

macro_rules! sparse_archive_functions {
    ($do:ident) => {
        $do! { "";
            /// The sparse tensor `index`, in the form that it has in the file: coordinates, or a matrix of compressed rows. A matrix of
            /// compressed columns becomes coordinates. Duplicates stay; positions out of range are refused, `TH_ERR_ARGUMENT`. Returns a new
            /// reference; NULL on error.
            THArchive_newSparse(archive: archive, index: entry) -> new_sparse = Sparse::new(of_file(&archive.reading()?.sparse(index)?)?);
            /// Adds a sparse tensor of this name. The archive keeps references to its positions and values, whose elements `THArchive_close`
            /// reads. PyTorch's files keep sparse tensors, any number and beside dense ones; `.npz` and Matrix Market files are one. Compressed
            /// rows whose columns do not ascend, each once, are written as coordinates.
            THArchive_addSparse(archive: archive, name: text, s: sparse) = archive.writing()?.add_sparse(name, &to_file(s.parts()?)?);
        }
    };
}

pub mod archives {
    //! Files.
    use super::*;
    sparse_archive_functions!(table);
    pub(crate) use sparse_archive_functions as functions;
}

macro_rules! sparse_file_functions {
    ($do:ident) => {
        $do! { "THSTensor_";
            /// The sparse tensor of the file `path`, which has one, as `THArchive_newSparse` gives it: of Matrix Market, of SciPy (`.npz`) or
            /// of PyTorch. Its parts are read: the file may change afterwards. Returns a new reference.
            newLoad(path: text) -> new_sparse = Sparse::new(of_file(&Reading::open(path)?.only_sparse()?)?);
            /// Writes a sparse tensor to the file `path`, whose ending names the format: `.mtx`, a matrix of coordinates; `.npz`, one that
            /// `scipy.sparse.load_npz` reads; `.pt`, one that `torch.load` reads. It has no name in the file. Matrices have no dense dimensions
            /// in `.mtx` and `.npz`.
            save(s: sparse, path: text) = save_sparse(&to_file(s.parts()?)?, path);
        }
    };
}

pub mod sparse_tensors {
    //! Files.
    use super::*;
    sparse_file_functions!(table);
    pub(crate) use sparse_file_functions as functions;
}

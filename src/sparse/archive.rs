//! Files: sparse tensors in archives, and files of one sparse tensor.

use super::files::{of_file, to_file};
use crate::api::sparse::Sparse;
use crate::api::table::table;
use crate::files::{Reading, save_sparse};

macro_rules! sparse_archive_functions {
    ($do:ident) => {
        $do! { "";
            /// The sparse tensor `index`, with coordinates or compressed by rows as in the file. A matrix that is compressed by columns
            /// gets coordinates. Duplicate positions are kept; positions out of range are `TH_ERR_ARGUMENT`. Returns a new reference; NULL
            /// on error.
            THArchive_newSparse(archive: archive, index: entry) -> new_sparse = Sparse::new(of_file(&archive.reading()?.sparse(index)?)?);
            /// Adds a sparse tensor with the name `name`. The archive holds references to its positions and values, whose elements
            /// `THArchive_close` reads. PyTorch's files hold any number of sparse tensors, also together with dense tensors. An `.npz` or
            /// Matrix Market file holds a single sparse tensor. Compressed rows whose columns are not distinct and ascending are written as
            /// coordinates.
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
            /// The only sparse tensor of the file `path`, of Matrix Market, SciPy (`.npz`) or PyTorch, as `THArchive_newSparse` returns it.
            /// Its components are read, so the file may change afterwards. Returns a new reference.
            newLoad(path: text) -> new_sparse = Sparse::new(of_file(&Reading::open(path)?.only_sparse()?)?);
            /// Writes a sparse tensor without a name to the file `path`, whose extension selects the format: `.mtx` for a matrix of
            /// coordinates, `.npz` for a file that `scipy.sparse.load_npz` reads, `.pt` for a file that `torch.load` reads. In `.mtx` and
            /// `.npz` files matrices cannot have dense dimensions.
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

//! The kinds of returned values: the C type of each kind, and its value on failure.

use super::word::{ToWord, Word};
use crate::dtype::TH_UNDEFINED;
use std::ptr::null_mut;

/// The kinds of values that functions return: the C type, and the value on failure.
macro_rules! returns {
    ($d:tt $($(#[$doc:meta])* $kind:ident: $C:ty = $value:expr;)*) => {
        /// The C type of a returned value.
        macro_rules! return_type { () => { $crate::error::THStatus }; $( ($kind) => { $C }; )* }
        pub(crate) use return_type;

        /// The kind of a returned value.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(non_camel_case_types)]
        pub enum Return {
            /// The status.
            status,
            $($(#[$doc])* $kind,)*
        }

        impl Return {
            /// The value returned on failure; `None` for the status.
            pub fn on_error(self) -> Option<Word> {
                match self {
                    Return::status => None,
                    $(Return::$kind => Some(ToWord::word($value)),)*
                }
            }
        }

        /// The kinds of returned values except the status, each with the value on failure as C source text.
        #[cfg(any(test, feature = "api"))]
        pub static ON_ERROR: &[(Return, &str)] = &[$((Return::$kind, stringify!($value)),)*];
    };
}

const NULL: *mut () = null_mut();
const NAN: f64 = f64::NAN;

returns! { $
    /// A new reference to a tensor.
    new: *mut THTensor = NULL;
    /// A new reference to a tensor, or NULL.
    new_or_null: *mut THTensor = NULL;
    /// A tensor for a consumer of DLPack, which must call its deleter.
    dlpack: *mut DLManagedTensorVersioned = NULL;
    /// [`Return::dlpack`] in the form before version 1.
    dlpack_legacy: *mut DLManagedTensor = NULL;
    /// A new reference to a storage.
    new_storage: *mut THStorage = NULL;
    /// A storage that belongs to the tensor.
    borrowed_storage: *mut THStorage = NULL;
    /// A new generator.
    new_generator: *mut THGenerator = NULL;
    /// A kind of generator.
    generator_kind: THGeneratorKind = 0;
    /// A new reference to a sparse tensor.
    new_sparse: *mut THSTensor = NULL;
    /// A new fused expression.
    new_fused: *mut THFused = NULL;
    /// A new optimizer.
    new_optim: *mut THOptim = NULL;
    /// A new exported program.
    new_program: *mut THProgram = NULL;
    /// A new archive.
    new_archive: *mut THArchive = NULL;
    /// A new reference to a stream.
    new_cuda_stream: *mut THCudaStream = NULL;
    /// A new reference to an event.
    new_cuda_event: *mut THCudaEvent = NULL;
    /// A new reference to a graph.
    new_cuda_graph: *mut THCudaGraph = NULL;
    /// A format of files.
    file_format: THFileFormat = 0;
    /// A structure of quantised numbers.
    block_type: THBlockType = 0;
    /// A new context of mapped memory.
    new_map_context: *mut THMapAllocatorContext = NULL;
    /// An element.
    number: f64 = NAN;
    /// A sum of elements.
    accumulated: f64 = NAN;
    /// True or false.
    flag: c_int = 0;
    /// A small number.
    int: c_int = 0;
    /// An open file, or -1.
    descriptor: c_int = -1;
    /// A count.
    count: i64 = -1;
    /// A size of a dimension.
    size: i64 = -1;
    /// A distance between neighbours along a dimension, in elements.
    stride: i64 = -1;
    /// An element that is an int64.
    integer: i64 = -1;
    /// An index into a storage, counted from 0.
    offset: isize = -1;
    /// A length of a storage or tensor in elements, or of memory in bytes.
    length: isize = -1;
    /// A number of bytes.
    bytes: usize = 0;
    /// A seed of random numbers.
    seed: u64 = 0;
    /// A dtype.
    dtype: THDtype = TH_UNDEFINED;
    /// A kind of device.
    device_type: THDeviceType = 0;
    /// Memory of a storage, or a new block.
    memory: *mut c_void = NULL;
    /// The sizes or strides of a handle, borrowed from the handle.
    borrowed_sizes: *const i64 = NULL;
    /// A C string that the caller frees.
    new_text: *mut c_char = NULL;
    /// A borrowed C string.
    borrowed_text: *const c_char = NULL;
    /// Nothing.
    nothing: () = ();
}

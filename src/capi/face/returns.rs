//! The values that rows return: what each kind is in C, and what stands for a failure.

use super::word::Word;
use crate::dtype::TH_UNDEFINED;

/// The kinds of values that functions give back: the type in C, and the value on failure.
macro_rules! returns {
    ($d:tt $($(#[$doc:meta])* $kind:ident: $C:ty = $value:expr;)*) => {
        /// The type of what is returned.
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
                    $(Return::$kind => Some($value),)*
                }
            }
        }
    };
}

fn bits(x: i64) -> Word {
    Word::from_bits(x as u64)
}

returns! { $
    /// A new reference to a tensor.
    new: *mut THTensor = bits(0);
    /// A tensor for a consumer of DLPack, who calls its deleter.
    dlpack: *mut DLManagedTensorVersioned = bits(0);
    /// [`Return::dlpack`] as it was before version 1.
    dlpack_legacy: *mut DLManagedTensor = bits(0);
    /// A new reference to a storage.
    new_storage: *mut THStorage = bits(0);
    /// A storage that stays the tensor's.
    borrowed_storage: *mut THStorage = bits(0);
    /// A new generator.
    new_generator: *mut THGenerator = bits(0);
    /// A kind of generator.
    generator_kind: THGeneratorKind = bits(0);
    /// A new archive.
    new_archive: *mut THArchive = bits(0);
    /// A format of files.
    file_format: THFileFormat = bits(0);
    /// A new context of mapped memory.
    new_map_context: *mut THMapAllocatorContext = bits(0);
    /// An element.
    number: f64 = Word::from_bits(f64::NAN.to_bits());
    /// A sum of elements.
    accumulated: f64 = Word::from_bits(f64::NAN.to_bits());
    /// True or false.
    flag: c_int = bits(0);
    /// A small number.
    int: c_int = bits(0);
    /// An open file, or -1.
    descriptor: c_int = bits(-1);
    /// A number of things.
    count: i64 = bits(-1);
    /// A size of a dimension.
    size: i64 = bits(-1);
    /// A distance of neighbours along a dimension, in elements.
    stride: i64 = bits(-1);
    /// An element that is an int64.
    integer: i64 = bits(-1);
    /// An index into a storage, from 0.
    offset: isize = bits(-1);
    /// A length of a storage or tensor in elements, or of memory in bytes.
    length: isize = bits(-1);
    /// Bytes.
    bytes: usize = bits(0);
    /// A seed of random numbers.
    seed: u64 = bits(0);
    /// A dtype.
    dtype: THDtype = bits(TH_UNDEFINED as i64);
    /// A kind of device.
    device_type: THDeviceType = bits(0);
    /// Memory of a storage, or a new block.
    memory: *mut c_void = bits(0);
    /// Sizes or strides where the handle has them.
    borrowed_sizes: *const i64 = bits(0);
    /// A C string on the heap, which is the caller's.
    new_text: *mut c_char = bits(0);
    /// A C string that is not the caller's.
    borrowed_text: *const c_char = bits(0);
    /// Nothing.
    nothing: () = bits(0);
}

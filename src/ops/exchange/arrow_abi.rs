//! The binary interface of Arrow's C data: the structs and codes of its specification.

use std::ffi::{c_char, c_void};

/// The dictionary's order has a meaning.
pub const ARROW_FLAG_DICTIONARY_ORDERED: i64 = 1;
/// There may be nulls.
pub const ARROW_FLAG_NULLABLE: i64 = 2;
/// The keys of each map are sorted.
pub const ARROW_FLAG_MAP_KEYS_SORTED: i64 = 4;

/// The type of an array. The consumer calls `release` once; a struct whose `release` is NULL has been released or moved elsewhere.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowSchema {
    /// The type; one letter for numbers: `f` is float32.
    pub format: *const c_char,
    /// The name of a field, or NULL.
    pub name: *const c_char,
    /// Keys and values in a binary form, or NULL.
    pub metadata: *const c_char,
    /// `ARROW_FLAG_*` bits.
    pub flags: i64,
    /// Number of children; 0 for numbers.
    pub n_children: i64,
    /// The types of the children.
    pub children: *mut *mut ArrowSchema,
    /// The type of a dictionary's values, or NULL.
    pub dictionary: *mut ArrowSchema,
    /// Ends what the struct refers to, and sets `release` to NULL.
    pub release: Option<unsafe extern "C" fn(schema: *mut ArrowSchema)>,
    /// The producer's own.
    pub private_data: *mut c_void,
}

/// The memory of an array. The consumer calls `release` once; a struct whose `release` is NULL has been released or moved elsewhere.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArray {
    /// Number of values.
    pub length: i64,
    /// Number of nulls; -1 if nobody has counted them.
    pub null_count: i64,
    /// Values in the buffers before the first one of the array.
    pub offset: i64,
    /// Number of buffers; 2 for numbers.
    pub n_buffers: i64,
    /// Number of children; 0 for numbers.
    pub n_children: i64,
    /// For numbers a bit for each value that is not null, or NULL, and the values.
    pub buffers: *mut *const c_void,
    /// The children.
    pub children: *mut *mut ArrowArray,
    /// The values of a dictionary, or NULL.
    pub dictionary: *mut ArrowArray,
    /// Ends what the struct refers to, and sets `release` to NULL.
    pub release: Option<unsafe extern "C" fn(array: *mut ArrowArray)>,
    /// The producer's own.
    pub private_data: *mut c_void,
}

const _: () = {
    use std::mem::offset_of;
    assert!(offset_of!(ArrowSchema, flags) == 24 && offset_of!(ArrowSchema, children) == 40);
    assert!(offset_of!(ArrowSchema, release) == 56 && size_of::<ArrowSchema>() == 72);
    assert!(offset_of!(ArrowArray, n_buffers) == 24 && offset_of!(ArrowArray, buffers) == 40);
    assert!(offset_of!(ArrowArray, release) == 64 && size_of::<ArrowArray>() == 80);
};

//! Arrow's C data interface: vectors exported to other libraries and imported from them.

use super::arrow_abi::{ArrowArray, ArrowSchema};
use super::unsigned::{Stored, Unsigned};
use crate::alloc;
use crate::device::{Device, DeviceGuard};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::TH_CONTIGUOUS_FORMAT;
use crate::operand::{Operand, check_host};
use crate::ops::{copy, create};
use crate::storage::Storage;
use crate::tensor::Tensor;
use std::ffi::{CStr, c_void};
use std::ptr::{NonNull, null, null_mut};

/// The dtypes of Arrow's primitive formats. Bool is missing, because Arrow stores Bool values as bits, not bytes.
const FORMATS: [(&CStr, Dtype); 9] = [
    (c"c", Dtype::Int8),
    (c"C", Dtype::Uint8),
    (c"s", Dtype::Int16),
    (c"i", Dtype::Int32),
    (c"l", Dtype::Int64),
    (c"e", Dtype::Float16),
    (c"f", Dtype::Float32),
    (c"g", Dtype::Float64),
    (c"b", Dtype::Bool),
];

/// The buffers of an exported array, and the storage that holds its values.
struct Export {
    buffers: [*const c_void; 2],
    storage: Option<Storage>,
}

/// Fills both structs for a consumer. The consumer shares the elements of `t` until it calls the array's `release`; from now on the storage
/// cannot be resized. Elements that are not contiguous, and Bool elements, are copied.
///
/// # Safety
/// Both structs are writable.
pub unsafe fn export(t: &Tensor, schema: *mut ArrowSchema, array: *mut ArrowArray) -> Result<()> {
    check_host(t)?;
    let dtype = Operand::of(t)?.dtype;
    let Some((format, _)) = FORMATS.iter().find(|(_, of)| *of == dtype) else { bail!(Dtype, "Arrow has no primitive format for {dtype}") };
    let layout = t.layout()?;
    if layout.ndim() != 1 {
        bail!(Shape, "shape {:?}: an array of Arrow has one dimension", layout.shape.as_slice())
    }
    let length = layout.shape[0];
    let from = match dtype {
        Dtype::Bool => packed(&copy::contiguous(t, TH_CONTIGUOUS_FORMAT)?)?,
        _ => copy::contiguous(t, TH_CONTIGUOUS_FORMAT)?,
    };
    let from = Operand::of(&from)?;
    let Some(block) = alloc::allocate(size_of::<Export>()) else { bail!(NoMem, "out of memory for an array") };
    // SAFETY: the block is new.
    let lent = from.storage.as_ref().map(Storage::lend).transpose().inspect_err(|_| unsafe { alloc::release(block, size_of::<Export>()) });
    let (storage, export) = (lent?, block.cast::<Export>().as_ptr());
    // SAFETY: the block is new and large enough, and the caller's structs are writable.
    unsafe {
        export.write(Export { buffers: [null(), from.first().cast_const().cast()], storage });
        schema.write(ArrowSchema {
            format: format.as_ptr(),
            name: c"".as_ptr(),
            metadata: null(),
            flags: 0,
            n_children: 0,
            children: null_mut(),
            dictionary: null_mut(),
            release: Some(end_schema),
            private_data: null_mut(),
        });
        array.write(ArrowArray {
            length,
            null_count: 0,
            offset: 0,
            n_buffers: 2,
            n_children: 0,
            buffers: (&raw mut (*export).buffers).cast(),
            children: null_mut(),
            dictionary: null_mut(),
            release: Some(end_array),
            private_data: export.cast(),
        });
    }
    Ok(())
}

unsafe extern "C" fn end_schema(schema: *mut ArrowSchema) {
    // SAFETY: a consumer passes the struct, whose strings are static.
    unsafe { (*schema).release = None }
}

unsafe extern "C" fn end_array(array: *mut ArrowArray) {
    // SAFETY: a consumer passes the struct once, perhaps moved to another address. `export` made the block.
    unsafe {
        if let Some(block) = NonNull::new((*array).private_data.cast::<Export>()) {
            let Export { storage, .. } = block.read();
            alloc::release(block.cast(), size_of::<Export>());
            drop(storage);
        }
        ((*array).release, (*array).private_data) = (None, null_mut());
    }
}

/// The elements of a row-major Bool vector as bits, the first one the lowest bit of its byte.
fn packed(t: &Tensor) -> Result<Tensor> {
    let from = Operand::of(t)?;
    let n = from.layout().numel() as usize;
    let _host = DeviceGuard::on(Device::Cpu);
    let bits = Tensor::empty(Dtype::Uint8, &[n.div_ceil(8) as i64])?;
    for byte in 0..n.div_ceil(8) {
        // SAFETY: `from` is row-major and has `n` elements. `bits` has enough bytes for `n` bits.
        unsafe {
            let is_set = |k: usize| u8::from(*from.first().add(k) != 0);
            *bits.data().add(byte) = (8 * byte..n.min(8 * byte + 8)).map(|k| is_set(k) << (k % 8)).sum();
        }
    }
    Ok(bits)
}

/// A vector that shares the values of a producer. The producer's array is released with the last reference. Bool values and unsigned
/// integers wider than a byte are copied. On success both structs have been moved: their `release` is NULL. On failure they remain the
/// caller's.
///
/// # Safety
/// The structs come from a producer, and the memory that they describe is valid until they are released.
pub unsafe fn import(schema: *mut ArrowSchema, array: *mut ArrowArray) -> Result<Tensor> {
    // SAFETY: the caller promises this.
    let (kind, values) = unsafe { (&*schema, &*array) };
    let Some(release_schema) = kind.release else { bail!(Argument, "the schema has been released") };
    let Some(release) = values.release else { bail!(Argument, "the array has been released") };
    // SAFETY: the caller promises that the schema is valid.
    let stored = unsafe { stored_as(kind) }?;
    let &ArrowArray { length, offset, n_buffers, n_children, buffers, .. } = values;
    if n_buffers != 2 || n_children != 0 || buffers.is_null() {
        bail!(Argument, "the array has {n_buffers} buffers and {n_children} children: numbers have 2 and none")
    }
    let Some(end) = length.checked_add(offset).filter(|_| length >= 0 && offset >= 0) else {
        bail!(Shape, "length {length} and offset {offset} of the array")
    };
    // SAFETY: the array has two buffers.
    let (validity, data) = unsafe { (*buffers, (*buffers.add(1)).cast_mut()) };
    let nulls = match values.null_count {
        // SAFETY: the buffer has a bit for each value.
        -1 if !validity.is_null() => (offset..end).filter(|&k| unsafe { !bit(validity, k) }).count() as i64,
        -1 => 0,
        counted => counted,
    };
    if nulls != 0 {
        bail!(Unsupported, "{nulls} of {length} values are null: thorn has no nulls")
    }
    if data.is_null() && length > 0 {
        bail!(Argument, "data is NULL for {length} values")
    }
    // SAFETY: the caller promises that `data` holds the values. Nothing fails after the structs are moved. An array whose values are copied
    // is released; a shared one is moved.
    unsafe {
        let (t, is_copied) = match stored {
            Stored::Same(Dtype::Bool) => (unpacked(data, offset, length)?, true),
            Stored::Same(dtype) => (shared(array, dtype, data, offset, length)?, false),
            Stored::Unsigned(unsigned) => {
                let first = first_of(data, unsigned.stored(), offset, length)?;
                let borrowed = create::from_blob(Device::Cpu, unsigned.stored(), &[length], None, first, None, null_mut())?;
                (unsigned.widened(&borrowed)?, true)
            }
        };
        if is_copied {
            release(array);
        }
        (*array).release = None;
        release_schema(schema);
        (*schema).release = None;
        Ok(t)
    }
}

/// The storage format of the values that a schema describes.
///
/// # Safety
/// The schema's format is NULL or a C string.
unsafe fn stored_as(schema: &ArrowSchema) -> Result<Stored> {
    if schema.format.is_null() {
        bail!(Argument, "the format is NULL")
    }
    // SAFETY: the caller promises this.
    let format = unsafe { CStr::from_ptr(schema.format) };
    if !schema.dictionary.is_null() {
        bail!(Dtype, "the values are indices {format:?} into a dictionary: thorn has no such dtype")
    }
    let same = FORMATS.iter().find(|(name, _)| *name == format).map(|&(_, dtype)| Stored::Same(dtype));
    let unsigned = || [(c"S", Unsigned::Bits16), (c"I", Unsigned::Bits32)].into_iter().find(|(name, _)| *name == format);
    match same.or_else(|| unsigned().map(|(_, of)| Stored::Unsigned(of))) {
        Some(stored) => Ok(stored),
        None => bail!(Dtype, "thorn has no dtype of format {format:?}"),
    }
}

/// Returns true if bit `k` of a buffer is set.
///
/// # Safety
/// The buffer has more than `k` bits.
unsafe fn bit(buffer: *const c_void, k: i64) -> bool {
    // SAFETY: the caller promises this.
    unsafe { *buffer.cast::<u8>().add(k as usize / 8) >> (k % 8) & 1 == 1 }
}

/// # Safety
/// The buffer has `offset + length` bits.
unsafe fn unpacked(data: *const c_void, offset: i64, length: i64) -> Result<Tensor> {
    let _host = DeviceGuard::on(Device::Cpu);
    let t = Tensor::empty(Dtype::Bool, &[length])?;
    for k in 0..length {
        // SAFETY: the caller promises the bits, and the new tensor has `length` elements.
        unsafe { *t.data().add(k as usize) = u8::from(bit(data, offset + k)) }
    }
    Ok(t)
}

/// The address of the first of `length` values of an array.
fn first_of(data: *mut c_void, dtype: Dtype, offset: i64, length: i64) -> Result<*mut c_void> {
    let bytes = offset.checked_mul(dtype.size() as i64).filter(|&bytes| data.addr().checked_add(bytes as usize).is_some());
    let Some(bytes) = bytes else { bail!(Shape, "offset {offset} of the array reaches beyond all addresses") };
    Ok(if length == 0 { null_mut() } else { data.wrapping_byte_add(bytes as usize) })
}

/// A vector over the values of an array. The vector's deleter owns a copy of the struct. On failure nothing has changed.
///
/// # Safety
/// The buffer has `offset + length` values of this dtype until the array is released.
unsafe fn shared(array: *mut ArrowArray, dtype: Dtype, data: *mut c_void, offset: i64, length: i64) -> Result<Tensor> {
    let first = first_of(data, dtype, offset, length)?;
    let Some(block) = alloc::allocate(size_of::<ArrowArray>()) else { bail!(NoMem, "out of memory for an array") };
    // SAFETY: the block is new and large enough. Its copy of the struct takes over when the caller clears `release` of the original.
    unsafe {
        block.cast::<ArrowArray>().write(array.read());
        let t = create::from_blob(Device::Cpu, dtype, &[length], None, first, Some(end_import), block.as_ptr().cast());
        if t.is_err() {
            alloc::release(block, size_of::<ArrowArray>());
        }
        t
    }
}

unsafe extern "C" fn end_import(_data: *mut c_void, array: *mut c_void) {
    let Some(block) = NonNull::new(array.cast::<ArrowArray>()) else { return };
    // SAFETY: `shared` made the block, and the deleter is called once.
    unsafe {
        let mut array = block.read();
        alloc::release(block.cast(), size_of::<ArrowArray>());
        if let Some(release) = array.release {
            release(&raw mut array);
        }
    }
}

//! `THStorage`, the struct that C sees, and [`Storage`], the counted pointer that Rust uses.

mod elsewhere;
mod larger;
mod lent;
mod shared;

pub use elsewhere::provide_by;

use crate::alloc::{self, THAllocator, THDeleter, THMapAllocator, THMapAllocatorContext};
use crate::device::{self, Device};
use crate::dtype::Dtype;
use crate::error::{Error, Kind, Result, bail};
use crate::refcount;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{NonNull, null, null_mut};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// A block of elements of one dtype. The fields are part of the ABI and at TH's offsets; read them directly, and change them only by
/// functions.
#[repr(C)]
#[derive(Debug)]
pub struct THStorage {
    /// The first element; NULL if the storage is empty.
    pub data: *mut c_void,
    /// Number of elements.
    pub size: isize,
    /// The number of references; changed atomically by retain and free.
    pub refcount: i32,
    /// `TH_STORAGE_*` bits.
    pub flag: c_char,
    /// The element type: a constant of THDtype such as `TH_FLOAT32`.
    pub dtype: u8,
    /// `TH_CPU` or `TH_CUDA`.
    pub deviceType: i8,
    /// The index of the GPU; 0 for the host.
    pub deviceIndex: i8,
    /// The allocator that frees the memory.
    pub allocator: *const THAllocator,
    /// The context that the allocator is called with.
    pub allocatorContext: *mut c_void,
    /// With `TH_STORAGE_VIEW`: the storage that owns the memory.
    pub view: *mut THStorage,
}

/// The memory block of a storage: the public fields, followed by private ones.
#[repr(C)]
struct Block {
    head: THStorage,
    /// The number of calls that have written to the elements, counted from the program's first use of gradients.
    version: AtomicU64,
    /// `HAS_HISTORY` and `IS_SHARED`.
    marks: AtomicU8,
}

/// A mark of a storage: a tensor on it had a history or required a gradient.
pub(crate) const HAS_HISTORY: u8 = 1;
/// A mark of a storage: a tensor was made on it whose relation to the storage's other tensors is unknown.
pub(crate) const IS_SHARED: u8 = 2;

/// The storage counts its references; without this flag retain and free have no effect.
pub const TH_STORAGE_REFCOUNTED: c_char = 1;
/// The storage may be resized.
pub const TH_STORAGE_RESIZABLE: c_char = 2;
/// The allocator frees the memory when the last reference is given up.
pub const TH_STORAGE_FREEMEM: c_char = 4;
/// The memory belongs to the storage in `view`.
pub const TH_STORAGE_VIEW: c_char = 8;

const OWNED: c_char = TH_STORAGE_REFCOUNTED | TH_STORAGE_RESIZABLE | TH_STORAGE_FREEMEM;

const _: () = {
    use std::mem::offset_of;
    assert!(offset_of!(THStorage, data) == 0 && offset_of!(THStorage, size) == 8);
    assert!(offset_of!(THStorage, refcount) == 16 && offset_of!(THStorage, flag) == 20);
    assert!(offset_of!(THStorage, allocator) == 24 && offset_of!(THStorage, allocatorContext) == 32);
    assert!(offset_of!(THStorage, view) == 40 && size_of::<THStorage>() == 48);
};

/// Marks memory of the caching allocator; `allocatorContext` carries the number of bytes.
static CACHING: THAllocator = THAllocator { malloc: None, realloc: None, free: Some(caching_free) };

unsafe extern "C" fn caching_free(bytes: *mut c_void, data: *mut c_void) {
    if let Some(data) = NonNull::new(data.cast()) {
        // SAFETY: only thorn's storages have the allocator CACHING, and their context is the number of bytes that `alloc::allocate` was
        // called with.
        unsafe { alloc::release(data, bytes as usize) }
    }
}

/// One counted reference to a `THStorage`. All access is through the raw pointer, because C may hold the same pointer.
#[derive(Debug)]
#[repr(transparent)]
pub struct Storage(NonNull<THStorage>);

// SAFETY: the reference count is atomic. The C header requires the program to order accesses to the elements.
unsafe impl Send for Storage {}
// SAFETY: as for `Send`.
unsafe impl Sync for Storage {}

impl Storage {
    /// An empty storage that can grow.
    pub fn new(dtype: Dtype) -> Result<Storage> {
        Storage::from_parts(dtype, null_mut(), 0, OWNED, &CACHING, null_mut())
    }

    /// A storage of `len` elements with undefined values, on the calling thread's current device.
    pub fn with_size(dtype: Dtype, len: i64) -> Result<Storage> {
        match device::current() {
            Device::Cpu => Storage::on_host(dtype, len),
            device => Storage::on(device, dtype, len),
        }
    }

    /// A storage of `len` elements with undefined values, from the caching allocator of the host.
    pub fn on_host(dtype: Dtype, len: i64) -> Result<Storage> {
        let bytes = byte_count(dtype, len)?;
        let data = allocate(bytes)?;
        let made = Storage::from_parts(dtype, data, len, OWNED, &CACHING, bytes as *mut c_void);
        if made.is_err() {
            // SAFETY: `data` was allocated above with this size, and no other pointer to it exists.
            unsafe { caching_free(bytes as *mut c_void, data) }
        }
        made
    }

    /// A storage of `len` elements from the caller's allocator.
    ///
    /// # Safety
    /// `allocator` must stay valid until the storage is freed, and its functions must behave like malloc, realloc and free.
    pub unsafe fn with_allocator(dtype: Dtype, len: i64, allocator: *const THAllocator, context: *mut c_void) -> Result<Storage> {
        let bytes = byte_count(dtype, len)?;
        // The struct is allocated first. If it were allocated after the memory, its failure would require freeing that memory, and perhaps
        // the caller's context with it.
        let storage = Storage::from_parts(dtype, null_mut(), len, TH_STORAGE_REFCOUNTED, allocator, context)?;
        // SAFETY: the caller promises a valid allocator.
        let Some(malloc) = (unsafe { (*allocator).malloc }) else { bail!(Argument, "the allocator has no malloc") };
        // SAFETY: as above.
        let data = if bytes == 0 { null_mut() } else { unsafe { malloc(context, bytes as isize) } };
        if data.is_null() && bytes > 0 {
            // SAFETY: `context` is the context of `allocator`.
            return Err(unsafe { refusal(allocator, context, bytes) });
        }
        // SAFETY: no one else has a reference to the new storage.
        unsafe { (*storage.as_ptr()).data = data };
        storage.set_flags(OWNED);
        alloc::adjust_live(bytes as isize);
        Ok(storage)
    }

    /// A storage over memory that `allocator` will free. On failure the caller still owns the memory.
    ///
    /// # Safety
    /// `data` must hold `len` elements. `allocator` must be able to free them and must stay valid until then.
    pub unsafe fn with_data(
        dtype: Dtype,
        data: *mut c_void,
        len: i64,
        allocator: *const THAllocator,
        context: *mut c_void,
    ) -> Result<Storage> {
        let bytes = byte_count(dtype, len)?;
        check_data(dtype, data, len)?;
        let made = Storage::from_parts(dtype, data, len, OWNED, allocator, context)?;
        alloc::adjust_live(bytes as isize);
        Ok(made)
    }

    /// A storage over foreign memory, which is freed by one call of `deleter(data, context)`.
    ///
    /// # Safety
    /// `data` must hold `len` elements until the deleter runs.
    pub unsafe fn from_blob(dtype: Dtype, data: *mut c_void, len: i64, deleter: THDeleter, context: *mut c_void) -> Result<Storage> {
        let bytes = byte_count(dtype, len)?;
        check_data(dtype, data, len)?;
        // The deleter is registered last, because it must not be called on failure.
        let storage = Storage::from_parts(dtype, data, len, TH_STORAGE_REFCOUNTED, null(), null_mut())?;
        let Some((allocator, foreign)) = alloc::foreign(deleter, context) else { bail!(NoMem, "out of memory") };
        // SAFETY: no one else has a reference to the new storage.
        unsafe {
            (*storage.as_ptr()).allocator = allocator;
            (*storage.as_ptr()).allocatorContext = foreign;
        }
        storage.set_flags(TH_STORAGE_REFCOUNTED | TH_STORAGE_FREEMEM);
        alloc::adjust_live(bytes as isize);
        Ok(storage)
    }

    /// A storage over a file or shared memory. If `len` <= 0, it covers the whole file. `flags` are `TH_ALLOCATOR_MAPPED_*`.
    pub fn mapped(dtype: Dtype, filename: &CStr, len: i64, flags: c_int) -> Result<Storage> {
        let bytes = if len > 0 { byte_count(dtype, len)? } else { 0 };
        let context = || THMapAllocatorContext::new(Some(filename), flags);
        Storage::over_mapping(dtype, bytes, (len > 0).then_some(len), context)
    }

    fn from_parts(
        dtype: Dtype,
        data: *mut c_void,
        len: i64,
        flag: c_char,
        allocator: *const THAllocator,
        allocatorContext: *mut c_void,
    ) -> Result<Storage> {
        let Some(block) = alloc::allocate(size_of::<Block>()) else { return Err(out_of_memory(size_of::<Block>())) };
        let (deviceType, deviceIndex) = Device::Cpu.codes();
        let head = THStorage {
            data,
            size: len as isize,
            refcount: 1,
            flag,
            dtype: dtype as u8,
            deviceType,
            deviceIndex,
            allocator,
            allocatorContext,
            view: null_mut(),
        };
        let block = block.cast::<Block>();
        // SAFETY: the block is fresh, large enough and aligned to 16.
        unsafe { block.write(Block { head, version: AtomicU64::new(0), marks: AtomicU8::new(0) }) };
        Ok(Storage(block.cast()))
    }

    /// Takes over one reference held by `raw`.
    ///
    /// # Safety
    /// `raw` must point to a live storage, and the caller must own the reference.
    pub unsafe fn from_raw(raw: NonNull<THStorage>) -> Storage {
        Storage(raw)
    }

    /// Passes the reference to the caller: to C, or to a field of a tensor.
    pub fn into_raw(self) -> *mut THStorage {
        let raw = self.0.as_ptr();
        std::mem::forget(self);
        raw
    }

    /// The address of the struct.
    #[inline(always)]
    pub fn as_ptr(&self) -> *mut THStorage {
        self.0.as_ptr()
    }

    /// The element type.
    #[inline(always)]
    pub fn dtype(&self) -> Dtype {
        // SAFETY: `self` is a live storage.
        Dtype::from_code(unsafe { (*self.as_ptr()).dtype }.into()).unwrap_or(Dtype::Uint8)
    }

    /// The device of the elements.
    pub fn device(&self) -> Device {
        // SAFETY: `self` is a live storage.
        unsafe { Device::from_codes((*self.as_ptr()).deviceType, (*self.as_ptr()).deviceIndex) }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(&self) -> i64 {
        // SAFETY: `self` is a live storage.
        unsafe { (*self.as_ptr()).size as i64 }
    }

    /// Returns true if the storage has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() <= 0
    }

    /// Returns true if the two storages share memory. Different storages over the same foreign memory do, too.
    pub fn overlaps(&self, other: &Storage) -> bool {
        let disjoint = |a: &Storage, b: &Storage| a.data().addr().wrapping_sub(b.data().addr()) >= b.bytes();
        self.as_ptr() == other.as_ptr() || !(disjoint(self, other) && disjoint(other, self))
    }

    /// The size of all elements in bytes.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        (self.len().max(0) as usize).saturating_mul(self.dtype().size())
    }

    /// The address of the first element.
    #[inline(always)]
    pub fn data(&self) -> *mut u8 {
        // SAFETY: `self` is a live storage.
        unsafe { (*self.as_ptr()).data.cast() }
    }

    /// The `TH_STORAGE_*` bits.
    pub fn flags(&self) -> c_char {
        // SAFETY: `self` is a live storage.
        unsafe { (*self.as_ptr()).flag }
    }

    /// Replaces the `TH_STORAGE_*` bits.
    pub fn set_flags(&self, flags: c_char) {
        // SAFETY: `self` is a live storage; the caller orders writes to it.
        unsafe { (*self.as_ptr()).flag = flags }
    }

    /// The number of calls that have written to the elements, counted from the program's first use of gradients.
    pub fn version(&self) -> &AtomicU64 {
        // SAFETY: every storage is the first field of a `Block`, and the block lives at least as long as `self`.
        unsafe { &(*self.as_ptr().cast::<Block>()).version }
    }

    /// Returns true if the storage has this mark.
    #[inline(always)]
    pub fn has_mark(&self, mark: u8) -> bool {
        // SAFETY: as above.
        unsafe { (*self.as_ptr().cast::<Block>()).marks.load(Ordering::Relaxed) & mark != 0 }
    }

    /// Sets a mark. Marks are never cleared.
    pub fn mark(&self, mark: u8) {
        if !self.has_mark(mark) {
            // SAFETY: as above.
            unsafe { (*self.as_ptr().cast::<Block>()).marks.fetch_or(mark, Ordering::Relaxed) };
        }
    }

    /// The current number of references.
    pub fn refcount(&self) -> i32 {
        // SAFETY: `self` is a live storage.
        unsafe { refcount::count(&raw mut (*self.as_ptr()).refcount) }
    }

    /// Changes the number of elements to `len`. Elements that fit keep their values; new ones are undefined.
    pub fn resize(&self, len: i64) -> Result<()> {
        if len == self.len() {
            return Ok(());
        }
        if self.flags() & TH_STORAGE_RESIZABLE == 0 {
            bail!(Argument, "the storage of {} elements is not resizable: its memory is foreign, mapped or shared", self.len())
        }
        let (old, new) = (self.bytes(), byte_count(self.dtype(), len)?);
        let raw = self.as_ptr();
        // SAFETY: `self` is a live storage; data and context belong to its allocator.
        unsafe {
            let (allocator, context) = ((*raw).allocator, (*raw).allocatorContext);
            let caching = std::ptr::eq(allocator, &CACHING);
            let data = if caching {
                resize_cached((*raw).data, context as usize, new)?
            } else {
                resize_foreign(allocator, context, (*raw).data, old, new)?
            };
            if caching {
                (*raw).allocatorContext = new as *mut c_void;
            } else {
                alloc::adjust_live(new as isize - old as isize);
            }
            (*raw).data = data;
            (*raw).size = len as isize;
        }
        Ok(())
    }

    /// Exchanges all public fields except the reference counts. Version and marks stay.
    pub fn swap(&self, other: &Storage) {
        // SAFETY: both storages are live, and they do not overlap because the pointers differ.
        unsafe {
            let (a, b) = (self.as_ptr(), other.as_ptr());
            if a != b {
                std::ptr::swap(a, b);
                std::mem::swap(&mut (*a).refcount, &mut (*b).refcount);
            }
        }
    }
}

impl Clone for Storage {
    #[inline(always)]
    fn clone(&self) -> Storage {
        // SAFETY: `self` is a live storage.
        unsafe { refcount::retain(&raw mut (*self.as_ptr()).refcount, (*self.as_ptr()).flag & TH_STORAGE_REFCOUNTED != 0) }
        Storage(self.0)
    }
}

impl Drop for Storage {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `self` owns one reference, which ends here.
        unsafe {
            let raw = self.as_ptr();
            if refcount::release(&raw mut (*raw).refcount, (*raw).flag & TH_STORAGE_REFCOUNTED != 0) {
                destroy(raw)
            }
        }
    }
}

/// Frees the memory if the flags say so, then the struct.
///
/// # Safety
/// The last reference has been given up.
unsafe fn destroy(raw: *mut THStorage) {
    // SAFETY: there is no other reference to the storage.
    unsafe {
        let head = raw.read();
        if head.flag & TH_STORAGE_FREEMEM != 0 {
            if std::ptr::eq(head.allocator, &CACHING) {
                caching_free(head.allocatorContext, head.data);
            } else {
                let bytes = (head.size.max(0) as usize).saturating_mul(Dtype::from_code(head.dtype.into()).map_or(1, Dtype::size));
                alloc::adjust_live(-(bytes as isize));
                if let Some(free) = unsafe_free(head.allocator) {
                    free(head.allocatorContext, head.data)
                }
            }
        }
        alloc::release(NonNull::new_unchecked(raw.cast()), size_of::<Block>());
        if head.flag & TH_STORAGE_VIEW != 0
            && let Some(view) = NonNull::new(head.view)
        {
            drop(Storage(view));
        }
    }
}

fn unsafe_free(allocator: *const THAllocator) -> Option<unsafe extern "C" fn(*mut c_void, *mut c_void)> {
    if allocator.is_null() {
        return None;
    }
    // SAFETY: the allocator of a storage is NULL or alive.
    unsafe { (*allocator).free }
}

/// The error for an `allocator` that did not return `bytes` bytes. thorn's allocators for mappings store the reason in their context.
///
/// # Safety
/// `context` must be the context of `allocator`.
#[cold]
unsafe fn refusal(allocator: *const THAllocator, context: *mut c_void, bytes: usize) -> Error {
    let maps = std::ptr::eq(allocator, &THMapAllocator) || std::ptr::eq(allocator, &alloc::THRefcountedMapAllocator);
    // SAFETY: the caller guarantees that `context` belongs to `allocator`; a map allocator's context is a `THMapAllocatorContext`.
    let context = if maps { unsafe { context.cast::<THMapAllocatorContext>().as_mut() } } else { None };
    let reason = context.and_then(THMapAllocatorContext::take_error);
    reason.unwrap_or_else(|| Error::new(Kind::NoMem, format_args!("the allocator did not give {bytes} bytes")))
}

/// Fails if `data` is NULL for a positive `len`, or not a multiple of the element's size, which kernels require.
fn check_data(dtype: Dtype, data: *mut c_void, len: i64) -> Result<()> {
    if data.is_null() && len > 0 {
        bail!(Argument, "data is NULL for {len} elements")
    }
    if !data.addr().is_multiple_of(dtype.size()) {
        bail!(Argument, "data at {data:p} is not aligned: elements of {dtype} take {} bytes", dtype.size())
    }
    Ok(())
}

/// The size of `len` elements in bytes. Fails if `len` is negative or the size overflows int64.
fn byte_count(dtype: Dtype, len: i64) -> Result<usize> {
    if len < 0 {
        bail!(Argument, "size {len} is negative")
    }
    match len.checked_mul(dtype.size() as i64) {
        Some(bytes) => Ok(bytes as usize),
        None => bail!(NoMem, "{len} elements of {dtype} overflow the address space"),
    }
}

fn allocate(bytes: usize) -> Result<*mut c_void> {
    if bytes == 0 {
        return Ok(null_mut());
    }
    alloc::allocate(bytes).map(|p| p.as_ptr().cast()).ok_or_else(|| out_of_memory(bytes))
}

#[cold]
fn out_of_memory(bytes: usize) -> Error {
    Error::new(Kind::NoMem, format_args!("out of memory: {bytes} bytes could not be allocated"))
}

/// # Safety
/// `data` must come from the caching allocator with `old` bytes.
unsafe fn resize_cached(data: *mut c_void, old: usize, new: usize) -> Result<*mut c_void> {
    let Some(block) = NonNull::new(data.cast::<u8>()) else { return allocate(new) };
    if new == 0 {
        // SAFETY: the caller guarantees that `data` came from the caching allocator with `old` bytes.
        unsafe { alloc::release(block, old) };
        return Ok(null_mut());
    }
    // SAFETY: the caller guarantees that `data` came from the caching allocator with `old` bytes.
    let moved = unsafe { alloc::reallocate(block, old, new) };
    moved.map(|p| p.as_ptr().cast()).ok_or_else(|| out_of_memory(new))
}

/// # Safety
/// `data` must come from `allocator` with `context` and hold `old` bytes.
unsafe fn resize_foreign(
    allocator: *const THAllocator,
    context: *mut c_void,
    data: *mut c_void,
    old: usize,
    new: usize,
) -> Result<*mut c_void> {
    if allocator.is_null() {
        bail!(Argument, "the storage has no allocator")
    }
    // 0 bytes are never requested, because a NULL result could mean success or failure.
    let asked = new.max(1);
    // SAFETY: the caller guarantees that `context` belongs to `allocator`.
    let refused = || unsafe { refusal(allocator, context, asked) };
    // SAFETY: as above.
    unsafe {
        if let Some(realloc) = (*allocator).realloc {
            let moved = realloc(context, data, asked as isize);
            return if moved.is_null() { Err(refused()) } else { Ok(moved) };
        }
        let Some(malloc) = (*allocator).malloc else { bail!(Argument, "the allocator can neither realloc nor malloc") };
        let moved = malloc(context, asked as isize);
        if moved.is_null() {
            return Err(refused());
        }
        if !data.is_null() {
            std::ptr::copy_nonoverlapping(data.cast::<u8>(), moved.cast::<u8>(), old.min(new));
            if let Some(free) = (*allocator).free {
                free(context, data);
            }
        }
        Ok(moved)
    }
}

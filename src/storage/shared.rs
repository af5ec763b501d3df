//! Storages in memory that other processes can see.

use super::{Storage, TH_STORAGE_FREEMEM, TH_STORAGE_REFCOUNTED, TH_STORAGE_RESIZABLE, byte_count};
use crate::alloc::{self, HeapText, THMapAllocator, THMapAllocatorContext};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use std::ffi::{CStr, c_int};
use std::ptr::null_mut;

impl Storage {
    /// A storage of `len` zeros in shared memory without a name.
    fn anonymous(dtype: Dtype, len: i64) -> Result<Storage> {
        let bytes = byte_count(dtype, len)?.max(1);
        Storage::over_mapping(dtype, bytes, Some(len), || THMapAllocatorContext::anonymous(bytes))
    }

    /// A storage of `len` elements over the shared memory of a descriptor. If `len` is negative, it covers all of the memory.
    pub fn of_shared_fd(dtype: Dtype, fd: c_int, len: i64) -> Result<Storage> {
        let bytes = if len < 0 { 0 } else { byte_count(dtype, len)?.max(1) };
        Storage::over_mapping(dtype, bytes, (len >= 0).then_some(len), || THMapAllocatorContext::of_shared_fd(fd, bytes))
    }

    /// Like [`Storage::of_shared_fd`], for the name of shared memory.
    pub fn of_shared_name(dtype: Dtype, name: &CStr, len: i64) -> Result<Storage> {
        let bytes = if len < 0 { 0 } else { byte_count(dtype, len)?.max(1) };
        Storage::over_mapping(dtype, bytes, (len >= 0).then_some(len), || THMapAllocatorContext::of_shared_name(name, bytes))
    }

    /// A storage over the first `bytes` bytes of a mapping, or over the whole mapping if `bytes` is 0. It has `len` elements; `None` means
    /// as many as the mapping holds.
    pub(super) fn over_mapping(
        dtype: Dtype,
        bytes: usize,
        len: Option<i64>,
        context: impl FnOnce() -> Result<Box<THMapAllocatorContext>>,
    ) -> Result<Storage> {
        // The struct is allocated before the mapping is made, because a mapping may create, grow or unlink a file, which cannot be undone.
        let storage = Storage::from_parts(dtype, null_mut(), 0, TH_STORAGE_REFCOUNTED, &THMapAllocator, null_mut())?;
        let mut context = context()?;
        let data = context.map(bytes as isize)?;
        // SAFETY: no one else has a reference to the new storage. The mapping holds that many elements, and THMapAllocator unmaps it with
        // this context.
        unsafe {
            let raw = storage.as_ptr();
            (*raw).size = len.map_or(context.size() / dtype.size() as isize, |len| len as isize);
            (*raw).data = data;
            (*raw).allocatorContext = Box::into_raw(context).cast();
        }
        storage.set_flags(TH_STORAGE_REFCOUNTED | TH_STORAGE_FREEMEM);
        alloc::adjust_live(storage.bytes() as isize);
        Ok(storage)
    }

    /// Moves the elements to shared memory, unless they are there already. All tensors on this storage then use the shared memory.
    pub fn share(&self) -> Result<()> {
        if self.is_shared() {
            return Ok(());
        }
        if self.flags() & TH_STORAGE_RESIZABLE == 0 {
            bail!(
                Argument,
                "the storage of {} elements cannot move: its memory is foreign, mapped, or known to another library; share a clone",
                self.len()
            )
        }
        let shared = Storage::anonymous(self.dtype(), self.len())?;
        let counted = self.flags() & TH_STORAGE_REFCOUNTED;
        if !self.data().is_null() {
            // SAFETY: both storages have that many bytes, and the new mapping overlaps no other memory.
            unsafe { shared.data().copy_from_nonoverlapping(self.data(), self.bytes()) }
        }
        self.swap(&shared);
        self.set_flags(TH_STORAGE_FREEMEM | counted);
        shared.set_flags(shared.flags() | TH_STORAGE_REFCOUNTED);
        Ok(())
    }

    /// The context of the mapping that holds the elements; `None` if they are in other memory.
    fn mapping(&self) -> Option<&THMapAllocatorContext> {
        // SAFETY: `self` is a live storage, and the context of a map allocator is a `THMapAllocatorContext`.
        unsafe {
            let raw = if (*self.as_ptr()).view.is_null() { self.as_ptr() } else { (*self.as_ptr()).view };
            let maps = std::ptr::eq((*raw).allocator, &THMapAllocator) || std::ptr::eq((*raw).allocator, &alloc::THRefcountedMapAllocator);
            if maps { (*raw).allocatorContext.cast::<THMapAllocatorContext>().as_ref() } else { None }
        }
    }

    /// Returns true if other processes can see the elements.
    pub fn is_shared(&self) -> bool {
        self.mapping().is_some_and(THMapAllocatorContext::is_shared)
    }

    fn shared(&self) -> Result<&THMapAllocatorContext> {
        match self.mapping().filter(|context| context.is_shared()) {
            Some(context) => Ok(context),
            None => bail!(Argument, "the storage of {} elements is not shared", self.len()),
        }
    }

    /// The open descriptor of shared memory.
    pub fn shared_fd(&self) -> Result<c_int> {
        let context = self.shared()?;
        match context.fd() {
            -1 => bail!(Unsupported, "map {context}: no descriptor was kept, as TH_ALLOCATOR_MAPPED_KEEPFD would have it"),
            fd => Ok(fd),
        }
    }

    /// A name by which another process can open the memory.
    pub fn shared_name(&self) -> Result<HeapText> {
        let context = self.shared()?;
        let mut text = HeapText::with_capacity(64)?;
        if let Some(name) = context.filename().filter(|_| context.has_name()) {
            match name.to_str() {
                Ok(name) => text.push(name)?,
                Err(_) => bail!(Unsupported, "map {context}: the name is not UTF-8"),
            }
        } else {
            match context.name_of_descriptor() {
                Some(name) => text.push(&name)?,
                None => bail!(Unsupported, "map {context}: no descriptor was kept, as TH_ALLOCATOR_MAPPED_KEEPFD would have it"),
            }
        }
        Ok(text)
    }
}

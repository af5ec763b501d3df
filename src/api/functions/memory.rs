//! Memory: TH's heap functions, statistics of the caching allocator, and the contexts of mapped memory.

use crate::alloc::{self, HeapText, THMapAllocatorContext};
use crate::api::table::table;
use crate::error::{Result, bail};
use crate::ops::storage::share;
use crate::storage::Storage;
use std::ffi::{CStr, c_void};

macro_rules! memory_functions {
    ($do:ident) => {
        $do! { "";
            /// `size` bytes from the heap, 64-byte aligned above 5120 bytes; NULL for 0 bytes and on error. For data handed to
            /// `THStorage_newWithData`.
            THAlloc(size: length) -> memory = {
                if size < 0 {
                    bail!(Argument, "size {size} is negative")
                }
                // SAFETY: a new block.
                heap(size, alloc::th_alloc(size as isize))
            };
            /// The block `ptr` with `size` bytes, perhaps elsewhere; 0 bytes free it, a NULL `ptr` allocates. NULL on error: `ptr` then is as
            /// before.
            THRealloc(ptr: memory_or_null, size: length) -> memory = {
                if size < 0 {
                    bail!(Argument, "size {size} is negative")
                }
                // SAFETY: `ptr` comes from the heap.
                heap(size, unsafe { alloc::th_realloc(ptr, size as isize) })
            };
            /// Frees a block of `THAlloc` or malloc; NULL is ignored.
            THFree(ptr: memory_or_null) -> nothing = {
                // SAFETY: `ptr` comes from the heap.
                unsafe { alloc::th_free(ptr) };
                Ok(())
            };
            /// Gives all memory the caching allocator keeps for reuse back to the system, and forgets the plans of Fourier transforms.
            THAllocator_emptyCache() = {
                alloc::empty_cache();
                Ok(())
            };
            /// Stores the counters of the caching allocator in `stats`.
            THMemory_stats(stats: stats_out) = {
                // SAFETY: `stats` is writable.
                unsafe { stats.write(alloc::stats()) };
                Ok(())
            };
            /// Bytes in use by storages and handles, foreign and mapped memory included.
            THMemory_liveBytes() -> count = Ok(alloc::live_bytes());
            /// Has `hook(context, live bytes)` called on the allocating thread when live bytes first exceed `bytes`, after each further tenth,
            /// and once before an allocation fails: a garbage collector should run then. It may free tensors and must return. With a NULL
            /// `hook` nothing is called, and `THMemory_pressure` is to be asked; a NULL `hook` and 0 bytes turn the limit off.
            THMemory_setSoftLimit(bytes: count, hook: hook, context: context) = {
                alloc::set_soft_limit(bytes, hook, context);
                Ok(())
            };
            /// 1 if a hook was due, or would have been, since the last time this was asked or the soft limit was set, else 0: for hosts that
            /// ask between their own steps, since they cannot be called, as code that LuaJIT has compiled. It costs no more than reading a
            /// flag.
            THMemory_pressure() -> flag = Ok(alloc::pressure());
        }
    };
}

pub mod heap {
    //! Memory.
    //!
    //! Errors: `TH_ERR_NOMEM`, memory could not be had; `TH_ERR_ARGUMENT`, limits and sizes that are negative.
    use super::*;
    memory_functions!(table);
    pub(crate) use memory_functions as functions;
}

macro_rules! mapped_functions {
    ($do:ident) => {
        $do! { "";
            /// A context for `THMapAllocator` or `THRefcountedMapAllocator` that will map `filename`. It belongs to the storage that is made
            /// with it. Until one has been made, free it with `THMapAllocatorContext_free`. NULL on error.
            THMapAllocatorContext_new(filename: optional_text, flags: code) -> new_map_context =
                THMapAllocatorContext::new(filename, flags).map(Box::into_raw);
            /// A context for the open descriptor `fd`, which it takes over; `flags` must name `TH_ALLOCATOR_MAPPED_FROMFD`. NULL on error.
            THMapAllocatorContext_newWithFd(filename: optional_text, fd: int, flags: code) -> new_map_context =
                THMapAllocatorContext::with_fd(filename, fd, flags).map(Box::into_raw);
            /// The file name given. Borrowed: valid as long as the context. NULL on error.
            THMapAllocatorContext_filename(ctx: map_context) -> borrowed_text = Ok(ctx.filename().map_or(std::ptr::null(), CStr::as_ptr));
            /// Bytes mapped; -1 on error.
            THMapAllocatorContext_size(ctx: map_context) -> length = Ok(ctx.size());
            /// The descriptor kept with `TH_ALLOCATOR_MAPPED_KEEPFD`; -1 if there is none and on error.
            THMapAllocatorContext_fd(ctx: map_context) -> descriptor = Ok(ctx.fd());
            /// Frees a context no storage was made with.
            THMapAllocatorContext_free(ctx: map_context) = {
                // SAFETY: the context came from `new` and belongs to the caller.
                drop(unsafe { Box::from_raw(std::ptr::from_ref(ctx).cast_mut()) });
                Ok(())
            };
            /// Adds a user to memory mapped by `THRefcountedMapAllocator`.
            THRefcountedMapAllocator_incref(ctx: map_context, data: required_memory) = {
                // SAFETY: `data` is such memory.
                unsafe { alloc::incref(data) };
                Ok(())
            };
            /// Takes a user off memory mapped by `THRefcountedMapAllocator`; 1 if it was the last.
            THRefcountedMapAllocator_decref(ctx: map_context, data: required_memory) -> int =
                // SAFETY: `data` is such memory.
                Ok(unsafe { alloc::decref(data) });
        }
    };
}

pub mod mapped {
    //! Mapped files and shared memory.
    //!
    //! A file is mapped by `THStorage_newWithMapping`, or by a context for one of two allocators. It may be larger than memory: the system
    //! reads what is touched.
    //!
    //! Processes share memory by a descriptor. `THTensor_shareMemory` moves a tensor to memory that no folder has, whose length nobody can
    //! change; another process opens it by a descriptor that came over a socket (SCM_RIGHTS), was inherited, or is named
    //! `/proc/PID/fd/N`. The memory ends with the last process that uses it, also one that is killed. Processes order their reads and
    //! writes themselves. Shared memory cannot be resized, and each storage in it keeps a descriptor open.
    //!
    //! Errors: `TH_ERR_IO`, the operating system refused the file or object, or it is too short; `TH_ERR_ARGUMENT`, flags that contradict
    //! each other, memory that cannot move, a storage that is not shared; `TH_ERR_UNSUPPORTED`, what mapped memory cannot do.
    use super::*;
    mapped_functions!(table);
    pub(crate) use mapped_functions as functions;
}

macro_rules! shared_tensor_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// Moves the storage of `t` to shared memory, for all tensors on it; nothing happens if it is shared already. Pointers to its
            /// elements are no longer valid. A child process made by fork then shares the elements with its parent. Memory that cannot move is
            /// refused: that of a caller, of a private mapping, or with an address that another library has.
            shareMemory(t: inout) = share(t);
            /// 1 if other processes can see the elements of `t`: it lies in shared memory, or in a file that is mapped as shared.
            isShared(t: input) -> flag = Ok(t.storage().is_some_and(|storage| storage.is_shared()));
        }
    };
}

pub mod shared_tensors {
    //! Mapped files and shared memory.
    use super::*;
    shared_tensor_functions!(table);
    pub(crate) use shared_tensor_functions as functions;
}

macro_rules! shared_storage_functions {
    ($do:ident) => {
        $do! { "THStorage_";
            /// 1 if other processes can see the elements: they lie in shared memory, or in a file that is mapped as shared.
            isShared(storage: storage_input) -> flag = Ok(storage.is_shared());
            /// The descriptor of a shared storage, to be sent to another process. It remains the storage's, which closes it at its end; dup
            /// keeps it longer. -1 on error.
            sharedFd(storage: storage_input) -> descriptor = storage.shared_fd();
            /// The name of a shared storage for `THStorage_newShared` in another process: `/proc/PID/fd/N`, which is valid in processes of
            /// the same user while this one keeps the storage, or the name given to a mapping. A C string that the caller frees with `THFree`;
            /// NULL on error.
            sharedName(storage: storage_input) -> new_text = storage.shared_name().map(HeapText::into_c_string);
            /// A storage over the shared memory behind the descriptor `fd`: its first `size` elements, or all if `size` is negative. The
            /// descriptor remains the caller's, who may close it at once. Memory shorter than said is an error. Another library may shorten its
            /// memory later, and access beyond the end then ends the process by SIGBUS; the length of thorn's is fixed. Returns a new
            /// reference.
            newSharedFd(dtype: dtype, fd: int, size: length) -> new_storage = Storage::of_shared_fd(dtype, fd, size);
            /// A storage over the memory that another process shares as `name`, which `THStorage_sharedName` gave there or shm_open has. The
            /// name stays. Otherwise as newSharedFd. Returns a new reference.
            newShared(dtype: dtype, name: text, size: length) -> new_storage = Storage::of_shared_name(dtype, name, size);
        }
    };
}

pub mod shared_storages {
    //! Mapped files and shared memory.
    use super::*;
    shared_storage_functions!(table);
    pub(crate) use shared_storage_functions as functions;
}

fn heap(size: i64, block: *mut c_void) -> Result<*mut c_void> {
    if block.is_null() && size > 0 { bail!(NoMem, "out of memory: {size} bytes could not be allocated") } else { Ok(block) }
}

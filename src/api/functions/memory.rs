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
            /// Allocates `size` bytes on the heap, aligned to 64 bytes if `size` is above 5120; for data that is passed to
            /// `THStorage_newWithData`. NULL for 0 bytes and on error.
            THAlloc(size: length) -> memory = {
                if size < 0 {
                    bail!(Argument, "size {size} is negative")
                }
                // SAFETY: a new block.
                heap(size, alloc::th_alloc(size as isize))
            };
            /// Changes the size of the block `ptr` to `size` bytes and returns the block, which may have moved. A `size` of 0 frees the
            /// block; a NULL `ptr` allocates a new block. NULL on error, and the block `ptr` is then unchanged.
            THRealloc(ptr: memory_or_null, size: length) -> memory = {
                if size < 0 {
                    bail!(Argument, "size {size} is negative")
                }
                // SAFETY: `ptr` comes from the heap.
                heap(size, unsafe { alloc::th_realloc(ptr, size as isize) })
            };
            /// Frees a block that came from `THAlloc` or malloc; NULL is ignored.
            THFree(ptr: memory_or_null) -> nothing = {
                // SAFETY: `ptr` comes from the heap.
                unsafe { alloc::th_free(ptr) };
                Ok(())
            };
            /// Returns all memory that the caching allocator keeps for reuse to the system, and discards the cached plans of Fourier
            /// transforms.
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
            /// Bytes in use by storages and handles, including foreign and mapped memory.
            THMemory_liveBytes() -> count = Ok(alloc::live_bytes());
            /// Calls `hook(context, live bytes)` on the allocating thread when the live bytes first exceed `bytes`, after each further
            /// increase by a tenth, and once before an allocation fails. The hook is meant to run a garbage collector. It may free tensors
            /// and must return. If `hook` is NULL, no function is called, and the program polls `THMemory_pressure` instead. A NULL `hook`
            /// and 0 bytes turn the limit off.
            THMemory_setSoftLimit(bytes: count, hook: hook, context: context) = {
                alloc::set_soft_limit(bytes, hook, context);
                Ok(())
            };
            /// 1 if the soft limit has called for a collection since the last call of this function or of `THMemory_setSoftLimit`, else 0.
            /// For programs that cannot be called by a hook, such as code that LuaJIT has compiled, and poll between their steps. A call
            /// costs as much as reading a flag.
            THMemory_pressure() -> flag = Ok(alloc::pressure());
        }
    };
}

pub mod heap {
    //! Memory.
    //!
    //! Blocks of memory, statistics, the memory that is kept for reuse, and a limit that calls a garbage collector.
    //!
    //! Errors: `TH_ERR_NOMEM`, memory has run out; `TH_ERR_ARGUMENT`, a limit or a size is negative.
    use super::*;
    memory_functions!(table);
    pub(crate) use memory_functions as functions;
}

macro_rules! mapped_functions {
    ($do:ident) => {
        $do! { "";
            /// A context with which `THMapAllocator` or `THRefcountedMapAllocator` maps the file `filename`. A storage that is made with
            /// the context takes it over. Free an unused context with `THMapAllocatorContext_free`. NULL on error.
            THMapAllocatorContext_new(filename: optional_text, flags: code) -> new_map_context =
                THMapAllocatorContext::new(filename, flags).map(Box::into_raw);
            /// A context for the open descriptor `fd`, which the context takes over; `flags` must include `TH_ALLOCATOR_MAPPED_FROMFD`.
            /// NULL on error.
            THMapAllocatorContext_newWithFd(filename: optional_text, fd: int, flags: code) -> new_map_context =
                THMapAllocatorContext::with_fd(filename, fd, flags).map(Box::into_raw);
            /// The file name that the context was made with. Borrowed: valid as long as the context. NULL on error.
            THMapAllocatorContext_filename(ctx: map_context) -> borrowed_text = Ok(ctx.filename().map_or(std::ptr::null(), CStr::as_ptr));
            /// The number of mapped bytes; -1 on error.
            THMapAllocatorContext_size(ctx: map_context) -> length = Ok(ctx.size());
            /// The descriptor that `TH_ALLOCATOR_MAPPED_KEEPFD` keeps open; -1 if there is none and on error.
            THMapAllocatorContext_fd(ctx: map_context) -> descriptor = Ok(ctx.fd());
            /// Frees a context that no storage was made with.
            THMapAllocatorContext_free(ctx: map_context) = {
                // SAFETY: the context came from `new` and belongs to the caller.
                drop(unsafe { Box::from_raw(std::ptr::from_ref(ctx).cast_mut()) });
                Ok(())
            };
            /// Increments the reference count of memory that `THRefcountedMapAllocator` mapped.
            THRefcountedMapAllocator_incref(ctx: map_context, data: required_memory) = {
                // SAFETY: `THRefcountedMapAllocator` mapped `data`.
                unsafe { alloc::incref(data) };
                Ok(())
            };
            /// Decrements the reference count of memory that `THRefcountedMapAllocator` mapped; returns 1 if the count became 0, else 0.
            THRefcountedMapAllocator_decref(ctx: map_context, data: required_memory) -> int =
                // SAFETY: `THRefcountedMapAllocator` mapped `data`.
                Ok(unsafe { alloc::decref(data) });
        }
    };
}

pub mod mapped {
    //! Mapped files and shared memory.
    //!
    //! A file is mapped by `THStorage_newWithMapping`, or by a context for one of two allocators. The file may be larger than memory,
    //! because the system only reads the pages that are used.
    //!
    //! Processes share memory by a descriptor. `THTensor_shareMemory` moves a tensor to anonymous shared memory of fixed length. Another
    //! process opens this memory by a descriptor that it received over a socket (SCM_RIGHTS) or inherited, or by the name `/proc/PID/fd/N`.
    //! The memory is freed when the last process that uses it ends, even if that process is killed. The processes must order their reads
    //! and writes themselves. Shared memory cannot be resized, and each storage in shared memory keeps a descriptor open.
    //!
    //! Errors: `TH_ERR_IO`, the operating system refused the file or object, or it is too short; `TH_ERR_ARGUMENT`, flags that contradict
    //! each other, memory that cannot move, or a storage that is not shared; `TH_ERR_UNSUPPORTED`, an operation that mapped memory does not
    //! support.
    use super::*;
    mapped_functions!(table);
    pub(crate) use mapped_functions as functions;
}

macro_rules! shared_tensor_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// Moves the storage of `t` to shared memory, for all tensors on that storage; a storage that is already shared stays in place.
            /// Pointers to the old elements become invalid. A child process made by fork then shares the elements with its parent. Memory
            /// that cannot move is refused: memory of the caller, a private mapping, and memory whose address another library holds.
            shareMemory(t: inout) = share(t);
            /// 1 if other processes can see the elements of `t`, because they are in shared memory or in a file that is mapped as shared; 0
            /// if not and on error.
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
            /// 1 if other processes can see the elements, because they are in shared memory or in a file that is mapped as shared; 0 if not
            /// and on error.
            isShared(storage: storage_input) -> flag = Ok(storage.is_shared());
            /// The descriptor of a shared storage, for sending to another process. The storage owns the descriptor and closes it when the
            /// storage ends; use dup to keep it longer. -1 on error.
            sharedFd(storage: storage_input) -> descriptor = storage.shared_fd();
            /// The name by which `THStorage_newShared` opens the shared storage in another process. The name is `/proc/PID/fd/N`, which is
            /// valid in processes of the same user while this process keeps the storage, or the name given to a mapping. A C string that
            /// the caller frees with `THFree`; NULL on error.
            sharedName(storage: storage_input) -> new_text = storage.shared_name().map(HeapText::into_c_string);
            /// A storage over the shared memory of the descriptor `fd`: its first `size` elements, or all if `size` is negative. The caller
            /// keeps the descriptor and may close it at once. It is an error if the memory is shorter than `size` elements. Another library
            /// may shorten its memory later; access beyond the end then ends the process by SIGBUS. The length of thorn's shared memory is
            /// fixed. Returns a new reference.
            newSharedFd(dtype: dtype, fd: int, size: length) -> new_storage = Storage::of_shared_fd(dtype, fd, size);
            /// A storage over memory that another process shares as `name`: a name from `THStorage_sharedName` or from shm_open. The name
            /// is not removed. Otherwise as newSharedFd. Returns a new reference.
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

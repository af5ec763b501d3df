//! Files and POSIX shared memory as the memory of storages: `THMapAllocator`, and the context that describes the mapping.

mod shareable;

use super::{THAllocator, boxed, list};
use crate::error::{Error, Kind, Result, bail, reason};
use crate::system::{self, Access, Object};
use std::ffi::{CStr, CString, c_int, c_void};
use std::fmt::{self, Write};
use std::io;
use std::ptr::{NonNull, null_mut};

/// Writes reach the file, which is opened for reading and writing, created if it does not exist, and extended if it is too short. Without
/// this flag and `TH_ALLOCATOR_MAPPED_SHAREDMEM` the file is only read, and writes to the memory stay private.
pub const TH_ALLOCATOR_MAPPED_SHARED: c_int = 1;
/// As `TH_ALLOCATOR_MAPPED_SHARED`, for a POSIX shared memory object (`shm_open`), whose name is removed with the mapping.
pub const TH_ALLOCATOR_MAPPED_SHAREDMEM: c_int = 2;
/// The file or object must not exist yet.
pub const TH_ALLOCATOR_MAPPED_EXCLUSIVE: c_int = 4;
/// The file or object must exist already.
pub const TH_ALLOCATOR_MAPPED_NOCREATE: c_int = 8;
/// The descriptor stays open as long as the mapping, for `THMapAllocatorContext_fd`.
pub const TH_ALLOCATOR_MAPPED_KEEPFD: c_int = 16;
/// The context has an open descriptor. Names are not used, except by `TH_ALLOCATOR_MAPPED_UNLINK`.
pub const TH_ALLOCATOR_MAPPED_FROMFD: c_int = 32;
/// The name is removed as soon as the memory is mapped.
pub const TH_ALLOCATOR_MAPPED_UNLINK: c_int = 64;

use TH_ALLOCATOR_MAPPED_EXCLUSIVE as EXCLUSIVE;
use TH_ALLOCATOR_MAPPED_FROMFD as FROMFD;
use TH_ALLOCATOR_MAPPED_KEEPFD as KEEPFD;
use TH_ALLOCATOR_MAPPED_NOCREATE as NOCREATE;
use TH_ALLOCATOR_MAPPED_SHARED as SHARED;
use TH_ALLOCATOR_MAPPED_SHAREDMEM as SHAREDMEM;
use TH_ALLOCATOR_MAPPED_UNLINK as UNLINK;

/// The context of `THMapAllocator` and `THRefcountedMapAllocator`: the file to map and, once mapped, its memory. A context is used for one
/// mapping.
///
/// If a program truncates a mapped file, access beyond the new end raises SIGBUS. The library cannot prevent this.
pub struct THMapAllocatorContext {
    filename: Option<CString>,
    flags: c_int,
    /// The open descriptor: before mapping with `FROMFD`, after mapping with `KEEPFD`.
    file: Option<Object>,
    /// The number of mapped bytes; 0 before mapping.
    mapped: usize,
    /// The number of mapped bytes before the data.
    header: usize,
    error: Option<Error>,
}

impl THMapAllocatorContext {
    /// A context for the file or shared memory object `filename`.
    pub fn new(filename: Option<&CStr>, flags: c_int) -> Result<Box<THMapAllocatorContext>> {
        if flags & FROMFD != 0 {
            bail!(Argument, "TH_ALLOCATOR_MAPPED_FROMFD needs a descriptor");
        }
        if filename.is_none() {
            bail!(Argument, "no file name");
        }
        Self::checked(filename, flags)
    }

    /// A context for the open descriptor `fd`, which the context owns unless this function fails. `flags` include `FROMFD`. `filename` is
    /// for messages and for `UNLINK`.
    pub fn with_fd(filename: Option<&CStr>, fd: c_int, flags: c_int) -> Result<Box<THMapAllocatorContext>> {
        if flags & FROMFD == 0 {
            bail!(Argument, "a descriptor is used only with TH_ALLOCATOR_MAPPED_FROMFD");
        }
        if !system::is_descriptor(fd) {
            bail!(Argument, "descriptor {fd} is not open");
        }
        if flags & UNLINK != 0 && filename.is_none() {
            bail!(Argument, "TH_ALLOCATOR_MAPPED_UNLINK needs a file name");
        }
        let mut ctx = Self::checked(filename, flags)?;
        // SAFETY: the descriptor is open, and the caller transfers its ownership.
        ctx.file = Some(unsafe { Object::own(fd) });
        Ok(ctx)
    }

    fn checked(filename: Option<&CStr>, flags: c_int) -> Result<Box<THMapAllocatorContext>> {
        let shared = flags & (SHARED | SHAREDMEM);
        if flags & !(SHARED | SHAREDMEM | EXCLUSIVE | NOCREATE | KEEPFD | FROMFD | UNLINK) != 0 {
            bail!(Argument, "unknown flags {flags}");
        }
        if shared == SHARED | SHAREDMEM {
            bail!(Argument, "TH_ALLOCATOR_MAPPED_SHARED is for files, TH_ALLOCATOR_MAPPED_SHAREDMEM for shared memory: choose one");
        }
        if flags & EXCLUSIVE != 0 && shared == 0 {
            bail!(Argument, "TH_ALLOCATOR_MAPPED_EXCLUSIVE needs a shared mapping");
        }
        if flags & EXCLUSIVE != 0 && flags & NOCREATE != 0 {
            bail!(Argument, "TH_ALLOCATOR_MAPPED_EXCLUSIVE and TH_ALLOCATOR_MAPPED_NOCREATE contradict each other");
        }
        let filename = filename.map(owned).transpose()?;
        let context = boxed(THMapAllocatorContext { filename, flags, file: None, mapped: 0, header: 0, error: None });
        context.ok_or_else(|| Error::new(Kind::NoMem, format_args!("out of memory for the context of a mapping")))
    }

    /// The name given, if any.
    pub fn filename(&self) -> Option<&CStr> {
        self.filename.as_deref()
    }

    /// The open descriptor, or -1: the context keeps one after mapping only with `KEEPFD`.
    pub fn fd(&self) -> c_int {
        self.file.as_ref().map_or(-1, Object::descriptor)
    }

    /// The number of mapped data bytes; 0 before mapping.
    pub fn size(&self) -> isize {
        (self.mapped - self.header) as isize
    }

    /// The `TH_ALLOCATOR_MAPPED_*` flags.
    pub(super) fn flags(&self) -> c_int {
        self.flags
    }

    /// Removes and returns the error that made the allocator return NULL.
    pub fn take_error(&mut self) -> Option<Error> {
        self.error.take()
    }

    /// Returns the address of a mapping. On an error, returns NULL and stores the error for [`Self::take_error`].
    pub(super) fn or_null(&mut self, result: Result<NonNull<u8>>) -> *mut c_void {
        result.map_or_else(
            |error| {
                self.error = Some(error);
                null_mut()
            },
            |data| data.as_ptr().cast(),
        )
    }

    /// Maps `bytes` bytes, or the whole file if `bytes` <= 0.
    pub fn map(&mut self, bytes: isize) -> Result<*mut c_void> {
        self.map_after_header(bytes, 0).map(|data| data.as_ptr().cast())
    }

    /// Maps a header of `header` bytes and then `bytes` bytes, or the rest of the file if `bytes` <= 0. Returns the address after the
    /// header.
    pub(super) fn map_after_header(&mut self, bytes: isize, header: usize) -> Result<NonNull<u8>> {
        if self.mapped != 0 {
            bail!(Argument, "map {self}: a context serves one mapping");
        }
        let mut made = false;
        if self.flags & FROMFD == 0 {
            let (file, is_new) = self.open().map_err(|error| self.failed("cannot open", error))?;
            (self.file, made) = (Some(file), is_new);
        }
        let mapped = self.map_file(bytes, header);
        // If the call failed, a file that it has created is removed, unless another process has grown it.
        let made_in_vain = mapped.is_err() && made && self.file.as_ref().is_some_and(|file| file.length().is_ok_and(|now| now == Some(0)));
        let outlives_this = if mapped.is_ok() { KEEPFD } else { FROMFD };
        let keeps_name = mapped.is_ok() && system::names_need_handles() && self.flags & (SHAREDMEM | UNLINK) == SHAREDMEM;
        if self.flags & outlives_this == 0 && !keeps_name {
            self.file = None;
        }
        if made_in_vain || (mapped.is_ok() && self.flags & UNLINK != 0) {
            self.unlink();
        }
        let (start, size) = mapped?;
        (self.mapped, self.header) = (size, header);
        // SAFETY: the header is shorter than the mapping.
        Ok(unsafe { start.add(header) })
    }

    /// Opens the file or shared memory object. The flag is true if this call created it.
    fn open(&self) -> io::Result<(Object, bool)> {
        let shared = self.flags & (SHARED | SHAREDMEM) != 0;
        let open_as = |access| Object::open(self.filename().unwrap_or_default(), self.flags & SHAREDMEM != 0, access);
        if self.flags & EXCLUSIVE != 0 {
            return open_as(Access::New);
        }
        match open_as(if shared { Access::Write } else { Access::Read }) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && shared && self.flags & NOCREATE == 0 => open_as(Access::Create),
            opened => opened,
        }
    }

    /// Maps the open file. Returns the start and size of the mapping.
    fn map_file(&self, bytes: isize, header: usize) -> Result<(NonNull<u8>, usize)> {
        let Some(file) = &self.file else { bail!(Argument, "map {self}: the descriptor is used up") };
        let Some(length) = file.length().map_err(|error| self.failed("cannot measure", error))? else {
            bail!(Io, "map {self}: it is neither a regular file nor shared memory");
        };
        let wanted = match usize::try_from(bytes) {
            Ok(0) | Err(_) => length,
            Ok(bytes) => (bytes as u64).saturating_add(header as u64),
        };
        let shared = self.flags & (SHARED | SHAREDMEM) != 0;
        let Some(size) = usize::try_from(wanted).ok().filter(|&size| size <= isize::MAX as usize) else {
            bail!(Argument, "map {self}: {wanted} bytes are more than an address space holds");
        };
        if size <= header {
            bail!(Io, "map {self}: the file is empty");
        }
        if wanted > length && !shared {
            bail!(Io, "map {self}: the file has {length} bytes, {wanted} are needed");
        }
        // The mapping is made before the file grows, so that a file never grows to a size that cannot be mapped.
        let start = file.map(size, shared).map_err(|error| self.failed(&format!("cannot map {size} bytes"), error))?;
        if wanted > length
            && let Err(error) = file.grow(length, wanted)
        {
            // SAFETY: the mapping was made above, and its address is not used elsewhere.
            unsafe { system::unmap(start, size) };
            return Err(self.failed(&format!("cannot grow to {wanted} bytes"), error));
        }
        Ok((start, size))
    }

    /// Unmaps the memory. The context may map again, unless its descriptor is used up.
    ///
    /// # Safety
    /// `data` is the mapping of this context and is not used any more.
    pub(super) unsafe fn unmap(&mut self, data: *mut c_void) {
        if self.mapped != 0
            && let Some(data) = NonNull::new(data.cast::<u8>())
        {
            // SAFETY: the caller guarantees that `data` is the mapping's data, which starts `header` bytes after the mapping.
            unsafe { system::unmap(data.sub(self.header), self.mapped) };
        }
        (self.mapped, self.header) = (0, 0);
        self.file = None;
    }

    /// Removes the name. A name that is already removed is no error.
    pub(super) fn unlink(&self) {
        if let Some(name) = self.filename() {
            Object::remove(name, self.flags & SHAREDMEM != 0);
        }
    }

    fn failed(&self, what: &str, error: io::Error) -> Error {
        Error::new(Kind::Io, format_args!("map {self}: {what}: {}", reason(&error)))
    }
}

/// The name in quotes; without a name, the descriptor.
impl fmt::Display for THMapAllocatorContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(name) = self.filename() else { return write!(f, "descriptor {}", self.fd()) };
        f.write_char('"')?;
        for chunk in name.to_bytes().utf8_chunks() {
            f.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                f.write_char(char::REPLACEMENT_CHARACTER)?;
            }
        }
        f.write_char('"')
    }
}

/// A copy of a name, allocated fallibly because a name may have any length.
fn owned(name: &CStr) -> Result<CString> {
    let bytes = name.to_bytes_with_nul();
    let copy = list(bytes.len(), |i| Ok(bytes[i]))?;
    // SAFETY: the bytes were copied from a C string, including the terminating 0.
    Ok(unsafe { CString::from_vec_with_nul_unchecked(copy) })
}

/// # Safety
/// `ctx` is NULL or a context that no other thread uses.
pub(super) unsafe fn context<'a>(ctx: *mut c_void) -> Option<&'a mut THMapAllocatorContext> {
    // SAFETY: the caller guarantees NULL, or a context that no other thread uses.
    unsafe { ctx.cast::<THMapAllocatorContext>().as_mut() }
}

unsafe extern "C" fn map_malloc(ctx: *mut c_void, size: isize) -> *mut c_void {
    // SAFETY: callers of the allocator pass its context, which no other thread uses.
    let Some(ctx) = (unsafe { context(ctx) }) else { return null_mut() };
    let mapped = ctx.map_after_header(size, 0);
    ctx.or_null(mapped)
}

/// Always fails, because mappings do not move. The error is stored in the context.
pub(super) unsafe extern "C" fn no_realloc(ctx: *mut c_void, _ptr: *mut c_void, _size: isize) -> *mut c_void {
    // SAFETY: callers of the allocator pass its context, which no other thread uses.
    let Some(ctx) = (unsafe { context(ctx) }) else { return null_mut() };
    let error = Error::new(Kind::Unsupported, format_args!("map {ctx}: cannot realloc mapped data"));
    ctx.or_null(Err(error))
}

unsafe extern "C" fn map_free(ctx: *mut c_void, data: *mut c_void) {
    if ctx.is_null() {
        return;
    }
    // SAFETY: contexts are boxes. `free` consumes its context.
    let mut ctx = unsafe { Box::from_raw(ctx.cast::<THMapAllocatorContext>()) };
    let owns_name = ctx.mapped != 0 && ctx.flags & SHAREDMEM != 0 && ctx.flags & (FROMFD | UNLINK) == 0;
    // SAFETY: `data` is the mapping of this context, and the caller gives it up.
    unsafe { ctx.unmap(data) };
    if owns_name {
        ctx.unlink();
    }
}

/// Maps what its context, a `THMapAllocatorContext`, says; `free` ends the mapping and the context.
#[allow(non_upper_case_globals)]
#[unsafe(no_mangle)]
pub static THMapAllocator: THAllocator = THAllocator { malloc: Some(map_malloc), realloc: Some(no_realloc), free: Some(map_free) };

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    /// A path that only one test uses. Its file is removed before and after the test.
    struct Temp(PathBuf);

    impl Temp {
        fn new(name: &str) -> Temp {
            let path = std::env::temp_dir().join(format!("thorn-map-{}-{name}", std::process::id()));
            _ = std::fs::remove_file(&path);
            Temp(path)
        }

        fn holding(name: &str, bytes: &[u8]) -> Temp {
            let temp = Temp::new(name);
            std::fs::write(&temp.0, bytes).unwrap();
            temp
        }

        fn name(&self) -> CString {
            CString::new(self.0.as_os_str().as_bytes()).unwrap()
        }

        fn context(&self, flags: c_int) -> Box<THMapAllocatorContext> {
            THMapAllocatorContext::new(Some(&self.name()), flags).unwrap()
        }

        fn bytes(&self) -> Vec<u8> {
            std::fs::read(&self.0).unwrap()
        }

        /// The number of this process's descriptors for the file.
        fn descriptors(&self) -> usize {
            let links = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok());
            links.filter(|link| link.to_string_lossy().starts_with(&*self.0.to_string_lossy())).count()
        }
    }

    impl Drop for Temp {
        fn drop(&mut self) {
            _ = std::fs::remove_file(&self.0);
        }
    }

    /// Frees a mapping and its context.
    fn free(ctx: Box<THMapAllocatorContext>, data: *mut c_void) {
        // SAFETY: the tests pass their own mappings.
        unsafe { map_free(Box::into_raw(ctx).cast(), data) }
    }

    fn write(data: *mut c_void, offset: usize, byte: u8) {
        // SAFETY: the tests write inside their mappings.
        unsafe { data.cast::<u8>().add(offset).write(byte) }
    }

    fn read(data: *mut c_void, offset: usize) -> u8 {
        // SAFETY: the tests read inside their mappings.
        unsafe { data.cast::<u8>().add(offset).read() }
    }

    fn message<T>(result: Result<T>) -> String {
        result.err().expect("must fail").message().to_string()
    }

    #[test]
    fn private_mappings_read_the_file_and_never_write_it() {
        let file = Temp::holding("private", b"abcdef");
        for (bytes, size) in [(0, 6), (-1, 6), (4, 4)] {
            let mut ctx = file.context(0);
            let data = ctx.map(bytes).unwrap();
            assert_eq!((ctx.size(), ctx.fd(), read(data, 3)), (size, -1, b'd'));
            write(data, 0, b'X');
            free(ctx, data);
        }
        assert_eq!(file.bytes(), b"abcdef");
        let error = message(file.context(0).map(7));
        assert!(error.contains("6 bytes, 7 are needed") && error.contains("thorn-map"), "{error}");
        assert_eq!(file.descriptors(), 0);
    }

    #[test]
    fn missing_and_empty_files_are_errors() {
        let file = Temp::new("missing");
        assert!(message(file.context(0).map(8)).contains("No such file"));
        assert!(message(file.context(SHARED | NOCREATE).map(8)).contains("No such file"));
        let empty = Temp::holding("empty", b"");
        assert!(message(empty.context(0).map(0)).contains("empty"));
        assert!(message(empty.context(SHARED).map(0)).contains("empty"));
        assert!(message(empty.context(0).map(isize::MAX)).contains("needed"));
        assert_eq!(empty.descriptors(), 0);
    }

    #[test]
    fn shared_mappings_make_grow_and_write_the_file() {
        let file = Temp::new("shared");
        let mut ctx = file.context(SHARED);
        let data = ctx.map(5000).unwrap();
        write(data, 0, 1);
        write(data, 4999, 2);
        free(ctx, data);
        let mut ctx = file.context(SHARED | NOCREATE);
        let data = ctx.map(9000).unwrap();
        assert_eq!((read(data, 0), read(data, 4999), read(data, 8999)), (1, 2, 0));
        free(ctx, data);
        assert_eq!(file.bytes().len(), 9000);
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file.0).unwrap());
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(file.descriptors(), 0);
    }

    #[test]
    fn exclusive_mappings_need_a_new_name() {
        let file = Temp::holding("exclusive", b"mine");
        assert!(message(file.context(SHARED | EXCLUSIVE).map(8)).contains("exists"));
        assert_eq!(file.bytes(), b"mine");
        let file = Temp::new("exclusive-new");
        let mut ctx = file.context(SHARED | EXCLUSIVE);
        assert!(message(ctx.map(0)).contains("empty"));
        assert!(!Path::exists(&file.0), "a failed mapping leaves no file of its own making");
        let data = ctx.map(8).unwrap();
        assert_eq!(file.bytes(), [0; 8]);
        assert!(message(ctx.map(8)).contains("one mapping"));
        free(ctx, data);
    }

    #[test]
    fn what_cannot_grow_stays_as_it_was() {
        let file = Temp::holding("grow", b"abc");
        assert!(file.context(SHARED).map(isize::MAX - 4096).is_err());
        assert_eq!(file.bytes(), b"abc");
        assert_eq!(file.descriptors(), 0);
    }

    #[test]
    fn keepfd_keeps_the_descriptor_until_the_end() {
        let file = Temp::holding("keepfd", b"abc");
        let mut ctx = file.context(KEEPFD);
        assert_eq!(ctx.fd(), -1);
        let data = ctx.map(0).unwrap();
        assert!(ctx.fd() >= 0);
        // SAFETY: fcntl with F_GETFD only reads flags.
        assert_eq!(unsafe { libc::fcntl(ctx.fd(), libc::F_GETFD) }, libc::FD_CLOEXEC);
        assert_eq!(file.descriptors(), 1);
        free(ctx, data);
        assert_eq!(file.descriptors(), 0);
    }

    #[test]
    fn unlink_removes_the_name_but_not_the_memory() {
        let file = Temp::new("unlink");
        let mut ctx = file.context(SHARED | UNLINK);
        let data = ctx.map(100).unwrap();
        assert!(!Path::exists(&file.0));
        write(data, 99, 9);
        assert_eq!(read(data, 99), 9);
        free(ctx, data);
    }

    #[test]
    fn descriptors_are_owned_and_closed() {
        let file = Temp::holding("fromfd", b"abcdef");
        let open = || std::os::fd::IntoRawFd::into_raw_fd(OpenOptions::new().read(true).write(true).open(&file.0).unwrap());
        for (flags, kept) in [(FROMFD, 0), (FROMFD | SHARED | KEEPFD, 1)] {
            let mut ctx = THMapAllocatorContext::with_fd(None, open(), flags).unwrap();
            let data = ctx.map(0).unwrap();
            assert_eq!((read(data, 5), file.descriptors()), (b'f', kept));
            free(ctx, data);
            assert_eq!(file.descriptors(), 0);
        }
        let mut ctx = THMapAllocatorContext::with_fd(None, open(), FROMFD).unwrap();
        assert!(message(ctx.map(7)).contains(&format!("descriptor {}", ctx.fd())));
        assert_eq!(file.descriptors(), 1);
        drop(ctx);
        assert_eq!(file.descriptors(), 0);
        assert!(THMapAllocatorContext::with_fd(None, -1, FROMFD).is_err());
    }

    #[test]
    fn contradictory_flags_are_refused() {
        for flags in [SHARED | SHAREDMEM, EXCLUSIVE, SHARED | EXCLUSIVE | NOCREATE, FROMFD, 128, -1] {
            let text = message(THMapAllocatorContext::new(Some(c"x"), flags));
            assert!(text.contains("TH_ALLOCATOR_MAPPED") || text.contains("unknown flags"), "{flags}: {text}");
        }
        assert!(message(THMapAllocatorContext::new(None, 0)).contains("file name"));
        assert!(THMapAllocatorContext::with_fd(None, 0, SHARED).is_err());
        assert!(THMapAllocatorContext::with_fd(None, 0, FROMFD | UNLINK).is_err());
    }

    #[test]
    fn the_allocator_leaves_its_reasons_in_the_context() {
        let file = Temp::new("vtable");
        let ctx: *mut c_void = Box::into_raw(file.context(SHARED | NOCREATE)).cast();
        let THAllocator { malloc, realloc, free } = THMapAllocator;
        // SAFETY: there is one context and one mapping, which is freed once.
        unsafe {
            assert!(malloc.unwrap()(null_mut(), 8).is_null());
            assert!(malloc.unwrap()(ctx, 8).is_null());
            assert!(context(ctx).unwrap().take_error().unwrap().message().contains("No such file"));
            std::fs::write(&file.0, b"abc").unwrap();
            let data = malloc.unwrap()(ctx, 8);
            assert_eq!(read(data, 1), b'b');
            assert!(realloc.unwrap()(ctx, data, 16).is_null());
            assert!(context(ctx).unwrap().take_error().unwrap().message().contains("cannot realloc"));
            assert!(context(ctx).unwrap().take_error().is_none());
            free.unwrap()(ctx, data);
            free.unwrap()(null_mut(), null_mut());
        }
    }

    #[test]
    fn shared_memory_lives_as_long_as_its_mapping() {
        let name = CString::new(format!("/thorn-map-{}", std::process::id())).unwrap();
        let context = |flags| THMapAllocatorContext::new(Some(&name), SHAREDMEM | flags).unwrap();
        let mut first = context(EXCLUSIVE);
        let data = first.map(10_000).unwrap();
        write(data, 9_999, 4);
        assert!(message(context(EXCLUSIVE).map(8)).contains("exists"));
        assert!(context(0).map(1 << 50).is_err(), "more than fits is an error, not a SIGBUS");
        let mut second = context(NOCREATE | UNLINK);
        let same = second.map(0).unwrap();
        assert_eq!((second.size(), read(same, 9_999)), (10_000, 4));
        assert!(message(context(NOCREATE).map(8)).contains("No such file"));
        free(second, same);
        free(first, data);
        let mut third = context(0);
        let data = third.map(8).unwrap();
        free(third, data);
        assert!(context(NOCREATE).map(8).is_err(), "free removes the name");
    }
}

//! The functions of a device's driver other than memory and kernels: properties, streams, events, graphs; and counted handles for them.

use crate::alloc;
use crate::device::Device;
use crate::error::{Result, bail};
use crate::refcount;
use std::cell::{RefCell, UnsafeCell};
use std::ffi::{c_char, c_void};
use std::ptr::NonNull;

/// A function of the caller that a thread of the driver runs between the work of a stream. The function must not use the GPU.
pub type THCudaCallback = Option<unsafe extern "C" fn(context: *mut c_void)>;

/// Properties of a GPU.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct THCudaProperties {
    /// The name, terminated by NUL.
    pub name: [c_char; 256],
    /// Domain, bus and device on the PCI bus, terminated by NUL.
    pub pci_bus_id: [c_char; 32],
    /// A number that is unique to the GPU.
    pub uuid: [u8; 16],
    /// Bytes of memory.
    pub total_bytes: i64,
    /// Bytes of the second-level cache.
    pub l2_bytes: i64,
    /// Bytes of shared memory that a block may use.
    pub shared_bytes: i64,
    /// The major number of the compute capability: 9 for 9.0.
    pub major: i32,
    /// The minor number of the compute capability: 0 for 9.0.
    pub minor: i32,
    /// Multiprocessors.
    pub multiprocessors: i32,
    /// Threads of a warp.
    pub warp_size: i32,
    /// The maximum number of threads that a multiprocessor runs at once.
    pub multiprocessor_threads: i32,
    /// Frequency of the multiprocessors, in kHz.
    pub clock_khz: i32,
    /// Frequency of the memory, in kHz.
    pub memory_clock_khz: i32,
    /// Width of the memory's bus, in bits.
    pub memory_bus_bits: i32,
}

/// A device's driver. Streams, events and graphs are represented by numbers; stream 0 is the default stream.
pub trait Driver: Sync {
    /// The properties of the device.
    fn properties(&self) -> Result<THCudaProperties>;

    /// Waits until all work of the device is done.
    fn synchronize(&self) -> Result<()>;

    /// Bytes of memory: free, total, in live storages, cached for new storages, and the peak in live storages.
    fn memory(&self) -> Result<[i64; 5]>;

    /// The same numbers for pinned memory. The free and total bytes are the machine's.
    fn pinned_memory(&self) -> Result<[i64; 5]>;

    /// Frees the cached memory.
    fn empty_cache(&self) -> Result<()>;

    /// Returns true if the device can access the memory of device `other`.
    fn can_reach(&self, other: i8) -> Result<bool>;

    /// Allows or forbids the device to access the memory of device `other`.
    fn reach(&self, other: i8, on: bool) -> Result<()>;

    /// The current stream of this thread.
    fn current(&self) -> usize;

    /// Sets the current stream of this thread.
    fn set_current(&self, stream: usize) -> Result<()>;

    /// A new stream. Its work runs before the work of streams with a greater `priority`.
    fn make_stream(&self, priority: i32) -> Result<usize>;

    /// Waits for a stream and destroys it.
    fn end_stream(&self, stream: usize);

    /// Waits until the work of a stream is done.
    fn wait(&self, stream: usize) -> Result<()>;

    /// Returns true if the work of a stream is done.
    fn is_idle(&self, stream: usize) -> Result<bool>;

    /// Calls a function when the work of a stream is done. Later work of the stream waits for the function.
    ///
    /// # Safety
    /// It must be safe to call the function with the context, on any thread.
    unsafe fn call(&self, stream: usize, function: unsafe extern "C" fn(*mut c_void), context: *mut c_void) -> Result<()>;

    /// A new event. It records times if `timing` is true.
    fn make_event(&self, timing: bool) -> Result<usize>;

    /// Destroys an event.
    fn end_event(&self, event: usize);

    /// Records an event after the work that the stream has now.
    fn record(&self, event: usize, stream: usize) -> Result<()>;

    /// Makes later work of `stream` wait for the event.
    fn wait_for_event(&self, stream: usize, event: usize) -> Result<()>;

    /// Waits until the work before an event is done.
    fn wait_event(&self, event: usize) -> Result<()>;

    /// Returns true if the work before an event is done.
    fn has_passed(&self, event: usize) -> Result<bool>;

    /// The time between two events in milliseconds.
    fn milliseconds(&self, start: usize, end: usize) -> Result<f64>;

    /// Records that `stream` uses the memory at `data`. After the memory is freed, it is reused only when the work that `stream` has at
    /// that time is done.
    fn used_in(&self, data: *const u8, stream: usize) -> Result<()>;

    /// Starts the capture of this thread's stream: its work is recorded into a graph instead of being done.
    fn begin_capture(&self) -> Result<()>;

    /// Returns true if this thread's stream is being captured.
    fn is_captured(&self) -> bool;

    /// Ends the capture and returns its graph.
    fn end_capture(&self) -> Result<usize>;

    /// Launches a graph in this thread's stream.
    fn replay(&self, graph: usize) -> Result<()>;

    /// Waits for the work of a graph and destroys the graph.
    fn end_graph(&self, graph: usize);
}

/// The driver's object that a handle owns.
pub struct Object {
    refcount: UnsafeCell<i32>,
    device: Device,
    driver: &'static dyn Driver,
    raw: usize,
}

/// A counted handle of a driver's object.
pub trait Handle: Sized {
    #[doc(hidden)]
    fn object(&self) -> &Object;

    /// Destroys the driver's object.
    #[doc(hidden)]
    fn end(&self);

    /// The device of the object.
    fn device(&self) -> Device {
        self.object().device
    }

    /// The driver's number of the object.
    fn raw(&self) -> usize {
        self.object().raw
    }

    /// The driver of the object.
    fn driver(&self) -> &'static dyn Driver {
        self.object().driver
    }

    /// Adds a reference.
    fn retain(&self) {
        // SAFETY: the count belongs to a live handle.
        unsafe { refcount::retain(self.object().refcount.get(), true) }
    }
}

/// A queue of GPU work that runs in order.
pub struct THCudaStream(Object, bool);

/// A point in the work of a stream.
pub struct THCudaEvent(Object);

/// Captured GPU work, which can be launched many times.
pub struct THCudaGraph(Object);

impl Handle for THCudaStream {
    fn object(&self) -> &Object {
        &self.0
    }

    fn end(&self) {
        if self.1 {
            self.driver().end_stream(self.raw());
        }
    }
}

impl Handle for THCudaEvent {
    fn object(&self) -> &Object {
        &self.0
    }

    fn end(&self) {
        self.driver().end_event(self.raw());
    }
}

impl Handle for THCudaGraph {
    fn object(&self) -> &Object {
        &self.0
    }

    fn end(&self) {
        self.driver().end_graph(self.raw());
    }
}

/// Gives up a reference. The last one destroys the object.
///
/// # Safety
/// The handle is live, and the caller owns the reference.
pub unsafe fn release<H: Handle>(handle: *mut H) {
    // SAFETY: the caller owns a reference, and `handle` has allocated the handle as a box.
    unsafe {
        if refcount::release((*handle).object().refcount.get(), true) {
            (*handle).end();
            drop(Box::from_raw(handle));
        }
    }
}

/// A new handle for the object that `make` creates. If there is no memory for the handle, `make` is not called.
fn handle<H>(
    device: Device,
    driver: &'static dyn Driver,
    make: impl FnOnce() -> Result<usize>,
    wrap: impl FnOnce(Object) -> H,
) -> Result<*mut H> {
    // The handle is allocated first, because destroying a new object could fail.
    let object = Object { refcount: UnsafeCell::new(1), device, driver, raw: 0 };
    let Some(place) = alloc::boxed(std::mem::MaybeUninit::<H>::uninit()) else { bail!(NoMem, "out of memory for a handle") };
    let raw = make()?;
    let place = Box::into_raw(place).cast::<H>();
    // SAFETY: the box has room for a handle.
    unsafe { place.write(wrap(Object { raw, ..object })) };
    Ok(place)
}

impl THCudaStream {
    /// A new stream of a device.
    pub fn make(device: Device, driver: &'static dyn Driver, priority: i32) -> Result<*mut THCudaStream> {
        handle(device, driver, || driver.make_stream(priority), |object| THCudaStream(object, true))
    }

    /// A handle for a foreign stream, which the handle does not destroy.
    pub fn foreign(device: Device, driver: &'static dyn Driver, raw: usize) -> Result<*mut THCudaStream> {
        handle(device, driver, || Ok(raw), |object| THCudaStream(object, false))
    }
}

impl THCudaEvent {
    /// A new event of a device.
    pub fn make(device: Device, driver: &'static dyn Driver, timing: bool) -> Result<*mut THCudaEvent> {
        handle(device, driver, || driver.make_event(timing), THCudaEvent)
    }
}

impl THCudaGraph {
    /// A handle for the graph of the current capture, which ends.
    pub fn captured(device: Device, driver: &'static dyn Driver) -> Result<*mut THCudaGraph> {
        handle(device, driver, || driver.end_capture(), THCudaGraph)
    }
}

/// The number of GPUs that can have a current stream for each thread.
pub(crate) const MOST: usize = 64;

/// A reference to a stream.
struct Held(NonNull<THCudaStream>);

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: `self` owns a reference.
        unsafe { release(self.0.as_ptr()) }
    }
}

thread_local! {
    /// This thread's current stream of each GPU, where it has chosen one.
    static CHOSEN: RefCell<[Option<Held>; MOST]> = const { RefCell::new([const { None }; MOST]) };
}

/// The index of a device in [`CHOSEN`].
fn place(device: Device) -> Result<usize> {
    match device {
        Device::Cuda(k) if (0..MOST as i8).contains(&k) => Ok(k as usize),
        _ => bail!(Unsupported, "{device} has no streams to choose"),
    }
}

/// Makes a stream this thread's current one on the stream's device. The thread holds a reference to it.
pub fn choose(stream: &THCudaStream) -> Result<()> {
    let place = place(stream.device())?;
    stream.driver().set_current(stream.raw())?;
    stream.retain();
    let before = CHOSEN.with_borrow_mut(|chosen| chosen[place].replace(Held(NonNull::from(stream))));
    drop(before);
    Ok(())
}

/// Makes later work of `stream` wait for the work that `other` has now. The streams may belong to different devices.
pub fn wait_for(stream: &THCudaStream, other: &THCudaStream) -> Result<()> {
    let event = other.driver().make_event(false)?;
    let recorded = other.driver().record(event, other.raw());
    let waits = recorded.and_then(|()| stream.driver().wait_for_event(stream.raw(), event));
    other.driver().end_event(event);
    waits
}

/// A new reference to this thread's current stream.
pub fn chosen(device: Device, driver: &'static dyn Driver) -> Result<*mut THCudaStream> {
    let place = place(device)?;
    let held = CHOSEN.with_borrow(|chosen| chosen[place].as_ref().map(|held| held.0));
    match held {
        Some(stream) => {
            // SAFETY: this thread holds a reference to the stream.
            unsafe { stream.as_ref() }.retain();
            Ok(stream.as_ptr())
        }
        None => THCudaStream::foreign(device, driver, driver.current()),
    }
}

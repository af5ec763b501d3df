//! Streams, events and graphs.
//!
//! A stream is a queue of GPU work that runs in order; different streams do not wait for each other. Each thread has a current stream on
//! each GPU, to which its operations go. This is the default stream at first, which other users of the process share. If one stream reads
//! memory that another stream writes, the reading stream must wait by `THCudaStream_wait`, or for an event. The memory of a tensor belongs
//! to the stream in which it was allocated. If the last reference to a tensor may be given up before another stream has finished with it,
//! call `THTensor_recordStream` first.
//!
//! A graph is work that a stream has recorded instead of run, and that runs again at little cost for the host. Operations that must wait
//! for the GPU, such as `THTensor_item`, `THTensor_nonzero` and operations that check indices, fail while a stream is captured, and the
//! capture fails with them. Kernels must be compiled and loaded before the capture, by running the work once. A capture spreads to each
//! stream that waits for a captured stream; the stream in which the capture began must wait for all of them before the capture ends.
//!
//! A graph reads and writes the memory that it was captured with. Tensors made before the capture must live as long as the graph. Memory
//! that was allocated or freed during the capture belongs to the graph until the graph is freed. Random numbers are the same at each
//! launch, and so are numbers of the host such as a learning rate. Adam counts the steps of a captured `THOptim_step` on the GPU.
//!
//! Errors: `TH_ERR_CUDA`, no driver, no GPU with this number, or a refusal by the driver; `TH_ERR_ARGUMENT`, a call that would end a
//! capture, such as `THCuda_synchronize` or a launch of a graph in a captured stream.

use crate::api::table::table;
use crate::backend;
use crate::device::{Device, TH_CUDA};
use crate::driver::{self, Driver, Handle, THCudaEvent, THCudaGraph, THCudaStream, release};
use crate::error::{Result, bail};
use std::ffi::{c_int, c_void};

/// Returns the GPU with this index and its driver.
fn gpu(index: c_int) -> Result<(Device, &'static dyn Driver)> {
    let Some(index) = i8::try_from(index).ok().filter(|&index| index >= 0) else {
        bail!(Argument, "there is no device {index} of kind {TH_CUDA}")
    };
    let device = Device::Cuda(index);
    Ok((device, backend::driver(device)?))
}

/// Adds a reference; NULL is ignored.
fn retain(handle: *mut impl Handle) -> Result<()> {
    // SAFETY: the caller passes NULL or a live handle.
    if let Some(handle) = unsafe { handle.as_ref() } {
        handle.retain();
    }
    Ok(())
}

/// Gives up a reference of the caller; NULL is ignored.
fn free(handle: *mut impl Handle) -> Result<()> {
    if !handle.is_null() {
        // SAFETY: the caller owns the reference and gives it up.
        unsafe { release(handle) }
    }
    Ok(())
}

fn number(device: Device) -> Result<c_int> {
    Ok(c_int::from(device.codes().1))
}

/// Fails unless both handles are of one GPU.
fn together(one: &impl Handle, other: &impl Handle) -> Result<()> {
    match one.device() == other.device() {
        true => Ok(()),
        false => bail!(Device, "expected an event and a stream of one device, got {} and {}", one.device(), other.device()),
    }
}

macro_rules! stream_functions {
    ($do:ident) => {
        $do! { "";
            /// A new stream of a GPU. The work of streams with a lower `priority` runs first; 0 is the usual priority, and the driver
            /// limits the range. Returns a new reference; NULL on error.
            THCudaStream_new(deviceIndex: int, priority: int) -> new_cuda_stream = {
                let (device, driver) = gpu(deviceIndex)?;
                THCudaStream::make(device, driver, priority)
            };
            /// A handle for a stream of another library, a `cudaStream_t` or `CUstream`, which must outlive the handle; NULL is the default
            /// stream. Returns a new reference; NULL on error.
            THCudaStream_newForeign(deviceIndex: int, stream: context) -> new_cuda_stream = {
                let (device, driver) = gpu(deviceIndex)?;
                THCudaStream::foreign(device, driver, stream as usize)
            };
            /// This thread's current stream on a GPU. Returns a new reference; NULL on error.
            THCudaStream_newCurrent(deviceIndex: int) -> new_cuda_stream = {
                let (device, driver) = gpu(deviceIndex)?;
                driver::chosen(device, driver)
            };
            /// Adds a reference; NULL is ignored.
            THCudaStream_retain(stream: cuda_stream_or_null) -> nothing = retain(stream);
            /// Gives up a reference. If the stream was made by `THCudaStream_new`, the last reference waits for its work and destroys it. A
            /// capture that began in the stream is abandoned; a stream that has joined a capture ends with it. NULL is ignored.
            THCudaStream_free(stream: cuda_stream_or_null) -> nothing = free(stream);
            /// Makes `stream` this thread's current stream on its GPU, to which the thread's operations go. The thread holds a reference.
            THCudaStream_setCurrent(stream: cuda_stream) = driver::choose(stream);
            /// The index of the stream's GPU; 0 on error.
            THCudaStream_device(stream: cuda_stream) -> int = number(stream.device());
            /// The stream as a `CUstream`, which is the same as a `cudaStream_t`; NULL is the default stream.
            THCudaStream_pointer(stream: cuda_stream) -> memory = Ok(stream.raw() as *mut c_void);
            /// Later work of `stream` waits for the present work of `other`, which may be a stream of another GPU.
            THCudaStream_wait(stream: cuda_stream, other: cuda_stream) = driver::wait_for(stream, other);
            /// Later work of `stream` waits for `event`, which may belong to another GPU. An event that was not recorded causes no wait.
            THCudaStream_waitEvent(stream: cuda_stream, event: cuda_event) = stream.driver().wait_for_event(stream.raw(), event.raw());
            /// Waits until the work of the stream is done.
            THCudaStream_synchronize(stream: cuda_stream) = stream.driver().wait(stream.raw());
            /// 1 if the work of the stream is done; 0 if not and on error.
            THCudaStream_isIdle(stream: cuda_stream) -> flag = stream.driver().is_idle(stream.raw());
            /// Calls `function(context)` on a thread of the driver when the present work of the stream is done. Later work of the stream
            /// waits for the function. The function must not call CUDA, and therefore no function of thorn that uses a GPU.
            THCudaStream_addCallback(stream: cuda_stream, function: cuda_callback, context: context) = match function {
                // SAFETY: the caller guarantees that the function may be called with its context.
                Some(function) => unsafe { stream.driver().call(stream.raw(), function, context) },
                None => bail!(Argument, "function is NULL"),
            };

            /// A new event of a GPU, which measures time if `timing` is 1. Returns a new reference; NULL on error.
            THCudaEvent_new(deviceIndex: int, timing: flag) -> new_cuda_event = {
                let (device, driver) = gpu(deviceIndex)?;
                THCudaEvent::make(device, driver, timing)
            };
            /// Adds a reference; NULL is ignored.
            THCudaEvent_retain(event: cuda_event_or_null) -> nothing = retain(event);
            /// Gives up a reference; the last one destroys the event. NULL is ignored.
            THCudaEvent_free(event: cuda_event_or_null) -> nothing = free(event);
            /// Records the event after the present work of `stream`, which must belong to the event's GPU.
            THCudaEvent_record(event: cuda_event, stream: cuda_stream) = {
                together(event, stream)?;
                event.driver().record(event.raw(), stream.raw())
            };
            /// Waits until the work before the event is done.
            THCudaEvent_synchronize(event: cuda_event) = event.driver().wait_event(event.raw());
            /// 1 if the work before the event is done or the event was not recorded; 0 if not and on error.
            THCudaEvent_hasPassed(event: cuda_event) -> flag = event.driver().has_passed(event.raw());
            /// The milliseconds between two events that have passed and were made with `timing`; NaN on error.
            THCudaEvent_elapsed(start: cuda_event, end: cuda_event) -> number = start.driver().milliseconds(start.raw(), end.raw());

            /// Begins a capture: this thread's current stream on a GPU records later work instead of running it. The stream must not be the
            /// default stream.
            THCudaGraph_begin(deviceIndex: int) = gpu(deviceIndex)?.1.begin_capture();
            /// Ends the capture that `THCudaGraph_begin` began and returns its graph. On error the recorded work is discarded. Returns a
            /// new reference; NULL on error.
            THCudaGraph_newCaptured(deviceIndex: int) -> new_cuda_graph = {
                let (device, driver) = gpu(deviceIndex)?;
                THCudaGraph::captured(device, driver)
            };
            /// Adds a reference; NULL is ignored.
            THCudaGraph_retain(graph: cuda_graph_or_null) -> nothing = retain(graph);
            /// Gives up a reference; the last one waits for the graph's last launch and destroys the graph. NULL is ignored.
            THCudaGraph_free(graph: cuda_graph_or_null) -> nothing = free(graph);
            /// Runs the work of the graph in this thread's current stream on its GPU.
            THCudaGraph_launch(graph: cuda_graph) = graph.driver().replay(graph.raw());
        }
    };
}

stream_functions!(table);
pub(crate) use stream_functions as functions;

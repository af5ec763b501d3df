//! Streams, events and graphs.
//!
//! A stream is work of a GPU that is done in order; streams do not wait for each other. Each thread has a stream on each GPU that its
//! operations go to: the default stream at first, which others in the process use too. Who reads in one stream what another one writes
//! lets it wait, `THCudaStream_wait`, or waits for an event; and says `THTensor_recordStream` where the tensor's last reference may go
//! before the work has been done. Memory of a tensor belongs to the stream in which it was made.
//!
//! A graph is work that a stream has kept rather than done, to be done again with little effort of the host. Operations that have to wait
//! for the GPU, such as `THTensor_item`, `THTensor_nonzero`, or an index whose positions are checked, fail while a stream is captured, and
//! the graph with them. Kernels are compiled and loaded before, by doing the work once. A capture spreads to each stream that waits for a
//! captured stream; the stream in which the capture began must wait for all of them before the capture ends.
//!
//! A graph reads and writes the memory that it was captured with. Tensors made before the capture must live as long as the graph. Memory
//! that was allocated or freed during the capture belongs to the graph until the graph is freed. Random numbers are the same at each
//! launch, and so are numbers of the host such as a learning rate. Adam counts the steps of a captured `THOptim_step` on the GPU.
//!
//! Errors: `TH_ERR_CUDA`, no driver, no GPU with this number, or the driver refused; `TH_ERR_ARGUMENT`, a call that would end a capture,
//! such as `THCuda_synchronize` or a launch of a graph in a captured stream.

use crate::api::table::table;
use crate::backend;
use crate::device::{Device, TH_CUDA};
use crate::driver::{self, Driver, Handle, THCudaEvent, THCudaGraph, THCudaStream, release};
use crate::error::{Result, bail};
use std::ffi::{c_int, c_void};

/// A GPU that is there, and its driver.
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

/// Gives up a reference of the caller's; NULL is ignored.
fn free(handle: *mut impl Handle) -> Result<()> {
    if !handle.is_null() {
        // SAFETY: the reference is the caller's to give up.
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
            /// A new stream of a GPU. Work of streams with a lower `priority` goes first; 0 is the usual one, and the driver limits it. Returns
            /// a new reference; NULL on error.
            THCudaStream_new(deviceIndex: int, priority: int) -> new_cuda_stream = {
                let (device, driver) = gpu(deviceIndex)?;
                THCudaStream::make(device, driver, priority)
            };
            /// A handle for a stream of another library, a `cudaStream_t` or `CUstream` that must outlive it; NULL is the default stream.
            /// Returns a new reference; NULL on error.
            THCudaStream_newForeign(deviceIndex: int, stream: context) -> new_cuda_stream = {
                let (device, driver) = gpu(deviceIndex)?;
                THCudaStream::foreign(device, driver, stream as usize)
            };
            /// The stream that this thread's operations on a GPU go to. Returns a new reference; NULL on error.
            THCudaStream_newCurrent(deviceIndex: int) -> new_cuda_stream = {
                let (device, driver) = gpu(deviceIndex)?;
                driver::chosen(device, driver)
            };
            /// Adds a reference; NULL is ignored.
            THCudaStream_retain(stream: cuda_stream_or_null) -> nothing = retain(stream);
            /// Gives up a reference; the last one waits for the stream's work and ends it, if it was made by `THCudaStream_new`. A capture that
            /// began in the stream is given up; a stream that has joined a capture ends with it. NULL is ignored.
            THCudaStream_free(stream: cuda_stream_or_null) -> nothing = free(stream);
            /// This thread's operations on the stream's GPU go to the stream from now on. The thread holds a reference.
            THCudaStream_setCurrent(stream: cuda_stream) = driver::choose(stream);
            /// The number of the stream's GPU; 0 on error.
            THCudaStream_device(stream: cuda_stream) -> int = number(stream.device());
            /// The stream as a `CUstream`, which is a `cudaStream_t`; NULL is the default stream.
            THCudaStream_pointer(stream: cuda_stream) -> memory = Ok(stream.raw() as *mut c_void);
            /// Work that `stream` is given from now on waits for the work that `other` has, which may be a stream of another GPU.
            THCudaStream_wait(stream: cuda_stream, other: cuda_stream) = driver::wait_for(stream, other);
            /// Work that `stream` is given from now on waits for `event`, which may be one of another GPU. An event that was not recorded is
            /// not waited for.
            THCudaStream_waitEvent(stream: cuda_stream, event: cuda_event) = stream.driver().wait_for_event(stream.raw(), event.raw());
            /// Waits until the work of the stream has been done.
            THCudaStream_synchronize(stream: cuda_stream) = stream.driver().wait(stream.raw());
            /// 1 if the work of the stream has been done; 0 if not and on error.
            THCudaStream_isIdle(stream: cuda_stream) -> flag = stream.driver().is_idle(stream.raw());
            /// Calls `function(context)` on a thread of the driver once the work that the stream has was done; what it is given from now on
            /// waits for that. The function must not call CUDA, and so no function of thorn that does.
            THCudaStream_addCallback(stream: cuda_stream, function: cuda_callback, context: context) = match function {
                // SAFETY: the caller vouches for the function and its context.
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
            /// Gives up a reference; the last one ends the event. NULL is ignored.
            THCudaEvent_free(event: cuda_event_or_null) -> nothing = free(event);
            /// Puts the event after the work that a stream of its GPU has.
            THCudaEvent_record(event: cuda_event, stream: cuda_stream) = {
                together(event, stream)?;
                event.driver().record(event.raw(), stream.raw())
            };
            /// Waits until the work before the event has been done.
            THCudaEvent_synchronize(event: cuda_event) = event.driver().wait_event(event.raw());
            /// 1 if the work before the event has been done, or it was not recorded; 0 if not and on error.
            THCudaEvent_hasPassed(event: cuda_event) -> flag = event.driver().has_passed(event.raw());
            /// Milliseconds between two events that measure time and have passed; NaN on error.
            THCudaEvent_elapsed(start: cuda_event, end: cuda_event) -> number = start.driver().milliseconds(start.raw(), end.raw());

            /// This thread's stream on a GPU, which must not be the default stream, keeps what operations give it from now on, rather than do
            /// it.
            THCudaGraph_begin(deviceIndex: int) = gpu(deviceIndex)?.1.begin_capture();
            /// Ends `THCudaGraph_begin`: the graph of what the stream has kept. Returns a new reference; NULL on error, where nothing is kept.
            THCudaGraph_newCaptured(deviceIndex: int) -> new_cuda_graph = {
                let (device, driver) = gpu(deviceIndex)?;
                THCudaGraph::captured(device, driver)
            };
            /// Adds a reference; NULL is ignored.
            THCudaGraph_retain(graph: cuda_graph_or_null) -> nothing = retain(graph);
            /// Gives up a reference; the last one waits for the graph's last launch and ends the graph. NULL is ignored.
            THCudaGraph_free(graph: cuda_graph_or_null) -> nothing = free(graph);
            /// Does the work of the graph in this thread's stream on its GPU.
            THCudaGraph_launch(graph: cuda_graph) = graph.driver().replay(graph.raw());
        }
    };
}

stream_functions!(table);
pub(crate) use stream_functions as functions;

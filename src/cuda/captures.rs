//! Captured streams, and the graphs of finished captures.
//!
//! A graph has *pools*: memory that was allocated during its capture. No other work may use this memory before the graph ends, because
//! every launch writes to it again. Each stream of a capture has a separate pool, because streams may run at the same time. The driver says
//! whether a stream belongs to a capture, because a capture spreads to every stream that waits for one of its events.

use super::driver::check;
use super::gpu::{Gpu, gpu, opened};
use super::mark::Mark;
use super::pinned;
use crate::alloc::boxed;
use crate::error::{Error, Kind, Result, bail};
use cudarc::driver::sys::{self, CUgraphExec, CUresult, CUstream, CUstreamCaptureMode, CUstreamCaptureStatus as Status};
use parking_lot::Mutex;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A capture in progress.
struct Capture {
    /// The driver's number of the capture.
    id: u64,
    /// The GPU and the stream in which the capture began.
    origin: (i8, usize),
    /// The number of the graph. It is odd, so that it differs from every stream's address.
    graph: usize,
    /// The streams that have allocated memory, and their pools, which have odd numbers, too.
    pools: Vec<((i8, usize), usize)>,
    /// The streams of the capture that the program has freed. They are destroyed when the capture ends.
    freed: Vec<(i8, usize)>,
}

/// A graph that can be launched.
pub struct Graph {
    exec: CUgraphExec,
    memory: Memory,
    /// The end of the last launch. The lock keeps launches and their events in the same order.
    last: Mutex<Mark>,
}

/// The memory of a graph.
struct Memory {
    graph: usize,
    pools: Vec<((i8, usize), usize)>,
}

static CAPTURES: Mutex<Vec<Capture>> = Mutex::new(Vec::new());

/// The length of [`CAPTURES`], in an atomic because every allocation reads it.
static GOING_ON: AtomicUsize = AtomicUsize::new(0);

/// The next number of a graph or a pool.
static NEXT: AtomicUsize = AtomicUsize::new(1);

/// The driver's `cuStreamGetCaptureInfo_v2`, which drivers have from CUDA 11.3 on. cudarc only declares the newest form.
type CaptureInfo =
    unsafe extern "C" fn(CUstream, *mut Status, *mut u64, *mut sys::CUgraph, *mut *const sys::CUgraphNode, *mut usize) -> CUresult;

fn capture_info() -> Result<CaptureInfo> {
    static FOUND: OnceLock<Option<CaptureInfo>> = OnceLock::new();
    // SAFETY: the driver is open, and the function has this type.
    let found = FOUND.get_or_init(|| unsafe { sys::culib().get(b"cuStreamGetCaptureInfo_v2\0").ok().map(|function| *function) });
    found.ok_or_else(|| Error::new(Kind::Cuda, format_args!("the CUDA driver has no function cuStreamGetCaptureInfo_v2")))
}

/// The capture status of a stream, and the driver's number of its capture.
fn status(gpu: &Gpu, stream: CUstream) -> Result<(Status, u64)> {
    let (_bound, mut status, mut id) = (gpu.bind()?, Status::CU_STREAM_CAPTURE_STATUS_NONE, 0);
    let info = capture_info()?;
    // SAFETY: `stream` is a stream of this GPU. Two results are written to variables; the others are optional.
    let asked = unsafe { info(stream, &mut status, &mut id, null_mut(), null_mut(), null_mut()) };
    check(asked, "a stream could not be asked for its capture").map(|()| (status, id))
}

/// Calls `f` with the capture of a stream. Returns `None` if the stream is not captured.
fn with<R>(gpu: &Gpu, stream: CUstream, f: impl FnOnce(&mut Capture) -> R) -> Option<R> {
    // The default stream is never captured.
    if GOING_ON.load(Ordering::Relaxed) == 0 || stream.is_null() {
        return None;
    }
    let (_, id) = status(gpu, stream).ok().filter(|(status, _)| *status == Status::CU_STREAM_CAPTURE_STATUS_ACTIVE)?;
    CAPTURES.lock().iter_mut().find(|capture| capture.id == id).map(f)
}

/// The number of the graph that a stream is captured for; `None` if it is not captured.
pub fn graph_of(gpu: &Gpu, stream: CUstream) -> Option<usize> {
    with(gpu, stream, |capture| capture.graph)
}

/// The pool for memory of a stream: the stream itself, unless it is captured.
pub fn pool_of(gpu: &Gpu, stream: CUstream) -> Result<usize> {
    let of_graph = |capture: &mut Capture| {
        let place = (gpu.ordinal, stream as usize);
        if let Some(pool) = capture.pools.iter().find(|pool| pool.0 == place) {
            return Ok(pool.1);
        }
        if capture.pools.try_reserve(1).is_err() {
            bail!(NoMem, "out of memory: the table of the graph's memory could not grow")
        }
        capture.pools.push((place, NEXT.fetch_add(2, Ordering::Relaxed)));
        Ok(capture.pools[capture.pools.len() - 1].1)
    };
    with(gpu, stream, of_graph).unwrap_or(Ok(stream as usize))
}

/// Returns true if a capture that began on this GPU is in progress.
pub fn is_capturing(gpu: &Gpu) -> bool {
    GOING_ON.load(Ordering::Relaxed) != 0 && CAPTURES.lock().iter().any(|capture| capture.origin.0 == gpu.ordinal)
}

/// Begins the capture of a stream.
pub fn begin(gpu: &Gpu, stream: CUstream) -> Result<()> {
    if stream.is_null() {
        bail!(Argument, "the default stream of cuda:{} cannot be captured: choose another", gpu.ordinal)
    }
    let _bound = gpu.bind()?;
    if status(gpu, stream)?.0 != Status::CU_STREAM_CAPTURE_STATUS_NONE {
        bail!(Argument, "the stream is captured already")
    }
    let mut captures = CAPTURES.lock();
    if captures.try_reserve(1).is_err() {
        bail!(NoMem, "out of memory: the table of captures could not grow")
    }
    // SAFETY: a stream of this GPU.
    let begun = unsafe { sys::cuStreamBeginCapture_v2(stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED) };
    check(begun, "a capture could not begin")?;
    let id = status(gpu, stream).inspect_err(|_| drop(stop(stream)))?.1;
    let graph = NEXT.fetch_add(2, Ordering::Relaxed);
    captures.push(Capture { id, origin: (gpu.ordinal, stream as usize), graph, pools: Vec::new(), freed: Vec::new() });
    GOING_ON.store(captures.len(), Ordering::Relaxed);
    Ok(())
}

/// Removes the capture that began in this stream from the table.
fn take(gpu: &Gpu, stream: CUstream) -> Option<Capture> {
    let mut captures = CAPTURES.lock();
    let k = captures.iter().position(|capture| capture.origin == (gpu.ordinal, stream as usize))?;
    let capture = captures.swap_remove(k);
    GOING_ON.store(captures.len(), Ordering::Relaxed);
    Some(capture)
}

/// Ends the driver's capture of a stream, and returns the driver's graph.
fn stop(stream: CUstream) -> Result<sys::CUgraph> {
    let mut graph = null_mut();
    // SAFETY: `stream` is a stream of a bound GPU, and the graph is written to a variable.
    let ended = unsafe { sys::cuStreamEndCapture(stream, &mut graph) };
    check(ended, "the capture failed: it held something that has to wait for the GPU").map(|()| graph)
}

impl Drop for Memory {
    /// Makes the memory available to other work, because the graph does no work any more.
    fn drop(&mut self) {
        opened().for_each(|gpu| gpu.blocks.lock().end_graph(self.graph, &self.pools));
        pinned::end_graph(self.graph);
    }
}

/// Destroys the streams that were freed during a capture.
fn destroy(freed: &[(i8, usize)]) {
    for &(ordinal, stream) in freed {
        if let Ok(gpu) = gpu(ordinal) {
            gpu.destroy_stream(stream as CUstream);
        }
    }
}

/// Ends the capture of this thread's stream, and returns a graph that can be launched.
pub fn end(gpu: &Gpu) -> Result<*mut Graph> {
    let (_bound, stream) = (gpu.bind()?, gpu.stream());
    let Some(capture) = take(gpu, stream) else { bail!(Argument, "no capture has begun in this thread's stream of cuda:{}", gpu.ordinal) };
    let graph = stop(stream);
    destroy(&capture.freed);
    let memory = Memory { graph: capture.graph, pools: capture.pools };
    ready(gpu, graph?, memory)
}

/// Instantiates a driver's graph for launches, and destroys the driver's graph.
fn ready(gpu: &Gpu, graph: sys::CUgraph, memory: Memory) -> Result<*mut Graph> {
    let mut exec = null_mut();
    // SAFETY: the GPU is bound, the result is written to a variable, and the driver's graph is not used afterwards.
    let made = unsafe {
        let made = check(sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0), "a graph could not be made");
        let _ = sys::cuGraphDestroy(graph);
        made
    };
    made?;
    let graph = gpu.new_mark().and_then(|last| match boxed(Graph { exec, memory, last: Mutex::new(last) }) {
        Some(graph) => Ok(Box::into_raw(graph)),
        None => bail!(NoMem, "out of memory for a graph"),
    });
    graph.inspect_err(|_| {
        // SAFETY: the graph was never launched.
        let _ = unsafe { sys::cuGraphExecDestroy(exec) };
    })
}

/// Launches a graph in this thread's stream.
pub fn launch(gpu: &Gpu, graph: &Graph) -> Result<()> {
    let (_bound, stream) = (gpu.bind()?, gpu.stream());
    if graph_of(gpu, stream).is_some() {
        bail!(Argument, "this thread's stream of cuda:{} is being captured: a graph cannot be launched in it", gpu.ordinal)
    }
    let last = graph.last.lock();
    // SAFETY: graph and stream belong to this GPU.
    check(unsafe { sys::cuGraphLaunch(graph.exec, stream) }, "a graph could not be launched")?;
    last.record(stream)
}

/// Waits for the last launch of a graph, and destroys the graph.
///
/// # Safety
/// The graph came from [`end`], and no other thread uses the graph.
pub unsafe fn end_graph(gpu: &Gpu, graph: *mut Graph) {
    // SAFETY: the caller meets the conditions above.
    let graph = unsafe { Box::from_raw(graph) };
    let Ok(_bound) = gpu.bind() else { return };
    // Errors are ignored, because they mean that the GPU has failed before, or that the driver is gone.
    let _ = graph.last.lock().wait();
    // SAFETY: the graph belongs to this GPU and does no work.
    let _ = unsafe { sys::cuGraphExecDestroy(graph.exec) };
    drop(graph.memory);
}

/// Destroys a stream, at once or at the end of its capture. A capture that began in the stream is abandoned.
pub fn end_stream(gpu: &Gpu, stream: CUstream) {
    let Ok(_bound) = gpu.bind() else { return };
    if let Some(capture) = take(gpu, stream) {
        if let Ok(graph) = stop(stream) {
            // SAFETY: the graph was returned to this function, and has no other user.
            let _ = unsafe { sys::cuGraphDestroy(graph) };
        }
        destroy(&capture.freed);
        drop(Memory { graph: capture.graph, pools: capture.pools });
    } else if GOING_ON.load(Ordering::Relaxed) != 0
        && let Ok((status, id)) = status(gpu, stream)
        && status != Status::CU_STREAM_CAPTURE_STATUS_NONE
    {
        // Waiting for a captured stream, or destroying it, would abort the capture. An invalid capture has no number.
        let mut captures = CAPTURES.lock();
        let place = captures.iter().position(|capture| capture.id == id).unwrap_or(0);
        if let Some(capture) = captures.get_mut(place)
            && capture.freed.try_reserve(1).is_ok()
        {
            capture.freed.push((gpu.ordinal, stream as usize));
        }
        return;
    }
    gpu.destroy_stream(stream);
}

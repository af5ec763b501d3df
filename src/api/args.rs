//! The kinds of arguments: the C type of each kind, and the Rust value that it is converted to.

use super::word::{FromWord, Word};
use super::{failure::null_argument, fused::THFused, generator::THGenerator, sparse::Sparse};
use crate::alloc;
use crate::dtype::{Dtype, TH_UNDEFINED};
use crate::error::{Error, Result, bail};
use crate::layout::MAX_DIMS;
use crate::scalar::Scalar;
use crate::storage::Storage;
use crate::tensor::Tensor;
use c_types::*;
use std::{cell::Cell, ffi::CStr};

/// Types of arguments, imported by the modules that define C functions.
pub mod c_types {
    pub use crate::alloc::{THAllocator, THDeleter, THMapAllocatorContext, THMemoryHook, THMemoryStats};
    pub use crate::api::callbacks::{THGradCall, THGradFunction, THGradHook, THGradRule, THOptimClosure};
    pub use crate::api::fused::THFused;
    pub use crate::api::generator::THGenerator;
    pub use crate::api::optim::THOptim;
    pub use crate::api::program::THProgram;
    pub use crate::api::sparse::THSTensor;
    pub use crate::device::{THCudaMemory, THDeviceType};
    pub use crate::driver::{THCudaCallback, THCudaEvent, THCudaGraph, THCudaProperties, THCudaStream};
    pub use crate::dtype::THDtype;
    pub use crate::error::THStatus;
    pub use crate::files::{THArchive, THFileFormat, THReadFunction, THSeekFunction};
    pub use crate::layout::THMemoryFormat;
    pub use crate::ops::exchange::arrow_abi::{ArrowArray, ArrowSchema};
    pub use crate::ops::exchange::dlpack_abi::{DLManagedTensor, DLManagedTensorVersioned};
    pub use crate::ops::index::bags::THBagMode;
    pub use crate::ops::index::scatter::THReduce;
    pub use crate::ops::linalg::eigen::THMatrixNorm;
    pub use crate::ops::pointwise::apply::{THApplyFunction, THMap2Function, THMapFunction};
    pub use crate::ops::pointwise::divide::THDivMode;
    pub use crate::ops::quantized::THBlockType;
    pub use crate::ops::resample::THResampling;
    pub use crate::ops::systems::THProgressFunction;
    pub use crate::ops::{distance::THDistanceMode, loss::THReduction, order::THInterpolation, random::THFan, rearrange::THPadMode};
    pub use crate::print::THPrintOptions;
    pub use crate::random::THGeneratorKind;
    pub use crate::storage::THStorage;
    pub use crate::tensor::THTensor;
    pub use libc::FILE;
    pub use std::ffi::{c_char, c_int, c_void};
}

/// The name of a function, and the names and kinds of its arguments.
pub struct Signature {
    /// The names of the function and its arguments: `cadd r t value src`. Elementwise operations have their tensors first.
    pub names: &'static str,
    /// The kinds of the arguments, in the order of `names`.
    pub kinds: &'static [Kind],
}

/// The arguments of a call. Each kind has a method that converts the argument at an index.
pub struct Args<'a> {
    signature: &'static Signature,
    words: &'a [Word],
    /// The last [`Kind::len`].
    len: Cell<c_int>,
}

/// Returns the dtype with a code from C.
fn dtype_arg(code: c_int) -> Result<Dtype> {
    match Dtype::from_code(code) {
        Some(dtype) => Ok(dtype),
        None if code == TH_UNDEFINED => bail!(Argument, "TH_UNDEFINED is no dtype of elements"),
        None => bail!(Argument, "{code} is no dtype"),
    }
}

/// Returns the number in a word.
#[inline(always)]
pub fn scalar(word: Word) -> Scalar {
    f64::from_bits(word.bits()).into()
}

impl<'a> Args<'a> {
    /// Returns the arguments in `words`.
    #[inline(always)]
    pub fn new(signature: &'static Signature, words: &'a [Word]) -> Args<'a> {
        Args { signature, words, len: Cell::new(0) }
    }

    #[cold]
    fn null(&self, at: usize) -> Error {
        null_argument(self.signature.arg(at))
    }

    #[inline(always)]
    fn plain<C: FromWord>(&self, at: usize) -> Result<C> {
        Ok(C::from_word(self.words[at]))
    }

    /// Returns a pointer that must not be NULL.
    #[inline(always)]
    fn pointer<T>(&self, at: usize) -> Result<*mut T> {
        let pointer = <*mut T>::from_word(self.words[at]);
        if pointer.is_null() { Err(self.null(at)) } else { Ok(pointer) }
    }

    /// Returns a handle as its counted pointer `H`; `None` for NULL.
    #[inline(always)]
    fn optional_handle<H: Handle>(&self, at: usize) -> Result<Option<&'a H>> {
        // SAFETY: a handle is a transparent pointer, and NULL is `None`. The header requires live handles.
        Ok(unsafe { &*std::ptr::from_ref(&self.words[at]).cast::<Option<H>>() }.as_ref())
    }

    #[inline(always)]
    fn live<H: Handle>(&self, at: usize) -> Result<&'a H> {
        match self.optional_handle(at)? {
            Some(handle) => Ok(handle),
            None => Err(self.null(at)),
        }
    }

    #[inline(always)]
    fn scalar(&self, at: usize) -> Result<Scalar> {
        Ok(scalar(self.words[at]))
    }

    /// Returns a list of numbers whose length is the last [`Kind::len`].
    #[inline(always)]
    fn list(&self, at: usize, optional: bool) -> Result<Option<&'a [i64]>> {
        let (data, len) = (<*const i64>::from_word(self.words[at]), self.len.get());
        if optional && data.is_null() {
            return Ok(None);
        }
        if len < 0 || len as usize > MAX_DIMS {
            bail!(Argument, "{len} entries for '{}': expected 0 to {MAX_DIMS}", self.signature.arg(at))
        }
        if len > 0 && data.is_null() {
            return Err(self.null(at));
        }
        // SAFETY: the caller passes an array of this length that is valid during the call.
        Ok(Some(if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, len as usize) } }))
    }
}

impl Signature {
    /// Returns the name of the function without its prefix.
    pub fn name(&self) -> &'static str {
        self.names.split(' ').next().unwrap_or_default()
    }

    /// Returns the name of argument `k`.
    #[cold]
    pub fn arg(&self, k: usize) -> &'static str {
        self.names.split(' ').nth(k + 1).unwrap_or_default()
    }

    /// Returns the list of handles at argument `at`, some of which may be NULL. [`Kind::handle_count`] has its length.
    #[inline(never)]
    pub(crate) fn listed<'a, H: Handle>(&self, words: &'a [Word], at: usize) -> Result<&'a [Option<H>]> {
        let counted = (at + 1..self.kinds.len()).find(|&k| self.kinds[k] == Kind::handle_count);
        let (list, count) = (<*const Option<H>>::from_word(words[at]), counted.map_or(0, |k| c_int::from_word(words[k])));
        if count < 0 {
            bail!(Argument, "{count} entries for '{}': the count is negative", self.arg(at))
        }
        if count > 0 && list.is_null() {
            return Err(null_argument(self.arg(at)));
        }
        // SAFETY: a handle is a transparent pointer. The caller passes an array of this length that is valid during the call.
        Ok(if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(list, count as usize) } })
    }

    /// Returns the tensors with storages among the arguments, including those in lists.
    pub fn tensors<'a>(&'a self, words: &'a [Word]) -> impl Iterator<Item = &'a Tensor> {
        let handles = (0..self.kinds.len()).flat_map(move |k| {
            let list: &[Option<Tensor>] = match self.kinds[k] {
                Kind::inputs | Kind::optional_inputs | Kind::list_or_null | Kind::outs => self.listed(words, k).unwrap_or_default(),
                // SAFETY: a handle is a transparent pointer, and NULL is `None`. The caller passes live handles.
                kind if kind.is_tensor() => std::slice::from_ref(unsafe { &*(&raw const words[k]).cast::<Option<Tensor>>() }),
                _ => &[],
            };
            list.iter().flatten()
        });
        handles.filter(|t| t.dtype().is_some() && t.storage().is_some())
    }

    /// Names the argument that is the handle at this address: `argument 't'`, or `entry 1 of 'tensors'`.
    #[cold]
    pub fn name_of(&self, words: &[Word], handle: usize) -> String {
        if let Some(k) = (0..self.kinds.len()).find(|&k| words[k].bits() == handle as u64) {
            return format!("argument '{}'", self.arg(k));
        }
        let lists = (0..self.kinds.len())
            .filter(|&k| matches!(self.kinds[k], Kind::inputs | Kind::optional_inputs | Kind::list_or_null | Kind::outs));
        for (k, list) in lists.filter_map(|k| Some((k, self.listed::<Tensor>(words, k).ok()?))) {
            if let Some(i) = list.iter().position(|t| t.as_ref().is_some_and(|t| t.as_ptr().addr() == handle)) {
                return format!("entry {i} of '{}'", self.arg(k));
            }
        }
        "a tensor".to_owned()
    }
}

impl Kind {
    /// Returns true for handles of tensors.
    fn is_tensor(self) -> bool {
        use Kind::*;
        let is_result = matches!(self, out | optional_out | view_out | truth | indices | optional_indices | totals | optional_totals);
        let is_operand =
            matches!(self, inout | optional_state | handle | shared | input | optional_input | mask | index | optional_index | pivots);
        is_result || is_operand || matches!(self, pivots_out | optional_info)
    }
}

/// A counted pointer with the representation of a C pointer.
///
/// # Safety
/// The type must be a transparent `NonNull`.
pub(crate) unsafe trait Handle {}
// SAFETY: `Tensor` is transparent.
unsafe impl Handle for Tensor {}
// SAFETY: `Sparse` is transparent.
unsafe impl Handle for Sparse {}
// SAFETY: `Storage` is transparent.
unsafe impl Handle for Storage {}

/// The kinds of arguments. A line has the C type, the default value of an enum kind, the type in the body of a function, and the
/// conversion to this type.
macro_rules! kinds {
    ($d:tt $($(#[$doc:meta])* $kind:ident: $C:ty $(= $default:ident)? => $core:ty, |$args:ident, $at:ident| $take:expr;)*) => {
        /// The kind of an argument.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(non_camel_case_types)]
        pub enum Kind { $($(#[$doc])* $kind,)* }

        impl<'a> Args<'a> {
            $($(#[$doc])* #[inline(always)] pub fn $kind(&self, $at: usize) -> Result<$core> { let $args = self; $take })*
        }

        /// The kinds that are constants of an enum, each with its default.
        #[cfg(any(test, feature = "api"))]
        pub static DEFAULTS: &[(Kind, &str)] = &[$($((Kind::$kind, stringify!($default)),)?)*];

        /// The type a kind of argument has in C.
        macro_rules! c_type { $( ($kind) => { $C }; )* }
        pub(crate) use c_type;
    };
}

kinds! { $
    /// A result.
    out: *mut THTensor => &'a Tensor, |args, at| args.live(at);
    /// A result that may be NULL.
    optional_out: *mut THTensor => Option<&'a Tensor>, |args, at| args.optional_handle(at);
    /// A handle that becomes a view.
    view_out: *mut THTensor => &'a Tensor, |args, at| args.live(at);
    /// A result that holds truth values.
    truth: *mut THTensor => &'a Tensor, |args, at| args.live(at);
    /// A result of int64 positions.
    indices: *mut THTensor => &'a Tensor, |args, at| args.live(at);
    /// [`Kind::indices`] that may be NULL.
    optional_indices: *mut THTensor => Option<&'a Tensor>, |args, at| args.optional_handle(at);
    /// A result of int64 numbers that are not positions.
    totals: *mut THTensor => &'a Tensor, |args, at| args.live(at);
    /// [`Kind::totals`] that may be NULL.
    optional_totals: *mut THTensor => Option<&'a Tensor>, |args, at| args.optional_handle(at);
    /// A result of LAPACK's pivots: int32 rows or columns, numbered from 1.
    pivots_out: *mut THTensor => &'a Tensor, |args, at| args.live(at);
    /// A result of LAPACK's int32 info, which may be NULL.
    optional_info: *mut THTensor => Option<&'a Tensor>, |args, at| args.optional_handle(at);
    /// A tensor that is changed in place.
    inout: *mut THTensor => &'a Tensor, |args, at| args.live(at);
    /// A tensor that is changed in place and has no gradient; it may be NULL.
    optional_state: *mut THTensor => Option<&'a Tensor>, |args, at| args.optional_handle(at);
    /// A handle whose sizes, strides, memory or flags change, but whose elements do not.
    handle: *mut THTensor => &'a Tensor, |args, at| args.live(at);
    /// A handle that becomes fresh: it loses its elements.
    emptied: *mut THTensor => &'a Tensor, |args, at| args.live(at);
    /// An operand that the result may refer to.
    shared: *mut THTensor => &'a Tensor, |args, at| args.live(at);
    /// An operand.
    input: *const THTensor => &'a Tensor, |args, at| args.live(at);
    /// An operand that may be NULL.
    optional_input: *const THTensor => Option<&'a Tensor>, |args, at| args.optional_handle(at);
    /// An operand that holds truth values.
    mask: *const THTensor => &'a Tensor, |args, at| args.live(at);
    /// An operand of integer positions, numbered from 0.
    index: *const THTensor => &'a Tensor, |args, at| args.live(at);
    /// [`Kind::index`] that may be NULL.
    optional_index: *const THTensor => Option<&'a Tensor>, |args, at| args.optional_handle(at);
    /// An operand of LAPACK's pivots, numbered from 1.
    pivots: *const THTensor => &'a Tensor, |args, at| args.live(at);

    /// A number. In an elementwise operation it takes part in promotion and is rounded to the common dtype.
    number: f64 => Scalar, |args, at| args.scalar(at);
    /// [`Kind::number`] of an elementwise operation that multiplies or divides by it. It is not rounded to 16-bit floats.
    factor: f64 => Scalar, |args, at| args.scalar(at);
    /// A number of an elementwise operation that does not take part in promotion, and is not rounded.
    parameter: f64 => Scalar, |args, at| args.scalar(at);
    /// [`Kind::parameter`] as an `f64`.
    double: f64 => f64, |args, at| args.plain(at);
    /// An index along a dimension, counted from 0.
    entry: i64 => i64, |args, at| args.plain(at);
    /// A size of a dimension.
    size: i64 => i64, |args, at| args.plain(at);
    /// A distance between neighbours along a dimension, in elements.
    stride: i64 => i64, |args, at| args.plain(at);
    /// A count.
    count: i64 => i64, |args, at| args.plain(at);
    /// An element that is an int64, or a bound of such elements.
    integer: i64 => i64, |args, at| args.plain(at);
    /// An index into a storage, counted from 0.
    offset: isize => i64, |args, at| args.plain::<isize>(at).map(|x| x as i64);
    /// A length of a storage in elements, or of memory in bytes.
    length: isize => i64, |args, at| args.plain::<isize>(at).map(|x| x as i64);
    /// A seed of random numbers.
    seed: u64 => u64, |args, at| args.plain(at);
    /// A dimension; negative numbers count from the end.
    dim: c_int => c_int, |args, at| args.plain(at);
    /// A small number.
    int: c_int => c_int, |args, at| args.plain(at);
    /// A truth value: false if 0.
    flag: c_int => bool, |args, at| args.plain::<c_int>(at).map(|x| x != 0);
    /// A constant of the header.
    code: c_int => c_int, |args, at| args.plain(at);
    /// A constant `TH_DISTANCE_*`.
    distance_mode: THDistanceMode = TH_DISTANCE_AUTO => THDistanceMode, |args, at| args.plain(at);
    /// A constant `TH_BLOCK_*`.
    block_type: THBlockType = TH_BLOCK_NONE => THBlockType, |args, at| args.plain(at);
    /// A constant `TH_DIV_*`.
    div_mode: THDivMode = TH_DIV_TRUE => THDivMode, |args, at| args.plain(at);
    /// A status that a function has returned.
    status: THStatus => THStatus, |args, at| args.plain(at);
    /// The values of padding, `TH_PAD_*`.
    pad_mode: THPadMode = TH_PAD_CONSTANT => THPadMode, |args, at| args.plain(at);
    /// A norm of matrices.
    matrix_norm: THMatrixNorm = TH_NORM_FRO => THMatrixNorm, |args, at| args.plain(at);
    /// The function of the rows of a bag, `TH_BAG_*`.
    bag_mode: THBagMode = TH_BAG_MEAN => THBagMode, |args, at| args.plain(at);
    /// The operation that combines elements for one position.
    reduce: THReduce = TH_REDUCE_ADD => THReduce, |args, at| args.plain(at);
    /// A reduction of the losses of all positions.
    reduction: THReduction = TH_REDUCTION_MEAN => THReduction, |args, at| args.plain(at);
    /// The interpolation of a quantile between two elements.
    interpolation: THInterpolation = TH_INTERPOLATION_LINEAR => THInterpolation, |args, at| args.plain(at);
    /// A method of resampling, `TH_RESAMPLE_*`.
    resampling: THResampling = TH_RESAMPLE_LINEAR => THResampling, |args, at| args.plain(at);
    /// A constant of memory formats.
    memory_format: THMemoryFormat = TH_CONTIGUOUS_FORMAT => THMemoryFormat, |args, at| args.plain(at);
    /// The bits of a tensor's or storage's flags.
    flags: c_char => c_char, |args, at| args.plain(at);

    /// The number of entries in each of the following lists.
    len: c_int => c_int, |args, at| { args.len.set(args.plain(at)?); Ok(args.len.get()) };
    /// [`Kind::len`], or -1 instead of lists.
    len_or_whole: c_int => c_int, |args, at| { let len = args.plain(at)?; args.len.set(if len == -1 { 0 } else { len }); Ok(len) };
    /// A list of sizes.
    sizes: *const i64 => &'a [i64], |args, at| args.list(at, false).map(Option::unwrap_or_default);
    /// [`Kind::sizes`] that may be NULL.
    optional_sizes: *const i64 => Option<&'a [i64]>, |args, at| args.list(at, true);
    /// A list of strides of a tensor.
    strides: *const i64 => &'a [i64], |args, at| args.list(at, false).map(Option::unwrap_or_default);
    /// [`Kind::strides`] that may be NULL.
    optional_strides: *const i64 => Option<&'a [i64]>, |args, at| args.list(at, true);
    /// A list of dimensions; negative numbers count from the end.
    dims: *const i64 => &'a [i64], |args, at| args.list(at, false).map(Option::unwrap_or_default);
    /// [`Kind::dims`] that may be NULL.
    optional_dims: *const i64 => Option<&'a [i64]>, |args, at| args.list(at, true);
    /// A list of indices along dimensions, counted from 0.
    entries: *const i64 => &'a [i64], |args, at| args.list(at, false).map(Option::unwrap_or_default);
    /// A list of counts.
    counts: *const i64 => &'a [i64], |args, at| args.list(at, false).map(Option::unwrap_or_default);
    /// [`Kind::counts`] that may be NULL.
    optional_counts: *const i64 => Option<&'a [i64]>, |args, at| args.list(at, true);

    /// The dtype of a new tensor.
    dtype: THDtype => Dtype, |args, at| dtype_arg(args.plain(at)?);
    /// A kind of device.
    device_type: THDeviceType = TH_CPU => THDeviceType, |args, at| args.plain(at);
    /// A struct that receives the memory usage of a GPU.
    cuda_memory_out: *mut THCudaMemory => *mut THCudaMemory, |args, at| args.pointer(at);
    /// A struct that receives the properties of a GPU.
    cuda_properties_out: *mut THCudaProperties => *mut THCudaProperties, |args, at| args.pointer(at);
    /// A stream.
    cuda_stream: *const THCudaStream => &'a THCudaStream, |args, at| args.pointer(at).map(|handle: *mut THCudaStream|
        // SAFETY: the caller passes a live handle.
        unsafe { &*handle });
    /// A stream whose reference is released, or NULL.
    cuda_stream_or_null: *mut THCudaStream => *mut THCudaStream, |args, at| args.plain(at);
    /// An event.
    cuda_event: *const THCudaEvent => &'a THCudaEvent, |args, at| args.pointer(at).map(|handle: *mut THCudaEvent|
        // SAFETY: the caller passes a live handle.
        unsafe { &*handle });
    /// An event whose reference is released, or NULL.
    cuda_event_or_null: *mut THCudaEvent => *mut THCudaEvent, |args, at| args.plain(at);
    /// A graph.
    cuda_graph: *const THCudaGraph => &'a THCudaGraph, |args, at| args.pointer(at).map(|handle: *mut THCudaGraph|
        // SAFETY: the caller passes a live handle.
        unsafe { &*handle });
    /// A graph whose reference is released, or NULL.
    cuda_graph_or_null: *mut THCudaGraph => *mut THCudaGraph, |args, at| args.plain(at);
    /// A function of the caller that runs in a stream, between other work.
    cuda_callback: THCudaCallback => THCudaCallback, |args, at| args.plain(at);
    /// A dtype to convert to, or to query.
    other_dtype: THDtype => Dtype, |args, at| dtype_arg(args.plain(at)?);
    /// [`Kind::other_dtype`], or `TH_UNDEFINED` for the operation's default.
    optional_dtype: THDtype => Option<Dtype>, |args, at| match args.plain(at)? { TH_UNDEFINED => Ok(None),
        code => dtype_arg(code).map(Some) };
    /// A source of random numbers; NULL for the thread's generator.
    generator: *mut THGenerator => Option<&'a THGenerator>, |args, at| args.plain::<*mut THGenerator>(at).map(|g|
        // SAFETY: the caller passes NULL or a live generator.
        unsafe { g.as_ref() });
    /// A kind of generator.
    generator_kind: THGeneratorKind = TH_PHILOX => THGeneratorKind, |args, at| args.plain(at);
    /// The side of a layer by whose size its weights are scaled.
    fan: THFan = TH_FAN_IN => THFan, |args, at| args.plain(at);
    /// A generator that must not be NULL.
    required_generator: *mut THGenerator => &'a THGenerator, |args, at| args.pointer(at).map(|g: *mut THGenerator|
        // SAFETY: the caller passes a live generator.
        unsafe { &*g });

    /// A storage whose elements are written.
    storage_out: *mut THStorage => &'a Storage, |args, at| args.live(at);
    /// A storage that is changed or shared.
    storage: *mut THStorage => &'a Storage, |args, at| args.live(at);
    /// A storage that is read.
    storage_input: *const THStorage => &'a Storage, |args, at| args.live(at);
    /// A list of operands, none of them NULL.
    inputs: *const *mut THTensor => Vec<&'a Tensor>, |args, at| args.signature.listed(args.words, at).and_then(|listed|
        alloc::list(listed.len(), |i| match &listed[i] {
            Some(t) => Ok(t),
            None => bail!(Argument, "entry {i} of '{}' is NULL", args.signature.arg(at)),
        }));
    /// A list of results, none of them NULL.
    outs: *const *mut THTensor => Vec<&'a Tensor>, |args, at| args.inputs(at);
    /// A list of operands, some of which may be NULL.
    optional_inputs: *const *mut THTensor => Vec<Option<&'a Tensor>>, |args, at| args.signature.listed(args.words,
        at).and_then(|listed|
        alloc::list(listed.len(), |i| Ok(listed[i].as_ref())));
    /// [`Kind::optional_inputs`], or NULL, which means a list of NULL.
    list_or_null: *const *mut THTensor => Option<Vec<Option<&'a Tensor>>>,
        |args, at| if args.words[at].is_null() { Ok(None) } else { args.optional_inputs(at).map(Some) };
    /// The length of the preceding lists of handles.
    handle_count: c_int => c_int, |args, at| args.plain(at);
    /// An array that receives new references.
    new_handles: *mut *mut THTensor => *mut *mut THTensor, |args, at| args.plain(at);
    /// The number of handles that fit; receives the number of handles needed.
    count_inout: *mut c_int => *mut c_int, |args, at| args.plain(at);

    /// A sparse result.
    sparse_out: *mut THSTensor => &'a Sparse, |args, at| args.live(at);
    /// A sparse tensor that is changed.
    sparse_inout: *mut THSTensor => &'a Sparse, |args, at| args.live(at);
    /// A sparse operand.
    sparse: *const THSTensor => &'a Sparse, |args, at| args.live(at);
    /// A list of sparse operands, none of them NULL.
    sparse_inputs: *const *mut THSTensor => Vec<&'a Sparse>, |args, at| args.signature.listed(args.words, at).and_then(|listed|
        alloc::list(listed.len(), |i| match &listed[i] {
            Some(s) => Ok(s),
            None => bail!(Argument, "entry {i} of '{}' is NULL", args.signature.arg(at)),
        }));
    /// A sparse tensor whose reference count changes, or NULL.
    sparse_or_null: *mut THSTensor => *mut THSTensor, |args, at| args.plain(at);
    /// A fused expression.
    fused: *const THFused => &'a THFused, |args, at| args.pointer(at).map(|fused: *mut THFused|
        // SAFETY: the caller passes a live expression.
        unsafe { &*fused });
    /// A fused expression whose reference count changes, or NULL.
    fused_or_null: *mut THFused => *mut THFused, |args, at| args.plain(at);
    /// An archive.
    archive: *const THArchive => &'a THArchive, |args, at| args.pointer(at).map(|archive: *mut THArchive|
        // SAFETY: the caller passes a live archive.
        unsafe { &*archive });
    /// An archive that is freed, or NULL.
    archive_or_null: *mut THArchive => *mut THArchive, |args, at| args.plain(at);
    /// A format of files.
    file_format: THFileFormat = TH_FILE_BY_NAME => THFileFormat, |args, at| args.plain(at);
    /// A function of the caller that reads bytes.
    read_function: THReadFunction => THReadFunction, |args, at| args.plain(at);
    /// A function of the caller that sets the position in a file.
    seek_function: THSeekFunction => THSeekFunction, |args, at| args.plain(at);

    /// A C string.
    text: *const c_char => &'a CStr, |args, at| args.pointer(at).map(|s: *mut c_char|
        // SAFETY: the caller passes a C string.
        unsafe { CStr::from_ptr(s) });
    /// A C string or NULL.
    optional_text: *const c_char => Option<&'a CStr>, |args, at| args.plain::<*const c_char>(at).map(|s|
        // SAFETY: the caller passes NULL or a C string.
        (!s.is_null()).then(|| unsafe { CStr::from_ptr(s) }));
    /// Memory of the caller.
    memory: *mut c_void => *mut c_void, |args, at| args.plain(at);
    /// [`Kind::memory`] or NULL.
    memory_or_null: *mut c_void => *mut c_void, |args, at| args.plain(at);
    /// Memory of the caller that must not be NULL.
    required_memory: *mut c_void => *mut c_void, |args, at| args.pointer(at);
    /// Memory of the caller that is read.
    memory_input: *const c_void => *const c_void, |args, at| args.plain(at);
    /// A pointer that is passed to a function of the caller.
    context: *mut c_void => *mut c_void, |args, at| args.plain(at);
    /// A function of the caller that frees memory.
    deleter: THDeleter => THDeleter, |args, at| args.plain(at);
    /// A function of the caller that is notified of allocated memory.
    hook: THMemoryHook => THMemoryHook, |args, at| args.plain(at);
    /// A function of the caller that receives gradients.
    grad_hook: THGradHook => THGradHook, |args, at| match args.plain::<THGradHook>(at)? {
        None => Err(args.null(at)),
        hook => Ok(hook),
    };
    /// A function of the caller that has a custom gradient, or this gradient.
    grad_rule: THGradRule => THGradRule, |args, at| args.plain(at);
    /// A function of the caller whose calls are recorded.
    grad_function: THGradFunction => THGradFunction, |args, at| args.plain(at);
    /// The call of a function of the caller.
    grad_call: *mut THGradCall => &'a THGradCall, |args, at|
        args.pointer(at).and_then(|call: *mut THGradCall| match THGradCall::is_open(call) {
        // SAFETY: an open call is alive.
        true => Ok(unsafe { &*call }),
        false => Err(Error::new(
            crate::error::Kind::Argument,
            format_args!("argument 'call' is not the call of a function that runs on this thread: it ends when its function returns"),
        )),
    });
    /// An optimizer.
    optim: *const THOptim => &'a THOptim, |args, at| args.pointer(at).map(|optim: *mut THOptim|
        // SAFETY: the caller passes a live optimizer.
        unsafe { &*optim });
    /// An optimizer that is freed, or NULL.
    optim_or_null: *mut THOptim => *mut THOptim, |args, at| args.plain(at);
    /// An exported program.
    program: *const THProgram => &'a THProgram, |args, at| args.pointer(at).map(|program: *mut THProgram|
        // SAFETY: the caller passes a live program.
        unsafe { &*program });
    /// An exported program whose reference count changes, or NULL.
    program_or_null: *mut THProgram => *mut THProgram, |args, at| args.plain(at);
    /// A function of the caller that computes a loss.
    optim_closure: THOptimClosure => THOptimClosure, |args, at| match args.plain::<THOptimClosure>(at)? {
        None => Err(args.null(at)),
        closure => Ok(closure),
    };
    /// A function of the caller that is called for each element.
    apply_function: THApplyFunction => THApplyFunction, |args, at| args.plain(at);
    /// [`Kind::apply_function`] with elements of a second tensor.
    map_function: THMapFunction => THMapFunction, |args, at| args.plain(at);
    /// [`Kind::apply_function`] with elements of two more tensors.
    map2_function: THMap2Function => THMap2Function, |args, at| args.plain(at);
    /// A function of the caller that is notified of progress.
    progress: THProgressFunction => THProgressFunction, |args, at| args.plain(at);
    /// An allocator of the caller.
    allocator: *const THAllocator => *const THAllocator, |args, at| args.pointer(at).map(<*mut THAllocator>::cast_const);
    /// A tensor of another library, as a DLPack struct.
    dlpack: *mut DLManagedTensorVersioned => *mut DLManagedTensorVersioned, |args, at| args.pointer(at);
    /// [`Kind::dlpack`] in the form before version 1.
    dlpack_legacy: *mut DLManagedTensor => *mut DLManagedTensor, |args, at| args.pointer(at);
    /// The type of an Arrow array.
    arrow_schema: *mut ArrowSchema => *mut ArrowSchema, |args, at| args.pointer(at);
    /// An Arrow array.
    arrow_array: *mut ArrowArray => *mut ArrowArray, |args, at| args.pointer(at);
    /// A context of mapped memory.
    map_context: *mut THMapAllocatorContext => &'a THMapAllocatorContext,
        |args, at| args.pointer(at).map(|c: *mut THMapAllocatorContext|
        // SAFETY: the caller passes a live context.
        unsafe { &*c });
    /// A struct that receives statistics.
    stats_out: *mut THMemoryStats => *mut THMemoryStats, |args, at| args.pointer(at);
    /// Options for printing; NULL for the defaults.
    print_options: *const THPrintOptions => Option<&'a THPrintOptions>,
        |args, at| args.plain::<*const THPrintOptions>(at).map(|options|
        // SAFETY: the caller passes NULL or options.
        unsafe { options.as_ref() });
    /// A struct that receives options for printing.
    print_options_out: *mut THPrintOptions => *mut THPrintOptions, |args, at| args.pointer(at);
    /// An open stream.
    stream: *mut FILE => *mut FILE, |args, at| args.pointer(at);
}

//! Work as a value: what to do with which operands, and the interface that a device implements.
//!
//! An operation checks its operands, prepares its results, and launches a [`Launchable`] on the device that holds them (`backend`). Each
//! kind of work is a separate type, so that a program linked with the archive contains only those host drivers that it launches. Other
//! devices receive every kind of work as one enum, [`Launch`]. Work names no kernel, except that a [`Map`] and a [`Fused`] refer to each
//! [`Op`], which has the kernels of the host; a GPU compiles its own kernels from the formula of the `Op`.

pub mod attention;
pub mod compressed;
pub mod count;
pub mod decompose;
pub mod fold;
pub mod fourier;
pub mod fused;
pub mod images;
pub mod index;
pub mod layers;
pub mod lines;
pub mod map;
pub mod matmul;
pub mod quantized;
pub mod random;
pub mod record;
pub mod resample;
pub mod sampling;
pub mod search;
pub mod sequence;
pub mod window;

pub use attention::{Attention, AttentionGradient};
pub use compressed::{Compress, Compressed, RowSoftmax, RowSolve, Sides, SparseProduct, System};
pub use count::{Histogram, Unique};
pub(crate) use decompose::NOT_FINITE;
pub use decompose::{Decompose, Decomposition, Determinant, Vectors};
pub use fold::{Fold, Reduce, Root, Term};
pub use fourier::{Fourier, Transform};
pub use fused::{Fused, Program};
pub use images::{Columns, Convolution, Divisor, Pool, PoolOp, Product, Unpool, Windows};
pub use index::{Combine, Index, Mask, Move, out_of_range, place};
pub use layers::{LayerNorm, LayerNormGradient, Loss, SoftmaxGradient};
pub use lines::{LineOp, Lines};
#[cfg(feature = "cuda")]
pub use map::Formula;
pub use map::{Choice, Elementwise, Map, MapKernel, Numbers, Op, ResultDtype, Role, Signature};
pub use matmul::{Matmul, ProductDims};
pub use quantized::{Quantized, QuantizedTask};
pub use random::Draw;
pub use record::Recorder;
pub use resample::Resample;
pub use sampling::{Sampling, SamplingGradient};
pub use search::Search;
pub use sequence::{Convert, Fill, OneHot, Sequence, Triangle, TriangleIndices};
pub(crate) use window::IMAGE_DIMS;
pub use window::{Adaptive, Window};

use crate::device::Device;
use crate::driver::Driver;
use crate::error::{Result, bail};
use crate::operand::Operand;
use crate::random::Generator;
use crate::scalar::Scalar;

/// Work on operands. Unless its type says otherwise, results overlap neither each other nor an input.
pub trait Launchable {
    /// The work as a [`Launch`], for devices that have one driver for all kinds.
    fn value(&self) -> Launch<'_>;

    /// The host's driver: writes the results in `out` from `inputs`. The kind of work determines the number of inputs.
    fn run_on_host(&self, out: &[Option<&Operand>], inputs: &[&Operand]) -> Result<()>;
}

/// Work of any kind.
#[derive(Debug, Clone, Copy)]
pub enum Launch<'a> {
    /// See [`Convert`].
    Convert(Convert),
    /// See [`Fill`].
    Fill(Fill),
    /// See [`Sequence`].
    Sequence(Sequence),
    /// See [`Triangle`].
    Triangle(Triangle),
    /// See [`TriangleIndices`].
    TriangleIndices(TriangleIndices),
    /// See [`OneHot`].
    OneHot(OneHot),
    /// Computes each element of one result from the elements at the same position of one to three inputs of its shape. An input may be the
    /// result.
    Map(Map<'a>),
    /// See [`Fused`].
    Fused(Fused<'a>),
    /// Folds the elements of one input into one or two results.
    Reduce(Reduce<'a>),
    /// Applies a function to each line of one input; has one or two results. A result may be the input if each of its elements has the
    /// address of the input element that it is computed from.
    Lines(Lines<'a>),
    /// Moves elements by positions, which have all been checked.
    Index(Index),
    /// Moves elements by a mask. All operands are row-major.
    Mask(Mask),
    /// Finds elements in ascending sequences.
    Search(Search),
    /// Counts the elements in each bin: one int64 row for each row of the input.
    Histogram(Histogram),
    /// Transforms the signals of one input into one result.
    Fourier(Fourier<'a>),
    /// Multiplies the matrices of two inputs.
    Matmul(Matmul<'a>),
    /// See [`Quantized`].
    Quantized(Quantized),
    /// See [`Compressed`].
    Compressed(Compressed),
    /// See [`Compress`].
    Compress(Compress),
    /// See [`RowSoftmax`].
    RowSoftmax(RowSoftmax),
    /// See [`RowSolve`].
    RowSolve(RowSolve),
    /// See [`System`].
    System(System),
    /// See [`SparseProduct`].
    SparseProduct(SparseProduct),
    /// Decomposes the matrices of a batch in place.
    Decompose(Decompose),
    /// See [`SoftmaxGradient`].
    SoftmaxGradient(SoftmaxGradient),
    /// See [`LayerNorm`].
    LayerNorm(LayerNorm),
    /// See [`LayerNormGradient`].
    LayerNormGradient(LayerNormGradient),
    /// See [`Attention`].
    Attention(Attention),
    /// See [`AttentionGradient`].
    AttentionGradient(AttentionGradient),
    /// See [`Loss`].
    Loss(Loss),
    /// See [`Convolution`].
    Convolution(Convolution),
    /// See [`Pool`].
    Pool(Pool),
    /// See [`Unpool`].
    Unpool(Unpool),
    /// See [`Columns`].
    Columns(Columns),
    /// See [`Resample`].
    Resample(Resample),
    /// See [`Sampling`].
    Sampling(Sampling),
    /// See [`SamplingGradient`].
    SamplingGradient(SamplingGradient),
}

/// Memory and kernels of a kind of device other than the host.
pub trait Accelerator: Sync {
    /// Does the work: writes the results in `out` from `inputs`. Some kinds of work allow a missing result.
    fn launch(&self, work: &Launch<'_>, out: &[Option<&Operand>], inputs: &[&Operand]) -> Result<()>;

    /// See `Backend::count`.
    fn count(&self, mask: &Operand) -> Result<usize>;

    /// See `Backend::all`.
    fn all(&self, x: &Operand) -> Result<bool>;

    /// See `Backend::bincount`.
    fn bincount(&self, x: &Operand, weights: Option<&Operand>, minlength: i64) -> Result<Operand>;

    /// See `Backend::unique`.
    fn unique(&self, x: &Operand, consecutive: bool, inverted: bool) -> Result<Unique>;

    /// See `Backend::random`.
    fn random(&self, draw: Draw, generator: &mut Generator, out: &Operand, parameters: &[&Operand]) -> Result<()>;

    /// The first element of an operand.
    fn first(&self, operand: &Operand) -> Result<Scalar>;

    /// Streams, events and everything else except memory and kernels.
    fn driver(&self) -> Result<&'static dyn Driver>;

    /// Copies bytes from the device to the host. Without `waiting`, a copy to pinned memory may continue after this function has returned.
    ///
    /// # Safety
    /// Source and destination have this many bytes until the copy is done.
    unsafe fn download(&self, to: *mut u8, from: *const u8, bytes: usize, waiting: bool) -> Result<()>;

    /// Copies bytes from the host to the device; see [`Accelerator::download`].
    ///
    /// # Safety
    /// Source and destination have this many bytes, and the host's bytes do not change, until the copy is done.
    unsafe fn upload(&self, to: *mut u8, from: *const u8, bytes: usize, waiting: bool) -> Result<()>;

    /// Copies bytes from another device of this kind, number `other`.
    ///
    /// # Safety
    /// Source and destination have this many bytes.
    unsafe fn copy_from(&self, other: i8, to: *mut u8, from: *const u8, bytes: usize) -> Result<()>;
}

/// A device that this library has no kernels for: every function fails with `TH_ERR_DEVICE`.
pub struct Absent(pub Device);

impl Absent {
    /// The GPU with this ordinal.
    pub const fn new(ordinal: i8) -> Absent {
        Absent(Device::Cuda(ordinal))
    }

    fn refuse<T>(&self) -> Result<T> {
        bail!(Device, "not available on {}", self.0)
    }
}

impl Accelerator for Absent {
    fn launch(&self, _: &Launch<'_>, _: &[Option<&Operand>], _: &[&Operand]) -> Result<()> {
        self.refuse()
    }

    fn count(&self, _: &Operand) -> Result<usize> {
        self.refuse()
    }

    fn all(&self, _: &Operand) -> Result<bool> {
        self.refuse()
    }

    fn bincount(&self, _: &Operand, _: Option<&Operand>, _: i64) -> Result<Operand> {
        self.refuse()
    }

    fn unique(&self, _: &Operand, _: bool, _: bool) -> Result<Unique> {
        self.refuse()
    }

    fn random(&self, _: Draw, _: &mut Generator, _: &Operand, _: &[&Operand]) -> Result<()> {
        self.refuse()
    }

    fn first(&self, _: &Operand) -> Result<Scalar> {
        self.refuse()
    }

    fn driver(&self) -> Result<&'static dyn Driver> {
        self.refuse()
    }

    unsafe fn download(&self, _: *mut u8, _: *const u8, _: usize, _: bool) -> Result<()> {
        self.refuse()
    }

    unsafe fn upload(&self, _: *mut u8, _: *const u8, _: usize, _: bool) -> Result<()> {
        self.refuse()
    }

    unsafe fn copy_from(&self, _: i8, _: *mut u8, _: *const u8, _: usize) -> Result<()> {
        self.refuse()
    }
}

//! NVIDIA GPUs: memory, and kernels for the kinds of work.
//!
//! The driver is opened at the first use, and kernels are compiled when they are first needed. A call returns before its work is done. A
//! GPU does the work of a stream in order, so only functions that read elements wait.

mod bincount;
mod blas;
mod blocks;
mod captures;
mod compile;
mod compressed;
mod copy;
mod count;
mod decompose;
mod driver;
mod formula;
mod fourier;
mod fused;
mod gemm;
mod gpu;
mod images;
mod index;
mod layers;
mod library;
mod line_args;
mod lines;
mod loaded;
mod loops;
mod map;
mod mark;
mod mask;
mod matmul;
mod memory;
mod module;
mod order;
mod pinned;
mod products;
mod random;
mod reduce;
mod resample;
mod sampling;
mod scan;
mod search;
mod sequence;
mod sort;
mod source;
mod streams;
mod transfer;
mod unique;

pub use compile::compiled_for;
pub use driver::devices;
pub use fused::{PROGRAMS, entry as fused_entry};
pub use gpu::{Gpu, gpu};
pub use map::{MAP, entries as map_entries};
pub use memory::provide;
pub use module::image;
pub use pinned::{ALLOCATOR as PINNED, is_pinned};
pub use source::{Entry, Source, module_text};

use crate::alloc::provided;
use crate::driver::Driver;
use crate::element::read_element;
use crate::error::{Result, bail};
use crate::launch::{Accelerator, Draw, Launch, Unique};
use crate::operand::Operand;
use crate::random::Generator;
use crate::scalar::Scalar;

/// All files of kernels. The entries of [`MAP`] are computed from the operations by [`map_entries`].
pub static SOURCES: &[&Source] = &[
    &MAP,
    &compressed::COMPRESSED,
    &copy::COPY,
    &count::COUNT,
    &fourier::FOURIER,
    &images::IMAGES,
    &images::POOL,
    &index::INDEX,
    &layers::LAYERS,
    &mask::MASK,
    &matmul::MATMUL,
    &order::SORT,
    &random::RANDOM,
    &random::RANDOM_EACH,
    &random::RANDOM_SAMPLE,
    &reduce::REDUCE,
    &scan::SCAN,
    &lines::SOFTMAX,
    &resample::RESAMPLE,
    &sampling::SAMPLING,
    &search::SEARCH,
    &sequence::SEQUENCE,
    &sort::SORT,
    &sort::SELECT,
    &unique::UNIQUE,
    &decompose::SCALE,
    &decompose::LU,
    &decompose::QR,
    &decompose::VALUES,
    &decompose::EXPONENTIAL,
];

static GPUS: [Numbered; 128] = {
    let mut all = [const { Numbered(0) }; 128];
    let mut k = 0;
    while k < all.len() {
        all[k] = Numbered(k as i8);
        k += 1;
    }
    all
};

/// The GPU with this number, whether it exists or not.
pub fn numbered(ordinal: i8) -> &'static dyn Accelerator {
    &GPUS[ordinal.max(0) as usize]
}

/// The number of bytes that launching work may allocate on the host.
const SET_ASIDE: usize = 16 << 10;

/// The GPU with this number, as an accelerator.
struct Numbered(i8);

impl Numbered {
    /// Calls `f` with the GPU. Memory is set aside for names and tables, which are allocated infallibly.
    fn with<R>(&self, f: impl FnOnce(&Gpu) -> Result<R>) -> Result<R> {
        let gpu = gpu(self.0)?;
        match provided(SET_ASIDE, || f(gpu)) {
            Some((done, _)) => done,
            None => bail!(NoMem, "out of memory: {SET_ASIDE} bytes could not be allocated"),
        }
    }
}

impl Accelerator for Numbered {
    fn launch(&self, work: &Launch<'_>, out: &[Option<&Operand>], inputs: &[&Operand]) -> Result<()> {
        self.with(|gpu| match (work, out, inputs) {
            (Launch::Convert(_), &[Some(out)], &[input]) => copy::convert(gpu, out, input),
            (Launch::Fill(work), &[Some(out)], []) => copy::fill(gpu, out, work.0),
            (Launch::Sequence(work), &[Some(out)], []) => sequence::sequence(gpu, work, out),
            (Launch::Triangle(work), &[Some(out)], &[input]) => sequence::triangle(gpu, work, out, input),
            (Launch::TriangleIndices(work), &[Some(out)], []) => sequence::triangle_indices(gpu, &work.0, out),
            (Launch::OneHot(_), &[Some(out)], &[columns]) => sequence::one_hot(gpu, out, columns),
            (Launch::Map(work), &[Some(out)], inputs) => map::map(gpu, work, out, inputs),
            (Launch::Fused(work), &[Some(out)], inputs) => fused::fused(gpu, work.0, out, inputs),
            (Launch::Index(work), &[Some(out)], &[a, b]) => index::index(gpu, work, out, [a, b]),
            (Launch::Mask(work), &[Some(out)], inputs) => mask::mask(gpu, *work, out, inputs),
            (Launch::Search(work), &[Some(out)], &[sequences, x]) => search::search(gpu, *work, out, sequences, x),
            (Launch::Histogram(work), &[Some(out)], &[input]) => count::histogram(gpu, work, out, input),
            (Launch::Fourier(work), &[Some(out)], &[input]) => fourier::fourier(gpu, work, out, input),
            (Launch::Matmul(work), &[Some(out)], &[a, b, ref addend @ ..]) => {
                matmul::matmul(gpu, work, out, [a, b], addend.first().copied())
            }
            (Launch::Compressed(work), &[Some(out)], &[starts, columns, m, ref more @ ..]) => {
                compressed::product(gpu, *work, out, [starts, columns, m], more.first().copied())
            }
            (Launch::RowSoftmax(work), &[Some(out)], &[starts, x, ref y @ ..]) => {
                compressed::softmax(gpu, *work, out, starts, x, y.first().copied())
            }
            (Launch::SoftmaxGradient(work), &[Some(out)], &[g, y]) => layers::softmax_gradient(gpu, *work, out, g, y),
            (Launch::LayerNorm(work), &[Some(out)], &[x, weight, bias]) => layers::norm(gpu, work.0, out, [x, weight, bias]),
            (Launch::LayerNormGradient(work), &[of_rows, of_weight, of_bias], &[g, x, weight]) => {
                layers::norm_gradient(gpu, work.0, [of_rows, of_weight, of_bias], [g, x, weight])
            }
            (Launch::Loss(work), &[Some(out)], inputs) => layers::loss(gpu, *work, out, inputs),
            (Launch::Convolution(work), &[Some(out)], &[a, b, ref bias @ ..]) => {
                images::convolution(gpu, work, out, [a, b], bias.first().copied())
            }
            (Launch::Pool(work), &[Some(out), ref indices @ ..], &[x]) => {
                images::pool(gpu, work, out, indices.first().copied().flatten(), x)
            }
            (Launch::Unpool(work), &[Some(out)], &[t, indices]) => images::unpool(gpu, work, out, t, indices),
            (Launch::Columns(work), &[Some(out)], &[t]) => images::columns(gpu, work, out, t),
            (Launch::Resample(work), &[Some(out)], &[x, places, weights]) => resample::resample(gpu, *work, out, [x, places, weights]),
            (Launch::Sampling(work), &[Some(out)], &[t, grid]) => sampling::sampling(gpu, work, out, [t, grid]),
            (Launch::SamplingGradient(work), &[of_t, of_grid], &[g, t, grid]) => {
                sampling::gradient(gpu, &work.0, [of_t, of_grid], [g, t, grid])
            }
            (Launch::Reduce(work), &[a, b], &[input]) => reduce::reduce(gpu, work, [a, b], input),
            (Launch::Lines(work), &[a, b], &[input]) => lines::lines(gpu, work, [a, b], input),
            (Launch::Decompose(work), out, []) => decompose::decompose(gpu, work, out),
            // These kinds of work run on the host alone.
            (Launch::Compress(_) | Launch::RowSolve(_) | Launch::System(_) | Launch::SparseProduct(_), ..) => gpu.refuse(),
            // On a GPU, attention is composed of other work.
            (Launch::Attention(_) | Launch::AttentionGradient(_), ..) => gpu.refuse(),
            // Quantised numbers have no GPU kernels.
            (Launch::Quantized(_), ..) => gpu.refuse(),
            // Operands that the kind of work does not have. Every kind is named, so that a new kind does not compile without a decision.
            (
                Launch::Convert(_)
                | Launch::Fill(_)
                | Launch::Sequence(_)
                | Launch::Triangle(_)
                | Launch::TriangleIndices(_)
                | Launch::OneHot(_)
                | Launch::Map(_)
                | Launch::Fused(_)
                | Launch::Reduce(_)
                | Launch::Lines(_)
                | Launch::Index(_)
                | Launch::Mask(_)
                | Launch::Search(_)
                | Launch::Histogram(_)
                | Launch::Fourier(_)
                | Launch::Matmul(_)
                | Launch::Compressed(_)
                | Launch::RowSoftmax(_)
                | Launch::Decompose(_)
                | Launch::SoftmaxGradient(_)
                | Launch::LayerNorm(_)
                | Launch::LayerNormGradient(_)
                | Launch::Loss(_)
                | Launch::Convolution(_)
                | Launch::Pool(_)
                | Launch::Unpool(_)
                | Launch::Columns(_)
                | Launch::Resample(_)
                | Launch::Sampling(_)
                | Launch::SamplingGradient(_),
                ..,
            ) => gpu.refuse(),
        })
    }

    fn count(&self, mask: &Operand) -> Result<usize> {
        self.with(|gpu| count::count(gpu, mask))
    }

    fn all(&self, x: &Operand) -> Result<bool> {
        self.with(|gpu| count::all(gpu, x))
    }

    fn bincount(&self, x: &Operand, weights: Option<&Operand>, minlength: i64) -> Result<Operand> {
        self.with(|gpu| bincount::bincount(gpu, x, weights, minlength))
    }

    fn unique(&self, x: &Operand, consecutive: bool, inverted: bool) -> Result<Unique> {
        self.with(|gpu| unique::unique(gpu, x, consecutive, inverted))
    }

    fn random(&self, draw: Draw, generator: &mut Generator, out: &Operand, parameters: &[&Operand]) -> Result<()> {
        self.with(|gpu| random::random(gpu, draw, generator, out, parameters))
    }

    fn first(&self, operand: &Operand) -> Result<Scalar> {
        let mut bytes = [0u8; 8];
        // SAFETY: the operand has at least one element.
        unsafe { gpu(self.0)?.read(operand.first() as u64, &mut bytes[..operand.dtype.size()])? };
        // SAFETY: `bytes` holds an element.
        Ok(unsafe { read_element(bytes.as_ptr(), operand.dtype) })
    }

    fn driver(&self) -> Result<&'static dyn Driver> {
        Ok(gpu(self.0)?)
    }

    unsafe fn download(&self, to: *mut u8, from: *const u8, bytes: usize, waiting: bool) -> Result<()> {
        // SAFETY: the caller meets the conditions of the trait's method.
        unsafe { gpu(self.0)?.download(to, from as u64, bytes, waiting) }
    }

    unsafe fn upload(&self, to: *mut u8, from: *const u8, bytes: usize, waiting: bool) -> Result<()> {
        // SAFETY: the caller meets the conditions of the trait's method.
        unsafe { gpu(self.0)?.upload(to as u64, from, bytes, waiting) }
    }

    unsafe fn copy_from(&self, other: i8, to: *mut u8, from: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller meets the conditions of the trait's method.
        unsafe { gpu(self.0)?.copy_from(gpu(other)?, to as u64, from as u64, bytes) }
    }
}

//! The driver of all elementwise kernels: one inner loop serves any layout, any dtype and any number of threads.
//!
//! A kernel sees contiguous runs in its compute types. Operands of another form (converted, transposed, strided, broadcast along the run,
//! or a result that aliases an input) go through a buffer in the L1 cache, so that a kernel needs only one loop. Most kernels accept more
//! forms in place ([`Options`]): rows with gaps between them, inputs with one value for each row, and a result that aliases an input. A few
//! kernels with two inputs have a second loop for a transposed input.

mod rows;
mod small;
mod stage;
mod transposed;
mod work;

use super::convert::converter;
pub(crate) use super::parallel::{CHEAP, COSTLY, Shared, parallel};
use super::simd::{Level, level};
pub(crate) use super::small::{SMALL, SmallBuffer};
use super::stream;
use super::tuning::{
    self, CONVERTED_BYTES, LONG_FILL, PREFETCH_AHEAD, PREFETCH_BYTES, PREFETCH_FROM, SHORT_RUN, SHORT_RUN_OF_VALUE, SHORT_RUN_STAGED,
    STAGED_BYTES, STREAMED, STREAMED_PART,
};
use crate::dtype::Dtype;
use crate::plan::{Plan, each};
pub use crate::work::{Flat, Job, Rows, Work};
pub(crate) use rows::CHUNK;
pub use rows::{Kernel, lanes};
use stage::{Buffer, STAGE, STAGE_ROWS, Stager};
pub use transposed::{TransposedKernel, TransposedTile};

/// Returns the pointers to all operands, advanced by `n` steps.
#[inline(always)]
fn moved<const N: usize>(at: [*mut u8; N], step: [isize; N], n: isize) -> [*mut u8; N] {
    each(|k| at[k].wrapping_offset(n * step[k]))
}

/// The options of a kernel over runs.
#[derive(Clone, Copy, Default)]
pub struct Options<'a, const N: usize> {
    /// True if the kernel accepts any number of rows, inputs with one value for each row, and a result that aliases an input.
    pub by_rows: bool,
    /// The kernel for operands of which one input is transposed.
    pub transposed: Option<TransposedKernel<'a, N>>,
}

impl<const N: usize> Job<N> {
    /// See [`Work::half`].
    fn half(&self) -> Option<Dtype> {
        if level() == Level::Baseline {
            return None;
        }
        let half = (0..N).find(|&k| self.dtype[k] != self.compute[k]).map(|k| self.dtype[k])?;
        let fits = |k: usize| self.dtype[k] == if self.compute[k] == Dtype::Float32 { half } else { self.compute[k] };
        (matches!(half, Dtype::Float16 | Dtype::Bfloat16) && (0..N).all(fits)).then_some(half)
    }

    fn run(&self, kernel: Kernel<'_, N>, options: Options<'_, N>) {
        let n = self.plan.numel();
        let direct = self.plan.is_flat() && self.dtype == self.compute;
        let on_input = self.result_is_input() && !options.by_rows;
        if n <= SMALL && (!direct || on_input) {
            // SAFETY: the caller of [`Job::new`] vouched for the operands, and `n <= SMALL`.
            return unsafe { self.run_small(n, kernel) };
        }
        let bytes = self.plan.bytes();
        // A streamed result goes through a buffer. This slows kernels that compute a lot: exp of 80 MB lost a third of its speed.
        let factor = if self.grain == CHEAP { 1 } else { 2 };
        let contiguous = self.plan.loops()[0].step[0] == self.plan.item[0] as isize;
        // The choice must not depend on the number of threads, since it may change the last bit of a result. Kernels without inputs are
        // mostly left to the processor's `rep stos`. A result that aliases an input is in the caches already.
        let streamed = (N > 1 || !tuning::fills_long())
            && !self.result_is_input()
            && bytes >= tuning::streams_from().saturating_mul(factor)
            && contiguous
            && self.plan.item[0] * STREAMED_PART >= self.plan.item.iter().sum();
        if direct && streamed {
            self.run_streamed(n, kernel);
        } else if direct && !on_input {
            self.run_direct(n, kernel);
        } else if self.plan.is_flat() && !streamed {
            self.run_converted(n, on_input, kernel);
        } else if options.by_rows && !streamed && self.lies_in_rows() {
            self.run_rows(kernel);
        } else {
            self.run_staged(streamed, kernel, options);
        }
    }

    #[inline(always)]
    fn shared(&self) -> [Shared; N] {
        each(|k| Shared(self.data[k]))
    }

    #[inline(always)]
    fn compute_sizes(&self) -> [usize; N] {
        each(|k| self.compute[k].size())
    }

    fn result_is_input(&self) -> bool {
        self.data[1..].contains(&self.data[0])
    }

    /// Returns true if operands of `bytes` bytes are prefetched.
    fn prefetches(&self, bytes: usize) -> bool {
        let fills_itself = N == 1 && bytes >= LONG_FILL && tuning::fills_long();
        bytes >= PREFETCH_FROM && tuning::prefetches() && !fills_itself
    }

    fn run_direct(&self, n: usize, kernel: Kernel<'_, N>) {
        let piece = (self.grain / 4).max(1024);
        let (data, item) = (self.shared(), self.plan.item);
        let step = each(|k| item[k] as isize);
        let prefetches = self.prefetches(n * item.iter().sum::<usize>());
        let widest = item.into_iter().max().unwrap_or(1);
        parallel(n.div_ceil(piece), piece, self.grain, &|range| {
            let (start, end) = (range.start * piece, (range.end * piece).min(n));
            let mut at = moved(each(|k| data[k].get()), step, start as isize);
            if !prefetches {
                return kernel(&Rows::one(at, end - start));
            }
            let (stride, ahead) = (PREFETCH_BYTES / widest, PREFETCH_AHEAD / widest);
            for start in (start..end).step_by(stride) {
                for k in 0..N {
                    stream::prefetch(at[k].wrapping_add(ahead * item[k]), stride * item[k]);
                }
                kernel(&Rows::one(at, stride.min(end - start)));
                at = moved(at, step, stride as isize);
            }
        });
    }

    /// Runs the kernel on contiguous operands and stores the result past the caches. The result goes through a buffer, since kernels use
    /// plain stores.
    fn run_streamed(&self, n: usize, kernel: Kernel<'_, N>) {
        let (data, item) = (self.shared(), self.plan.item);
        let widest = item.into_iter().max().unwrap_or(1);
        let piece = if self.grain == CHEAP { STREAMED } else { STAGED_BYTES } / widest;
        // Pieces end at the ends of the result's cache lines, since a line that is stored in two pieces is also read. Kernels with costly
        // formulas are an exception: their rounding may depend on the position of an element in its piece, and must not depend on the
        // address of the result.
        let lead = if self.grain == CHEAP { stream::to_line(self.data[0]) / item[0] } else { 0 };
        let begin = move |i: usize| if i == 0 { 0 } else { n.min(i * piece + lead) };
        // At least two cache lines of the narrowest operand, which is usually a mask. Single lines were prefetched too late.
        let part = (PREFETCH_BYTES / widest).max(2 * stream::LINE / item.into_iter().min().unwrap_or(1));
        parallel(n.saturating_sub(lead).div_ceil(piece).max(1), piece, self.grain, &|range| {
            let mut buffer = Buffer::new();
            for (start, end) in range.map(|i| (begin(i), begin(i + 1))) {
                let len = end - start;
                let from = |k: usize, i: usize| data[k].get().wrapping_add(i * item[k]);
                let result = buffer.data();
                kernel(&Rows::one(each(|k| if k == 0 { result } else { from(k, start) }), len));
                // The next piece is fetched while this one is stored.
                for i in (0..len).step_by(part) {
                    let part = part.min(len - i);
                    (1..N).for_each(|k| stream::prefetch(from(k, end + i), part * item[k]));
                    // SAFETY: the part is inside the result and the buffer.
                    unsafe { stream::copy_stream(from(0, start + i), result.add(i * item[0]), part * item[0]) }
                }
            }
            stream::fence();
        });
    }

    /// Runs the kernel on contiguous operands of other types than the kernel's, or with a result that is `on_input`, in pieces of one row.
    /// Pieces need less work than tiles.
    fn run_converted(&self, n: usize, on_input: bool, kernel: Kernel<'_, N>) {
        let (data, item, wide) = (self.shared(), self.plan.item, self.compute_sizes());
        let staged: [bool; N] = each(|k| self.dtype[k] != self.compute[k] || (k == 0 && on_input));
        let mut converts = [converter(self.dtype[0], self.compute[0]); N];
        (1..N).for_each(|k| converts[k] = converter(self.compute[k], self.dtype[k]));
        let prefetches = self.prefetches(n * item.iter().sum::<usize>());
        let piece = (CONVERTED_BYTES / wide.into_iter().chain(item).max().unwrap_or(1)).min(STAGE);
        parallel(n.div_ceil(piece), piece, self.grain, &|range| {
            let mut buffers: [Buffer; N] = [const { Buffer::new() }; N];
            let buffers = buffers.each_mut().map(Buffer::data);
            for start in range.map(|i| i * piece) {
                let (len, mut at) = (piece.min(n - start), each(|k| data[k].get()));
                for k in 0..N {
                    let memory = at[k].wrapping_add(start * item[k]);
                    at[k] = if staged[k] { buffers[k] } else { memory };
                    if k > 0 && staged[k] {
                        if prefetches {
                            stream::prefetch(memory.wrapping_add(piece * item[k]), piece * item[k]);
                        }
                        // SAFETY: the piece is inside the operand, and a buffer has room for STAGE elements of 8 bytes.
                        unsafe { converts[k](at[k], wide[k] as isize, memory, item[k] as isize, len) }
                    }
                }
                kernel(&Rows::one(at, len));
                if staged[0] {
                    // SAFETY: the piece is inside the result, and the buffer holds `len` elements.
                    unsafe { converts[0](data[0].get().wrapping_add(start * item[0]), item[0] as isize, at[0], wide[0] as isize, len) }
                }
            }
        });
    }

    /// Returns the length of run below which runs are gathered into whole tiles, so that the kernel is called once for each tile.
    fn longest_short_run(&self, plan: &Plan<N>, stuck: bool, by_rows: bool) -> usize {
        let (first, next) = (plan.loops()[0], plan.loops()[1]);
        if stuck {
            SHORT_RUN
        } else if (self.result_is_input() && !by_rows) || self.dtype != self.compute {
            SHORT_RUN_STAGED
        } else if by_rows && (1..N).any(|k| first.step[k] == 0 && next.step[k] != 0) {
            SHORT_RUN_OF_VALUE
        } else {
            2 * SHORT_RUN
        }
    }

    fn run_staged(&self, streamed: bool, kernel: Kernel<'_, N>, options: Options<'_, N>) {
        let mut plan = self.plan.clone();
        let stuck = (0..N).any(|k| plan.loops()[0].step[k] != plan.item[k] as isize && plan.loops()[0].step[k] != 0);
        if stuck {
            plan.pair_for_transposes();
        }
        let (run, alone) = (plan.loops()[0].n.max(1), plan.loops().len() == 1);
        let short = !alone && run < self.longest_short_run(&plan, stuck, options.by_rows);
        let stage = (STAGED_BYTES / self.compute.into_iter().map(Dtype::size).max().unwrap_or(8)).min(STAGE);
        let stager = Stager::new(self, &plan, streamed, short, options.by_rows);
        if let Some((transposed_kernel, how)) = options.transposed.filter(|_| !short).zip(self.transposed_input(&plan, streamed)) {
            return self.run_transposed(&plan, &stager, how, kernel, transposed_kernel);
        }
        let tiles = match () {
            _ if short => plan.tiles(stage / run, run),
            _ if stuck && !alone => plan.tiles(STAGE_ROWS, STAGE / STAGE_ROWS),
            _ if (0..N).any(|k| stager.staged[k] && !stager.repeats[k]) => plan.tiles(1, stage),
            // A tile has as many rows as are worth a thread.
            _ => plan.tiles((self.grain / run.min(stage)).clamp(1, STAGE_ROWS.max(STAGE / run)), stage),
        };
        let prefetches = stager.prefetches();
        parallel(tiles.count(), tiles.area(), self.grain, &|range| {
            let mut buffers: [Buffer; N] = [const { Buffer::new() }; N];
            let buffers = buffers.each_mut().map(Buffer::data);
            let mut filled = [(std::ptr::null_mut(), 0); N];
            let end = range.end;
            for i in range {
                let next = (prefetches && i + 1 < end).then(|| tiles.get(i + 1));
                // SAFETY: the plan's tiles are inside their operands. A buffer has room for a tile, or for the one row that repeats.
                unsafe { stager.tile(&tiles.get(i), next.as_ref(), buffers, &mut filled, kernel) }
            }
            if streamed {
                stream::fence();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::map::{fill, map1, map2};
    use crate::dtype::Element;
    use crate::layout::Layout;

    fn add(work: &Work<3>) {
        map2::<f32, f32, f32>(work, |_, a, b| a + b)
    }

    #[test]
    fn streamed_results_are_whole_wherever_they_begin() {
        let most = tuning::streams_from().min(64 << 20) / 12 + 4096;
        let (a, b): (Vec<f32>, Vec<f32>) = ((0..most).map(|i| i as f32).collect(), vec![0.5; most]);
        for (offset, n) in [(0, most), (1, most - 1), (15, most - 511), (16, most - 512)] {
            let mut r = vec![-1.0; most + 32];
            let data = [r[offset..].as_mut_ptr().cast(), a.as_ptr().cast_mut().cast(), b.as_ptr().cast_mut().cast()];
            // SAFETY: the vectors hold the elements.
            add(&Work::Flat(unsafe { Flat::new(data, n, [Dtype::Float32; 3], CHEAP) }));
            assert!((0..n).all(|i| r[offset + i] == i as f32 + 0.5), "{n} at {offset}");
            assert!(r[..offset].iter().chain(&r[offset + n..]).all(|&x| x == -1.0), "beside {n} at {offset}");
        }
    }

    /// Checks `r = a + b` for a `b` with separate strides. The values are integers, so that the order of additions does not matter.
    fn check_sum<A: Element, B: Element>(shape: [usize; 2], transposed: bool, column: bool, in_place: bool) {
        let [rows, cols] = shape;
        let numbers = |n: usize| -> Vec<f64> { (0..n).map(|i| (i * 7 % 50) as f64).collect() };
        let (a, b) = (numbers(rows * cols), numbers(rows + cols));
        let (stored, values): (Vec<A>, Vec<B>) = (a.iter().map(|&x| A::from_f64(x)).collect(), b.iter().map(|&x| B::from_f64(x)).collect());
        let mut r: Vec<f32> = a.iter().map(|&x| x as f32).collect();
        let layout = |strides: [usize; 2]| Layout {
            shape: (&[rows as i64, cols as i64][..]).into(),
            strides: (&strides.map(|s| s as i64)[..]).into(),
            offset: 0,
        };
        let strides = if transposed { [1, rows] } else { [cols, 1] };
        let layouts = [layout([cols, 1]), layout(strides), layout(if column { [1, 0] } else { [0, 1] })];
        let dtype = [Dtype::Float32, A::DTYPE, B::DTYPE];
        let result = r.as_mut_ptr();
        let data =
            [result.cast(), if in_place { result.cast() } else { stored.as_ptr().cast_mut().cast() }, values.as_ptr().cast_mut().cast()];
        let plan = Plan::new(layouts.each_ref(), dtype.map(Dtype::size));
        // SAFETY: the vectors hold the elements.
        add(&Work::Planned(Box::new(unsafe { Job::new(plan, data, dtype, [Dtype::Float32; 3], CHEAP) })));
        let expected = |i: usize| {
            let (row, col) = (i / cols, i % cols);
            a[row * strides[0] + col * strides[1]] + b[if column { row } else { col }]
        };
        assert!((0..rows * cols).all(|i| f64::from(r[i]) == expected(i)), "{shape:?} {dtype:?} {transposed} {column} {in_place}");
    }

    #[test]
    fn rows_and_columns_are_spread_over_a_matrix() {
        for shape in [[1, 64], [3, 5], [2, 100], [17, 64], [900, 3], [100, 39], [50, 130], [40, 333], [5, 4100], [1500, 1500]] {
            for column in [false, true] {
                check_sum::<f32, f32>(shape, false, column, false);
                check_sum::<f32, f32>(shape, false, column, true);
                check_sum::<f32, f32>(shape, true, column, false);
                check_sum::<i32, f32>(shape, false, column, false);
                check_sum::<f32, i32>(shape, false, column, false);
                check_sum::<f32, f64>(shape, true, column, false);
            }
        }
    }

    #[test]
    fn results_past_the_caches_take_rows_columns_and_transposed_operands() {
        let rows = tuning::streams_from().min(64 << 20) / (8 * 5000) + 3;
        check_sum::<f32, f32>([rows, 5000], false, true, false);
        check_sum::<f32, f32>([rows, 5000], false, true, true);
        check_sum::<f32, f32>([rows, 5000], false, false, false);
        check_sum::<f32, f32>([rows, 5000], true, true, false);
        check_sum::<f32, f32>([rows, 5001], true, false, false);
        check_sum::<f32, f32>([50 * rows, 100], false, false, false);
        check_sum::<f32, f32>([50 * rows, 100], false, true, true);
        check_sum::<f32, f32>([150 * rows, 33], false, true, false);
    }

    #[test]
    fn a_value_for_each_row_backwards() {
        for (rows, cols) in [(1, 100), (15, 64), (17, 100), (33, 3000)] {
            let (a, values): (Vec<f32>, Vec<f32>) =
                ((0..rows * cols).map(|i| i as f32).collect(), (0..rows).map(|i| 1e6 * i as f32).collect());
            let mut r = vec![0.0; rows * cols];
            let shape = [rows as i64, cols as i64];
            let whole = Layout::contiguous(&shape);
            let column = Layout { shape: (&shape[..]).into(), strides: (&[-1, 0][..]).into(), offset: 0 };
            let last = &raw const values[rows - 1];
            let data = [r.as_mut_ptr().cast(), a.as_ptr().cast_mut().cast(), last.cast_mut().cast()];
            let plan = Plan::new([&whole, &whole, &column], [4; 3]);
            // SAFETY: the vectors hold the elements.
            add(&Work::Planned(Box::new(unsafe { Job::new(plan, data, [Dtype::Float32; 3], [Dtype::Float32; 3], CHEAP) })));
            assert!((0..rows * cols).all(|i| r[i] == a[i] + values[rows - 1 - i / cols]), "{rows} x {cols}");
        }
    }

    fn check_fill<T: Element + PartialEq>(x: T, other: T) {
        let n = LONG_FILL / size_of::<T>() + 13;
        let mut r = vec![other; n + 3];
        // SAFETY: the vector holds the elements.
        let work = Work::Flat(unsafe { Flat::new([r[1..].as_mut_ptr().cast()], n, [T::DTYPE], CHEAP) });
        fill(&work, x);
        assert!((0..n + 3).all(|i| r[i] == if (1..=n).contains(&i) { x } else { other }), "{:?}", T::DTYPE);
    }

    #[test]
    fn long_fills_end_where_they_should() {
        check_fill(7u8, 1);
        check_fill(-300i16, 1);
        check_fill(1.5f32, 0.0);
        check_fill(-2.5f64, 0.0);
    }

    fn doubles(data: *mut f64, n: usize) -> Work<2> {
        // SAFETY: the callers pass `n` doubles.
        Work::Flat(unsafe { Flat::new([data.cast(); 2], n, [Dtype::Float64; 2], CHEAP) })
    }

    #[test]
    fn integers_take_the_bits_of_floats() {
        let mut x = [1.5, -2.5];
        map1::<i64, i64>(&doubles(x.as_mut_ptr(), 2), |_, bits| bits ^ i64::MIN);
        assert_eq!(x, [-1.5, 2.5]);
    }

    #[test]
    #[should_panic(expected = "cannot take")]
    fn kernels_refuse_elements_of_another_size() {
        map1::<f32, f32>(&doubles([1.0].as_mut_ptr(), 1), |_, x| x);
    }

    #[test]
    #[should_panic(expected = "cannot take")]
    fn floats_take_no_bits() {
        let mut x = [1i64];
        // SAFETY: `x` has one element.
        let work = Work::Flat(unsafe { Flat::new([x.as_mut_ptr().cast(); 2], 1, [Dtype::Int64; 2], CHEAP) });
        map1::<f64, f64>(&work, |_, x| x);
    }
}

//! A model of the tile instructions, after the operations in Intel's Software Developer's Manual, volume 2. What the processor reports as
//! an invalid operation is a failed assertion.

use super::strip::{BFLOAT16, Config, FLOAT16, INT8, Kind, SIDE, UINT8, Unit, of_tiles, strip};
use crate::cpu::matmul::kernel::{self, Kernel, ProductKernel, Strip};
use crate::cpu::matmul::number::Number;
use crate::cpu::simd::Level;
use crate::dtype::Dtype;
use half::{bf16, f16};

/// Bytes of a row of a tile.
const ROW: usize = 64;
/// The tiles of palette 1.
const TILES: usize = 8;

/// One tile register and its configuration.
#[derive(Clone, Copy)]
pub struct Tile {
    pub rows: usize,
    pub row_bytes: usize,
    pub data: [[u8; ROW]; SIDE],
}

const EMPTY: Tile = Tile { rows: 0, row_bytes: 0, data: [[0; ROW]; SIDE] };

/// The state of a thread.
pub struct Model<const KIND: Kind> {
    pub configured: bool,
    pub tiles: [Tile; TILES],
}

impl<const KIND: Kind> Model<KIND> {
    pub fn new() -> Model<KIND> {
        Model { configured: false, tiles: [EMPTY; TILES] }
    }

    fn tile(&mut self, tile: usize) -> &mut Tile {
        assert!(self.configured && self.tiles[tile].rows > 0, "tile {tile} is not configured");
        &mut self.tiles[tile]
    }
}

fn word(bytes: &[u8], at: usize) -> [u8; 4] {
    bytes[4 * at..4 * at + 4].try_into().unwrap()
}

/// A subnormal number counts as 0, as an operand (DAZ) and as a result (FTZ).
fn flushed(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

/// `a * b + c`, rounded once to nearest even, with DAZ and FTZ.
fn fused(a: f32, b: f32, c: f32) -> f32 {
    flushed(flushed(a).mul_add(flushed(b), flushed(c)))
}

/// Returns a pair of 16-bit floats as float32. Subnormal float16 are converted to their values.
fn floats<const KIND: Kind>(pair: [u8; 4]) -> [f32; 2] {
    [0, 2].map(|at| {
        let bits = u16::from_le_bytes([pair[at], pair[at + 1]]);
        if KIND == BFLOAT16 { bf16::from_bits(bits).to_f32() } else { f16::from_bits(bits).to_f32() }
    })
}

/// A row of TDPBF16PS and TDPFP16PS: the first elements of all pairs are summed, and the second elements; then both sums are added.
fn float_row<const KIND: Kind>(c: &[u8; ROW], a: &[u8], b: &[[u8; ROW]; SIDE], n: usize) -> f32 {
    let mut sums = [0f32; 2];
    for k in 0..a.len() / 4 {
        let (left, right) = (floats::<KIND>(word(a, k)), floats::<KIND>(word(&b[k], n)));
        sums = [0, 1].map(|half| fused(left[half], right[half], sums[half]));
    }
    let sum = flushed(sums[0] + sums[1]);
    flushed(flushed(f32::from_le_bytes(word(c, n))) + sum)
}

/// A row of TDPBSSD and TDPBUUD.
fn integer_row<const KIND: Kind>(c: &[u8; ROW], a: &[u8], b: &[[u8; ROW]; SIDE], n: usize) -> i32 {
    let value = |byte: u8| if KIND == INT8 { i32::from(byte as i8) } else { i32::from(byte) };
    let mut sum = i32::from_le_bytes(word(c, n));
    for k in 0..a.len() / 4 {
        for (x, y) in word(a, k).into_iter().zip(word(&b[k], n)) {
            sum = sum.wrapping_add(value(x) * value(y));
        }
    }
    sum
}

impl<const KIND: Kind> Unit for Model<KIND> {
    unsafe fn configure(&mut self, config: &Config) {
        assert_eq!((config.palette, config.start_row, config.reserved), (1, 0, [0; 14]));
        assert!(config.row_bytes[TILES..].iter().all(|&bytes| bytes == 0) && config.rows[TILES..].iter().all(|&rows| rows == 0));
        for (i, tile) in self.tiles.iter_mut().enumerate() {
            let (rows, row_bytes) = (usize::from(config.rows[i]), usize::from(config.row_bytes[i]));
            assert!(rows <= SIDE && row_bytes <= ROW && (rows == 0) == (row_bytes == 0), "tile {i}: {rows} rows of {row_bytes} bytes");
            *tile = Tile { rows, row_bytes, ..EMPTY };
        }
        self.configured = true;
    }

    unsafe fn zero<const TILE: usize>(&mut self) {
        self.tile(TILE).data = EMPTY.data;
    }

    unsafe fn load<const TILE: usize>(&mut self, from: *const u8, step: isize) {
        let tile = self.tile(TILE);
        tile.data = EMPTY.data;
        for row in 0..tile.rows {
            let from = from.wrapping_offset(row as isize * step);
            // SAFETY: the caller guarantees the rows.
            unsafe { tile.data[row].as_mut_ptr().copy_from_nonoverlapping(from, tile.row_bytes) };
        }
    }

    unsafe fn store<const TILE: usize>(&mut self, to: *mut u8, step: isize) {
        let tile = self.tile(TILE);
        for row in 0..tile.rows {
            let to = to.wrapping_offset(row as isize * step);
            // SAFETY: the caller guarantees the rows.
            unsafe { to.copy_from_nonoverlapping(tile.data[row].as_ptr(), tile.row_bytes) };
        }
    }

    unsafe fn multiply<const C: usize, const A: usize, const B: usize>(&mut self) {
        let [c, a, b] = [C, A, B].map(|tile| *self.tile(tile));
        assert!(C != A && C != B && A != B, "the tiles are distinct");
        assert!(c.row_bytes.is_multiple_of(4) && a.row_bytes.is_multiple_of(4));
        assert_eq!((c.rows, c.row_bytes, a.row_bytes / 4), (a.rows, b.row_bytes, b.rows), "the sizes match");
        for row in 0..c.rows {
            for n in 0..c.row_bytes / 4 {
                let (before, left) = (&c.data[row], &a.data[row][..a.row_bytes]);
                let after = match KIND {
                    BFLOAT16 | FLOAT16 => float_row::<KIND>(before, left, &b.data, n).to_le_bytes(),
                    _ => integer_row::<KIND>(before, left, &b.data, n).to_le_bytes(),
                };
                self.tiles[C].data[row][4 * n..4 * n + 4].copy_from_slice(&after);
            }
        }
    }

    unsafe fn release(&mut self) {
        *self = Model::new();
    }
}

/// Computes a strip with the model. The strip must leave the tiles released.
pub unsafe fn modelled<T: Number, const KIND: Kind>(task: &Strip<T>) {
    let mut model = Model::<KIND>::new();
    // SAFETY: the caller keeps this function's contract.
    unsafe { strip(&mut model, task, vectors::<T>().merge) };
    assert!(!model.configured, "the tiles are released");
}

/// The kernel of any processor for vectors of 16 elements.
fn vectors<T: Number>() -> ProductKernel<T> {
    kernel::kernel::<T, 16, 16, 16, 8, 4>(Level::Baseline)
}

/// Returns the kernel for a product of a dtype that has a matrix instruction.
pub fn kernel(dtype: Dtype) -> Kernel {
    let of_floats = |strip| Kernel::Float(of_tiles(vectors::<f32>(), strip));
    let of_integers = |strip| Kernel::Integer(of_tiles(vectors::<i32>(), strip));
    match dtype {
        Dtype::Bfloat16 => of_floats(modelled::<f32, BFLOAT16>),
        Dtype::Float16 => of_floats(modelled::<f32, FLOAT16>),
        Dtype::Int8 => of_integers(modelled::<i32, INT8>),
        Dtype::Uint8 => of_integers(modelled::<i32, UINT8>),
        other => panic!("no matrix instruction for {other}"),
    }
}

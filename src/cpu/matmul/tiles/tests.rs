use super::model::Model;
use super::strip::*;
use half::{bf16, f16};

/// Returns tile `C00` after one multiplication of tiles of one row and column, of `A` and `B` with these words.
fn multiplied<const KIND: Kind>(c: [u8; 4], a: &[[u8; 4]], b: &[[u8; 4]]) -> [u8; 4] {
    let mut model = Model::<KIND>::new();
    let mut config = Config::of(1, 1);
    (config.row_bytes[A0], config.rows[B0]) = (4 * a.len() as u16, b.len() as u8);
    let mut result = [0; 4];
    // SAFETY: the arrays have the rows of the configured tiles.
    unsafe {
        model.configure(&config);
        model.load::<C00>(c.as_ptr(), 4);
        model.load::<A0>(a.as_ptr().cast(), 4);
        model.load::<B0>(b.as_ptr().cast(), 4);
        model.multiply::<C00, A0, B0>();
        model.store::<C00>(result.as_mut_ptr(), 4);
        model.release();
    }
    result
}

fn bfloats(low: f32, high: f32) -> [u8; 4] {
    let [low, high] = [low, high].map(|x| bf16::from_f32(x).to_le_bytes());
    [low[0], low[1], high[0], high[1]]
}

fn halves(low: f32, high: f32) -> [u8; 4] {
    let [low, high] = [low, high].map(|x| f16::from_f32(x).to_le_bytes());
    [low[0], low[1], high[0], high[1]]
}

fn sum_of<const KIND: Kind>(c: f32, a: &[[u8; 4]], b: &[[u8; 4]]) -> f32 {
    f32::from_le_bytes(multiplied::<KIND>(c.to_le_bytes(), a, b))
}

#[test]
fn the_model_sums_the_halves_of_pairs_apart() {
    let ones = [bfloats(1.0, 1.0); 2];
    assert_eq!(sum_of::<BFLOAT16>(3.0, &ones, &[bfloats(5.0, 7.0), bfloats(11.0, 13.0)]), 39.0);
    // 2^24 + 1 is rounded to 2^24. Only separate sums keep both ones: (2^24 - 2^24) + (1 + 1).
    let big = 2f32.powi(24);
    assert_eq!(sum_of::<BFLOAT16>(0.0, &ones, &[bfloats(big, 1.0), bfloats(-big, 1.0)]), 2.0);
    // The sum of a tile is rounded before it is added to C.
    assert_eq!(sum_of::<BFLOAT16>(-big, &ones[..1], &[bfloats(big, 1.0)]), 0.0);
}

#[test]
fn the_model_flushes_subnormal_numbers_but_not_those_of_float16() {
    let least = f32::MIN_POSITIVE;
    let half = bf16::from_bits(0x0040).to_f32();
    assert!(half.is_subnormal() && half == least / 2.0);
    assert_eq!(sum_of::<BFLOAT16>(0.0, &[bfloats(half, 0.0)], &[bfloats(4.0, 0.0)]), 0.0);
    assert_eq!(sum_of::<BFLOAT16>(0.0, &[bfloats(least, 0.0)], &[bfloats(4.0, 0.0)]), 4.0 * least);
    assert_eq!(sum_of::<BFLOAT16>(0.0, &[bfloats(least, 0.0)], &[bfloats(0.5, 0.0)]), 0.0);
    assert_eq!(sum_of::<BFLOAT16>(half, &[bfloats(0.0, 0.0)], &[bfloats(0.0, 0.0)]), 0.0);
    let subnormal = 2f32.powi(-24);
    assert_eq!(sum_of::<FLOAT16>(0.0, &[halves(subnormal, 3.0)], &[halves(2.0, 5.0)]), 15.0 + 2.0 * subnormal);
    assert_eq!(sum_of::<FLOAT16>(1.0, &[halves(subnormal, 0.0)], &[halves(4096.0, 0.0)]), 1.0 + 2f32.powi(-12));
}

#[test]
fn the_model_multiplies_bytes_with_and_without_sign() {
    let (a, b) = ([[0xff, 2, 0x80, 0x7f]], [[3, 0xfe, 0x80, 0x7f]]);
    let sum = |bytes: [u8; 4]| i32::from_le_bytes(bytes);
    assert_eq!(sum(multiplied::<INT8>(1i32.to_le_bytes(), &a, &b)), 1 - 3 - 4 + 16384 + 16129);
    assert_eq!(sum(multiplied::<UINT8>(1i32.to_le_bytes(), &a, &b)), 1 + 765 + 508 + 16384 + 16129);
    assert_eq!(sum(multiplied::<UINT8>(i32::MAX.to_le_bytes(), &[[1, 0, 0, 0]], &[[1, 0, 0, 0]])), i32::MIN);
}

#[test]
#[should_panic(expected = "the sizes match")]
fn the_model_refuses_sizes_that_do_not_match() {
    multiplied::<INT8>([0; 4], &[[0; 4]; 2], &[[0; 4]; 3]);
}

#[cfg(target_arch = "x86_64")]
mod processor {
    use super::super::amx::{Amx, is_available};
    use super::super::model::modelled;
    use super::*;
    use crate::cpu::matmul::kernel::{self, Strip};
    use crate::cpu::matmul::number::Number;
    use crate::cpu::simd::Level;

    /// Every instruction of a unit. Only its code is looked at: no processor of the test needs to have the instructions.
    #[inline(never)]
    unsafe extern "C" fn all<const KIND: Kind>(config: &Config, data: *mut u8, step: isize) {
        let mut unit = Amx::<KIND>;
        // SAFETY: this is never called.
        unsafe {
            unit.configure(config);
            unit.zero::<C10>();
            unit.load::<A1>(data, step);
            unit.multiply::<C01, A1, B0>();
            unit.store::<C11>(data, step);
            unit.release();
        }
    }

    /// The codes of Intel's Software Developer's Manual, volume 2: the opcode map 0F38 with VEX.128 and W0. In a byte of the mask, bits
    /// that the registers of operands in memory decide are 0.
    #[test]
    fn instructions_have_the_documented_codes() {
        let product = |prefix: u8, opcode: u8| {
            // `vvvv`, inverted, is the tile of B. The fields `reg` and `rm` of the last byte are the tiles of C and A.
            vec![(0xc4, 0xff), (0xe2, 0xff), (!(B0 as u8) << 3 & 0x78 | prefix, 0xff), (opcode, 0xff), (0xc0 | (C01 << 3 | A1) as u8, 0xff)]
        };
        let codes = |product: Vec<(u8, u8)>| {
            [
                vec![(0xc4, 0xff), (0x02, 0x1f), (0x78, 0xff), (0x49, 0xff), (0x00, 0x38)],
                vec![(0xc4, 0xff), (0xe2, 0xff), (0x7b, 0xff), (0x49, 0xff), (0xc0 | (C10 << 3) as u8, 0xff)],
                vec![(0xc4, 0xff), (0x02, 0x1f), (0x7b, 0xff), (0x4b, 0xff), ((A1 << 3) as u8 | 4, 0x3f)],
                product,
                vec![(0xc4, 0xff), (0x02, 0x1f), (0x7a, 0xff), (0x4b, 0xff), ((C11 << 3) as u8 | 4, 0x3f)],
                vec![(0xc4, 0xff), (0xe2, 0xff), (0x78, 0xff), (0x49, 0xff), (0xc0, 0xff)],
            ]
        };
        type All = unsafe extern "C" fn(&Config, *mut u8, isize);
        let cases = [
            ("tdpbf16ps", all::<BFLOAT16> as All, product(2, 0x5c)),
            ("tdpfp16ps", all::<FLOAT16>, product(3, 0x5c)),
            ("tdpbssd", all::<INT8>, product(3, 0x5e)),
            ("tdpbuud", all::<UINT8>, product(0, 0x5e)),
        ];
        for (name, code, product) in cases {
            // Without optimisation, the six instructions are far apart.
            // SAFETY: the program has more code than this function, which is not the last one, and code is readable.
            let mut bytes: &[u8] = unsafe { std::slice::from_raw_parts(code as *const u8, 256) };
            for (i, code) in codes(product).iter().enumerate() {
                let matches = |at: &[u8]| at.iter().zip(code).all(|(byte, &(bits, mask))| byte & mask == bits);
                let found = bytes.windows(code.len()).position(matches);
                let Some(found) = found else { panic!("{name}: instruction {i} is not in {bytes:02x?}") };
                bytes = &bytes[found + code.len()..];
            }
        }
    }

    /// Computes a strip of random words on the processor and with the model. Integers must be equal. Floats may differ by the roundings of
    /// sums, whose order inside an instruction is the processor's: with a depth of n words, by n^2 / 16 for products below 2^18.
    fn compare<T: Number + std::fmt::Debug, const KIND: Kind>(name: &str, word: impl Fn(u32) -> T, distance: impl Fn(T, T) -> f64) {
        if !is_available(KIND) {
            println!("this machine has no {name}: only the model was tested");
            return;
        }
        let merge = kernel::kernel::<T, 16, 8, 4, 2, 1>(Level::Avx512).merge;
        for (rows, cols, depth) in [(2, 4, 16), (16, 8, 32), (17, 16, 48), (31, 32, 16), (32, 32, 256), (70, 32, 64)] {
            let mut state = 1u32;
            let mut next = || {
                state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
                word(state)
            };
            let a: Vec<T> = (0..rows * depth).map(|_| next()).collect();
            let b: Vec<T> = (0..depth * cols).map(|_| next()).collect();
            for packs in [false, true] {
                let [mut c, mut expected] = [vec![T::ONE; rows * cols], vec![T::ONE; rows * cols]];
                let mut packed = vec![T::ZERO; depth * cols];
                let task = |c: &mut Vec<T>, packed: &mut Vec<T>| Strip {
                    alpha: T::ONE,
                    beta: T::ONE,
                    fresh: false,
                    depth,
                    rows,
                    cols,
                    a: a.as_ptr(),
                    a_row: depth as isize,
                    a_col: 1,
                    b: b.as_ptr(),
                    b_row: cols as isize,
                    packed: if packs { packed.as_mut_ptr() } else { std::ptr::null_mut() },
                    c: c.as_mut_ptr(),
                    c_row: cols as isize,
                    next: b.as_ptr(),
                    next_row: 0,
                    next_rows: 0,
                };
                // SAFETY: the vectors hold the strip, and the processor has the instructions.
                unsafe {
                    strip(&mut Amx::<KIND>, &task(&mut c, &mut packed), merge);
                    modelled::<T, KIND>(&task(&mut expected, &mut packed));
                }
                let most = (depth * depth) as f64 / 16.0;
                let agree = c.iter().zip(&expected).all(|(&x, &y)| distance(x, y) <= most);
                assert!(agree, "{name}: {rows} x {cols} x {depth}: {c:?}, not {expected:?}");
            }
        }
    }

    #[test]
    fn the_processor_agrees_with_the_model() {
        // Numbers near 1, and a few subnormal numbers.
        let floats = |exponents: u32, least: u32| {
            move |word: u32| {
                let half =
                    |bits: u32| if bits.is_multiple_of(61) { bits & 0x7f } else { bits & 0x807f | (least + (bits >> 8) % 16) << exponents };
                f32::from_bits(half(word & 0xffff) | half(word >> 16) << 16)
            }
        };
        let apart = |x: f32, y: f32| f64::from((x - y).abs());
        let equal = |x: i32, y: i32| if x == y { 0.0 } else { f64::INFINITY };
        compare::<f32, BFLOAT16>("AMX-BF16", floats(7, 120), apart);
        compare::<f32, FLOAT16>("AMX-FP16", floats(10, 8), apart);
        compare::<i32, INT8>("AMX-INT8", |word| word as i32, equal);
        compare::<i32, UINT8>("AMX-INT8", |word| word as i32, equal);
    }
}

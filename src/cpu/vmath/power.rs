//! Powers with real exponents: 2^(y log2 x), the logarithm as a sum of two numbers.
//!
//! @@

use super::super::simd::Isa;
use super::exp::{exp2_sum_f32, exp2_sum_f64};
use super::log::{log_reduce_f32, log_reduce_f64};
use super::{poly_f32, poly_f64};

/// `(atanh(s) / s - 1 - s^2 / 3) / s^4` as a polynomial of s^2, on the s of sqrt(1/2) <= (1 + s) / (1 - s) < sqrt(2).
const ATANH_32: [f32; 3] = [0.200_000_76, 0.142_735_66, 0.117_093_26];
const ATANH_64: [f64; 7] = [
    2.000_000_000_000_112e-1,
    1.428_571_428_505_337_5e-1,
    1.111_111_125_942_208_8e-1,
    9.090_892_224_254_447e-2,
    7.693_377_022_487_392e-2,
    6.628_442_819_259_25e-2,
    6.597_882_265_627_011e-2,
];

// 1/3 and 2 / ln 2 as sums of two.
const THIRD_32: (f32, f32) = (0.333_333_34, -9.934_108e-9);
const THIRD_64: (f64, f64) = (0.333_333_333_333_333_3, 1.850_371_707_708_594e-17);
const SCALE_32: (f32, f32) = (2.885_39, 3.851_926e-8);
const SCALE_64: (f64, f64) = (2.885_390_081_777_926_8, 4.071_054_748_186_207e-17);

macro_rules! power {
    ($t:ident, $pow:ident, $log2:ident, $product:ident, $trunc:ident, $fma:ident, $poly:ident, $reduce:ident, $exp2_sum:ident,
     $atanh:ident, $third:ident, $scale:ident, $half_bits:literal, $integers:literal, $least:literal, $most:literal) => {
        /// `a * b` as a sum of two, the first rounded.
        #[inline(always)]
        pub(super) fn $product(isa: Isa, a: $t, b: $t) -> ($t, $t) {
            let p = a * b;
            if isa.has_fma() {
                return (p, a.mul_add(b, -p));
            }
            let high = |x: $t| $t::from_bits(x.to_bits() >> $half_bits << $half_bits);
            let (ah, bh) = (high(a), high(b));
            let (al, bl) = (a - ah, b - bh);
            (p, al * bl + (al * bh + (ah * bl + (ah * bh - p))))
        }

        /// `log2(x)` as a sum of two, for x >= 0.
        #[inline(always)]
        fn $log2(isa: Isa, x: $t) -> ($t, $t) {
            let (e, f) = $reduce(x);
            // log(1 + f) = 2 atanh(s) with s = f / (2 + f); what each step rounds off is carried along.
            let d = 2.0 + f;
            let one = 1.0 / d;
            let s = f * one;
            let (p, p_low) = $product(isa, s, d);
            let s_low = (((f - p) - p_low) - s * (f - (d - 2.0))) * one;
            let (z, z_low) = $product(isa, s, s);
            let z_low = isa.$fma(s + s, s_low, z_low);
            // u = 1/3 + z/5 + ..., t = z u, atanh(s) = s + s t
            let w = isa.$fma(z, $poly(isa, z, $atanh), $third.1);
            let u = $third.0 + w;
            let u_low = ($third.0 - u) + w;
            let (t, t_low) = $product(isa, z, u);
            let t_low = isa.$fma(z, u_low, isa.$fma(z_low, u, t_low));
            let (v, v_low) = $product(isa, s, t);
            let v_low = isa.$fma(s, t_low, isa.$fma(s_low, t, v_low));
            let a = s + v;
            let a_low = ((s - a) + v) + (v_low + s_low);
            let (g, g_low) = $product(isa, a, $scale.0);
            let g_low = isa.$fma(a, $scale.1, isa.$fma(a_low, $scale.0, g_low));
            let r = e + g;
            (r, ((e - r) + g) + g_low)
        }

        /// `x` without its fraction.
        #[inline(always)]
        fn $trunc(isa: Isa, x: $t) -> $t {
            if isa.has_fma() {
                return x.trunc();
            }
            let t = x.abs();
            if t < $integers { ((t + $integers) - $integers).copysign(x) } else { x }
        }

        /// `pow(x, y)`
        #[inline(always)]
        pub fn $pow(isa: Isa, x: $t, y: $t) -> $t {
            let size = x.abs();
            let (log, log_low) = $log2(isa, size);
            let log = if size == $t::INFINITY { size } else { log };
            // The largest finite y says the same as an infinite one, but for |x| = 1, where it says more.
            let t = if y > $t::MAX { $t::MAX } else { y };
            let t = if t < $t::MIN { $t::MIN } else { t };
            let (q, q_low) = $product(isa, t, log);
            let q_low = isa.$fma(t, log_low, q_low);
            let q_low = if q.abs() < -$least { q_low } else { 0.0 };
            let q = if q > $most { $most } else { q };
            let q = if q < $least { $least } else { q };
            let r = $exp2_sum(isa, q, q_low);
            // A negative x: its sign for odd y, NaN for y that is no integer.
            let integer = $trunc(isa, y) == y;
            let odd = integer && $trunc(isa, 0.5 * y) != 0.5 * y;
            let r = if odd { r.copysign(x) } else { r };
            let r = if x < 0.0 && !integer && size < $t::INFINITY { $t::NAN } else { r };
            if y == 0.0 || x == 1.0 { 1.0 } else { r }
        }
    };
}
power!(
    f32,
    pow_f32,
    log2_double_f32,
    product_f32,
    trunc_f32,
    fma_f32,
    poly_f32,
    log_reduce_f32,
    exp2_sum_f32,
    ATANH_32,
    THIRD_32,
    SCALE_32,
    12,
    8_388_608.0,
    -151.0,
    129.0
);
power!(
    f64,
    pow_f64,
    log2_double_f64,
    product_f64,
    trunc_f64,
    fma_f64,
    poly_f64,
    log_reduce_f64,
    exp2_sum_f64,
    ATANH_64,
    THIRD_64,
    SCALE_64,
    27,
    4_503_599_627_370_496.0,
    -1076.0,
    1025.0
);

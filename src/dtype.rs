//! Element types: the enum [`Dtype`], the trait [`Element`], and the macro `dispatch!`, which leads from the first to the second.

use crate::error::{Error, Kind, Result};
use crate::scalar::Scalar;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU8, Ordering};

/// The code of an element type in the C API. Codes never change.
pub type THDtype = i32;

/// No dtype: a fresh handle before its first write.
pub const TH_UNDEFINED: THDtype = 0;

/// The list of element types. All code that has a case for each type is generated from it.
macro_rules! dtypes {
    ($($(#[$doc:meta])* $Variant:ident $CODE:ident = $code:literal, $bytes:literal, $name:literal, $torch:literal;)*) => {
        $($(#[$doc])* pub const $CODE: THDtype = $code;)*

        /// The type of a tensor's elements.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Dtype { $($(#[$doc])* $Variant = $code,)* }

        impl Dtype {
            /// Every element type, in the order of their codes.
            pub const ALL: &[Dtype] = &[$(Dtype::$Variant),*];

            /// The element type with this code; `None` for [`TH_UNDEFINED`] and unknown codes.
            #[inline(always)]
            pub fn from_code(code: THDtype) -> Option<Dtype> {
                match code { $($code => Some(Dtype::$Variant),)* _ => None }
            }

            /// PyTorch's name, `float32`, as a C string.
            pub fn c_name(self) -> &'static CStr {
                match self { $(Dtype::$Variant => $name,)* }
            }

            /// Torch's name: `Float`, as in `torch.FloatTensor`.
            pub fn torch_name(self) -> &'static str {
                match self { $(Dtype::$Variant => $torch,)* }
            }

            /// The size of an element in bytes.
            #[inline(always)]
            pub fn size(self) -> usize {
                match self { $(Dtype::$Variant => $bytes,)* }
            }
        }
    };
}

dtypes! {
    /// Unsigned 8-bit integer.
    Uint8    TH_UINT8 = 1,    1, c"uint8",    "Byte";
    /// Signed 8-bit integer.
    Int8     TH_INT8 = 2,     1, c"int8",     "Char";
    /// Signed 16-bit integer.
    Int16    TH_INT16 = 3,    2, c"int16",    "Short";
    /// Signed 32-bit integer.
    Int32    TH_INT32 = 4,    4, c"int32",    "Int";
    /// Signed 64-bit integer.
    Int64    TH_INT64 = 5,    8, c"int64",    "Long";
    /// IEEE 754 half precision; computed in float32.
    Float16  TH_FLOAT16 = 6,  2, c"float16",  "Half";
    /// The upper half of a float32; computed in float32.
    Bfloat16 TH_BFLOAT16 = 7, 2, c"bfloat16", "BFloat16";
    /// IEEE 754 single precision.
    Float32  TH_FLOAT32 = 8,  4, c"float32",  "Float";
    /// IEEE 754 double precision.
    Float64  TH_FLOAT64 = 9,  8, c"float64",  "Double";
    /// True or false in one byte; any byte but 0 reads as true.
    Bool     TH_BOOL = 10,    1, c"bool",     "Bool";
}

/// The kind of a dtype. Promotion ranks them: bool < integers < floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Category {
    Bool,
    Integer,
    Float,
}

/// The dtypes that an operation is defined for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Domain {
    All,
    /// All except Bool.
    Numeric,
    /// Integers and Bool.
    Integral,
    Integer,
    Float,
    /// The dtypes that LAPACK's functions exist for.
    Float32And64,
}

impl Domain {
    /// Returns true if the domain contains this dtype.
    #[inline(always)]
    pub fn contains(self, dtype: Dtype) -> bool {
        match self {
            Domain::All => true,
            Domain::Numeric => dtype != Dtype::Bool,
            Domain::Integral => !dtype.is_float(),
            Domain::Integer => dtype.category() == Category::Integer,
            Domain::Float => dtype.is_float(),
            Domain::Float32And64 => matches!(dtype, Dtype::Float32 | Dtype::Float64),
        }
    }

    /// `dtype`; an error if the domain does not contain it.
    #[inline(always)]
    pub fn check(self, dtype: Dtype) -> Result<Dtype> {
        if self.contains(dtype) { Ok(dtype) } else { Err(self.refusal(dtype)) }
    }

    /// The error that an operation is not defined for `dtype`, with the dtypes that it is defined for.
    #[cold]
    pub fn refusal(self, dtype: Dtype) -> Error {
        let defined = match self {
            Domain::All => "the ten dtypes",
            Domain::Numeric => "integers and floats",
            Domain::Integral => "integers and bool",
            Domain::Integer => "integers",
            Domain::Float => "floats",
            Domain::Float32And64 => "float32 and float64",
        };
        Error::new(Kind::Dtype, format_args!("not defined for {dtype}, only for {defined}"))
    }
}

impl Dtype {
    /// PyTorch's name: `float32`.
    pub fn name(self) -> &'static str {
        self.c_name().to_str().unwrap_or_default()
    }

    /// The element type with this name: a dtype of PyTorch such as `float32`, or the type of its tensors such as `float`, `double`, `half`,
    /// `long`.
    pub fn from_name(name: &[u8]) -> Option<Dtype> {
        let named =
            |d: &&Dtype| d.c_name().to_bytes() == name || (d.torch_name().bytes().map(|c| c.to_ascii_lowercase()).eq(name.iter().copied()));
        Dtype::ALL.iter().find(named).copied()
    }

    /// The code in the C API.
    pub fn code(self) -> THDtype {
        self as THDtype
    }

    /// Bool, integer or float.
    #[inline(always)]
    pub fn category(self) -> Category {
        match self {
            Dtype::Bool => Category::Bool,
            Dtype::Uint8 | Dtype::Int8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64 => Category::Integer,
            Dtype::Float16 | Dtype::Bfloat16 | Dtype::Float32 | Dtype::Float64 => Category::Float,
        }
    }

    /// Returns true for the floating-point types.
    pub fn is_float(self) -> bool {
        self.category() == Category::Float
    }

    /// The type that kernels compute in: float32 for 16-bit floats, otherwise the type itself.
    #[inline(always)]
    pub fn compute(self) -> Dtype {
        match self {
            Dtype::Float16 | Dtype::Bfloat16 => Dtype::Float32,
            other => other,
        }
    }

    /// The type in which products are computed: float32 for 16-bit floats, and int32 for small integers, whose wrapped sums agree in the
    /// low bits.
    pub fn product_type(self) -> Dtype {
        match self {
            Dtype::Uint8 | Dtype::Int8 | Dtype::Int16 => Dtype::Int32,
            other => other.compute(),
        }
    }

    /// The smallest positive number of a float type.
    pub fn least_positive(self) -> f64 {
        match self {
            Dtype::Float16 => 2f64.powi(-24),
            Dtype::Bfloat16 => 2f64.powi(-133),
            Dtype::Float32 => 2f64.powi(-149),
            _ => f64::from_bits(1),
        }
    }

    /// The greatest number of a float type below 1.
    pub fn below_one(self) -> f64 {
        let digits = match self {
            Dtype::Float16 => 11,
            Dtype::Bfloat16 => 8,
            Dtype::Float32 => 24,
            _ => 53,
        };
        1.0 - 2f64.powi(-digits)
    }

    /// The smallest type that both types convert to without changing their kind: PyTorch's promotion table.
    pub fn promote(self, other: Dtype) -> Dtype {
        use Dtype::*;
        if self == other {
            return self;
        }
        match (self.category().cmp(&other.category()), self.max(other), self.min(other)) {
            (std::cmp::Ordering::Greater, ..) => self,
            (std::cmp::Ordering::Less, ..) => other,
            (_, Int8, Uint8) => Int16,
            (_, Bfloat16, Float16) => Float32,
            (_, wider, _) => wider,
        }
    }

    /// Returns true if a result of type `self` may be stored as `to`: floats do not become integers implicitly, and numbers do not become
    /// bool.
    #[inline(always)]
    pub fn can_cast(self, to: Dtype) -> bool {
        self.category() <= to.category()
    }

    /// The float type that results have for inputs of this type: the type itself if it is a float, otherwise the default dtype.
    pub fn to_float(self) -> Dtype {
        if self.is_float() { self } else { default_dtype() }
    }
}

impl std::fmt::Display for Dtype {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

static DEFAULT: AtomicU8 = AtomicU8::new(Dtype::Float32 as u8);

/// The dtype of floats that have no explicit dtype: float32 until [`set_default_dtype`].
pub fn default_dtype() -> Dtype {
    Dtype::from_code(DEFAULT.load(Ordering::Relaxed).into()).unwrap_or(Dtype::Float32)
}

/// Sets the process-wide default dtype. Returns false, and changes nothing, if it is not a float.
pub fn set_default_dtype(dtype: Dtype) -> bool {
    if dtype.is_float() {
        DEFAULT.store(dtype as u8, Ordering::Relaxed);
    }
    dtype.is_float()
}

/// The dtypes that are promoted for one operation, by descending priority: tensors with dimensions, 0-d tensors, numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Promotion {
    dims: Option<Dtype>,
    zero_dim: Option<Dtype>,
    number: Option<Dtype>,
}

impl Promotion {
    /// Adds a tensor.
    #[inline]
    pub fn tensor(mut self, dtype: Dtype, ndim: usize) -> Promotion {
        let slot = if ndim > 0 { &mut self.dims } else { &mut self.zero_dim };
        *slot = Some(slot.map_or(dtype, |d| d.promote(dtype)));
        self
    }

    /// Adds a number given by the caller.
    #[inline]
    pub fn scalar(mut self, value: Scalar) -> Promotion {
        let dtype = if value.is_whole() { Dtype::Int64 } else { default_dtype() };
        self.number = Some(self.number.map_or(dtype, |d| d.promote(dtype)));
        self
    }

    /// The common dtype. A dtype of lower priority counts only if it is of a higher kind.
    pub fn result(self) -> Option<Dtype> {
        let combine = |high: Option<Dtype>, low: Option<Dtype>| match (high, low) {
            (Some(h), Some(l)) if l.category() > h.category() => Some(h.promote(l)),
            (Some(h), _) => Some(h),
            (None, low) => low,
        };
        combine(self.dims, combine(self.zero_dim, self.number))
    }
}

/// A truth value in memory. Any byte except 0 is true, so that no byte that C writes is invalid.
#[derive(Debug, Clone, Copy, Default)]
#[repr(transparent)]
pub struct Bool(pub u8);

impl Bool {
    /// The truth value.
    #[inline(always)]
    pub fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Bool {
    #[inline(always)]
    fn from(b: bool) -> Bool {
        Bool(b as u8)
    }
}

impl PartialEq for Bool {
    #[inline(always)]
    fn eq(&self, other: &Bool) -> bool {
        self.get() == other.get()
    }
}

impl PartialOrd for Bool {
    #[inline(always)]
    fn partial_cmp(&self, other: &Bool) -> Option<std::cmp::Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

/// A type that kernels compute in.
///
/// # Safety
/// Every bit pattern of `DTYPE.size()` bytes must be a valid `Self`.
pub unsafe trait Element: Copy + Send + Sync + PartialEq + PartialOrd + std::fmt::Debug + 'static {
    /// The dtype of this type.
    const DTYPE: Dtype;
    /// 0 or false.
    const ZERO: Self;
    /// Returns true for NaN; always false for integers.
    fn is_nan(self) -> bool;
    /// `self + b`: integers wrap, Bool is *or*.
    fn add(self, b: Self) -> Self;
    /// `self - b`: integers wrap.
    fn sub(self, b: Self) -> Self;
    /// `self * b`: integers wrap, Bool is *and*.
    fn mul(self, b: Self) -> Self;
    /// `-self`: integers wrap.
    fn neg(self) -> Self;
    /// `|self|`: integers wrap.
    fn abs(self) -> Self;
    /// `x` as this type: floats are rounded, integers truncate and saturate, and NaN becomes 0 as an integer.
    fn from_f64(x: f64) -> Self;
    /// Like [`Element::from_f64`], for a float32 value.
    fn from_f32(x: f32) -> Self;
    /// The value reduced to the type's width, as in C's conversion of integers.
    fn from_i64(x: i64) -> Self;
    /// The value as f64; large int64 values are rounded.
    fn to_f64(self) -> f64;
    /// The value as int64; floats truncate and saturate.
    fn to_i64(self) -> i64;

    /// The scalar in this type.
    #[inline(always)]
    fn from_scalar(s: Scalar) -> Self {
        match s {
            Scalar::Int(x) => Self::from_i64(x),
            Scalar::Float(x) => Self::from_f64(x),
        }
    }
}

macro_rules! integer_element {
    ($($t:ident $Variant:ident $abs:expr;)*) => { $(
        // SAFETY: every bit pattern of an integer is valid.
        unsafe impl Element for $t {
            const DTYPE: Dtype = Dtype::$Variant;
            const ZERO: $t = 0;
            #[inline(always)] fn is_nan(self) -> bool { false }
            #[inline(always)] fn add(self, b: $t) -> $t { self.wrapping_add(b) }
            #[inline(always)] fn sub(self, b: $t) -> $t { self.wrapping_sub(b) }
            #[inline(always)] fn mul(self, b: $t) -> $t { self.wrapping_mul(b) }
            #[inline(always)] fn neg(self) -> $t { self.wrapping_neg() }
            #[inline(always)] fn abs(self) -> $t { let abs: fn($t) -> $t = $abs; abs(self) }
            #[inline(always)] fn from_f64(x: f64) -> $t { x as $t }
            #[inline(always)] fn from_f32(x: f32) -> $t { x as $t }
            #[inline(always)] fn from_i64(x: i64) -> $t { x as $t }
            #[inline(always)] fn to_f64(self) -> f64 { self as f64 }
            #[inline(always)] fn to_i64(self) -> i64 { self as i64 }
        }
    )* };
}
integer_element! {
    u8 Uint8 |x| x;
    i8 Int8 i8::wrapping_abs;
    i16 Int16 i16::wrapping_abs;
    i32 Int32 i32::wrapping_abs;
    i64 Int64 i64::wrapping_abs;
}

macro_rules! float_element {
    ($($t:ident $Variant:ident;)*) => { $(
        // SAFETY: every bit pattern of a float is valid.
        unsafe impl Element for $t {
            const DTYPE: Dtype = Dtype::$Variant;
            const ZERO: $t = 0.0;
            #[inline(always)] fn is_nan(self) -> bool { self.is_nan() }
            #[inline(always)] fn add(self, b: $t) -> $t { self + b }
            #[inline(always)] fn sub(self, b: $t) -> $t { self - b }
            #[inline(always)] fn mul(self, b: $t) -> $t { self * b }
            #[inline(always)] fn neg(self) -> $t { -self }
            #[inline(always)] fn abs(self) -> $t { self.abs() }
            #[inline(always)] fn from_f64(x: f64) -> $t { x as $t }
            #[inline(always)] fn from_f32(x: f32) -> $t { x as $t }
            #[inline(always)] fn from_i64(x: i64) -> $t { x as $t }
            #[inline(always)] fn to_f64(self) -> f64 { self as f64 }
            #[inline(always)] fn to_i64(self) -> i64 { self as i64 }
        }
    )* };
}
float_element! { f32 Float32; f64 Float64; }

// SAFETY: `Bool` is a byte.
unsafe impl Element for Bool {
    const DTYPE: Dtype = Dtype::Bool;
    const ZERO: Bool = Bool(0);
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
    #[inline(always)]
    fn add(self, b: Bool) -> Bool {
        (self.get() | b.get()).into()
    }
    #[inline(always)]
    fn sub(self, b: Bool) -> Bool {
        (self.get() ^ b.get()).into()
    }
    #[inline(always)]
    fn mul(self, b: Bool) -> Bool {
        (self.get() & b.get()).into()
    }
    #[inline(always)]
    fn neg(self) -> Bool {
        self
    }
    #[inline(always)]
    fn abs(self) -> Bool {
        self
    }
    #[inline(always)]
    fn from_f64(x: f64) -> Bool {
        (x != 0.0).into()
    }
    #[inline(always)]
    fn from_f32(x: f32) -> Bool {
        (x != 0.0).into()
    }
    #[inline(always)]
    fn from_i64(x: i64) -> Bool {
        (x != 0).into()
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.get() as u8 as f64
    }
    #[inline(always)]
    fn to_i64(self) -> i64 {
        self.get() as i64
    }
}

/// Runs `$body` with `$T` as the compute type of `$dtype` ([`Dtype::compute`]). Returns an error if the set does not contain `$dtype`.
///
/// The sets are `all`, `numeric` (no Bool), `integral` (integers and Bool) and `float`.
macro_rules! dispatch {
    (all, $dtype:expr, $T:ident => $body:expr) => {
        $crate::dtype::dispatch!(@ All $dtype, $T => $body;
            Uint8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float32 f32, Float64 f64, Bool $crate::dtype::Bool)
    };
    (numeric, $dtype:expr, $T:ident => $body:expr) => {
        $crate::dtype::dispatch!(@ Numeric $dtype, $T => $body;
            Uint8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float32 f32, Float64 f64)
    };
    (integral, $dtype:expr, $T:ident => $body:expr) => {
        $crate::dtype::dispatch!(@ Integral $dtype, $T => $body;
            Uint8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Bool $crate::dtype::Bool)
    };
    (float, $dtype:expr, $T:ident => $body:expr) => {
        $crate::dtype::dispatch!(@ Float $dtype, $T => $body; Float32 f32, Float64 f64)
    };
    (@ $Domain:ident $dtype:expr, $T:ident => $body:expr; $($Variant:ident $t:ty),*) => {
        match $dtype.compute() {
            $($crate::dtype::Dtype::$Variant => { type $T = $t; $body })*
            #[allow(unreachable_patterns)]
            _ => return Err($crate::dtype::Domain::$Domain.refusal($dtype)),
        }
    };
}
pub(crate) use dispatch;

#[cfg(test)]
mod tests {
    use super::Dtype::*;
    use super::{Dtype, Promotion, TH_UNDEFINED};
    use crate::scalar::Scalar;

    #[test]
    fn codes_round_trip_and_sizes_match_the_types() {
        for &d in Dtype::ALL {
            assert_eq!(Dtype::from_code(d.code()), Some(d));
        }
        assert_eq!(Dtype::from_code(TH_UNDEFINED), None);
        assert_eq!(Dtype::from_code(-1), None);
        assert_eq!(Dtype::from_code(99), None);
        assert_eq!((Int64.size(), Bfloat16.size(), Bool.size()), (8, 2, 1));
    }

    #[test]
    fn names_round_trip_and_have_those_of_tensors_beside_them() {
        for &d in Dtype::ALL {
            assert_eq!(Dtype::from_name(d.name().as_bytes()), Some(d));
        }
        let others = ["byte", "char", "short", "int", "long", "half", "bfloat16", "float", "double", "bool"];
        assert_eq!(others.map(|name| Dtype::from_name(name.as_bytes())).to_vec(), Dtype::ALL.iter().copied().map(Some).collect::<Vec<_>>());
        assert!([&b""[..], b"float3", b"Float", b"float32 "].iter().all(|name| Dtype::from_name(name).is_none()));
    }

    /// PyTorch's table (torch.promote_types), upper triangle, rows and columns in this order.
    #[test]
    fn promotion_is_pytorchs_table() {
        let order = [Uint8, Int8, Int16, Int32, Int64, Float16, Float32, Float64, Bool, Bfloat16];
        let table = [
            [Uint8, Int16, Int16, Int32, Int64, Float16, Float32, Float64, Uint8, Bfloat16],
            [Int16, Int8, Int16, Int32, Int64, Float16, Float32, Float64, Int8, Bfloat16],
            [Int16, Int16, Int16, Int32, Int64, Float16, Float32, Float64, Int16, Bfloat16],
            [Int32, Int32, Int32, Int32, Int64, Float16, Float32, Float64, Int32, Bfloat16],
            [Int64, Int64, Int64, Int64, Int64, Float16, Float32, Float64, Int64, Bfloat16],
            [Float16, Float16, Float16, Float16, Float16, Float16, Float32, Float64, Float16, Float32],
            [Float32, Float32, Float32, Float32, Float32, Float32, Float32, Float64, Float32, Float32],
            [Float64, Float64, Float64, Float64, Float64, Float64, Float64, Float64, Float64, Float64],
            [Uint8, Int8, Int16, Int32, Int64, Float16, Float32, Float64, Bool, Bfloat16],
            [Bfloat16, Bfloat16, Bfloat16, Bfloat16, Bfloat16, Float32, Float32, Float64, Bfloat16, Bfloat16],
        ];
        for (i, a) in order.into_iter().enumerate() {
            for (j, b) in order.into_iter().enumerate() {
                assert_eq!(a.promote(b), table[i][j], "{a} with {b}");
            }
        }
    }

    #[test]
    fn lower_priorities_count_only_across_kinds() {
        let p = Promotion::default();
        assert_eq!(p.tensor(Int32, 2).scalar(Scalar::Int(7)).result(), Some(Int32));
        assert_eq!(p.tensor(Int32, 2).scalar(Scalar::Float(0.5)).result(), Some(Float32));
        assert_eq!(p.tensor(Int32, 2).scalar(Scalar::from(-0.0)).result(), Some(Int32));
        assert_eq!(p.tensor(Float16, 1).scalar(Scalar::Float(0.5)).result(), Some(Float16));
        assert_eq!(p.tensor(Float32, 1).tensor(Float64, 0).result(), Some(Float32));
        assert_eq!(p.tensor(Int64, 1).tensor(Float64, 0).result(), Some(Float64));
        assert_eq!(p.tensor(Bool, 1).scalar(Scalar::Int(1)).result(), Some(Int64));
        assert_eq!(p.tensor(Uint8, 0).tensor(Int8, 0).result(), Some(Int16));
        assert_eq!(p.result(), None);
    }

    #[test]
    fn casts_follow_the_kinds() {
        assert!(Int64.can_cast(Uint8) && Int8.can_cast(Float16) && Float64.can_cast(Float16) && Bool.can_cast(Uint8));
        assert!(!Float16.can_cast(Int64) && !Uint8.can_cast(Bool));
    }
}

//! Elementwise operations as data, and the function that runs any of them.
//!
//! Each area defines its operations in a macro, which passes the definitions to another macro: [`operations`], `api::table` or
//! `capi::export`. A definition is
//!
//! ```text
//! /// The documentation in the header.
//! name(r: out, a: input, value: number) { dtypes result grain, |isa, a| formula }
//! ```
//!
//! - dtypes: `moved`, all dtypes, by kernels over integers of the same size; `all`; `numeric` (not Bool); `integral` (integers and Bool);
//!   `float`. In the formula, `T` is the type of the computation. `in_float64` means floats that one kernel computes in float64, for rarely
//!   used functions.
//! - result: `same`, the common dtype of the operands; `real`, the same, except that integers and Bool give the default dtype; `truth`, a
//!   truth value.
//! - grain: `CHEAP` for memory-bound kernels, `COSTLY` for others.
//! - arguments: a `number` or `factor` belongs to an operation of one tensor and one number; a `parameter` may belong to any operation.
//! - `dividing` after the grain: integers cannot be divided by 0. `comparing`: the number compared with integers does not wrap. `masked`:
//!   the first input is a mask, Bool or uint8, which is not promoted.
//!
//! `transposed` before a formula of two operands adds loops for one transposed operand, for cheap formulas. `compact` compiles a formula
//! once for the loop, not three times; long formulas of float64 become up to 8 % slower. `plain` compiles a formula to a single loop and
//! uses a buffer for 16-bit floats; it is slower in place. Other kernels are `vectorized exp_run`, a loop of
//! [`Real`](crate::cpu::real::Real) over many elements; `slow_path(|isa, a| fast, rare, slow)`, where `slow` computes the elements for
//! which `rare` is true; and `kernel f`, a generic function of the work and the numbers. `; bits f` after a formula names a kernel for
//! 16-bit floats that reads them as int16.

use super::{check_whole, comparable, comparable_tensors, divisor, promote, promote_scalar};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::{Op, ResultDtype, Role};
use crate::ops::prepare::elementwise;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

impl<const N: usize> Op<N> {
    /// Computes `tensors[0]` from the other tensors: checks the operands, prepares the result, runs the kernel.
    #[inline(never)]
    pub fn run(&'static self, tensors: [&Tensor; N], numbers: &[Scalar]) -> Result<()> {
        self.run_inlined(tensors, numbers)
    }

    /// [`Op::run`] for functions that programs call often, with a copy of the code for each of them.
    #[inline(always)]
    pub fn run_inlined(&'static self, tensors: [&Tensor; N], numbers: &[Scalar]) -> Result<()> {
        let mut common = promote(&tensors[1..])?;
        if let [value, ..] = numbers {
            match self.role {
                Role::Parameters => {}
                Role::Promoted => common = promote_scalar(tensors[1], *value)?,
                Role::Compared => {
                    let (common, value) = comparable(tensors[1], *value)?;
                    return self.run_in(common, &tensors, &[value]);
                }
            }
        } else if N == 3 && self.result == ResultDtype::Truth && tensors[1].dtype() != tensors[2].dtype() {
            common = comparable_tensors(common, &tensors[1..])?;
        }
        if self.result == ResultDtype::Real {
            common = common.to_float();
        }
        self.run_in(common, &tensors, numbers)
    }

    /// [`Op::run`] with operands that are converted to `common`.
    pub fn run_in(&'static self, common: Dtype, tensors: &[&Tensor; N], numbers: &[Scalar]) -> Result<()> {
        let choice = self.choose(common, tensors[1].dtype())?;
        if self.checked {
            self.check(common, &tensors[1..], numbers)?;
        }
        elementwise(self, tensors, &choice, common, numbers)
    }

    /// Fails if a parameter of integers is not an integer, or if a divisor of integers is 0.
    #[inline(never)]
    fn check(&self, common: Dtype, operands: &[&Tensor], numbers: &[Scalar]) -> Result<()> {
        match self.role {
            _ if common.is_float() => Ok(()),
            Role::Parameters => numbers.iter().try_for_each(|&value| check_whole(common, value)),
            _ => divisor::check(common, operands, numbers),
        }
    }
}

/// Defines a static for each definition, with its name, and a list of all of them.
macro_rules! operations {
    ($list:ident; $($(#[doc = $doc:literal])* $name:ident($($arg:ident: $kind:ident),* $(,)?) { $($definition:tt)* })*) => { $(
        $(#[doc = $doc])*
        #[allow(non_upper_case_globals)]
        pub static $name: $crate::launch::Op<{ 0 $(+ $crate::ops::pointwise::op::count!($kind))* }> =
            $crate::ops::pointwise::op::operation!($name [$($arg $kind)*] $($definition)*);
    )*
        /// All operations of the list.
        #[cfg(feature = "cuda")]
        pub static $list: &[$crate::launch::Elementwise] = &[$($name.as_elementwise()),*];
    };
}
pub(crate) use operations;

/// The number of tensors that an argument counts for: 1 or 0.
macro_rules! count {
    (out) => {
        1
    };
    (truth) => {
        1
    };
    (input) => {
        1
    };
    ($number:ident) => {
        0
    };
}
pub(crate) use count;

/// The [`Op`] of a definition.
macro_rules! operation {
    ($name:ident [$($arg:ident $kind:ident)*] $set:ident $result:ident $grain:ident $($flag:ident)?, $($kernel:tt)*) => {
        $crate::launch::Op {
            #[cfg(feature = "cuda")]
            formula: $crate::launch::Formula {
                name: stringify!($name),
                arguments: concat!($(stringify!($arg), " ", stringify!($kind), ";"),*),
                kernel: stringify!($($kernel)*),
            },
            result: $crate::ops::pointwise::op::traits!(result $result),
            role: $crate::ops::pointwise::op::traits!(role $($flag)? $($kind)*),
            checked: $crate::ops::pointwise::op::traits!(checked $($flag)? $($kind)*),
            grain: $grain,
            kernels: $crate::ops::pointwise::op::kernels!($set $result [$($arg $kind)*] $($kernel)*),
            bits: $crate::ops::pointwise::op::bits!($set $($kernel)*),
            masked: $crate::ops::pointwise::op::traits!(masked $($flag)?),
        }
    };
}
pub(crate) use operation;

/// The fields of an [`Op`] that follow from keywords of its definition.
macro_rules! traits {
    (result same) => { $crate::launch::ResultDtype::Same };
    (result real) => { $crate::launch::ResultDtype::Real };
    (result truth) => { $crate::launch::ResultDtype::Truth };
    (role comparing $($kind:ident)*) => { $crate::launch::Role::Compared };
    (role $kind:ident parameter $($rest:ident)*) => { $crate::launch::Role::Parameters };
    (role $kind:ident $($rest:ident)+) => { $crate::ops::pointwise::op::traits!(role $($rest)+) };
    (role $kind:ident) => { $crate::launch::Role::Promoted };
    (masked masked) => { true };
    (masked $($flag:ident)?) => { false };
    (role masked $($kind:ident)*) => { $crate::launch::Role::Parameters };
    (checked masked $($kind:ident)*) => { false };
    (checked dividing $($kind:ident)*) => { true };
    (checked $kind:ident parameter $($rest:ident)*) => { true };
    (checked $kind:ident $($rest:ident)+) => { $crate::ops::pointwise::op::traits!(checked $($rest)+) };
    (checked $kind:ident) => { false };
}
pub(crate) use traits;

/// The kernels of an operation: one for each type of its dtypes.
macro_rules! kernels {
    (all $($rest:tt)*) => {
        [
            $crate::ops::pointwise::op::kernel!(u8 $($rest)*), $crate::ops::pointwise::op::kernel!(i8 $($rest)*),
            $crate::ops::pointwise::op::kernel!(i16 $($rest)*), $crate::ops::pointwise::op::kernel!(i32 $($rest)*),
            $crate::ops::pointwise::op::kernel!(i64 $($rest)*), $crate::ops::pointwise::op::kernel!(f32 $($rest)*),
            $crate::ops::pointwise::op::kernel!(f64 $($rest)*), $crate::ops::pointwise::op::kernel!(Bool $($rest)*),
        ]
    };
    (numeric $($rest:tt)*) => {
        [
            $crate::ops::pointwise::op::kernel!(u8 $($rest)*), $crate::ops::pointwise::op::kernel!(i8 $($rest)*),
            $crate::ops::pointwise::op::kernel!(i16 $($rest)*), $crate::ops::pointwise::op::kernel!(i32 $($rest)*),
            $crate::ops::pointwise::op::kernel!(i64 $($rest)*), $crate::ops::pointwise::op::kernel!(f32 $($rest)*),
            $crate::ops::pointwise::op::kernel!(f64 $($rest)*), None,
        ]
    };
    (integral $($rest:tt)*) => {
        [
            $crate::ops::pointwise::op::kernel!(u8 $($rest)*), $crate::ops::pointwise::op::kernel!(i8 $($rest)*),
            $crate::ops::pointwise::op::kernel!(i16 $($rest)*), $crate::ops::pointwise::op::kernel!(i32 $($rest)*),
            $crate::ops::pointwise::op::kernel!(i64 $($rest)*), None, None, $crate::ops::pointwise::op::kernel!(Bool $($rest)*),
        ]
    };
    (moved $result:ident $args:tt kernel $f:ident) => {
        [
            Some($f::<u8>), Some($f::<u8>), Some($f::<i16>), Some($f::<i32>), Some($f::<i64>), Some($f::<i32>), Some($f::<i64>),
            Some($f::<u8>),
        ]
    };
    (in_float64 $($rest:tt)*) => {
        [None, None, None, None, None, None, $crate::ops::pointwise::op::kernel!(f64 $($rest)*), None]
    };
    (float $($rest:tt)*) => {
        [
            None, None, None, None, None, $crate::ops::pointwise::op::kernel!(f32 $($rest)*),
            $crate::ops::pointwise::op::kernel!(f64 $($rest)*), None,
        ]
    };
}
pub(crate) use kernels;

/// The kernel for one type.
macro_rules! kernel {
    ($t:ident $result:ident $args:tt kernel $f:ident) => { Some($f::<$t>) };
    ($t:ident $result:ident [$($arg:ident $kind:ident)*] $($form:tt)*) => {
        Some(|work, _numbers| {
            #[allow(dead_code)]
            type T = $t;
            let mut _next = 0;
            $($crate::ops::pointwise::op::bind!($arg $kind _numbers _next);)*
            $crate::ops::pointwise::op::call!(work $result $($form)*)
        })
    };
}
pub(crate) use kernel;

/// Binds an argument that is a number in the kernel.
macro_rules! bind {
    ($arg:ident number $numbers:ident $next:ident) => {
        let $arg: T = $numbers.rounded($next);
        $next += 1;
    };
    ($arg:ident factor $numbers:ident $next:ident) => {
        let $arg: T = $numbers.exact($next);
        $next += 1;
    };
    ($arg:ident parameter $numbers:ident $next:ident) => {
        let $arg: T = $numbers.exact($next);
        $next += 1;
    };
    ($arg:ident $tensor:ident $numbers:ident $next:ident) => {};
}
pub(crate) use bind;

/// The loop of a kernel.
macro_rules! call {
    ($work:ident $result:ident |$isa:pat_param, $a:ident| $f:expr $(; $($bits:tt)*)?) => {
        $crate::cpu::map::map1::<T, $crate::ops::pointwise::op::result_type!($result)>(
            $work,
            #[inline(always)]
            move |$isa, $a| ($f).into(),
        )
    };
    ($work:ident $result:ident |$isa:pat_param, $a:ident, $b:ident| $f:expr $(; $($bits:tt)*)?) => {
        $crate::cpu::map::map2::<T, T, $crate::ops::pointwise::op::result_type!($result)>(
            $work,
            #[inline(always)]
            move |$isa, $a, $b| ($f).into(),
        )
    };
    ($work:ident $result:ident compact |$isa:pat_param, $a:ident| $f:expr) => {
        $crate::cpu::map::map1_of::<T, $crate::ops::pointwise::op::result_type!($result), true>(
            $work,
            #[inline(always)]
            move |$isa, $a| ($f).into(),
        )
    };
    ($work:ident $result:ident compact |$isa:pat_param, $a:ident, $b:ident| $f:expr) => {
        $crate::cpu::map::map2_of::<T, T, $crate::ops::pointwise::op::result_type!($result), false, true>(
            $work,
            #[inline(always)]
            move |$isa, $a, $b| ($f).into(),
        )
    };
    ($work:ident $result:ident compact |$isa:pat_param, $a:ident, $b:ident, $c:ident| $f:expr) => {
        $crate::cpu::map::map3_of::<T, T, T, $crate::ops::pointwise::op::result_type!($result), true>(
            $work,
            #[inline(always)]
            move |$isa, $a, $b, $c| ($f).into(),
        )
    };
    ($work:ident $result:ident transposed |$isa:pat_param, $a:ident, $b:ident| $f:expr) => {
        $crate::cpu::map::map2_transposed::<T, T, $crate::ops::pointwise::op::result_type!($result)>(
            $work,
            #[inline(always)]
            move |$isa, $a, $b| ($f).into(),
        )
    };
    ($work:ident $result:ident |$isa:pat_param, $a:ident, $b:ident, $c:ident| $f:expr) => {
        $crate::cpu::map::map3::<T, T, T, $crate::ops::pointwise::op::result_type!($result)>(
            $work,
            #[inline(always)]
            move |$isa, $a, $b, $c| ($f).into(),
        )
    };
    ($work:ident $result:ident plain |$isa:pat_param, $a:ident| $f:expr) => {
        $crate::cpu::map::map1_run::<T>(
            $work,
            #[inline(always)]
            move |$isa, r, a, n| {
                for i in 0..n {
                    // SAFETY: each operand has `n` elements.
                    let $a = unsafe { a.add(i).read() };
                    let y = $f;
                    // SAFETY: the result has `n` elements.
                    unsafe { r.add(i).write(y) }
                }
            },
        )
    };
    ($work:ident $result:ident plain |$isa:pat_param, $a:ident, $b:ident| $f:expr) => {
        $crate::cpu::map::map2_run::<T>(
            $work,
            #[inline(always)]
            move |$isa, r, [a, b], n| {
                for i in 0..n {
                    // SAFETY: each operand has `n` elements.
                    let ($a, $b) = unsafe { (a.add(i).read(), b.add(i).read()) };
                    let y = $f;
                    // SAFETY: the result has `n` elements.
                    unsafe { r.add(i).write(y) }
                }
            },
        )
    };
    ($work:ident $result:ident vectorized $run:ident) => {
        $crate::cpu::map::map1_run::<T>(
            $work,
            #[inline(always)]
            // SAFETY: each operand has `n` elements.
            move |isa, r, a, n| unsafe { <T as $crate::cpu::real::Real>::$run(isa, r, a, n) },
        )
    };
    ($work:ident $result:ident slow_path(|$isa:ident, $a:ident| $fast:expr, $rare:expr, $slow:expr)) => {
        $crate::cpu::map::map1_rare::<T, T>(
            $work,
            #[inline(always)]
            move |$isa, $a| $fast,
            #[inline(always)]
            move |$isa, $a| $rare,
            #[inline(always)]
            move |$isa, $a| $slow,
        )
    };
    ($work:ident $result:ident slow_path(|$isa:ident, $a:ident, $b:ident| $fast:expr, $rare:expr, $slow:expr)) => {
        $crate::cpu::map::map2_rare::<T, T, T>(
            $work,
            #[inline(always)]
            move |$isa, $a, $b| $fast,
            #[inline(always)]
            move |$isa, $a, $b| $rare,
            #[inline(always)]
            move |$isa, $a, $b| $slow,
        )
    };
}
pub(crate) use call;

/// The compute type of a result.
macro_rules! result_type {
    (truth) => {
        $crate::dtype::Bool
    };
    ($same_or_real:ident) => {
        T
    };
}
pub(crate) use result_type;

/// The kernel over the bits of 16-bit floats, if the definition has one.
macro_rules! bits {
    (moved kernel $f:ident) => {
        Some($f::<i16>)
    };
    ($set:ident |$isa:pat_param, $($x:ident),*| $f:expr; bits $kernel:ident) => {
        Some($kernel)
    };
    ($($other:tt)*) => {
        None
    };
}
pub(crate) use bits;

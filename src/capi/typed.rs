//! The typed face: `THFloatTensor_*` and its kin for ten element types, made of the same rows as `THTensor_*`.
//!
//! It is not part of the library yet; `scripts/typed.sh` compiles it (`--features typed`) and says how large it is. A row belongs to it if all
//! of its arguments have a meaning there: the dtype of what is made is the face's own, lists of sizes are storages of longs, and what only
//! the dynamic API has (other dtypes, memory formats, lists of handles, pointers) leaves the row out.

use super::args::Kind;
use super::row::{Face, Row, invoke, keep_error};
use super::word::{FromWord, ToWord, Word};
use crate::dtype::Dtype;
use crate::error::{Error, Kind as Failure, Result};
use crate::storage::{Storage, THStorage};
use crate::tensor::{THTensor, Tensor};

/// A number as the functions of one element type take it: TH's `real`.
pub trait Real {
    /// Returns the number as the core takes it: a double, or the bits of an int64 for integers.
    fn to_core(self) -> Word;
    /// Converts a number that the core returned, a double.
    fn from_core(word: Word) -> Self;
}

macro_rules! reals {
    ($($t:ty: |$x:ident| $word:expr, |$back:ident| $real:expr;)*) => { $(
        impl Real for $t {
            #[inline(always)]
            fn to_core(self) -> Word { let $x = self; ToWord::word($word) }
            #[inline(always)]
            fn from_core(word: Word) -> $t { let $back: f64 = FromWord::from_word(word); $real }
        }
    )* };
}

reals! {
    u8: |x| i64::from(x), |x| x as u8;
    i8: |x| i64::from(x), |x| x as i8;
    i16: |x| i64::from(x), |x| x as i16;
    i32: |x| i64::from(x), |x| x as i32;
    i64: |x| x, |x| x as i64;
    f32: |x| f64::from(x), |x| x as f32;
    f64: |x| x, |x| x;
    bool: |x| i64::from(x), |x| x != 0.0;
    THHalf: |x| ::half::f16::from_bits(x.x).to_f64(), |x| THHalf { x: ::half::f16::from_f64(x).to_bits() };
    THBFloat16: |x| ::half::bf16::from_bits(x.x).to_f64(), |x| THBFloat16 { x: ::half::bf16::from_f64(x).to_bits() };
}

/// TH's 16-bit float.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct THHalf {
    /// Its bits.
    pub x: u16,
}

/// The upper half of a float.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct THBFloat16 {
    /// Its bits.
    pub x: u16,
}

/// [`invoke`] for tensors and storages that must have the element type of the function.
#[inline(never)]
fn invoke_typed(row: &'static Row, face: &'static Face, dtype: Dtype, words: &[Word]) -> Word {
    match check(row, dtype, words) {
        Ok(()) => invoke(row, face, words),
        Err(error) => keep_error(row, face, words, &error),
    }
}

/// Fails where a tensor or storage has another element type. NULL is refused by what is called then.
fn check(row: &Row, dtype: Dtype, words: &[Word]) -> Result<()> {
    for (kind, &word) in row.signature.kinds.iter().zip(words) {
        let has = match kind {
            Kind::out | Kind::optional_out | Kind::inout | Kind::input | Kind::optional_input => {
                // SAFETY: the caller passes live handles or NULL; the word stays the caller's.
                unsafe { (&raw const word).cast::<Option<Tensor>>().as_ref() }.and_then(Option::as_ref).and_then(Tensor::dtype)
            }
            Kind::storage | Kind::storage_input => {
                // SAFETY: as above.
                unsafe { (&raw const word).cast::<Option<Storage>>().as_ref() }.and_then(Option::as_ref).map(Storage::dtype)
            }
            _ => None,
        };
        if let Some(has) = has.filter(|&has| has != dtype) {
            return Err(Error::new(Failure::Dtype, format_args!("a tensor of {has} where {dtype} is expected")));
        }
    }
    Ok(())
}

/// Storages of longs as the core takes lists: how many entries each has, and where they are. -1 stands for NULL; where a storage is not of
/// longs, or the second one has another length, a length that every function refuses.
fn longs(first: *mut THStorage, second: *mut THStorage) -> [Word; 3] {
    const WRONG: i32 = i32::MIN;
    // SAFETY: the caller passes live storages or NULL.
    let (list, other) = unsafe { (first.as_ref(), second.as_ref()) };
    let of_longs = [list, other].iter().flatten().all(|list| list.dtype == Dtype::Int64 as u8);
    let len = match list {
        _ if !of_longs => WRONG,
        None => -1,
        Some(list) if other.is_some_and(|other| other.size != list.size) => WRONG,
        Some(list) => i32::try_from(list.size).unwrap_or(WRONG),
    };
    let data = |list: Option<&THStorage>| list.map_or(std::ptr::null_mut(), |list| list.data).word();
    [len.word(), data(list), data(other)]
}

/// The functions of rows for one element type, `[prefix, Tensor, real, accreal, dtype]`; the statics of the rows are in `$area`.
macro_rules! typed {
    ($type:tt $area:path; $(
        $(#[doc = $doc:literal])* $name:ident $(as $c_name:literal)? ($($arg:ident: $kind:ident),* $(,)?) $(-> $ret:ident)? = $body:expr;
    )*) => {
        #[allow(unused_imports, reason = "no row of a list may have a typed form")]
        use $area as area;
        $( typed_row! { $type $name ($crate::capi::row::c_name!($name $($c_name)?)) [$($ret)?] [] [] $($arg $kind)* } )*
    };
    // Elementwise operations: tensors before numbers.
    ($type:tt $area:path; elementwise; $(
        $(#[doc = $doc:literal])* $name:ident($($arg:ident: $kind:ident),* $(,)?) { $($definition:tt)* }
    )*) => {
        use $area as area;
        $( typed_row! { @sort $type $name [$([$arg $kind])*] [] [] $($arg $kind)* } )*
    };
}

/// The function of one row: its arguments are taken one by one into `[parameters] [words]`.
macro_rules! typed_row {
    // Numbers of elementwise operations go behind tensors: parameters stay in order, words do not.
    (@sort $type:tt $name:ident $args:tt [$($t:expr,)*] [$($n:expr,)*] $arg:ident number $($rest:ident)*) => {
        typed_row! { @sort $type $name $args [$($t,)*] [$($n,)* Real::to_core($arg),] $($rest)* }
    };
    (@sort $type:tt $name:ident $args:tt [$($t:expr,)*] [$($n:expr,)*] $arg:ident factor $($rest:ident)*) => {
        typed_row! { @sort $type $name $args [$($t,)*] [$($n,)* Real::to_core($arg),] $($rest)* }
    };
    (@sort $type:tt $name:ident $args:tt [$($t:expr,)*] [$($n:expr,)*] $arg:ident parameter $($rest:ident)*) => {
        typed_row! { @sort $type $name $args [$($t,)*] [$($n,)* Real::to_core($arg),] $($rest)* }
    };
    (@sort $type:tt $name:ident $args:tt [$($t:expr,)*] [$($n:expr,)*] $arg:ident $kind:ident $($rest:ident)*) => {
        typed_row! { @sort $type $name $args [$($t,)* ToWord::word($arg),] [$($n,)*] $($rest)* }
    };
    (@sort $type:tt $name:ident [$([$arg:ident $kind:ident])*] [$($t:expr,)*] [$($n:expr,)*]) => {
        typed_row! { @function $type $name (stringify!($name)) [] [$($arg: typed_type!($type $kind),)*] [$($t,)* $($n,)*] }
    };

    // The face knows the dtype of what is made.
    ($type:tt $name:ident $c:tt $ret:tt [$($p:tt)*] [$($w:expr,)*] $arg:ident dtype $($rest:ident)*) => {
        typed_row! { $type $name $c $ret [$($p)*] [$($w,)* typed_type!(@dtype $type).code().word(),] $($rest)* }
    };
    // Lists are storages of longs.
    ($type:tt $name:ident $c:tt $ret:tt [$($p:tt)*] [$($w:expr,)*] $len:ident len $a:ident sizes $b:ident optional_sizes $($rest:ident)*) => {
        typed_row! { $type $name $c $ret [$($p)* $a: *mut THStorage, $b: *mut THStorage,] [$($w,)* longs($a, $b)[0], longs($a, $b)[1], longs($a, $b)[2],] $($rest)* }
    };
    ($type:tt $name:ident $c:tt $ret:tt [$($p:tt)*] [$($w:expr,)*] $len:ident len_or_whole $a:ident sizes $b:ident optional_sizes $($rest:ident)*) => {
        typed_row! { $type $name $c $ret [$($p)* $a: *mut THStorage, $b: *mut THStorage,] [$($w,)* longs($a, $b)[0], longs($a, $b)[1], longs($a, $b)[2],] $($rest)* }
    };
    ($type:tt $name:ident $c:tt $ret:tt [$($p:tt)*] [$($w:expr,)*] $len:ident len $a:ident sizes $b:ident sizes $($rest:ident)*) => {
        typed_row! { $type $name $c $ret [$($p)* $a: *mut THStorage, $b: *mut THStorage,] [$($w,)* longs($a, $b)[0], longs($a, $b)[1], longs($a, $b)[2],] $($rest)* }
    };
    ($type:tt $name:ident $c:tt $ret:tt [$($p:tt)*] [$($w:expr,)*] $len:ident len $a:ident sizes $($rest:ident)*) => {
        typed_row! { $type $name $c $ret [$($p)* $a: *mut THStorage,] [$($w,)* longs($a, std::ptr::null_mut())[0], longs($a, std::ptr::null_mut())[1],] $($rest)* }
    };
    // Elements, and what is as in the dynamic API.
    ($type:tt $name:ident $c:tt $ret:tt [$($p:tt)*] [$($w:expr,)*] $arg:ident number $($rest:ident)*) => {
        typed_row! { $type $name $c $ret [$($p)* $arg: typed_type!($type number),] [$($w,)* Real::to_core($arg),] $($rest)* }
    };
    ($type:tt $name:ident $c:tt $ret:tt [$($p:tt)*] [$($w:expr,)*] $arg:ident factor $($rest:ident)*) => {
        typed_row! { $type $name $c $ret [$($p)* $arg: typed_type!($type factor),] [$($w,)* Real::to_core($arg),] $($rest)* }
    };
    ($type:tt $name:ident $c:tt $ret:tt [$($p:tt)*] [$($w:expr,)*] $arg:ident $kind:ident $($rest:ident)*) => {
        typed_row! { @kind $kind $type $name $c $ret [$($p)*] [$($w,)*] $arg $($rest)* }
    };
    ($type:tt $name:ident $c:tt $ret:tt $p:tt $w:tt) => {
        typed_row! { @function $type $name $c $ret $p $w }
    };

    // These kinds of arguments exist in the dynamic API only.
    (@kind other_dtype $($row:tt)*) => {};
    (@kind optional_dtype $($row:tt)*) => {};
    (@kind memory_format $($row:tt)*) => {};
    (@kind handles $($row:tt)*) => {};
    (@kind optional_handles $($row:tt)*) => {};
    (@kind handles_out $($row:tt)*) => {};
    (@kind memory $($row:tt)*) => {};
    (@kind memory_input $($row:tt)*) => {};
    (@kind apply_function $($row:tt)*) => {};
    (@kind map_function $($row:tt)*) => {};
    (@kind map2_function $($row:tt)*) => {};
    (@kind text $($row:tt)*) => {};
    (@kind allocator $($row:tt)*) => {};
    (@kind $kind:ident $type:tt $name:ident $c:tt $ret:tt [$($p:tt)*] [$($w:expr,)*] $arg:ident $($rest:ident)*) => {
        typed_row! { $type $name $c $ret [$($p)* $arg: typed_type!($type $kind),] [$($w,)* ToWord::word($arg),] $($rest)* }
    };

    (@function $type:tt $name:ident ($c_name:expr) [$($ret:ident)?] [$($p:tt)*] [$($w:expr,)*]) => {
        #[unsafe(export_name = concat!(typed_type!(@prefix $type), $c_name))]
        #[allow(missing_docs)]
        pub unsafe extern "C" fn $name($($p)*) -> typed_return!($type $($ret)?) {
            let words = [$($w),*];
            let word = invoke_typed(&area::ROWS[area::Index::$name as usize], &super::FACE, typed_type!(@dtype $type), &words);
            typed_return!(@from word $($ret)?)
        }
    };
}

/// The type a kind of argument has for one element type.
macro_rules! typed_type {
    (@prefix [$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident]) => { $prefix };
    (@dtype [$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident]) => { Dtype::$Dtype };
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] out) => { *mut super::$Tensor };
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] optional_out) => { *mut super::$Tensor };
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] inout) => { *mut super::$Tensor };
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] input) => { *mut super::$Tensor };
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] optional_input) => { *mut super::$Tensor };
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] number) => { $real };
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] factor) => { $real };
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] parameter) => { $real };
    ($type:tt $kind:ident) => { $crate::capi::args::c_type!($kind) };
}

/// The type returned for one element type.
macro_rules! typed_return {
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] new) => { *mut super::$Tensor };
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] number) => { $real };
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] accumulated) => { $accreal };
    ($type:tt $($ret:ident)?) => { $crate::capi::args::return_type!($($ret)?) };
    (@from $word:ident number) => { Real::from_core($word) };
    (@from $word:ident accumulated) => { Real::from_core($word) };
    (@from $word:ident $($ret:ident)?) => { FromWord::from_word($word) };
}

/// A module for each element type, and in it one for each list of rows.
macro_rules! types {
    ($($(#[$doc:meta])* $module:ident $type:tt $Tensor:ident $integers:literal $prefix:literal;)*) => { $(
        $(#[$doc])*
        pub mod $module {
            use super::*;
            /// A tensor of this element type.
            #[repr(transparent)]
            pub struct $Tensor(THTensor);
            static FACE: Face = Face { prefix: $prefix, integers: $integers };
            tensor_areas! { types @areas $type }
            elementwise_areas! { types @elementwise $type }
        }
    )* };
    (@areas $type:tt $($module:ident: $rows:ident $area:path;)*) => { $(
        #[doc = concat!("The rows of `", stringify!($rows), "`.")]
        pub mod $module {
            #[allow(unused_imports)]
            use crate::capi::args::c_types::*;
            #[allow(unused_imports)]
            use super::*;
            $rows!(typed $type $area;);
        }
    )* };
    (@elementwise $type:tt $($module:ident: $ops:ident $rows:ident;)*) => { $(
        #[doc = concat!("The rows of `", stringify!($rows), "`.")]
        pub mod $module {
            use super::*;
            use crate::ops::pointwise::$ops::$rows;
            $rows!(typed $type crate::capi::pointwise::$module; elementwise;);
        }
    )* };
}

types! {
    /// `THByteTensor_*`
    byte ["THByteTensor_" THByteTensor u8 i64 Uint8] THByteTensor true "THByteTensor_";
    /// `THCharTensor_*`
    char ["THCharTensor_" THCharTensor i8 i64 Int8] THCharTensor true "THCharTensor_";
    /// `THShortTensor_*`
    short ["THShortTensor_" THShortTensor i16 i64 Int16] THShortTensor true "THShortTensor_";
    /// `THIntTensor_*`
    int ["THIntTensor_" THIntTensor i32 i64 Int32] THIntTensor true "THIntTensor_";
    /// `THLongTensor_*`
    long ["THLongTensor_" THLongTensor i64 i64 Int64] THLongTensor true "THLongTensor_";
    /// `THHalfTensor_*`
    half ["THHalfTensor_" THHalfTensor THHalf f32 Float16] THHalfTensor false "THHalfTensor_";
    /// `THBFloat16Tensor_*`
    bfloat16 ["THBFloat16Tensor_" THBFloat16Tensor THBFloat16 f32 Bfloat16] THBFloat16Tensor false "THBFloat16Tensor_";
    /// `THFloatTensor_*`
    float ["THFloatTensor_" THFloatTensor f32 f64 Float32] THFloatTensor false "THFloatTensor_";
    /// `THDoubleTensor_*`
    double ["THDoubleTensor_" THDoubleTensor f64 f64 Float64] THDoubleTensor false "THDoubleTensor_";
    /// `THBoolTensor_*`
    bool_ ["THBoolTensor_" THBoolTensor bool i64 Bool] THBoolTensor true "THBoolTensor_";
}

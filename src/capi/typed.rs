//! The typed face: `THFloatTensor_*` and its kin for ten element types, made of the same rows as `THTensor_*`.
//!
//! It is not part of the library yet; `scripts/typed.sh` compiles it (`--features typed`) and says how large it is. A row belongs to it if
//! all of its arguments have a meaning there, which `face::args::Class` says: the dtype of what is made is the face's own, lists of sizes
//! are storages of longs, indices are `THLongTensor`, masks `THByteTensor`, and what only the dynamic API has (other dtypes, memory
//! formats, lists of handles, pointers) leaves the row out.

use super::face::args::{Class, class};
use super::face::row::{Face, Row, invoke, keep_error};
use super::face::word::{FromWord, ToWord, Word};
use crate::dtype::Dtype;
use crate::error::{Error, Kind as Failure, Result};
use crate::ops::pointwise::arithmetic::arithmetic_rows;
use crate::ops::pointwise::bits::bits_rows;
use crate::ops::pointwise::compare::compare_rows;
use crate::ops::pointwise::divide::divide_rows;
use crate::ops::pointwise::function::function_rows;
use crate::ops::pointwise::gradient::gradient_rows;
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
        let expected = match kind.class() {
            Class::tensor | Class::storage => dtype,
            Class::long => Dtype::Int64,
            Class::int => Dtype::Int32,
            Class::byte => Dtype::Uint8,
            _ => continue,
        };
        let has = if kind.class() == Class::storage {
            // SAFETY: the caller passes live handles or NULL; the word stays the caller's.
            unsafe { (&raw const word).cast::<Option<Storage>>().as_ref() }.and_then(Option::as_ref).map(Storage::dtype)
        } else {
            // SAFETY: as above.
            unsafe { (&raw const word).cast::<Option<Tensor>>().as_ref() }.and_then(Option::as_ref).and_then(Tensor::dtype)
        };
        if let Some(has) = has.filter(|&has| has != expected) {
            return Err(Error::new(Failure::Dtype, format_args!("a tensor of {has} where {expected} is expected")));
        }
    }
    Ok(())
}

/// The length of lists that are storages of longs; -1 if all are NULL. Where a storage is not of longs, or two lengths differ, a length
/// that every function refuses.
fn list_length(lists: &[*mut THStorage]) -> Word {
    const WRONG: i32 = i32::MIN;
    // SAFETY: the caller passes live storages or NULL.
    let mut storages = lists.iter().filter_map(|list| unsafe { list.as_ref() });
    let Some(first) = storages.next() else { return (-1).word() };
    let fits = |list: &THStorage| list.dtype == Dtype::Int64 as u8 && list.size == first.size;
    let right = fits(first) && storages.all(fits);
    i32::try_from(first.size).ok().filter(|_| right).unwrap_or(WRONG).word()
}

/// The entries of a list that is a storage of longs; NULL for NULL.
fn list_data(list: *mut THStorage) -> Word {
    // SAFETY: the caller passes a live storage or NULL.
    unsafe { list.as_ref() }.map_or(Word::ZERO, |list| list.data.word())
}

/// The functions of rows for one element type, `[prefix, Tensor, real, accreal, dtype]`; the statics of the rows are in `$area`.
macro_rules! typed {
    ($type:tt $area:path; $(
        $(#[doc = $doc:literal])* $name:ident $(as $c_name:literal)? ($($arg:ident: $kind:ident),* $(,)?) $(-> $ret:ident)? = $body:expr;
    )*) => {
        #[allow(unused_imports, reason = "no row of a list may have a typed form")]
        use $area as area;
        $( typed_row! {
            @classify in_order [$type $name ($crate::capi::face::row::c_name!($name $($c_name)?)) [$($ret)?]] [] [] $($arg $kind)*
        } )*
    };
    ($type:tt $area:path; $(
        $(#[doc = $doc:literal])* $name:ident($($arg:ident: $kind:ident),* $(,)?) { $($definition:tt)* }
    )*) => {
        use $area as area;
        $( typed_row! { @classify tensors_first [$type $name (stringify!($name)) []] [] [] $($arg $kind)* } )*
    };
}

/// The function of one row. Each argument gets its class; then the arguments are taken one by one into `[parameters] [words] [numbers]`, of
/// which an elementwise operation has its numbers last.
macro_rules! typed_row {
    (@classify $order:ident $row:tt $done:tt $lists:tt $arg:ident $kind:ident $($rest:ident)*) => {
        class! { $kind; typed_row! @class_of $order $row $done $lists $arg $kind $($rest)* }
    };
    (@classify $order:ident $row:tt [$($done:tt)*] $lists:tt) => {
        typed_row! { @take $order $row $lists [] [] [] $($done)* }
    };
    (dynamic @class_of $($rest:tt)*) => {};
    (list @class_of $order:ident $row:tt [$($done:tt)*] [$($lists:ident)*] $arg:ident $kind:ident $($rest:ident)*) => {
        typed_row! { @classify $order $row [$($done)* [$arg $kind list]] [$($lists)* $arg] $($rest)* }
    };
    ($class:ident @class_of $order:ident $row:tt [$($done:tt)*] $lists:tt $arg:ident $kind:ident $($rest:ident)*) => {
        typed_row! { @classify $order $row [$($done)* [$arg $kind $class]] $lists $($rest)* }
    };

    (@take $order:ident [$type:tt $($row:tt)*] $lists:tt [$($p:tt)*] [$($w:expr,)*] $n:tt [$arg:ident $kind:ident dtype] $($rest:tt)*) => {
        typed_row! { @take $order [$type $($row)*] $lists [$($p)*] [$($w,)* typed_type!(@dtype $type).code().word(),] $n $($rest)* }
    };
    (@take $order:ident $row:tt [$($list:ident)*] $p:tt [$($w:expr,)*] $n:tt [$arg:ident $kind:ident len] $($rest:tt)*) => {
        typed_row! { @take $order $row [$($list)*] $p [$($w,)* list_length(&[$($list),*]),] $n $($rest)* }
    };
    (@take $order:ident $row:tt $lists:tt [$($p:tt)*] [$($w:expr,)*] $n:tt [$arg:ident $kind:ident list] $($rest:tt)*) => {
        typed_row! { @take $order $row $lists [$($p)* $arg: *mut THStorage,] [$($w,)* list_data($arg),] $n $($rest)* }
    };
    (@take in_order [$type:tt $($row:tt)*] $lists:tt [$($p:tt)*] [$($w:expr,)*] $n:tt [$arg:ident $kind:ident real] $($rest:tt)*) => {
        typed_row! {
            @take in_order [$type $($row)*] $lists [$($p)* $arg: typed_type!($type real $kind),] [$($w,)* Real::to_core($arg),] $n $($rest)*
        }
    };
    (@take tensors_first [$type:tt $($row:tt)*] $lists:tt [$($p:tt)*] $w:tt [$($n:expr,)*] [$arg:ident $kind:ident real] $($rest:tt)*) => {
        typed_row! {
            @take tensors_first [$type $($row)*] $lists [$($p)* $arg: typed_type!($type real $kind),] $w [$($n,)* Real::to_core($arg),]
            $($rest)*
        }
    };
    (@take $order:ident [$type:tt $($row:tt)*] $lists:tt [$($p:tt)*] [$($w:expr,)*] $n:tt
        [$arg:ident $kind:ident $class:ident] $($rest:tt)*) => {
        typed_row! {
            @take $order [$type $($row)*] $lists [$($p)* $arg: typed_type!($type $class $kind),] [$($w,)* ToWord::word($arg),] $n $($rest)*
        }
    };
    (@take $order:ident [$type:tt $name:ident ($c_name:expr) [$($ret:ident)?]] $lists:tt [$($p:tt)*] [$($w:expr,)*] [$($n:expr,)*]) => {
        #[unsafe(export_name = concat!(typed_type!(@prefix $type), $c_name))]
        #[allow(missing_docs)]
        pub unsafe extern "C" fn $name($($p)*) -> typed_return!($type $($ret)?) {
            let words = [$($w,)* $($n),*];
            let word = invoke_typed(&area::rows::$name::ROW, &super::FACE, typed_type!(@dtype $type), &words);
            typed_return!(@from word $($ret)?)
        }
    };
}

/// The type that an argument of a class has for one element type.
macro_rules! typed_type {
    (@prefix [$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident]) => { $prefix };
    (@dtype [$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident]) => { Dtype::$Dtype };
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] tensor $kind:ident) => { *mut super::$Tensor };
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] real $kind:ident) => { $real };
    ($type:tt long $kind:ident) => { *mut $crate::capi::typed::long::THLongTensor };
    ($type:tt int $kind:ident) => { *mut $crate::capi::typed::int::THIntTensor };
    ($type:tt byte $kind:ident) => { *mut $crate::capi::typed::byte::THByteTensor };
    ($type:tt $class:ident $kind:ident) => { $crate::capi::face::args::c_type!($kind) };
}

/// The type returned for one element type.
macro_rules! typed_return {
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] new) => { *mut super::$Tensor };
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] number) => { $real };
    ([$prefix:literal $Tensor:ident $real:ident $accreal:ident $Dtype:ident] accumulated) => { $accreal };
    ($type:tt $($ret:ident)?) => { $crate::capi::face::returns::return_type!($($ret)?) };
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
            areas! { types @areas $type }
        }
    )* };
    (@areas $type:tt $($chapter:literal: $module:ident $rows:ident $area:path;)* others $($others:tt)*) => { $(
        #[doc = concat!("The rows of `", stringify!($rows), "`.")]
        pub mod $module {
            #[allow(unused_imports)]
            use crate::capi::face::args::c_types::*;
            #[allow(unused_imports)]
            use super::*;
            $rows!(typed $type $area;);
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

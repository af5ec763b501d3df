//! Words: the representation of arguments and returned values in calls from C.

use super::callbacks::{THGradFunction, THGradHook, THGradRule, THOptimClosure};
use super::sparse::{Sparse, THSTensor};
use crate::alloc::{THDeleter, THMemoryHook};
use crate::driver::THCudaCallback;
use crate::files::{THReadFunction, THSeekFunction};
use crate::ops::pointwise::apply::{THApplyFunction, THMap2Function, THMapFunction};
use crate::ops::systems::THProgressFunction;
use crate::storage::{Storage, THStorage};
use crate::tensor::{THTensor, Tensor};
use std::ffi::{c_char, c_int};
use std::ptr::{null_mut, without_provenance_mut};

/// An argument or a returned value of a C function: a pointer, an integer, or the bits of a double.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Word(*mut ());

const _: () = assert!(size_of::<Word>() == 8, "a word holds a double");

// SAFETY: a word is only a number. The body of a function converts it to a pointer.
unsafe impl Sync for Word {}
// SAFETY: as for `Sync`.
unsafe impl Send for Word {}

impl Word {
    /// NULL, 0, 0.0 and TH_OK.
    pub const ZERO: Word = Word(null_mut());

    /// Returns the word with these bits.
    #[inline(always)]
    pub const fn from_bits(bits: u64) -> Word {
        Word(without_provenance_mut(bits as usize))
    }

    /// Returns the bits of the word.
    #[inline(always)]
    pub fn bits(self) -> u64 {
        self.0.addr() as u64
    }

    /// Returns true if the word is NULL.
    #[inline(always)]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

/// Converts a C type to a word.
pub trait ToWord {
    fn word(self) -> Word;
}

/// Converts a word to a C type.
pub trait FromWord {
    fn from_word(word: Word) -> Self;
}

/// A value that the body of a function may return if its C function returns a `C`.
pub trait Gives<C> {
    fn given(self) -> Word;
}

impl<C: ToWord> Gives<C> for C {
    fn given(self) -> Word {
        self.word()
    }
}

impl Gives<c_int> for bool {
    fn given(self) -> Word {
        c_int::from(self).word()
    }
}

impl Gives<*mut THTensor> for Tensor {
    fn given(self) -> Word {
        self.into_raw().word()
    }
}

impl Gives<*mut THTensor> for Option<Tensor> {
    fn given(self) -> Word {
        self.map_or(Word::ZERO, |t| t.into_raw().word())
    }
}

impl Gives<*mut THSTensor> for Sparse {
    fn given(self) -> Word {
        self.into_raw().word()
    }
}

impl Gives<*mut THStorage> for Storage {
    fn given(self) -> Word {
        self.into_raw().word()
    }
}

macro_rules! bit_words {
    ($($t:ty: |$x:ident| $bits:expr, |$w:ident| $back:expr;)*) => { $(
        impl ToWord for $t {
            #[inline(always)]
            fn word(self) -> Word { let $x = self; Word::from_bits($bits) }
        }
        impl FromWord for $t {
            #[inline(always)]
            fn from_word(word: Word) -> $t { let $w = word.bits(); $back }
        }
    )* };
}

bit_words! {
    i32: |x| x as u64, |w| w as i32;
    i64: |x| x as u64, |w| w as i64;
    isize: |x| x as u64, |w| w as isize;
    usize: |x| x as u64, |w| w as usize;
    u64: |x| x, |w| w;
    f64: |x| x.to_bits(), |w| f64::from_bits(w);
    c_char: |x| x as u64, |w| w as c_char;
    (): |_x| 0, |_w| ();
}

impl<T> ToWord for *mut T {
    #[inline(always)]
    fn word(self) -> Word {
        Word(self.cast())
    }
}

impl<T> FromWord for *mut T {
    #[inline(always)]
    fn from_word(word: Word) -> *mut T {
        word.0.cast()
    }
}

impl<T> ToWord for *const T {
    #[inline(always)]
    fn word(self) -> Word {
        Word(self.cast_mut().cast())
    }
}

impl<T> FromWord for *const T {
    #[inline(always)]
    fn from_word(word: Word) -> *const T {
        word.0.cast_const().cast()
    }
}

/// Functions of the caller.
macro_rules! function_words {
    ($($t:ident)*) => { $(
        impl ToWord for $t {
            #[inline(always)]
            fn word(self) -> Word { Word(self.map_or(null_mut(), |f| f as *mut ())) }
        }
        impl FromWord for $t {
            #[inline(always)]
            fn from_word(word: Word) -> $t {
                // SAFETY: an optional function is a nullable pointer, and the word was made from this type.
                unsafe { std::mem::transmute::<*mut (), $t>(word.0) }
            }
        }
    )* };
}
function_words!(THGradHook THGradRule THGradFunction THOptimClosure THDeleter THMemoryHook THCudaCallback);
function_words!(THApplyFunction THMapFunction THMap2Function THReadFunction THSeekFunction THProgressFunction);

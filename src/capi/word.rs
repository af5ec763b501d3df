//! What crosses the boundary of C: words.

use crate::alloc::{THDeleter, THMemoryHook};
use crate::ops::pointwise::apply::{THApplyFunction, THMap2Function, THMapFunction};
use crate::scalar::Scalar;
use crate::storage::Storage;
use crate::tensor::Tensor;
use std::ffi::c_char;

/// An argument or a returned value as it crosses the boundary: a pointer, the bits of a double, or an integer.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Word(pub u64);

impl Word {
    /// NULL, 0 or 0.0.
    #[cfg(test)]
    pub const ZERO: Word = Word(0);
}

/// A C type, or what the body of a row gives, as a word.
pub trait ToWord {
    fn word(self) -> Word;
}

/// A word as a C type.
pub trait FromWord {
    fn from_word(word: Word) -> Self;
}

macro_rules! words {
    ($($t:ty: |$x:ident| $word:expr, |$w:ident| $back:expr;)*) => { $(
        impl ToWord for $t {
            #[inline(always)]
            fn word(self) -> Word { let $x = self; Word($word) }
        }
        impl FromWord for $t {
            #[inline(always)]
            fn from_word(Word($w): Word) -> $t { $back }
        }
    )* };
}

words! {
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
        Word(self as usize as u64)
    }
}

impl<T> FromWord for *mut T {
    #[inline(always)]
    fn from_word(Word(w): Word) -> *mut T {
        w as usize as *mut T
    }
}

impl<T> ToWord for *const T {
    #[inline(always)]
    fn word(self) -> Word {
        Word(self as usize as u64)
    }
}

impl<T> FromWord for *const T {
    #[inline(always)]
    fn from_word(Word(w): Word) -> *const T {
        w as usize as *const T
    }
}

/// Functions of the caller.
macro_rules! function_words {
    ($($t:ident)*) => { $(
        impl ToWord for $t {
            #[inline(always)]
            fn word(self) -> Word { Word(self.map_or(0, |f| f as usize as u64)) }
        }
        impl FromWord for $t {
            #[inline(always)]
            fn from_word(Word(w): Word) -> $t {
                // SAFETY: an optional function is a pointer that may be NULL, and the word was one of this type.
                unsafe { std::mem::transmute::<usize, $t>(w as usize) }
            }
        }
    )* };
}
function_words!(THDeleter THMemoryHook THApplyFunction THMapFunction THMap2Function);

impl ToWord for bool {
    fn word(self) -> Word {
        Word(self.into())
    }
}

impl ToWord for Scalar {
    fn word(self) -> Word {
        self.to_f64().word()
    }
}

impl ToWord for Tensor {
    fn word(self) -> Word {
        self.into_raw().word()
    }
}

impl ToWord for Storage {
    fn word(self) -> Word {
        self.into_raw().word()
    }
}

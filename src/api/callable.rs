//! Functions of the table as functions of fused expressions.

use super::args::Kind;
use super::function::Function;
use super::returns::Return;
use super::word::{ToWord, Word};
use crate::error::{Result, bail};
use crate::ops::fused::{Argument, Callable};
use crate::tensor::Tensor;
use std::ffi::c_int;

/// Returns true if an argument of this kind is a number, false if it is a tensor, and `None` for kinds that expressions do not support.
fn is_number(kind: Kind) -> Option<bool> {
    match kind {
        Kind::input | Kind::mask | Kind::optional_input => Some(false),
        Kind::number | Kind::factor | Kind::parameter | Kind::double => Some(true),
        Kind::flag | Kind::int | Kind::div_mode | Kind::count | Kind::integer => Some(true),
        _ => None,
    }
}

/// Returns a number as the word of an argument of this kind.
fn number_word(kind: Kind, x: f64) -> Result<Word> {
    let whole = || match c_int::try_from(x as i64) {
        Ok(whole) if f64::from(whole) == x => Ok(whole),
        _ => bail!(Argument, "{x} is no integer of 32 bits"),
    };
    Ok(match kind {
        Kind::number | Kind::factor | Kind::parameter | Kind::double => x.word(),
        Kind::count | Kind::integer => i64::from(whole()?).word(),
        _ => whole()?.word(),
    })
}

impl Function {
    /// Returns the positions in the signature of the arguments after the result, in the order of the C function.
    fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let count = self.signature.kinds.len();
        let first_number = count - self.numbers.count_ones() as usize;
        (1..count).map(move |k| {
            let before = (self.numbers & ((1 << k) - 1)).count_ones() as usize;
            match self.numbers >> k & 1 {
                1 => first_number + before,
                _ => k - before,
            }
        })
    }

    fn is_callable(&self) -> bool {
        let result = matches!(self.signature.kinds.first(), Some(Kind::out | Kind::truth));
        result && self.returns == Return::status && self.signature.kinds[1..].iter().all(|&kind| is_number(kind).is_some())
    }
}

impl Callable for Function {
    fn name(&self) -> &'static str {
        self.signature.name()
    }

    fn takes(&self, numbers: &[bool]) -> bool {
        let wanted = self.places().map(|k| is_number(self.signature.kinds[k]));
        self.is_callable() && wanted.eq(numbers.iter().map(|&number| Some(number)))
    }

    fn shown(&self) -> Option<String> {
        let arguments: Vec<&str> = self.places().map(|k| self.signature.arg(k)).collect();
        self.is_callable().then(|| format!("{}({})", self.signature.name(), arguments.join(", ")))
    }

    fn call(&'static self, r: &Tensor, arguments: &[Argument<'_>]) -> Result<()> {
        const MOST: usize = 8;
        let mut words = [Word::ZERO; MOST];
        words[0] = r.as_ptr().word();
        for (place, argument) in self.places().zip(arguments) {
            words[place] = match argument {
                Argument::Tensor(t) => t.as_ptr().word(),
                &Argument::Number(x) => number_word(self.signature.kinds[place], x)?,
            };
        }
        self.run(&words[..self.signature.kinds.len()]).map(|_| ())
    }
}

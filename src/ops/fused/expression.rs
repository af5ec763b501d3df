//! A parser that reads the text of an expression into a list of calls.
//!
//! ```text
//! program    = { name "=" value ";" } value [ ";" ]
//! value      = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
//! sum        = product { ( "+" | "-" ) product }
//! product    = negative { ( "*" | "/" ) negative }
//! negative   = "-" negative | power
//! power      = operand [ ( "**" | "^" ) negative ]
//! operand    = number | name | name "(" value { "," value } ")" | "(" value ")"
//! ```

use super::callable::Callable;
use crate::error::{Result, bail};
use crate::launch::fused::MOST_INPUTS;
use std::ffi::CString;

/// The limit of nested brackets, signs and powers. Each nesting level uses stack.
const MOST_DEPTH: usize = 100;
/// The largest number of calls. A kernel of this size takes seconds to compile.
const MOST_CALLS: usize = 1024;

/// Operators, their precedence, and their calls for two tensors, for a tensor and a number, and for a number and a tensor.
static OPERATORS: &[(&str, usize, [&str; 3])] = &[
    ("**", POWER, ["cpow a b", "pow a b", "tpow a b"]),
    ("==", COMPARISON, ["eqTensor a b", "eqValue a b", "eqValue b a"]),
    ("!=", COMPARISON, ["neTensor a b", "neValue a b", "neValue b a"]),
    ("<=", COMPARISON, ["leTensor a b", "leValue a b", "geValue b a"]),
    (">=", COMPARISON, ["geTensor a b", "geValue a b", "leValue b a"]),
    ("<", COMPARISON, ["ltTensor a b", "ltValue a b", "gtValue b a"]),
    (">", COMPARISON, ["gtTensor a b", "gtValue a b", "ltValue b a"]),
    ("+", SUM, ["cadd a 1 b", "add a b", "add b a"]),
    ("-", SUM, ["csub a 1 b", "sub a b", "rsub b a"]),
    ("*", PRODUCT, ["cmul a b", "mul a b", "mul b a"]),
    ("/", PRODUCT, ["cdiv a b", "div a b", "rdiv b a"]),
    ("^", POWER, ["cpow a b", "pow a b", "tpow a b"]),
];
const COMPARISON: usize = 1;
const SUM: usize = 2;
const PRODUCT: usize = 3;
const POWER: usize = 4;

/// A value of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Term {
    /// A number.
    Number(f64),
    /// The input with this index.
    Input(usize),
    /// The result of the call with this index.
    Call(usize),
}

/// A call of a function.
pub struct Call {
    /// The function.
    pub function: &'static dyn Callable,
    /// The arguments after the result.
    pub arguments: Vec<Term>,
    /// The column of the name or operator, from 1.
    pub column: usize,
}

/// An expression that was parsed.
pub struct Expression {
    /// The names of the inputs, in the order in which they first appear.
    pub inputs: Vec<CString>,
    /// The calls. A call follows the calls whose results it uses.
    pub calls: Vec<Call>,
    /// The value of the whole expression. It is not a number.
    pub result: Term,
}

/// Finds the function with a name.
pub type Find<'a> = &'a dyn Fn(&str) -> Option<&'static dyn Callable>;

/// Reads an expression.
pub fn read(text: &str, find: Find<'_>) -> Result<Expression> {
    let mut reader = Reader { text, at: 0, depth: 0, find, inputs: Vec::new(), defined: Vec::new(), calls: Vec::new() };
    let result = reader.program()?;
    let Reader { inputs, calls, .. } = reader;
    let inputs = inputs.into_iter().map(|name| CString::new(name).unwrap_or_default()).collect();
    Ok(Expression { inputs, calls, result })
}

/// A name to which a statement assigns a value.
struct Definition<'a> {
    name: &'a str,
    value: Term,
    at: usize,
    read: bool,
}

struct Reader<'a> {
    text: &'a str,
    /// The byte offset at which parsing continues.
    at: usize,
    depth: usize,
    find: Find<'a>,
    inputs: Vec<&'a str>,
    defined: Vec<Definition<'a>>,
    calls: Vec<Call>,
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

impl<'a> Reader<'a> {
    /// The column of a byte offset, in characters from 1.
    fn column(&self, at: usize) -> usize {
        self.text[..at].chars().count() + 1
    }

    fn fail<T>(&self, at: usize, what: std::fmt::Arguments<'_>) -> Result<T> {
        bail!(Argument, "column {}: {what}", self.column(at))
    }

    /// The next token, for a message.
    fn next_shown(&self) -> String {
        match self.rest().chars().next() {
            None => "the end".to_owned(),
            Some(c) if is_name(c) => {
                let word: String = self.rest().chars().take_while(|&c| is_name(c) || c == '.').take(40).collect();
                format!("'{word}'")
            }
            Some(c) => format!("'{c}'"),
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Skips `sign` if it is next, and returns true if it was.
    fn take(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
            self.skip_spaces();
        }
        found
    }

    /// Returns the name that is next, and its offset, and skips it.
    fn take_name(&mut self) -> Option<(&'a str, usize)> {
        let (rest, at) = (self.rest(), self.at);
        let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return None;
        }
        self.at += name.len();
        self.skip_spaces();
        Some((name, at))
    }

    fn program(&mut self) -> Result<Term> {
        self.skip_spaces();
        loop {
            let begin = self.at;
            if let Some((name, at)) = self.take_name()
                && self.rest().starts_with('=')
                && !self.rest().starts_with("==")
            {
                self.take("=");
                self.define(name, at)?;
                continue;
            }
            self.at = begin;
            let result = self.value(0)?;
            self.take(";");
            if !self.rest().is_empty() {
                return self.fail(self.at, format_args!("expected an operator or the end, got {}", self.next_shown()));
            }
            if let Some(unread) = self.defined.iter().find(|definition| !definition.read) {
                return self.fail(unread.at, format_args!("'{}' is not used", unread.name));
            }
            return match result {
                Term::Number(_) => self.fail(begin, format_args!("the result is a number, expected one that depends on an input")),
                result => Ok(result),
            };
        }
    }

    /// Parses the value of a statement and the semicolon.
    fn define(&mut self, name: &'a str, at: usize) -> Result<()> {
        if self.inputs.contains(&name) {
            return self.fail(at, format_args!("'{name}' is an input already"));
        }
        if self.defined.iter().any(|other| other.name == name) {
            return self.fail(at, format_args!("'{name}' has a value already"));
        }
        let value = self.value(0)?;
        if !self.take(";") {
            return self.fail(self.at, format_args!("expected an operator or ';', got {}", self.next_shown()));
        }
        self.defined.push(Definition { name, value, at, read: false });
        Ok(())
    }

    /// Counts the nesting depth while `read` runs.
    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Result<Term>) -> Result<Term> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return self.fail(self.at, format_args!("more than {MOST_DEPTH} brackets, signs and powers inside each other"));
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    /// The operator that is next.
    fn operator(&self) -> Option<&'static (&'static str, usize, [&'static str; 3])> {
        OPERATORS.iter().find(|(sign, ..)| self.rest().starts_with(sign))
    }

    /// Parses a value whose operators have a precedence above `least`.
    fn value(&mut self, least: usize) -> Result<Term> {
        let mut left = self.signed()?;
        let mut compared = false;
        while let Some((sign, binds, calls)) = self.operator().filter(|(_, binds, _)| *binds > least) {
            let at = self.at;
            if *binds == COMPARISON && std::mem::replace(&mut compared, true) {
                return self.fail(at, format_args!("comparisons do not follow each other, expected brackets around one"));
            }
            self.take(sign);
            // A power is right-associative, and its exponent may have a sign.
            let right = match *binds {
                POWER => self.deeper(|reader| reader.value(POWER - 1))?,
                binds => self.value(binds)?,
            };
            left = self.combine(sign, calls, at, left, right)?;
        }
        Ok(left)
    }

    /// Parses an operand, or a value with a sign. A sign has lower precedence than a power.
    fn signed(&mut self) -> Result<Term> {
        let at = self.at;
        if !self.take("-") {
            return self.operand();
        }
        match self.deeper(|reader| reader.value(PRODUCT))? {
            Term::Number(x) => Ok(Term::Number(-x)),
            value => self.call("neg", at, vec![value]),
        }
    }

    fn operand(&mut self) -> Result<Term> {
        let at = self.at;
        if self.rest().starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.number();
        }
        if self.take("(") {
            let value = self.deeper(|reader| reader.value(0))?;
            if !self.take(")") {
                return self.fail(self.at, format_args!("expected an operator or ')', got {}", self.next_shown()));
            }
            return Ok(value);
        }
        let Some((name, at)) = self.take_name() else {
            return self.fail(at, format_args!("expected a number, a name or '(', got {}", self.next_shown()));
        };
        if self.take("(") {
            let mut arguments = Vec::new();
            loop {
                let argument = self.deeper(|reader| reader.value(0))?;
                arguments.push(argument);
                if self.take(")") {
                    return self.call(name, at, arguments);
                }
                if !self.take(",") {
                    return self.fail(self.at, format_args!("expected an operator, ',' or ')', got {}", self.next_shown()));
                }
            }
        }
        if let Some(definition) = self.defined.iter_mut().find(|definition| definition.name == name) {
            definition.read = true;
            return Ok(definition.value);
        }
        let known = self.inputs.iter().position(|&input| input == name);
        let k = match known {
            Some(k) => k,
            None if self.inputs.len() == MOST_INPUTS => {
                return self.fail(at, format_args!("'{name}' is one input too many, expected at most {MOST_INPUTS}"));
            }
            None => {
                self.inputs.push(name);
                self.inputs.len() - 1
            }
        };
        Ok(Term::Input(k))
    }

    fn number(&mut self) -> Result<Term> {
        let (rest, at) = (self.rest(), self.at);
        let digits = |from: usize| from + rest[from..].bytes().take_while(u8::is_ascii_digit).count();
        let mut end = digits(0);
        if rest[end..].starts_with('.') {
            end = digits(end + 1);
        }
        if rest[end..].starts_with(['e', 'E']) {
            let sign = end + 1 + usize::from(rest[end + 1..].starts_with(['+', '-']));
            if digits(sign) > sign {
                end = digits(sign);
            }
        }
        let decimal = || rest[..end].parse().ok().map(|number| (number, end));
        match super::hexadecimal::read(rest).or_else(decimal) {
            Some((number, end)) if !rest[end..].starts_with(|c| is_name(c) || c == '.') => {
                self.at += end;
                self.skip_spaces();
                Ok(Term::Number(number))
            }
            _ => self.fail(at, format_args!("expected a number, got {}", self.next_shown())),
        }
    }

    /// The value of an operator. Two numbers give a number.
    fn combine(&mut self, sign: &str, calls: &[&'static str; 3], at: usize, a: Term, b: Term) -> Result<Term> {
        let form = match (a, b) {
            (Term::Number(a), Term::Number(b)) => {
                return match sign {
                    "+" => Ok(Term::Number(a + b)),
                    "-" => Ok(Term::Number(a - b)),
                    "*" => Ok(Term::Number(a * b)),
                    "/" => Ok(Term::Number(a / b)),
                    "**" | "^" => Ok(Term::Number(a.powf(b))),
                    _ => self.fail(at, format_args!("'{sign}' compares two numbers, expected an input on one side")),
                };
            }
            (_, Term::Number(_)) => calls[1],
            (Term::Number(_), _) => calls[2],
            _ => calls[0],
        };
        let mut words = form.split(' ');
        let name = words.next().unwrap_or_default();
        let arguments = words.map(|word| match word {
            "a" => a,
            "b" => b,
            number => Term::Number(number.parse().unwrap_or(1.0)),
        });
        let arguments = arguments.collect();
        self.call(name, at, arguments)
    }

    fn call(&mut self, name: &str, at: usize, arguments: Vec<Term>) -> Result<Term> {
        if self.calls.len() == MOST_CALLS {
            return self.fail(at, format_args!("more than {MOST_CALLS} operations"));
        }
        let numbers: Vec<bool> = arguments.iter().map(|argument| matches!(argument, Term::Number(_))).collect();
        let forms = forms(name, self.find);
        let Some(&function) = forms.iter().find(|function| function.takes(&numbers)) else {
            return self.no_function(name, at, &forms);
        };
        self.calls.push(Call { function, arguments, column: self.column(at) });
        Ok(Term::Call(self.calls.len() - 1))
    }

    fn no_function<T>(&self, name: &str, at: usize, forms: &[&'static dyn Callable]) -> Result<T> {
        let shown: Vec<String> = forms.iter().filter_map(|form| form.shown()).collect();
        match shown.len() {
            0 => self.fail(at, format_args!("'{name}' is no elementwise function of THTensor_*")),
            _ => self.fail(at, format_args!("the arguments do not fit, expected {}", shown.join(" or "))),
        }
    }
}

/// The functions that a name may mean: the function of this name, and its forms, which have another ending or the prefix `c` or `t`.
fn forms(name: &str, find: Find<'_>) -> Vec<&'static dyn Callable> {
    let with = |head: &str| {
        let tails = ["", "Value", "Tensor", "ValueTensor", "Values"];
        tails.iter().filter_map(|tail| find(&format!("{head}{name}{tail}"))).collect::<Vec<_>>()
    };
    let (mut forms, mut of_tensors) = (with(""), with("c"));
    if find(name).is_some() {
        forms.append(&mut of_tensors);
        forms.append(&mut with("t"));
    } else if of_tensors.len() > 1 {
        // A single match is another function: `os` does not mean `cos`.
        forms.append(&mut of_tensors);
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::fused::callable::Argument;
    use crate::tensor::Tensor;

    /// A function of some tensors followed by some numbers: its name and the two counts.
    struct Known(&'static str, usize, usize);

    impl Callable for Known {
        fn name(&self) -> &'static str {
            self.0
        }
        fn takes(&self, numbers: &[bool]) -> bool {
            numbers.len() == self.1 + self.2 && numbers.iter().enumerate().all(|(k, &number)| number == (k >= self.1))
        }
        fn shown(&self) -> Option<String> {
            Some(format!("{}({}, {})", self.0, self.1, self.2))
        }
        fn call(&'static self, _: &Tensor, _: &[Argument<'_>]) -> Result<()> {
            Ok(())
        }
    }

    static KNOWN: &[Known] = &[
        Known("add", 1, 1),
        Known("cmul", 2, 0),
        Known("mul", 1, 1),
        Known("pow", 1, 1),
        Known("cpow", 2, 0),
        Known("neg", 1, 0),
        Known("ltTensor", 2, 0),
        Known("cos", 1, 0),
        Known("cmax", 2, 0),
        Known("cmaxValue", 1, 1),
    ];

    fn find(name: &str) -> Option<&'static dyn Callable> {
        KNOWN.iter().find(|known| known.0 == name).map(|known| known as &dyn Callable)
    }

    fn shown(expression: &Expression, term: Term) -> String {
        match term {
            Term::Number(x) => x.to_string(),
            Term::Input(k) => expression.inputs[k].to_string_lossy().into_owned(),
            Term::Call(k) => {
                let call = &expression.calls[k];
                let arguments: Vec<String> = call.arguments.iter().map(|&argument| shown(expression, argument)).collect();
                format!("{}({})", call.function.name(), arguments.join(" "))
            }
        }
    }

    fn tree(text: &str) -> String {
        match read(text, &find) {
            Ok(expression) => shown(&expression, expression.result),
            Err(error) => error.message().to_owned(),
        }
    }

    #[test]
    fn operators_bind_as_in_mathematics() {
        assert_eq!(tree("a*b + 2"), "add(cmul(a b) 2)");
        assert_eq!(tree("-a^2 * 3"), "mul(neg(pow(a 2)) 3)");
        assert_eq!(tree("a ** b ** -c"), "cpow(a cpow(b neg(c)))");
        assert_eq!(tree("2*(1 - 3)*a"), "mul(a -4)");
        assert_eq!(tree("a*b < c*d"), "ltTensor(cmul(a b) cmul(c d))");
        assert_eq!(tree("t = a*b; t*t;"), "cmul(cmul(a b) cmul(a b))");
        assert_eq!(tree("a * 0x1.8p3 + 0xap-1*2"), "add(mul(a 12) 10)");
        assert_eq!(tree("max(a, .5e1) * max(a, cos(b))"), "cmul(cmaxValue(a 5) cmax(a cos(b)))");
    }

    #[test]
    fn errors_name_the_column_and_what_was_expected() {
        assert_eq!(tree("a +"), "column 4: expected a number, a name or '(', got the end");
        assert_eq!(tree("(a * b"), "column 7: expected an operator or ')', got the end");
        assert_eq!(tree("a b"), "column 3: expected an operator or the end, got 'b'");
        assert_eq!(tree("\u{e4} + 1"), "column 1: expected a number, a name or '(', got '\u{e4}'");
        assert_eq!(tree("a * 1.2.3"), "column 5: expected a number, got '1.2.3'");
        assert_eq!(tree("a * 0x1.8p"), "column 5: expected a number, got '0x1.8p'");
        assert_eq!(tree("a * os(a)"), "column 5: 'os' is no elementwise function of THTensor_*");
        assert_eq!(tree("pow(a)"), "column 1: the arguments do not fit, expected pow(1, 1) or cpow(2, 0)");
        assert_eq!(tree("a < b < c"), "column 7: comparisons do not follow each other, expected brackets around one");
        assert_eq!(tree("1 + 2"), "column 1: the result is a number, expected one that depends on an input");
        assert_eq!(tree("t = a; b * 2"), "column 1: 't' is not used");
        assert_eq!(tree("a = b; a * (a = 2)"), "column 15: expected an operator or ')', got '='");
        assert_eq!(tree(""), "column 1: expected a number, a name or '(', got the end");
    }

    #[test]
    fn hostile_texts_are_refused() {
        let deep = |open: &str| tree(&open.repeat(100_000));
        for open in ["(", "-", "a**", "cos(", "(-"] {
            assert!(deep(open).contains("more than 100 brackets, signs and powers inside each other"), "{open}");
        }
        assert!(deep("a*").contains("more than 1024 operations"));
        let names: String = (0..40).map(|k| format!("x{k} * ")).collect();
        assert_eq!(tree(&names), "column 177: 'x31' is one input too many, expected at most 31");
    }
}

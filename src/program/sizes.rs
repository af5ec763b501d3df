//! Symbolic sizes: expressions of symbols, parsed from the text of a file.
//!
//! PyTorch writes an expression as SymPy prints it, `2*s0 + 1`, or as SymPy represents it, `Add(Mul(Integer(2), Symbol('s0')),
//! Integer(1))`.

/// An expression of integers.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    Number(i64),
    /// The symbol with this name.
    Symbol(Box<str>),
    Call(Function, Vec<Expression>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Function {
    Add,
    Multiply,
    Power,
    FloorDivide,
    Modulo,
    Max,
    Min,
    CeilDivide,
}

/// The names of functions in the text of an expression.
const FUNCTIONS: &[(&str, Function)] = &[
    ("Add", Function::Add),
    ("Mul", Function::Multiply),
    ("Pow", Function::Power),
    ("FloorDiv", Function::FloorDivide),
    ("CleanDiv", Function::FloorDivide),
    ("CeilDiv", Function::CeilDivide),
    ("Mod", Function::Modulo),
    ("PythonMod", Function::Modulo),
    ("Max", Function::Max),
    ("Min", Function::Min),
];

/// The limit of nested brackets, which use stack.
const MOST_DEPTH: usize = 50;

/// The values of symbols.
#[derive(Default)]
pub struct Symbols(Vec<(Box<str>, i64)>);

impl Symbols {
    /// Returns the value of a symbol.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.0.iter().find(|(known, _)| **known == *name).map(|&(_, value)| value)
    }

    /// Gives a symbol a value.
    pub fn set(&mut self, name: &str, value: i64) {
        match self.0.iter_mut().find(|(known, _)| **known == *name) {
            Some(place) => place.1 = value,
            None => self.0.push((name.into(), value)),
        }
    }

    /// Returns all symbols and their values.
    pub fn all(&self) -> &[(Box<str>, i64)] {
        &self.0
    }

    fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| **known != *name);
    }
}

/// Parses the text of an expression. `None` for functions that are unknown here.
pub fn parse(text: &str) -> Option<Expression> {
    let mut parser = Parser { rest: text.trim(), depth: 0 };
    let expression = parser.sum()?;
    parser.rest.is_empty().then_some(expression)
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn take(&mut self, sign: &str) -> bool {
        let found = self.rest.strip_prefix(sign);
        if let Some(rest) = found {
            self.rest = rest.trim_start();
        }
        found.is_some()
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        self.rest = self.rest[end..].trim_start();
        word
    }

    fn sum(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return None;
        }
        let mut terms = vec![self.product()?];
        loop {
            if self.take("+") {
                terms.push(self.product()?);
            } else if self.take("-") {
                terms.push(Expression::Call(Function::Multiply, vec![Expression::Number(-1), self.product()?]));
            } else {
                break;
            }
        }
        self.depth -= 1;
        Some(if terms.len() == 1 { terms.remove(0) } else { Expression::Call(Function::Add, terms) })
    }

    fn product(&mut self) -> Option<Expression> {
        let mut left = self.power()?;
        loop {
            if self.rest.starts_with("**") {
                return Some(left);
            }
            let function = if self.take("//") {
                Function::FloorDivide
            } else if self.take("*") {
                Function::Multiply
            } else if self.take("%") {
                Function::Modulo
            } else {
                return Some(left);
            };
            left = Expression::Call(function, vec![left, self.power()?]);
        }
    }

    fn power(&mut self) -> Option<Expression> {
        if self.take("-") {
            return Some(Expression::Call(Function::Multiply, vec![Expression::Number(-1), self.power()?]));
        }
        let base = self.operand()?;
        if !self.take("**") {
            return Some(base);
        }
        Some(Expression::Call(Function::Power, vec![base, self.operand()?]))
    }

    fn operand(&mut self) -> Option<Expression> {
        if self.take("(") {
            let inner = self.sum()?;
            return self.take(")").then_some(inner);
        }
        let word = self.word();
        if word.is_empty() {
            return None;
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return word.parse().ok().map(Expression::Number);
        }
        if !self.take("(") {
            return Some(Expression::Symbol(word.into()));
        }
        match word {
            "Integer" => {
                let sign = if self.take("-") { -1 } else { 1 };
                let number: i64 = self.word().parse().ok()?;
                self.take(")").then_some(Expression::Number(sign * number))
            }
            "Symbol" => {
                if !self.take("'") {
                    return None;
                }
                let name = self.word();
                if !self.take("'") {
                    return None;
                }
                // Assumptions, such as `positive=True`, follow.
                let (_, rest) = self.rest.split_once(')')?;
                self.rest = rest.trim_start();
                Some(Expression::Symbol(name.into()))
            }
            _ => {
                let function = FUNCTIONS.iter().find(|(name, _)| *name == word)?.1;
                let mut arguments = vec![self.sum()?];
                while self.take(",") {
                    arguments.push(self.sum()?);
                }
                let takes_any = matches!(function, Function::Add | Function::Multiply | Function::Max | Function::Min);
                (self.take(")") && (takes_any || arguments.len() == 2)).then_some(Expression::Call(function, arguments))
            }
        }
    }
}

impl Expression {
    /// Returns the value. `None` if a symbol has no value, or if a result exceeds 64 bits.
    pub fn value(&self, symbols: &Symbols) -> Option<i64> {
        let (function, arguments) = match self {
            Expression::Number(number) => return Some(*number),
            Expression::Symbol(name) => return symbols.get(name),
            Expression::Call(function, arguments) => (*function, arguments),
        };
        let mut values = arguments.iter().map(|argument| argument.value(symbols));
        let first = values.next()??;
        values.try_fold(first, |a, b| {
            let b = b?;
            match function {
                Function::Add => a.checked_add(b),
                Function::Multiply => a.checked_mul(b),
                Function::Power => a.checked_pow(b.try_into().ok()?),
                Function::FloorDivide => floor_divide(a, b),
                Function::CeilDivide => floor_divide(a.checked_neg()?, b)?.checked_neg(),
                Function::Modulo => a.checked_sub(floor_divide(a, b)?.checked_mul(b)?),
                Function::Max => Some(a.max(b)),
                Function::Min => Some(a.min(b)),
            }
        })
    }

    /// Gives a symbol without a value the value for which this expression is `size`, if there is one such symbol and the expression is
    /// linear in it. Returns false if no integer fits.
    pub fn solve(&self, size: i64, symbols: &mut Symbols) -> bool {
        let mut unknown = Vec::new();
        self.collect(symbols, &mut unknown);
        let [name] = &unknown[..] else { return true };
        let mut at = |x: i64| {
            symbols.set(name, x);
            self.value(symbols)
        };
        let solution = match (at(0), at(1), at(2)) {
            (Some(zero), Some(one), Some(two)) if one - zero == two - one && one != zero => {
                let (rest, slope) = (size - zero, one - zero);
                Some(rest / slope).filter(|_| rest % slope == 0)
            }
            _ => {
                symbols.remove(name);
                return true;
            }
        };
        match solution {
            Some(x) => symbols.set(name, x),
            None => symbols.remove(name),
        };
        solution.is_some()
    }

    /// Appends the names of symbols without a value, each once.
    fn collect(&self, symbols: &Symbols, unknown: &mut Vec<Box<str>>) {
        match self {
            Expression::Number(_) => {}
            Expression::Symbol(name) => {
                if symbols.get(name).is_none() && !unknown.contains(name) {
                    unknown.push(name.clone());
                }
            }
            Expression::Call(_, arguments) => arguments.iter().for_each(|argument| argument.collect(symbols, unknown)),
        }
    }
}

/// Returns the largest integer that is not larger than the quotient, as Python's `//`. `None` for a divisor of 0.
pub fn floor_divide(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// Returns an expression as Python writes it: `2*s0 + 1`.
pub fn text(expression: &Expression) -> String {
    let (function, arguments) = match expression {
        Expression::Number(number) => return number.to_string(),
        Expression::Symbol(name) => return name.to_string(),
        Expression::Call(function, arguments) => (*function, arguments),
    };
    let list = |separator: &str| arguments.iter().map(text).collect::<Vec<_>>().join(separator);
    let operands = |separator: &str| {
        let operand = |argument: &Expression| match argument {
            Expression::Call(Function::Add | Function::FloorDivide | Function::Modulo | Function::Multiply, _) => {
                format!("({})", text(argument))
            }
            _ => text(argument),
        };
        arguments.iter().map(operand).collect::<Vec<_>>().join(separator)
    };
    match function {
        Function::Add => list(" + "),
        Function::Multiply => operands("*"),
        Function::Power => operands("**"),
        Function::FloorDivide => operands("//"),
        Function::Modulo => operands(" % "),
        Function::CeilDivide => format!("ceil({})", operands(" / ")),
        Function::Max => format!("max({})", list(", ")),
        Function::Min => format!("min({})", list(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<i64> {
        let symbols = Symbols(vec![("s0".into(), 7), ("s1".into(), 3)]);
        parse(text)?.value(&symbols)
    }

    #[test]
    fn both_forms_of_expressions_have_values() {
        assert_eq!(value("s0"), Some(7));
        assert_eq!(value("2*s0 + 1"), Some(15));
        assert_eq!(value("s0//2 - -s1"), Some(6));
        assert_eq!(value("(s0 - 1)**2"), Some(36));
        assert_eq!(value("-s0//2"), Some(-4));
        assert_eq!(value("Mod(s0, s1) + Max(1, s0, s1)"), Some(8));
        assert_eq!(value("Add(Mul(Integer(-2), Symbol('s0', positive=True, integer=True)), Integer(1))"), Some(-13));
        assert_eq!(value("CeilDiv(s0, 2)"), Some(4));
    }

    #[test]
    fn texts_that_are_no_expressions_are_refused() {
        for text in ["", "s0 +", "Foo(s0)", "(s0", "Mod(s0)", "99999999999999999999", "s0 s1", "Symbol('s0'"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&"(".repeat(100_000)), None);
        assert_eq!(value("s2"), None);
        assert_eq!(value("s0//0"), None);
        assert_eq!(value("9223372036854775807 + s0"), None);
    }

    #[test]
    fn linear_expressions_are_solved() {
        let solved = |text: &str, size: i64| {
            let mut symbols = Symbols::default();
            let fits = parse(text).unwrap().solve(size, &mut symbols);
            (fits, symbols.get("s0"))
        };
        assert_eq!(solved("2*s0 + 1", 9), (true, Some(4)));
        assert_eq!(solved("2*s0", 9), (false, None));
        // Other expressions give their symbol no value.
        assert_eq!(solved("s0*s0", 9), (true, None));
        assert_eq!(solved("s0 + s1", 9), (true, None));
    }

    #[test]
    fn expressions_are_written_as_in_python() {
        for (given, expected) in [
            ("Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), Integer(1))", "2*s0 + 1"),
            ("FloorDiv(Add(Symbol('s0'), Integer(-1)), Integer(2))", "(s0 + -1)//2"),
            ("Max(1, s0*(s1 + 2))", "max(1, s0*(s1 + 2))"),
        ] {
            assert_eq!(parse(given).map(|expression| text(&expression)).as_deref(), Some(expected));
        }
    }
}

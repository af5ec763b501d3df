//! Translates formulas of elementwise operations to CUDA C. The tokens of a formula are valid in both languages, except `if`, `let` and
//! blocks.

use crate::launch::Formula;

/// The names and kinds of the number arguments.
pub fn numbers_of<'a>(formula: &Formula<'a>) -> Vec<(&'a str, &'a str)> {
    arguments(formula).filter(|(_, kind)| ["number", "factor", "parameter"].contains(kind)).collect()
}

fn arguments<'a>(formula: &Formula<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    formula.arguments.split(';').filter_map(|argument| argument.trim().split_once(' '))
}

/// The text of a struct whose function `run` is the formula. It accepts the operands and a context with the numbers of the call.
pub fn definition(formula: &Formula<'_>) -> String {
    let operands: Vec<&str> = arguments(formula).filter(|(_, kind)| *kind == "input").map(|(name, _)| name).collect();
    let numbers: Vec<&str> = numbers_of(formula).into_iter().map(|(name, _)| name).collect();
    let (names, value) = body(formula.kernel, &operands, &numbers);
    let mut lines = vec!["const Isa isa{};".to_owned()];
    lines.extend(numbers.iter().enumerate().map(|(k, name)| format!("const T {name} = argument<T>(cx.numbers[{k}]);")));
    if let Some((_, bits)) = formula.kernel.split_once("; bits ") {
        lines.push(format!("if (is_16_bits(cx.common)) return T(kernel::{}({}, cx));", bits.trim(), names.join(", ")));
        lines.push(format!("return T({value});"));
    } else {
        lines.push(format!("return {value};"));
    }
    let classes: Vec<String> = (0..names.len()).map(|k| format!("class A{k}")).collect();
    let parameters: Vec<String> = names.iter().enumerate().map(|(k, name)| format!("const A{k}& {name}")).collect();
    let (classes, parameters, lines) = (classes.join(", "), parameters.join(", "), lines.join("\n        "));
    let run = format!("template <class T, {classes}> static DEVICE auto run({parameters}, const Context& cx)");
    format!("struct op_{} {{\n    {run} {{\n        {lines}\n    }}\n}};\n", formula.name)
}

/// The names of the operands in the formula, and the formula in CUDA C.
fn body<'a>(kernel: &'a str, operands: &[&'a str], numbers: &[&str]) -> (Vec<&'a str>, String) {
    let called = |function: &str, last: &str| {
        let mut arguments: Vec<&str> = operands.iter().chain(numbers).copied().collect();
        arguments.extend(Some(last).filter(|last| !last.is_empty()));
        format!("{function}({})", arguments.join(", "))
    };
    let kernel = kernel.trim();
    if let Some(run) = kernel.strip_prefix("vectorized ") {
        return (operands.to_vec(), called(&format!("Real::{}", run.trim().trim_end_matches("_run")), "isa"));
    }
    if let Some(function) = kernel.strip_prefix("kernel ") {
        return (operands.to_vec(), called(&format!("kernel::{}<T>", function.trim()), "cx"));
    }
    // The rest has a closure: `|isa, a, b| formula`. A list has two more, if the formula is only valid for most arguments.
    let (_, closure) = kernel.split_once('|').unwrap_or(("", kernel));
    let (parameters, rest) = closure.split_once('|').unwrap_or(("", closure));
    let tokens = tokens(rest);
    let end = end_of_expression(&tokens);
    let names = parameters.split(',').skip(1).map(str::trim).filter(|name| !name.is_empty()).collect();
    (names, expression(&tokens[..end]))
}

/// Splits a text into identifiers, numbers and signs.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let pairs = ["::", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>"];
        let len = if first.is_ascii_digit() {
            rest.find(|c: char| !word(c) && c != '.').unwrap_or(rest.len())
        } else if word(first) {
            rest.find(|c: char| !word(c)).unwrap_or(rest.len())
        } else if pairs.iter().any(|pair| rest.starts_with(pair)) {
            2
        } else {
            first.len_utf8()
        };
        tokens.push(rest[..len].to_owned());
        rest = rest[len..].trim_start();
    }
    tokens
}

/// The end of the expression at the beginning of the tokens: a comma or semicolon outside brackets, or an unmatched closing bracket.
fn end_of_expression(tokens: &[String]) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" if depth == 0 => return i,
            ")" | "}" | "]" => depth -= 1,
            "," | ";" if depth == 0 => return i,
            _ => {}
        }
    }
    tokens.len()
}

/// The index of the bracket that closes the one at `open`.
fn closing(tokens: &[String], open: usize) -> usize {
    open + 1 + {
        let mut depth = 0;
        let is_end = |token: &String| {
            match token.as_str() {
                "(" | "{" | "[" => depth += 1,
                ")" | "}" | "]" if depth == 0 => return true,
                ")" | "}" | "]" => depth -= 1,
                _ => {}
            }
            false
        };
        tokens[open + 1..].iter().position(is_end).unwrap_or(tokens.len() - open - 1)
    }
}

/// Translates a Rust expression to CUDA C.
fn expression(tokens: &[String]) -> String {
    let mut text = String::new();
    let mut i = 0;
    while i < tokens.len() {
        match tokens[i].as_str() {
            "if" => {
                let then = i + tokens[i..].iter().position(|token| token == "{").unwrap_or(0);
                let otherwise = closing(tokens, then) + 2;
                let end = match tokens.get(otherwise).map(String::as_str) {
                    Some("if") => tokens.len(),
                    _ => closing(tokens, otherwise) + 1,
                };
                let branch =
                    if tokens[otherwise] == "if" { expression(&tokens[otherwise..]) } else { block(&tokens[otherwise + 1..end - 1]) };
                let (condition, yes) = (expression(&tokens[i + 1..then]), block(&tokens[then + 1..otherwise - 2]));
                text.push_str(&format!("(({condition}) ? ({yes}) : ({branch}))"));
                i = end;
            }
            "{" => {
                let end = closing(tokens, i);
                text.push_str(&block(&tokens[i + 1..end]));
                i = end + 1;
            }
            token => {
                let word = |text: &str| text.chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
                let both = word(&text) && token.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
                text.push_str(if both { " " } else { "" });
                text.push_str(token);
                // `and`, `or`, `xor` and `not` are operators in C++, so an underscore is appended.
                text.push_str(if ["and", "or", "xor", "not"].contains(&token) { "_" } else { "" });
                i += 1;
            }
        }
    }
    text
}

/// Translates the inside of a block: optional definitions, then an expression. A definition becomes the parameter of a lambda, which may
/// shadow a name that its value uses.
fn block(tokens: &[String]) -> String {
    let [first, name, _, rest @ ..] = tokens else { return expression(tokens) };
    if first != "let" {
        return expression(tokens);
    }
    let end = end_of_expression(rest);
    let (value, then) = (expression(&rest[..end]), block(rest.get(end + 1..).unwrap_or(&[])));
    format!("[&](const auto {name}) {{ return {then}; }}({value})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kernel: &'static str, arguments: &'static str) -> String {
        let text = definition(&Formula { name: "f", arguments, kernel });
        let (_, text) = text.split_once("isa{};").unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches(" } };").to_owned()
    }

    #[test]
    fn formulas_become_expressions_of_c() {
        assert_eq!(
            of("|_, t| t.neg(); bits neg_bits", "r out; t input"),
            "if (is_16_bits(cx.common)) return T(kernel::neg_bits(t, cx)); return T(t.neg());"
        );
        assert_eq!(of("transposed |_, a, b| a . mul(b)", "r out; a input; b input"), "return a.mul(b);");
        assert_eq!(of("vectorized exp_run", "r out; t input"), "return Real::exp(t, isa);");
        let scaled = of("|_, t| if t > T::ZERO { t } else { t.mul(value) }", "r out; t input; value parameter");
        assert_eq!(scaled, "const T value = argument<T>(cx.numbers[0]); return ((t>T::ZERO) ? (t) : (t.mul(value)));");
        assert_eq!(of("slow_path(|isa, t| Real::sin(t, isa), Real::huge_angle(t, isa), 0)", "r out; t input"), "return Real::sin(t,isa);");
        let blocks = of("|_, t| { let t = if a > t { a } else { t }; if b < t { b } else { t } }", "r out; t input");
        assert_eq!(blocks, "return [&](const auto t) { return ((b<t) ? (b) : (t)); }(((a>t) ? (a) : (t)));");
        assert_eq!(of("kernel power", "r out; t input; value number").rsplit("return ").next(), Some("kernel::power<T>(t, value, cx);"));
    }

    #[test]
    fn definitions_name_their_operands() {
        let text = definition(&Formula { name: "add", arguments: "r out; a input; value number", kernel: "|_, x| x.add(value)" });
        assert!(
            text.starts_with("struct op_add {\n    template <class T, class A0> static DEVICE auto run(const A0& x, const Context& cx) {")
        );
    }
}

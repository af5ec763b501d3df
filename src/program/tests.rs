//! Runs the lines of the table on the operands of tests/data/aten.txt, and compares with PyTorch's results.
//!
//! A line of the file has fields with `|` between them: the operator, its arguments `name=value`, the results, and the arguments that the
//! operator has changed. Values are separated by `; `:
//!
//! ```text
//! t float32 2x3 1 2 3 4 5 6     a tensor, with the elements in row-major order; a 0-d tensor has the sizes `-`
//! T float32 2x3 1 2 3 4 5 6     a tensor whose last two dimensions are transposed in memory
//! random float32 2x3            a result whose elements are not compared
//! int 3; float 1.5; bool 1      numbers; `$int 3` is an input of the graph instead of a constant
//! ints 1,$2; floats 1,2         lists of numbers
//! [t float32 1 5 & none]        a list of tensors
//! text tanh; dtype int64; memory 1; none
//! unused                        a result that the graph does not use
//! fails                         instead of results: the operator is refused
//! ```

use super::aten::{ABSENT, ALIASES, ALL};
use crate::api::word::ToWord;
use crate::dtype::Dtype;
use crate::expr::names;
use crate::program::compile::{Missing, compile};
use crate::program::direct::returned;
use crate::program::fold::Folds;
use crate::program::frame::{Frame, Item};
use crate::program::node::dtype;
use crate::program::table::{Operator, used};
use crate::tensor::Tensor;
use std::collections::BTreeSet;
use thorn_files::program::{Argument, Graph, Meta, Node, Size, Symbolic};

/// Operators that the tests below run, because their arguments are graphs or lists.
const BY_HAND: &[&str] =
    &["_operator.getitem", "_view_of_written", "higher_order.cond", "higher_order.wrap_with_set_grad_enabled", "higher_order.while_loop"];

/// A graph of one operator, and the values of its inputs.
struct Case {
    graph: Graph,
    items: Vec<Item>,
}

fn numbers<T>(text: &str, separator: char, parse: fn(&str) -> T) -> Vec<T> {
    text.split(separator).filter(|word| !word.is_empty()).map(parse).collect()
}

fn float(word: &str) -> f64 {
    word.parse().unwrap_or_else(|_| panic!("{word} is no number"))
}

fn int(word: &str) -> i64 {
    word.parse().unwrap_or_else(|_| panic!("{word} is no integer"))
}

fn scalar_type(name: &str) -> i64 {
    let named = |code: &i64| dtype(*code).is_some_and(|dtype| dtype.name() == name);
    (0..20).find(named).unwrap_or_else(|| panic!("{name} is no dtype"))
}

/// The dtype, the sizes and the elements of the text of a tensor.
fn parts(text: &str) -> (i64, Vec<i64>, &str) {
    let mut words = text.splitn(4, ' ').skip(1);
    let dtype = scalar_type(words.next().unwrap_or_default());
    let sizes = numbers(words.next().unwrap_or_default().trim_matches('-'), 'x', int);
    (dtype, sizes, words.next().unwrap_or_default())
}

fn call(function: &'static crate::api::function::Function, words: &[crate::api::word::Word]) -> Tensor {
    function.run(words).and_then(returned).unwrap_or_else(|error| panic!("{}", error.message()))
}

fn transposed(t: &Tensor) -> Tensor {
    call(&names::newTranspose::FUNCTION, &[t.as_ptr().word(), (-1).word(), (-2).word()])
}

fn tensor(text: &str) -> Tensor {
    let (code, sizes, elements) = parts(text);
    let to = dtype(code).expect("a dtype");
    let whole = !to.is_float();
    let (floats, ints) = if whole { (Vec::new(), numbers(elements, ' ', int)) } else { (numbers(elements, ' ', float), Vec::new()) };
    let (from, data) = if whole { (Dtype::Int64, ints.as_ptr().word()) } else { (Dtype::Float64, floats.as_ptr().word()) };
    assert_eq!(floats.len().max(ints.len()) as i64, sizes.iter().product::<i64>(), "{text}");
    let t = call(&names::newFromData::FUNCTION, &[from.code().word(), (sizes.len() as i32).word(), sizes.as_ptr().word(), data]);
    let t = call(&names::newTo::FUNCTION, &[t.as_ptr().word(), to.code().word()]);
    if text.starts_with('T') { transposed(&call(&names::newClone::FUNCTION, &[transposed(&t).as_ptr().word()])) } else { t }
}

/// The elements of a tensor in row-major order, in the form of the file.
fn elements(t: &Tensor) -> (Vec<f64>, Vec<i64>) {
    let float = t.dtype().is_some_and(Dtype::is_float);
    let to = if float { Dtype::Float64 } else { Dtype::Int64 };
    let wide = call(&names::newTo::FUNCTION, &[t.as_ptr().word(), to.code().word()]);
    let wide = call(&names::newContiguous::FUNCTION, &[wide.as_ptr().word()]);
    let count = wide.layout().map_or(0, |layout| layout.shape.iter().product::<i64>()) as usize;
    if count == 0 {
        return (Vec::new(), Vec::new());
    }
    // SAFETY: the tensor is contiguous, and has `count` elements of 8 bytes on the CPU.
    unsafe {
        if float {
            (std::slice::from_raw_parts(wide.data().cast::<f64>(), count).to_vec(), Vec::new())
        } else {
            (Vec::new(), std::slice::from_raw_parts(wide.data().cast::<i64>(), count).to_vec())
        }
    }
}

impl Case {
    fn input(&mut self, item: Item) -> String {
        let name = format!("v{}", self.items.len());
        self.graph.inputs.push(match item {
            Item::Int(_) => Argument::Int(Symbolic::Name(name.clone())),
            Item::Float(_) => Argument::Float(Symbolic::Name(name.clone())),
            Item::Bool(_) => Argument::Bool(Symbolic::Name(name.clone())),
            _ => Argument::Tensor(name.clone()),
        });
        self.items.push(item);
        name
    }

    fn meta(&mut self, name: &str, text: &str) {
        let (dtype, sizes, _) = parts(text);
        let meta = Meta { dtype, sizes: sizes.into_iter().map(Size::Int).collect(), requires_grad: false };
        self.graph.tensors.push((name.to_owned(), meta));
    }

    fn tensor(&mut self, text: &str) -> String {
        let name = self.input(Item::Tensor(tensor(text)));
        self.meta(&name, text);
        name
    }

    fn symbolic<T>(&mut self, word: &str, parse: fn(&str) -> T, item: fn(T) -> Item) -> Symbolic<T> {
        match word.strip_prefix('$') {
            Some(word) => Symbolic::Name(self.input(item(parse(word)))),
            None => Symbolic::Number(parse(word)),
        }
    }

    fn argument(&mut self, text: &str) -> Argument {
        if let Some(entries) = entries(text) {
            return Argument::Tensors(entries.iter().map(|entry| (*entry != "none").then(|| self.tensor(entry))).collect());
        }
        let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
        match kind {
            "t" | "T" => Argument::Tensor(self.tensor(text)),
            "int" => Argument::Int(Symbolic::Number(int(rest))),
            "$int" => Argument::Int(Symbolic::Name(self.input(Item::Int(int(rest))))),
            "float" => Argument::Float(Symbolic::Number(float(rest))),
            "$float" => Argument::Float(Symbolic::Name(self.input(Item::Float(float(rest))))),
            "bool" => Argument::Bool(Symbolic::Number(rest == "1")),
            "$bool" => Argument::Bool(Symbolic::Name(self.input(Item::Bool(rest == "1")))),
            "ints" => {
                let words: Vec<&str> = rest.split(',').filter(|word| !word.is_empty()).collect();
                Argument::Ints(words.iter().map(|word| self.symbolic(word, int, Item::Int)).collect())
            }
            "floats" => Argument::Floats(numbers(rest, ',', float).into_iter().map(Symbolic::Number).collect()),
            "text" => Argument::Text(rest.to_owned()),
            "dtype" => Argument::Dtype(scalar_type(rest)),
            "memory" => Argument::MemoryFormat(int(rest)),
            "none" => Argument::None,
            _ => panic!("{text} is no argument"),
        }
    }

    /// Adds the properties of result `k`.
    fn describe(&mut self, k: usize, text: &str) {
        match entries(text) {
            Some(entries) => entries.iter().enumerate().for_each(|(i, entry)| self.meta(&format!("w{k}_{i}"), entry)),
            None if text.starts_with("t ") || text.starts_with("random ") => self.meta(&format!("w{k}"), text),
            None => {}
        }
    }

    /// The graph of a line of the file, and the names of its arguments with their inputs.
    fn of(operator: &str, arguments: &str, results: &str) -> Case {
        let graph = Graph { inputs: Vec::new(), outputs: Vec::new(), nodes: Vec::new(), tensors: Vec::new() };
        let mut case = Case { graph, items: Vec::new() };
        let own = ["_operator.", "torch.", "math.", "builtins.", "higher_order."].iter().any(|module| operator.starts_with(module));
        let target = if own { operator.to_owned() } else { format!("torch.ops.aten.{operator}") };
        let mut inputs = Vec::new();
        for argument in split(arguments) {
            let (name, value) = argument.split_once('=').unwrap_or_else(|| panic!("{argument} has no name"));
            inputs.push((name.to_owned(), case.argument(value)));
        }
        let wanted = || split(results).filter(|text| *text != "fails").enumerate();
        wanted().for_each(|(k, text)| case.describe(k, text));
        case.graph.outputs = wanted().filter(|(_, text)| *text != "unused").map(|(k, text)| result(k, text)).collect();
        case.graph.tensors.sort_by(|(a, _), (b, _)| a.cmp(b));
        case.graph.nodes.push(Node { target, inputs, outputs: wanted().map(|(k, text)| result(k, text)).collect(), source: String::new() });
        case
    }

    /// Runs the graph as written, with inputs that stay alive. If `fast`, values are folded, steps are fused, and results reuse inputs.
    fn run(&mut self, fast: bool) -> Result<Vec<Item>, String> {
        let mut missing = Missing::default();
        let text = |error: crate::error::Error| error.message().to_owned();
        let mut folds = Folds::new(&self.graph, Vec::new(), None);
        let code = compile(&self.graph, &[], &mut missing, fast.then_some(&mut folds)).map_err(text)?;
        missing.check().map_err(text)?;
        let mut frame = Frame { slots: code.empty_slots().map_err(text)?, shared: &folds.shared, converted: None, reuses: true };
        for (slot, item) in code.inputs.iter().zip(&mut self.items) {
            if let Some((slot, _)) = slot {
                frame.slots[*slot as usize] = if fast { std::mem::replace(item, Item::None) } else { item.clone() };
            }
        }
        code.run(&mut frame).map_err(text)
    }
}

/// The entries of the text of a list.
fn entries(text: &str) -> Option<Vec<&str>> {
    let list = text.strip_prefix('[')?.strip_suffix(']')?;
    Some(list.split(" & ").filter(|entry| !entry.is_empty()).collect())
}

/// Result `k` of a node.
fn result(k: usize, text: &str) -> Argument {
    let name = format!("w{k}");
    if let Some(entries) = entries(text) {
        return Argument::Tensors((0..entries.len()).map(|i| Some(format!("{name}_{i}"))).collect());
    }
    match text.split(' ').next().unwrap_or_default() {
        "t" | "random" => Argument::Tensor(name),
        "int" => Argument::Int(Symbolic::Name(name)),
        "float" => Argument::Float(Symbolic::Name(name)),
        "bool" => Argument::Bool(Symbolic::Name(name)),
        "unused" => Argument::Tensor(String::new()),
        _ => panic!("{text} is no result"),
    }
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split("; ").map(str::trim).filter(|part| !part.is_empty())
}

/// Says how a value differs from its text.
fn difference(item: &Item, text: &str) -> Option<String> {
    if let Some(entries) = entries(text) {
        let Item::List(items) = item else { return Some(format!("{} instead of a list", item.kind())) };
        if items.len() != entries.len() {
            return Some(format!("{} entries instead of {}", items.len(), entries.len()));
        }
        return items.iter().zip(entries).find_map(|(item, entry)| difference(item, entry));
    }
    let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
    let same = match (kind, item) {
        ("t" | "T" | "random", Item::Tensor(t)) => return tensors_differ(t, text),
        ("int", Item::Int(x)) => *x == int(rest),
        ("float", Item::Float(x)) => *x == float(rest) || (x.is_nan() && rest == "nan"),
        ("bool", Item::Bool(x)) => u8::from(*x).to_string() == rest,
        _ => false,
    };
    (!same).then(|| format!("{} {:?} instead of {text}", item.kind(), item.number()))
}

fn tensors_differ(t: &Tensor, text: &str) -> Option<String> {
    let (code, sizes, words) = parts(text);
    let (dtype, shape) = (dtype(code)?, t.layout().map_or_else(|_| Vec::new(), |layout| layout.shape.to_vec()));
    if t.dtype() != Some(dtype) || shape != sizes {
        return Some(format!("{} {shape:?} instead of {} {sizes:?}", t.dtype().map_or("no dtype", Dtype::name), dtype.name()));
    }
    if text.starts_with("random") {
        return None;
    }
    let (floats, ints) = elements(t);
    let same = if dtype.is_float() {
        let wanted = numbers(words, ' ', float);
        let greatest = wanted.iter().filter(|x| x.is_finite()).fold(0.0, |most: f64, x| most.max(x.abs()));
        let relative = match dtype {
            Dtype::Float64 => 1e-9,
            Dtype::Float16 => 2e-3,
            Dtype::Bfloat16 => 1.6e-2,
            _ => 1e-5,
        };
        let close = |(&a, &b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= relative * (b.abs() + 0.1 * greatest);
        floats.len() == wanted.len() && floats.iter().zip(&wanted).all(close)
    } else {
        ints == numbers(words, ' ', int)
    };
    (!same).then(|| format!("{floats:?}{ints:?} instead of {words}"))
}

/// Runs a line of the file. Says what is wrong.
fn check(line: &str) -> Option<String> {
    let mut fields = line.split('|').map(str::trim);
    let operator = fields.next().unwrap_or_default();
    let (arguments, results, changes) =
        (fields.next().unwrap_or_default(), fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    for fast in [false, true] {
        let mut case = Case::of(operator, arguments, results);
        let operands: Vec<(String, Item)> = case.graph.nodes[0]
            .inputs
            .iter()
            .filter_map(|(name, argument)| match argument {
                Argument::Tensor(value) => Some((name.clone(), case.items[value[1..].parse::<usize>().ok()?].clone())),
                _ => None,
            })
            .filter(|_| !fast)
            .collect();
        let made = match case.run(fast) {
            Ok(_) if results == "fails" => return Some("is not refused".to_owned()),
            Err(_) if results == "fails" => return None,
            Ok(made) => made,
            Err(message) => return Some(message),
        };
        let wanted: Vec<&str> = split(results).filter(|text| *text != "unused").collect();
        let wrong =
            made.iter().zip(&wanted).enumerate().find_map(|(k, (item, text))| Some(format!("result {k}: {}", difference(item, text)?)));
        if wrong.is_some() {
            return wrong;
        }
        for change in split(changes).filter(|_| !fast) {
            let (name, text) = change.split_once('=')?;
            let (_, item) = operands.iter().find(|(operand, _)| operand == name)?;
            if let Some(wrong) = difference(item, text) {
                return Some(format!("argument {name}: {wrong}"));
            }
        }
    }
    None
}

#[test]
fn lines_give_the_results_of_pytorch() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/aten.txt");
    let text = std::fs::read_to_string(path).expect("the file is in the repository");
    let mut wrong = Vec::new();
    used();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(what) = check(line) {
            wrong.push(format!("{line}\n    {what}"));
        }
    }
    let tested: BTreeSet<usize> = used().into_iter().collect();
    for line in ALL.iter().flat_map(|part| part.iter()) {
        let address = std::ptr::from_ref::<Operator>(line).addr();
        if !tested.contains(&address) && !BY_HAND.contains(&line.name()) {
            wrong.push(format!("no expectation uses the line {}", line.text));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn named(name: &str) -> Argument {
    Argument::Tensor(name.to_owned())
}

fn node(target: &str, inputs: Vec<(&str, Argument)>, outputs: Vec<Argument>) -> Node {
    let inputs = inputs.into_iter().map(|(name, argument)| (name.to_owned(), argument)).collect();
    Node { target: target.to_owned(), inputs, outputs, source: String::new() }
}

/// A part of a graph: one operator.
fn part(operator: &str, arguments: &str, results: &str) -> Argument {
    Argument::Graph("part".to_owned(), Box::new(Case::of(operator, arguments, results).graph))
}

/// The result of a graph of these nodes with the input `x`.
fn run(nodes: Vec<Node>, x: &str, result: &str) -> Item {
    let mut case = Case::of("alias", &format!("self={x}"), x);
    case.graph.inputs = vec![named("x")];
    case.graph.outputs = vec![named(result)];
    case.graph.nodes = nodes;
    case.graph.tensors.clear();
    case.run(false).unwrap_or_else(|message| panic!("{message}")).remove(0)
}

#[test]
fn control_flow_runs_parts_of_the_graph() {
    let list = || vec![Argument::Tensors(vec![Some("y".to_owned())])];
    let x = "t int64 - 1";
    for (pred, expected) in [(true, "t int64 - 4"), (false, "t int64 - 5")] {
        let inputs = vec![
            ("pred", Argument::Bool(Symbolic::Number(pred))),
            ("true_graph", part("add.Scalar", "self=t int64 - 1; other=int 3", "t int64 - 4")),
            ("false_graph", part("mul.Scalar", "self=t int64 - 1; other=int 5", "t int64 - 5")),
            ("operands", Argument::Tensors(vec![Some("x".to_owned())])),
        ];
        assert_eq!(difference(&run(vec![node("torch.ops.higher_order.cond", inputs, list())], x, "y"), expected), None);
    }
    let inputs = vec![
        ("cond_fn", part("lt.Scalar", "self=t int64 - 1; other=int 7", "t bool - 1")),
        ("body_fn", part("add.Scalar", "self=t int64 - 1; other=int 2", "t int64 - 3")),
        ("carried_inputs", Argument::Tensors(vec![Some("x".to_owned())])),
        ("additional_inputs", Argument::Tensors(Vec::new())),
    ];
    assert_eq!(difference(&run(vec![node("torch.ops.higher_order.while_loop", inputs, list())], x, "y"), "t int64 - 7"), None);
    let inputs = vec![
        ("", Argument::Bool(Symbolic::Number(false))),
        ("", part("add.Scalar", "self=t int64 - 1; other=int 2", "t int64 - 3")),
        ("", named("x")),
    ];
    let target = "torch.ops.higher_order.wrap_with_set_grad_enabled";
    assert_eq!(difference(&run(vec![node(target, inputs, list())], x, "y"), "t int64 - 3"), None);
    let pair = Argument::Tensors(vec![None, Some("x".to_owned())]);
    let entry = node("_operator.getitem", vec![("a", pair), ("b", int_constant(1))], vec![named("y")]);
    assert_eq!(difference(&run(vec![entry], x, "y"), x), None);
}

#[test]
fn a_view_shares_the_memory_that_is_written() {
    let sizes = Argument::Ints(vec![Symbolic::Number(2), Symbolic::Number(1)]);
    let nodes = vec![
        node("torch.ops.aten.view.default", vec![("self", named("x")), ("size", sizes)], vec![named("y")]),
        node("torch.ops.aten.add_.Scalar", vec![("self", named("y")), ("other", int_constant(1))], vec![named("z")]),
    ];
    assert_eq!(difference(&run(nodes, "t int64 2 5 6", "x"), "t int64 2 6 7"), None);
}

fn int_constant(x: i64) -> Argument {
    Argument::Int(Symbolic::Number(x))
}

/// A batch normalization in training of `input`, which updates `mean` and `variance` by half.
fn normalization(input: &str, mean: &str, variance: &str, result: &str) -> Node {
    let float = |x: f64| Argument::Float(Symbolic::Number(x));
    let on = || Argument::Bool(Symbolic::Number(true));
    let tensors = vec![("input", named(input)), ("weight", Argument::None), ("bias", Argument::None)];
    let statistics = vec![("running_mean", named(mean)), ("running_var", named(variance))];
    let options = vec![("training", on()), ("momentum", float(0.5)), ("eps", float(1e-5)), ("cudnn_enabled", on())];
    node("torch.ops.aten.batch_norm.default", tensors.into_iter().chain(statistics).chain(options).collect(), vec![named(result)])
}

/// The normalization of `x` inside a part of the graph.
fn normalization_in_part(x: &str) -> Node {
    let mut part = Case::of("alias", &format!("self={x}"), x);
    part.graph.inputs = vec![named("a"), named("b"), named("c")];
    part.graph.nodes = vec![normalization("a", "b", "c", "w0")];
    let given = [Argument::Bool(Symbolic::Number(false)), Argument::Graph("part".to_owned(), Box::new(part.graph))];
    let inputs = given.into_iter().chain(["v0", "v1", "v2"].map(named)).map(|argument| ("", argument)).collect();
    let results = vec![Argument::Tensors(vec![Some("n".to_owned())])];
    node("torch.ops.higher_order.wrap_with_set_grad_enabled", inputs, results)
}

/// y = 2 mean + 1 has the mean from before a normalization between both steps, which changes the mean.
#[test]
fn steps_read_statistics_before_their_update() {
    let texts = ["t float32 2x1 3 5", "t float32 1 10", "t float32 1 1"];
    for (fast, in_part) in [(false, false), (false, true), (true, false), (true, true)] {
        let graph = Graph { inputs: Vec::new(), outputs: vec![named("y")], nodes: Vec::new(), tensors: Vec::new() };
        let mut case = Case { graph, items: Vec::new() };
        for text in texts {
            case.tensor(text);
        }
        for name in ["t", "y"] {
            case.meta(name, texts[1]);
        }
        let mean = case.items[1].clone();
        case.graph.nodes = vec![
            node("torch.ops.aten.mul.Tensor", vec![("self", named("v1")), ("other", int_constant(2))], vec![named("t")]),
            if in_part { normalization_in_part(texts[0]) } else { normalization("v0", "v1", "v2", "n") },
            node("torch.ops.aten.add.Tensor", vec![("self", named("t")), ("other", int_constant(1))], vec![named("y")]),
        ];
        case.graph.tensors.sort_by(|(a, _), (b, _)| a.cmp(b));
        let made = case.run(fast).unwrap_or_else(|message| panic!("{message}"));
        assert_eq!(difference(&made[0], "t float32 1 21"), None, "fast {fast}, in a part {in_part}");
        // 10 * 0.5 + 4 * 0.5.
        assert_eq!(difference(&mean, "t float32 1 7"), None, "fast {fast}, in a part {in_part}");
    }
}

#[test]
fn other_names_and_missing_operators_are_distinct() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/aten.txt");
    let text = std::fs::read_to_string(file).expect("the file is in the repository");
    let tested: BTreeSet<&str> = text.lines().filter_map(|line| line.split([' ', '.']).next()).collect();
    let own: BTreeSet<&str> = ALL.iter().flat_map(|part| part.iter()).filter_map(|line| line.name().split('.').next()).collect();
    for (alias, name) in ALIASES {
        assert!(own.contains(name) && !own.contains(alias), "{alias}");
        assert!(tested.contains(alias), "no expectation uses {alias}");
    }
    for (name, reason) in ABSENT {
        assert!(!reason.is_empty() && (!own.contains(name) || reason.starts_with("only")), "{name}");
    }
}

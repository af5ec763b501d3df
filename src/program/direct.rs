//! Calls of thorn's functions, prepared when a program is opened.

use super::frame::{Frame, Item, Place, constant};
use crate::api::args::Kind;
use crate::api::function::{Function, watched};
use crate::api::functions::pointwise::ELEMENTWISE;
use crate::api::word::{FromWord, ToWord, Word};
use crate::dtype::{Dtype, TH_UNDEFINED, default_dtype};
use crate::error::{Result, bail};
use crate::layout::Dims;
use crate::mode;
use crate::tensor::{THTensor, Tensor};
use smallvec::SmallVec;
use std::ffi::{CString, c_int};
use std::ptr::{NonNull, null_mut};

/// The type of a value before the program runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Type {
    /// A tensor, and its dtype if the graph states it.
    Tensor(Option<Dtype>),
    Int,
    Float,
    Bool,
    List,
    Other,
}

/// An argument, and its type.
pub struct Typed {
    pub place: Place,
    pub of: Type,
}

/// An argument of an elementwise function.
pub enum Argument<'a> {
    Tensor(&'a Place),
    Number(f64),
}

/// A call of a function, with all words that do not depend on the run.
pub struct Direct {
    pub function: &'static Function,
    words: Vec<Word>,
    patches: Vec<Patch>,
    /// The positions of the words that are result handles.
    results: Vec<u8>,
    /// The first argument, if the first result is written over it.
    target: Option<Place>,
    /// The number of tensors of the list that the function returns.
    handles: Option<usize>,
    /// Memory to which words point.
    _texts: Vec<CString>,
}

/// A word that depends on the run.
struct Patch {
    at: u8,
    from: From,
}

enum From {
    Tensor(Place),
    Number(Place),
    /// A number as a 0-d tensor, next to a tensor of this dtype.
    Scalar(Place, Option<Dtype>),
    /// An integer, which must have 32 bits if the flag is true.
    Int(Place, bool),
    Ints(Vec<Place>),
    Tensors(Vec<Place>),
    Dtype(Dtype),
}

/// The roles of arguments, by the kinds of functions.
#[derive(Clone, Copy)]
enum Role {
    Result,
    OptionalResult,
    /// A tensor. The first flag is true if it may be missing, the second if it is written.
    Tensor(bool, bool),
    Tensors,
    Number,
    Int32,
    Int64,
    Length,
    /// A list of integers. The flag is true if it may be missing.
    Ints(bool),
    Dtype,
    Text,
    /// NULL or 0.
    Nothing,
    Handles,
    Unknown,
}

fn role(kind: Kind) -> Role {
    use Kind::*;
    match kind {
        out | view_out | truth | indices | totals => Role::Result,
        optional_out | optional_indices | optional_totals => Role::OptionalResult,
        inout => Role::Tensor(false, true),
        input | shared | mask | index => Role::Tensor(false, false),
        optional_input | optional_index | optional_state => Role::Tensor(true, false),
        inputs | optional_inputs | list_or_null => Role::Tensors,
        number | factor | parameter | double => Role::Number,
        dim | int | flag | code | div_mode | pad_mode | reduce | reduction | interpolation | resampling | memory_format | bag_mode
        | distance_mode | matrix_norm | block_type => Role::Int32,
        entry | size | stride | count | integer | offset | length => Role::Int64,
        len | len_or_whole | handle_count => Role::Length,
        sizes | strides | dims | entries | counts => Role::Ints(false),
        optional_sizes | optional_strides | optional_dims | optional_counts => Role::Ints(true),
        dtype | other_dtype | optional_dtype => Role::Dtype,
        text => Role::Text,
        generator => Role::Nothing,
        new_handles | count_inout => Role::Handles,
        _ => Role::Unknown,
    }
}

/// Returns the 0-d tensor of a number, with the dtype that gives an operation with a tensor of dtype `other` PyTorch's result.
pub fn scalar(item: &Item, other: Option<Dtype>) -> Result<Tensor> {
    let (dtype, value) = match item {
        Item::Float(x) if other.is_some_and(|other| !other.is_float()) => (default_dtype(), *x),
        Item::Float(x) => (Dtype::Float64, *x),
        Item::Bool(x) => (Dtype::Bool, f64::from(u8::from(*x))),
        Item::Int(x) => {
            let words = [Dtype::Int64.code().word(), x.word()];
            return returned(crate::expr::names::newScalarLong::FUNCTION.run(&words)?);
        }
        _ => bail!(Argument, "{} where a number is expected", item.kind()),
    };
    returned(crate::expr::names::newScalar::FUNCTION.run(&[dtype.code().word(), value.word()])?)
}

/// Returns the tensor that a function returned as a new reference.
pub fn returned(word: Word) -> Result<Tensor> {
    match NonNull::new(<*mut THTensor>::from_word(word)) {
        // SAFETY: the function returned a new reference, which is owned here.
        Some(raw) => Ok(unsafe { Tensor::from_raw(raw) }),
        None => bail!(Internal, "a function returned no tensor"),
    }
}

/// Returns the positions of the arguments in the signature, in the order of the C function. The signature of an elementwise function has
/// tensors first.
fn in_order_of_c(function: &'static Function) -> impl Iterator<Item = usize> {
    let (count, numbers) = (function.signature.kinds.len(), function.numbers);
    let tensors = count - numbers.count_ones() as usize;
    let (mut tensor, mut number) = (0, tensors);
    (0..count).map(move |k| {
        let is_number = numbers.checked_shr(k as u32).is_some_and(|bits| bits & 1 != 0);
        let next = if is_number { &mut number } else { &mut tensor };
        *next += 1;
        *next - 1
    })
}

/// Returns the names of the arguments of a map, which has the order of the C function, in the order of the signature.
fn in_order_of_signature<'a>(function: &'static Function, map: &'a str) -> Vec<&'a str> {
    let names: Vec<&str> = map.split_whitespace().collect();
    let places: Vec<usize> = in_order_of_c(function).skip(1).collect();
    if places.len() != names.len() {
        return names;
    }
    let mut placed: Vec<(usize, &str)> = places.into_iter().zip(names).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, name)| name).collect()
}

/// Returns the argument that an entry of a map names: `bias`, the length of a list `#sizes`, or a constant. `None` for an unknown length.
fn named(name: &str, schema: &[(&'static str, Typed)]) -> Option<Typed> {
    let length = name.strip_prefix('#');
    let found = schema.iter().find(|(argument, _)| *argument == length.unwrap_or(name));
    match (found, length) {
        (Some((_, typed)), None) => Some(Typed { place: typed.place.clone(), of: typed.of }),
        (Some((_, Typed { place: Place::List(places), .. })), Some(_)) => Some(Typed::constant(Item::Int(places.len() as i64))),
        (Some((_, Typed { place: Place::Constant(Item::List(items)), .. })), Some(_)) => {
            Some(Typed::constant(Item::Int(items.len() as i64)))
        }
        (Some(_), Some(_)) => None,
        (None, _) => Some(Typed::constant(constant(name))),
    }
}

/// An argument of a call that is being prepared.
enum Prepared {
    Word(Word),
    Patch(From),
    /// A list of integers, whose length is not settled.
    Ints(Vec<Place>),
    Text(CString),
}

/// Prepares an argument. `other` is the dtype of the first tensor of the call. `None` if the argument does not fit the role.
fn prepared(role: Role, kind: Kind, typed: Typed, other: Option<Dtype>, converts: bool) -> Result<Option<Prepared>> {
    use Prepared::{Ints, Patch, Text};
    let Typed { place, of } = typed;
    let is_none = matches!(place, Place::Constant(Item::None));
    let nothing = Some(Prepared::Word(Word::ZERO));
    Ok(match role {
        Role::Tensor(optional, written) => match of {
            Type::Tensor(_) => Some(Patch(From::Tensor(place))),
            Type::Other if optional && is_none => nothing,
            Type::Int | Type::Float | Type::Bool if converts && !written => Some(Patch(match place {
                Place::Constant(item) => From::Tensor(Place::Constant(Item::Tensor(scalar(&item, other)?))),
                place => From::Scalar(place, other),
            })),
            _ => None,
        },
        Role::Tensors => match place {
            Place::List(places) => Some(Patch(From::Tensors(places))),
            Place::Constant(Item::List(items)) if items.is_empty() => Some(Patch(From::Tensors(Vec::new()))),
            _ => None,
        },
        Role::Number => {
            let is_constant = matches!(place, Place::Constant(_));
            let is_whole = matches!(place, Place::Constant(Item::Float(x)) if x.fract() == 0.0);
            let promotes = matches!(kind, Kind::number | Kind::factor);
            match of {
                // A whole number counts as an integer in promotion, and a truth value as well.
                Type::Float if promotes && other.is_some_and(|dtype| !dtype.is_float()) && (is_whole || !is_constant) => None,
                Type::Bool if promotes && other == Some(Dtype::Bool) => None,
                Type::Int | Type::Float | Type::Bool => Some(Patch(From::Number(place))),
                _ => None,
            }
        }
        Role::Int32 | Role::Int64 => match of {
            Type::Int | Type::Bool => Some(Patch(From::Int(place, matches!(role, Role::Int32)))),
            _ => None,
        },
        Role::Ints(optional) => match (place, of) {
            (Place::List(places), _) if optional && places.is_empty() => nothing,
            (Place::List(places), _) => Some(Ints(places)),
            (Place::Constant(Item::List(items)), _) if optional && items.is_empty() => nothing,
            (Place::Constant(Item::List(items)), _) => Some(Ints(items.into_iter().map(Place::Constant).collect())),
            (place, Type::Int) => Some(Ints(vec![place])),
            _ if optional && is_none => nothing,
            _ => None,
        },
        Role::Dtype => match place {
            Place::Constant(Item::Dtype(dtype)) => Some(Patch(From::Dtype(dtype))),
            _ if is_none && kind == Kind::optional_dtype => Some(Prepared::Word(TH_UNDEFINED.word())),
            _ => None,
        },
        Role::Text => match place {
            Place::Constant(Item::Text(text)) => CString::new(&*text).ok().map(Text),
            _ => None,
        },
        Role::Result | Role::OptionalResult | Role::Length | Role::Nothing | Role::Handles | Role::Unknown => None,
    })
}

impl Direct {
    /// Prepares a call. `None` if the arguments do not fit the function. With `converts`, a number fits where the function has a tensor.
    ///
    /// `map` has the arguments of the function: names of the schema or constants. `in_place` is true for an operator that writes its first
    /// argument. `results` is the number of results that the graph uses, or the length of the list of results.
    pub fn prepare(
        function: &'static Function,
        map: &str,
        schema: &[(&'static str, Typed)],
        in_place: bool,
        results: usize,
        converts: bool,
    ) -> Result<Option<Direct>> {
        let (mut words, mut patches, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        let (mut handles, mut lists, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        let mut returned = None;
        let mut names = in_order_of_signature(function, map).into_iter();
        let other = schema.iter().find_map(|(_, typed)| if let Type::Tensor(dtype) = typed.of { Some(dtype) } else { None }).flatten();
        for (at, &kind) in function.signature.kinds.iter().enumerate() {
            words.push(Word::ZERO);
            match role(kind) {
                Role::Result => handles.push(at as u8),
                Role::OptionalResult if handles.len() < results => handles.push(at as u8),
                Role::OptionalResult | Role::Nothing => {}
                Role::Length => lengths.push(at),
                Role::Handles => returned = Some(results),
                Role::Unknown => return Ok(None),
                role => {
                    let Some(typed) = names.next().and_then(|name| named(name, schema)) else { return Ok(None) };
                    match prepared(role, kind, typed, other, converts)? {
                        Some(Prepared::Word(word)) => words[at] = word,
                        Some(Prepared::Patch(from)) => patches.push(Patch { at: at as u8, from }),
                        Some(Prepared::Ints(places)) => lists.push((at, places)),
                        Some(Prepared::Text(text)) => {
                            words[at] = text.as_ptr().word();
                            texts.push(text);
                        }
                        None => return Ok(None),
                    }
                }
            }
        }
        if names.next().is_some() {
            return Ok(None);
        }
        // All lists of a call have one length. A list of one number is repeated.
        let longest = lists.iter().map(|(_, places)| places.len()).max().unwrap_or(0);
        for &at in &lengths {
            // A number of handles belongs to the list before it.
            let handles = |patch: &Patch| match &patch.from {
                From::Tensors(places) if usize::from(patch.at) < at => Some(places.len()),
                _ => None,
            };
            let length = match function.signature.kinds[at] {
                Kind::handle_count => patches.iter().rev().find_map(handles).unwrap_or(0),
                _ => longest,
            };
            words[at] = (length as c_int).word();
        }
        for (at, places) in lists {
            let places = if places.len() == 1 && longest > 1 { vec![places[0].clone(); longest] } else { places };
            if places.len() != longest {
                return Ok(None);
            }
            patches.push(Patch { at: at as u8, from: From::Ints(places) });
        }
        let gives = handles.len() + usize::from(function.places.returns_tensor) + returned.unwrap_or(0);
        let writes = matches!(patches.first(), Some(Patch { at: 0, .. }));
        if gives < results && !in_place && !writes {
            return Ok(None);
        }
        let target = schema.first().filter(|_| in_place).map(|(_, typed)| typed.place.clone());
        let mut made = Direct { function, words, patches, results: handles, target, handles: returned, _texts: texts };
        made.fold();
        Ok(Some(made))
    }

    /// Stores the words of constant numbers.
    fn fold(&mut self) {
        let mut words = std::mem::take(&mut self.words);
        self.patches.retain(|patch| {
            let at = usize::from(patch.at);
            match &patch.from {
                From::Number(Place::Constant(item)) => words[at] = item.number().unwrap_or_default().word(),
                From::Int(Place::Constant(item), narrow) => match item.int() {
                    Some(x) if !narrow || c_int::try_from(x).is_ok() => words[at] = x.word(),
                    _ => return true,
                },
                _ => return true,
            }
            false
        });
        self.words = words;
    }

    /// Returns true for an elementwise function that may write its result over an operand.
    pub fn is_elementwise(&self) -> bool {
        let listed = ELEMENTWISE.iter().any(|part| part.iter().any(|&function| std::ptr::eq(function, self.function)));
        listed && self.target.is_none() && self.results.len() == 1 && self.results[0] == 0
    }

    /// Returns the name of an elementwise function, and its arguments in the order of C. `None` for other functions, and if a number
    /// depends on the run.
    pub fn elementwise(&self) -> Option<(&'static str, Vec<Argument<'_>>)> {
        // signbit reads the memory of a tensor instead of its elements.
        let name = self.function.signature.name();
        if !self.is_elementwise() || name == "signbit" {
            return None;
        }
        let patch = |at: usize| self.patches.iter().find(|patch| usize::from(patch.at) == at);
        let argument = |at: usize| match (patch(at), role(self.function.signature.kinds[at])) {
            (Some(Patch { from: From::Tensor(place), .. }), _) => Some(Argument::Tensor(place)),
            (None, Role::Number) => Some(Argument::Number(f64::from_word(self.words[at]))),
            _ => None,
        };
        let kinds = self.function.signature.kinds;
        in_order_of_c(self.function).skip(1).map(argument).collect::<Option<Vec<_>>>().map(|list| (name, list)).filter(|_| kinds.len() > 1)
    }

    /// Calls the function. Appends the results to `made`. `spare` is an operand that nothing else uses, which an elementwise function may
    /// overwrite.
    pub fn run(&self, frame: &Frame<'_>, spare: Option<&Tensor>, made: &mut SmallVec<[Item; 2]>) -> Result<()> {
        let mut words: SmallVec<[Word; 16]> = SmallVec::from_slice(&self.words);
        let mut lists: SmallVec<[Dims; 4]> = SmallVec::new();
        let mut tensors: SmallVec<[*mut THTensor; 8]> = SmallVec::new();
        let mut scalars: SmallVec<[Tensor; 2]> = SmallVec::new();
        let mut first = None;
        for patch in &self.patches {
            let at = usize::from(patch.at);
            words[at] = match &patch.from {
                From::Tensor(place) => match frame.tensor(place)? {
                    Some(t) => {
                        first = first.or(Some((at, t)));
                        t.as_ptr().word()
                    }
                    None => Word::ZERO,
                },
                From::Number(place) => frame.number(place)?.word(),
                From::Scalar(place, other) => {
                    scalars.push(scalar(&frame.item(place), *other)?);
                    scalars[scalars.len() - 1].as_ptr().word()
                }
                From::Int(place, narrow) => {
                    let x = frame.int(place)?;
                    if *narrow && c_int::try_from(x).is_err() {
                        bail!(Argument, "{x} does not fit into 32 bits")
                    }
                    x.word()
                }
                From::Ints(places) => {
                    let mut list = Dims::new();
                    for place in places {
                        list.push(frame.int(place)?);
                    }
                    lists.push(list);
                    continue;
                }
                From::Tensors(places) => {
                    for place in places {
                        tensors.push(frame.tensor(place)?.map_or(null_mut(), Tensor::as_ptr));
                    }
                    continue;
                }
                From::Dtype(dtype) => frame.dtype(*dtype).code().word(),
            };
        }
        // The lists no longer move.
        let mut next = lists.iter();
        for patch in &self.patches {
            match &patch.from {
                From::Ints(_) => words[usize::from(patch.at)] = next.next().map_or(Word::ZERO, |list| list.as_ptr().word()),
                From::Tensors(_) => words[usize::from(patch.at)] = tensors.as_mut_ptr().word(),
                _ => {}
            }
        }
        // A function that changes an operand changes a copy, unless the operator works in place.
        let writes = self.results.is_empty() && !self.function.places.returns_tensor && self.handles.is_none();
        let mut target = None;
        if writes && let Some((at, t)) = first {
            let t = if self.target.is_some() {
                t.clone()
            } else {
                returned(invoke(&crate::expr::names::newClone::FUNCTION, &[t.as_ptr().word()])?)?
            };
            words[at] = t.as_ptr().word();
            target = Some(t);
        }
        let own = self.target.as_ref().map_or(Ok(None), |place| frame.tensor(place))?;
        let before = made.len();
        for (k, &at) in self.results.iter().enumerate() {
            let handle = match (own, spare) {
                (Some(own), _) if k == 0 => own.clone(),
                (_, Some(spare)) => spare.clone(),
                _ => Tensor::fresh()?,
            };
            words[usize::from(at)] = handle.as_ptr().word();
            made.push(Item::Tensor(handle));
        }
        if let Some(count) = self.handles {
            return self.list(&mut words, count, made);
        }
        match invoke(self.function, &words) {
            Ok(word) if self.function.places.returns_tensor => made.push(Item::Tensor(returned(word)?)),
            Ok(_) => made.extend(target.map(Item::Tensor)),
            Err(error) => {
                made.truncate(before);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Calls a function that returns a list of tensors.
    fn list(&self, words: &mut [Word], expected: usize, made: &mut SmallVec<[Item; 2]>) -> Result<()> {
        let mut handles = crate::alloc::list(expected, |_| Ok(null_mut::<THTensor>()))?;
        let mut count = expected as c_int;
        words[0] = handles.as_mut_ptr().word();
        words[1] = (&raw mut count).word();
        let called = invoke(self.function, words);
        let items = handles.into_iter().filter_map(NonNull::new);
        // SAFETY: each handle that is not NULL is a new reference, which is owned here.
        let items: Vec<Item> = items.map(|raw| Item::Tensor(unsafe { Tensor::from_raw(raw) })).collect();
        called?;
        if items.len() != expected || count != expected as c_int {
            bail!(Shape, "{count} tensors, and the graph expects {expected}")
        }
        made.push(Item::List(items));
        Ok(())
    }

    /// Calls `f` with every place that the call reads.
    pub fn places(&self, f: &mut impl FnMut(&Place)) {
        for patch in &self.patches {
            match &patch.from {
                From::Tensor(place) | From::Number(place) | From::Scalar(place, _) | From::Int(place, _) => f(place),
                From::Ints(places) | From::Tensors(places) => places.iter().for_each(&mut *f),
                From::Dtype(_) => {}
            }
        }
    }
}

/// Calls a function as C does, and records the call if gradients are used.
pub fn invoke(function: &'static Function, words: &[Word]) -> Result<Word> {
    if mode::flags() == 0 { function.run(words) } else { watched(function, words) }
}

impl Typed {
    /// Returns a constant with its type.
    pub fn constant(item: Item) -> Typed {
        let of = match &item {
            Item::Tensor(t) => Type::Tensor(t.dtype()),
            Item::Int(_) => Type::Int,
            Item::Float(_) => Type::Float,
            Item::Bool(_) => Type::Bool,
            Item::List(_) => Type::List,
            _ => Type::Other,
        };
        Typed { place: Place::Constant(item), of }
    }
}

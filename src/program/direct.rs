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
        | distance_mode | matrix_norm => Role::Int32,
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
        let next = if numbers & (1 << k.min(7)) != 0 && k < 8 { &mut number } else { &mut tensor };
        *next += 1;
        *next - 1
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
        let mut texts = Vec::new();
        let mut words = Vec::new();
        let mut patches = Vec::new();
        let mut handles = Vec::new();
        // The order of the signature.
        let mut ordered: Vec<&str> = map.split_whitespace().collect();
        if function.numbers != 0 {
            let places: Vec<usize> = in_order_of_c(function).skip(1).collect();
            if places.len() == ordered.len() {
                let mut sorted: Vec<(usize, &str)> = places.into_iter().zip(ordered).collect();
                sorted.sort_by_key(|(place, _)| *place);
                ordered = sorted.into_iter().map(|(_, name)| name).collect();
            }
        }
        let mut names = ordered.into_iter();
        let mut lists: Vec<(usize, Vec<Place>)> = Vec::new();
        let mut lengths = Vec::new();
        let mut returned = None;
        let first_tensor = schema.iter().find_map(|(_, typed)| if let Type::Tensor(dtype) = typed.of { Some(dtype) } else { None });
        for (at, &kind) in function.signature.kinds.iter().enumerate() {
            let role = role(kind);
            let typed = match role {
                Role::Result | Role::OptionalResult | Role::Length | Role::Handles | Role::Nothing => None,
                Role::Unknown => return Ok(None),
                _ => {
                    let Some(name) = names.next() else { return Ok(None) };
                    let length = name.strip_prefix('#');
                    Some(match schema.iter().find(|(argument, _)| *argument == length.unwrap_or(name)) {
                        Some((_, typed)) if length.is_some() => match &typed.place {
                            Place::List(places) => Typed::constant(Item::Int(places.len() as i64)),
                            Place::Constant(Item::List(items)) => Typed::constant(Item::Int(items.len() as i64)),
                            _ => return Ok(None),
                        },
                        Some((_, typed)) => Typed { place: typed.place.clone(), of: typed.of },
                        None => Typed::constant(constant(name)),
                    })
                }
            };
            let patch = match (role, typed) {
                (Role::Result, _) => {
                    handles.push(at as u8);
                    None
                }
                (Role::OptionalResult, _) => {
                    if handles.len() < results {
                        handles.push(at as u8);
                    }
                    None
                }
                (Role::Length, _) => {
                    lengths.push(at);
                    None
                }
                (Role::Handles, _) => {
                    returned = Some(results);
                    None
                }
                (Role::Tensor(optional, written), Some(typed)) => match typed.of {
                    Type::Tensor(_) => Some(From::Tensor(typed.place)),
                    Type::Other if optional && matches!(typed.place, Place::Constant(Item::None)) => None,
                    Type::Int | Type::Float | Type::Bool if converts && !written => match typed.place {
                        Place::Constant(item) => Some(From::Tensor(Place::Constant(Item::Tensor(scalar(&item, first_tensor.flatten())?)))),
                        place => Some(From::Scalar(place, first_tensor.flatten())),
                    },
                    _ => return Ok(None),
                },
                (Role::Tensors, Some(typed)) => match typed.place {
                    Place::List(places) => Some(From::Tensors(places)),
                    Place::Constant(Item::List(items)) if items.is_empty() => Some(From::Tensors(Vec::new())),
                    _ => return Ok(None),
                },
                (Role::Number, Some(typed)) => {
                    let whole = matches!(typed.place, Place::Constant(Item::Float(x)) if x.fract() == 0.0);
                    let promotes = matches!(kind, Kind::number | Kind::factor);
                    let integral = first_tensor.flatten().is_some_and(|dtype| !dtype.is_float());
                    let same = first_tensor.flatten() == Some(Dtype::Bool);
                    match typed.of {
                        // A whole number counts as an integer in promotion, and a truth value as well.
                        Type::Float if promotes && integral && (whole || !matches!(typed.place, Place::Constant(_))) => return Ok(None),
                        Type::Bool if promotes && same => return Ok(None),
                        Type::Int | Type::Float | Type::Bool => Some(From::Number(typed.place)),
                        _ => return Ok(None),
                    }
                }
                (Role::Int32 | Role::Int64, Some(typed)) => match typed.of {
                    Type::Int | Type::Bool => Some(From::Int(typed.place, matches!(self::role(kind), Role::Int32))),
                    _ => return Ok(None),
                },
                (Role::Ints(optional), Some(typed)) => match (typed.place, typed.of) {
                    (Place::List(places), _) if optional && places.is_empty() => None,
                    (Place::List(places), _) => {
                        lists.push((at, places));
                        None
                    }
                    (Place::Constant(Item::List(items)), _) if optional && items.is_empty() => None,
                    (Place::Constant(Item::List(items)), _) => {
                        lists.push((at, items.into_iter().map(Place::Constant).collect()));
                        None
                    }
                    (place, Type::Int) => {
                        lists.push((at, vec![place]));
                        None
                    }
                    (Place::Constant(Item::None), _) if optional => None,
                    _ => return Ok(None),
                },
                (Role::Dtype, Some(typed)) => match typed.place {
                    Place::Constant(Item::Dtype(dtype)) => Some(From::Dtype(dtype)),
                    Place::Constant(Item::None) if kind == Kind::optional_dtype => None,
                    _ => return Ok(None),
                },
                (Role::Text, Some(typed)) => match typed.place {
                    Place::Constant(Item::Text(text)) => {
                        let Ok(text) = CString::new(&*text) else { return Ok(None) };
                        texts.push(text);
                        words.push(texts[texts.len() - 1].as_ptr().word());
                        continue;
                    }
                    _ => return Ok(None),
                },
                _ => None,
            };
            words.push(if matches!(self::role(kind), Role::Dtype) { TH_UNDEFINED.word() } else { Word::ZERO });
            if let Some(from) = patch {
                patches.push(Patch { at: at as u8, from });
            }
        }
        if names.next().is_some() {
            return Ok(None);
        }
        // All lists of a call have one length. A list of one number is repeated.
        let longest = lists.iter().map(|(_, places)| places.len()).max().unwrap_or(0);
        let is_list_of_tensors = |patch: &Patch| if let From::Tensors(places) = &patch.from { Some(places.len()) } else { None };
        for &at in &lengths {
            let length = match function.signature.kinds[at] {
                Kind::handle_count => patches.iter().find_map(is_list_of_tensors).unwrap_or(0),
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

    /// Returns true if the call changes an operand.
    pub fn writes(&self) -> bool {
        self.target.is_some()
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

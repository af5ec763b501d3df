//! The types of values, and the classes of objects.

use super::source::Variant;
use crate::element::Element;

pub const NIL: i32 = 0;
pub const NUMBER: i32 = 1;
pub const STRING: i32 = 2;
pub const TABLE: i32 = 3;
pub const OBJECT: i32 = 4;
pub const BOOLEAN: i32 = 5;
/// A function of the oldest kind, which has no index.
pub const FUNCTION: i32 = 6;
/// Functions of the newer kinds, which have an index.
pub const FUNCTIONS: [i32; 2] = [7, 8];

/// The key of the metadata with the name of a class.
pub const TYPENAME: &str = "__typename";

/// The names of the element types in the names of classes.
const TYPES: [(&str, Element); 8] = [
    ("Byte", Element::U8),
    ("Char", Element::I8),
    ("Short", Element::I16),
    ("Int", Element::I32),
    ("Long", Element::I64),
    ("Float", Element::F32),
    ("Double", Element::F64),
    ("Half", Element::F16),
];

/// The classes whose objects have a special form. An object of another class is a table of its fields.
pub enum Class {
    Tensor(Element),
    Storage(Element),
    Vec,
    Hash,
}

impl Class {
    /// Returns the class with this name. GPU tensors have the form of CPU tensors, and `torch.CudaTensor` has floats.
    pub fn of(name: &str, variant: Variant) -> Option<Class> {
        match name {
            "tds.Vec" => return Some(Class::Vec),
            "tds.Hash" => return Some(Class::Hash),
            _ => {}
        }
        let name = name.strip_prefix("torch.")?;
        let (name, class): (&str, fn(Element) -> Class) = match name.strip_suffix("Tensor") {
            Some(name) => (name, Class::Tensor),
            None => (name.strip_suffix("Storage")?, Class::Storage),
        };
        let name = match name.strip_prefix("Cuda") {
            Some("") => "Float",
            Some(name) => name,
            None => name,
        };
        let (_, element) = TYPES.iter().find(|(known, _)| *known == name)?;
        // Longs of four bytes are int32.
        Some(class(if *element == Element::I64 && variant == (Variant::Binary { long: 4 }) { Element::I32 } else { *element }))
    }

    /// Returns the name of an element type. Torch7 writes bool as bytes.
    pub fn name_of(element: Element) -> Option<&'static str> {
        let element = if element == Element::Bool { Element::U8 } else { element };
        TYPES.iter().find(|(_, known)| *known == element).map(|(name, _)| *name)
    }
}

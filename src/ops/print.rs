//! The text of tensors and storages. This module gives `print` access to the elements.

use super::device::on_host;
use super::view::with_whole_storage;
use crate::alloc::HeapText;
use crate::dtype::default_dtype;
use crate::element::read_element;
use crate::error::{Result, bail};
use crate::layout::Layout;
use crate::operand::Operand;
use crate::print::{self, Options, Source, SparseSource, THPrintOptions};
use crate::scalar::Scalar;
use crate::storage::Storage;
use crate::tensor::Tensor;
use smallvec::SmallVec;

fn checked(options: Option<&THPrintOptions>) -> Result<Options> {
    options.copied().unwrap_or_else(print::default_options).check()
}

/// The text of `t`. A fresh handle is printed as an empty tensor of the default dtype.
pub fn tensor(t: &Tensor, options: Option<&THPrintOptions>) -> Result<HeapText> {
    let options = checked(options)?;
    let no_dimension = t.ndim() == 0;
    if no_dimension && !t.is_scalar() && t.dtype().is_none() {
        let none = Layout::contiguous(&[0]);
        return print::tensor(&Source { dtype: default_dtype(), layout: &none, no_dimension, at: &|_| Scalar::Int(0) }, &options);
    }
    let here = on_host(t)?;
    let from = Operand::of(&here)?;
    print::tensor(&Source { dtype: from.dtype, layout: from.layout(), no_dimension, at: &reader(&from) }, &options)
}

/// The text of a sparse tensor from its named parts, its sizes, and the name of its layout.
pub fn sparse(parts: &[(&'static str, &Tensor)], size: &[i64], name: &'static str, options: Option<&THPrintOptions>) -> Result<HeapText> {
    let options = checked(options)?;
    let here = parts.iter().map(|(_, t)| on_host(t)).collect::<Result<SmallVec<[Tensor; 3]>>>()?;
    let from = here.iter().map(Operand::of).collect::<Result<SmallVec<[Operand; 3]>>>()?;
    let readers: SmallVec<[_; 3]> = from.iter().map(reader).collect();
    let source = |k: usize| Source { dtype: from[k].dtype, layout: from[k].layout(), no_dimension: false, at: &readers[k] };
    let sources: SmallVec<[_; 3]> = parts.iter().enumerate().map(|(k, &(name, _))| (name, source(k))).collect();
    let Some(values) = from.last() else { bail!(Internal, "a sparse tensor without parts") };
    let nnz = values.layout().shape.first().copied().unwrap_or(0);
    let breaks = parts.len() == 2;
    print::sparse(&SparseSource { parts: &sources, size, nnz, dtype: values.dtype, name, breaks }, &options)
}

/// The text of `storage`.
pub fn storage(storage: &Storage, options: Option<&THPrintOptions>) -> Result<HeapText> {
    let options = checked(options)?;
    let layout = Layout::contiguous(&[storage.len().max(0)]);
    let here = on_host(&with_whole_storage(storage)?)?;
    let from = Operand::inside(here.storage().unwrap_or_else(|| storage.clone()), storage.dtype(), layout);
    print::storage(&Source { dtype: from.dtype, layout: from.layout(), no_dimension: false, at: &reader(&from) }, &options)
}

/// A function that returns the element at a position of an operand's storage. The position must be one that the operand reaches.
fn reader(from: &Operand) -> impl Fn(i64) -> Scalar {
    let (first, dtype, start) = (from.first(), from.dtype, from.layout().offset);
    let end = from.layout().end().unwrap_or(start);
    move |position| {
        assert!((start..end).contains(&position), "position {position} is not one of {start}..{end}");
        // SAFETY: the constructor of the operand checked that it is inside its storage from the first to the last position.
        unsafe { read_element(first.wrapping_offset((position - start) as isize * dtype.size() as isize), dtype) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype;
    use crate::error::Kind;
    use crate::ops::{create, view};
    use crate::print::TH_PRINT_TORCH7;

    fn shown(t: &Tensor) -> String {
        String::from_utf8(tensor(t, None).unwrap().as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn edges_of_huge_views_are_all_that_is_read() {
        let one = create::full(Dtype::Int64, &[1], Scalar::Int(7)).unwrap();
        let huge = view::derive(&one, |l| l.expand(&[1 << 20, 1 << 20, 1 << 20])).unwrap();
        let text = shown(&huge);
        assert!(text.starts_with("tensor([[[7, 7, 7,  ..., 7, 7, 7],\n") && text.ends_with("]]])") && text.len() < 3000, "{text}");
        let torch7 = THPrintOptions { layout: TH_PRINT_TORCH7, ..print::default_options() };
        assert_eq!(tensor(&huge, Some(&torch7)).unwrap_err().kind(), Kind::NoMem);
        let all = THPrintOptions { threshold: i64::MAX, ..print::default_options() };
        assert_eq!(tensor(&huge, Some(&all)).unwrap_err().kind(), Kind::NoMem);
    }

    #[test]
    fn tensors_of_many_dimensions_are_printed() {
        let one = create::full(Dtype::Float32, &[1; 1024], Scalar::Float(0.5)).unwrap();
        assert_eq!(shown(&one), format!("tensor({}0.5000{})", "[".repeat(1024), "]".repeat(1024)));
    }
}

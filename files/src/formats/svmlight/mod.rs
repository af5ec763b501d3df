//! svmlight, also called libsvm: a data set as text, with a line for each row: `label index:value index:value ... # comment`.
//!
//! Sources: T. Joachims, SVM-light; C.-C. Chang, C.-J. Lin, LIBSVM, README; scikit-learn, `load_svmlight_file`.
//!
//! - The tensor `labels` has the label of each row, which is one number, in float64. The matrix `data` is compressed by rows and has values
//!   in float64. Pairs `qid:number` after the labels become the tensor `qid` in int64. A file in which some rows lack a `qid` is refused.
//! - Indices begin at 1 and ascend within a row. The number of columns is the greatest index of the file, because the format does not have
//!   the number. A pair with the value 0 is an entry.
//! - `#` begins a comment. Empty lines and comments are skipped. Lines end with LF or CRLF.
//!
//! Opening a file checks all lines and counts the entries. The numbers are read on request, by threads that read chunks of the text.

mod body;
mod line;
mod write;

pub use write::write;

use crate::contents::Contents;
use crate::element::Element;
use crate::encoding::Encoding;
use crate::error::Result;
use crate::format::Format;
use crate::formats::text::lines::split;
use crate::grow;
use crate::input::Input;
use crate::sparse::{Form, Sparse};
use crate::tensor::Tensor;
use body::{Body, Numbers, Part};
use std::sync::Arc;

/// The names of the tensors.
const LABELS: &str = "labels";
const DATA: &str = "data";
const QID: &str = "qid";

/// Returns true if the first row in `head` has a label, and then a `qid` or a pair. A row with a label only can be a table, too.
pub fn recognises(head: &[u8], size: u64) -> bool {
    let Some((start, text)) = split(head).find_map(|(start, line)| Some((start, line::row(line)?))) else { return false };
    let is_cut = size > head.len() as u64 && !head[start..].iter().any(|byte| matches!(byte, b'\n' | b'#'));
    // The last number may be incomplete.
    let whole = if is_cut { text.iter().rposition(|byte| byte.is_ascii_whitespace()).unwrap_or(0) } else { text.len() };
    let Ok(head) = line::head(&text[..whole]) else { return false };
    let mut pairs = line::pairs(&text[..whole], head.end);
    match pairs.next() {
        Some(pair) => pair.is_ok_and(|pair| line::number(pair.value).is_ok()),
        None => head.query.is_some(),
    }
}

pub fn read(input: &dyn Input) -> Result<Contents> {
    let body = Arc::new(Body::new(input)?);
    let total = body.total();
    let (rows, nnz) = (total.rows as i64, total.entries as i64);
    let mut contents = Contents::new(Format::Svmlight);
    let part = |contents: &mut Contents, name: &str, part, len: i64| {
        let element = if matches!(part, Part::Labels | Part::Values) { Element::F64 } else { Element::I64 };
        let numbers = Numbers { body: Arc::clone(&body), part };
        let storage = contents.add_storage(element, len as u64, Encoding::Format(Box::new(numbers)))?;
        Tensor::row_major(grow::text(&[name])?, grow::copy(&[len])?, storage)
    };
    let labels = part(&mut contents, LABELS, Part::Labels, rows)?;
    grow::push(&mut contents.tensors, labels)?;
    let mut parts = grow::list(3)?;
    parts.push(part(&mut contents, "", Part::Starts, rows + 1)?);
    parts.push(part(&mut contents, "", Part::Columns, nnz)?);
    parts.push(part(&mut contents, "", Part::Values, nnz)?);
    let sizes = grow::copy(&[rows, total.columns as i64])?;
    contents.add_sparse(grow::text(&[DATA])?, sizes, Sparse { form: Form::Rows, parts, coalesced: true })?;
    if total.queries > 0 {
        let queries = part(&mut contents, QID, Part::Queries, rows)?;
        grow::push(&mut contents.tensors, queries)?;
    }
    Ok(contents)
}

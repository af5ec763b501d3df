//! Calls of all functions with tensors of a device that does not exist. Their memory is on the host: a function that reads it succeeds, and
//! the test fails.

use super::*;
use crate::api::args::Kind;
use crate::api::function::{Function, invoke};
use crate::api::word::{ToWord, Word};
use crate::device::{Device, DeviceGuard, TH_CUDA};
use crate::dtype::Dtype;
use crate::error::{TH_ERR_CUDA, TH_ERR_DEVICE, TH_OK, THStatus};
use crate::tensor::Tensor;
use std::ffi::CStr;

/// Chapters of functions that make, inspect and reshape handles, on any device.
const HANDLES: &[&str] = &["Handles and references", "Looking at tensors", "Views", "Shapes changed in place", "Gradients"];

/// Functions that read no elements, at least for some arguments: tensors of different shapes are not equal, and the power 0 of a matrix is
/// the identity.
const NO_ELEMENTS: &[&str] = &[
    "newContiguous",
    "isShared",
    "isCuda",
    "isPinned",
    "toDLPack",
    "toDLPackLegacy",
    "equal",
    "matrixPower",
    "repeatInterleaveValue",
    "vander",
];

/// Functions whose arguments do not fit each other in any trial. Other forms of the same operations are called.
const FITTING: &[&str] = &[
    "item",
    "itemLong",
    "diagEmbed",
    "rot90",
    "clampTensor",
    "addmv",
    "btrisolve",
    "lstmCell",
    "gruCell",
    "csrMatmulTransposed",
    "csrSampled",
    "csrSolve",
    "convolutionGradInput",
    "convolutionGradWeight",
    "maxPool1dUniform",
    "maxPool2dUniform",
    "maxPool3dUniform",
    "avgPool1dUniform",
    "avgPool2dUniform",
    "avgPool3dUniform",
    "avgPoolGradInputUniform",
    "scaledDotProductAttentionGrad",
    "mmQuantized",
    "quantize",
    "dequantize",
];

/// Arguments of one call: the ranks of the first tensor and of the others, the dtype of operands other than indices and masks, the size of
/// dimensions and the value of integers.
struct Trial {
    ranks: [usize; 2],
    dtype: Dtype,
    size: i64,
    int: i64,
}

fn trials() -> impl Iterator<Item = Trial> {
    let ranks = (1..=5).flat_map(|first| (1..=5).map(move |rest| [first, rest]));
    let dtypes = [Dtype::Float32, Dtype::Int64, Dtype::Bool];
    let numbers = [(2, 0), (2, 1), (3, 1), (3, 2)];
    ranks.flat_map(move |ranks| dtypes.into_iter().flat_map(move |dtype| numbers.map(|(size, int)| Trial { ranks, dtype, size, int })))
}

/// The number of a GPU that does not exist on any machine.
const NOWHERE: i8 = i8::MAX;

/// Returns a tensor whose handle and storage claim to be on this GPU.
fn on_a_gpu(dtype: Dtype, shape: &[i64]) -> Tensor {
    let t = Tensor::empty(dtype, shape).expect("there is memory");
    // SAFETY: the handle is live and owned by this test, and so is its storage.
    unsafe {
        ((*t.as_ptr()).deviceType, (*t.as_ptr()).deviceIndex) = (TH_CUDA as i8, NOWHERE);
        let storage = (*t.as_ptr()).storage;
        ((*storage).deviceType, (*storage).deviceIndex) = (TH_CUDA as i8, NOWHERE);
    }
    t
}

fn reads(kind: &Kind) -> bool {
    matches!(kind, Kind::input | Kind::inout | Kind::handle | Kind::emptied | Kind::shared | Kind::mask | Kind::index | Kind::pivots)
}

fn writes(kind: &Kind) -> bool {
    matches!(kind, Kind::out | Kind::truth | Kind::indices | Kind::totals | Kind::pivots_out)
}

/// Returns the value of an argument that is not a tensor.
fn plain(kind: Kind, whole: i64) -> Option<Word> {
    use Kind::*;
    Some(match kind {
        number | factor | parameter | double => 1.0.word(),
        entry | size | stride | count | integer | dim | int | flag => whole.word(),
        len => Word::ZERO,
        _ if format!("{kind:?}").starts_with("optional") => Word::ZERO,
        _ => return None,
    })
}

/// Calls the function, and returns the status and the message.
fn called(function: &'static Function, trial: &Trial) -> (THStatus, String) {
    let mut ranks = std::iter::once(trial.ranks[0]).chain(std::iter::repeat(trial.ranks[1]));
    let tensors: Vec<Option<Tensor>> = (function.signature.kinds.iter())
        .map(|kind| match kind {
            kind if writes(kind) => Tensor::fresh().ok(),
            kind if reads(kind) => {
                let dtype = match kind {
                    Kind::index => Dtype::Int64,
                    Kind::pivots => Dtype::Int32,
                    Kind::mask => Dtype::Bool,
                    _ => trial.dtype,
                };
                Some(on_a_gpu(dtype, &vec![trial.size; ranks.next().unwrap_or(1)]))
            }
            _ => None,
        })
        .collect();
    let word = |(kind, t): (&Kind, &Option<Tensor>)| {
        t.as_ref().map_or_else(|| plain(*kind, trial.int).unwrap_or(Word::ZERO), |t| t.as_ptr().word())
    };
    let words: Vec<Word> = function.signature.kinds.iter().zip(&tensors).map(word).collect();
    by_hand::errors::THClearLastError();
    invoke(function, &words);
    // SAFETY: the message is a C string.
    let message = unsafe { CStr::from_ptr(by_hand::errors::THGetLastError()) };
    (by_hand::errors::THGetLastErrorCode(), message.to_string_lossy().into_owned())
}

/// Calls each function that reads tensors with tensors of a GPU in many ways. The function must not succeed. It may report other errors
/// first, but not in every call.
#[test]
fn functions_refuse_tensors_of_other_devices() {
    // From now on the library checks the devices of tensors.
    drop(DeviceGuard::on(Device::Cuda(NOWHERE)));
    let (mut refused, mut wrong) = (0, Vec::new());
    for part in ALL.iter().filter(|part| part.functions[0].prefix == "THTensor_" && !HANDLES.contains(&part.title)) {
        for function in part.functions {
            let (name, kinds) = (function.signature.name(), function.signature.kinds);
            let known = kinds.iter().all(|kind| reads(kind) || writes(kind) || plain(*kind, 0).is_some());
            if !kinds.iter().any(reads) || !known || FITTING.contains(&name) {
                continue;
            }
            let expected = format!("THTensor_{name}: not available on cuda:{NOWHERE}");
            let is_refusal = |status| matches!(status, TH_ERR_DEVICE | TH_ERR_CUDA);
            let results: Vec<_> = trials().map(|trial| called(function, &trial)).collect();
            let may_succeed = NO_ELEMENTS.contains(&name);
            let is_wrong = |status: THStatus, message: &str| match status {
                TH_OK => !may_succeed,
                TH_ERR_DEVICE => message != expected,
                TH_ERR_CUDA => !message.starts_with(&format!("THTensor_{name}: no ")),
                _ => false,
            };
            match results.iter().find(|(status, message)| is_wrong(*status, message)) {
                Some((status, message)) => wrong.push(format!("{name}: {status} {message:?}")),
                None if may_succeed || results.iter().any(|(status, _)| is_refusal(*status)) => refused += 1,
                None => wrong.push(format!("{name}: {:?}", results[0].1)),
            }
        }
    }
    assert!(wrong.is_empty(), "{refused} refuse; {} do not:\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused > 300, "only {refused} functions were called");
}

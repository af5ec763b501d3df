//! Printing.
//!
//! Tensors and storages as text: in a string, on stdout, or on any stream.
//!
//! Errors: `TH_ERR_IO`, writing to the stream failed; `TH_ERR_ARGUMENT`, options out of range; `TH_ERR_SHAPE`, a damaged handle.

use crate::alloc::HeapText;
use crate::api::sparse::{Places, Sparse};
use crate::api::table::table;
use crate::error::{Result, bail, reason};
use crate::ops::print as ops;
use crate::print::{THPrintOptions, default_options, set_default_options};
use crate::system;

macro_rules! print_functions {
    ($do:ident) => {
        $do! { "";
            /// `t` as text, in the layout and with the digits that `options` select; NULL selects the defaults. The text does not end with
            /// a newline. A C string that the caller frees with `THFree`; NULL on error.
            ///
            /// PyTorch's layout is the text of its `repr`: `tensor([[1., 2.], [3., 4.]])`. If a tensor is summarised, only the elements
            /// shown are read, and they decide the number format. Torch7's layout is the text of its prompt: rows of numbers, then
            /// `[torch.FloatTensor of size 2x2]`. Torch7's layout shows every element, and counts indices and columns from 1. In both
            /// layouts a fresh handle is printed as an empty tensor of the default dtype.
            THTensor_toString(t: input, options: print_options) -> new_text = ops::tensor(t, options).map(HeapText::into_c_string);
            /// Writes `t` and a newline to C's stdout, with the default options. The output appears after earlier output of printf.
            THTensor_print(t: input) = write(to_stdout()?, ops::tensor(t, None)?);
            /// Writes `t` and a newline to `stream` in one write; `options` are as for `THTensor_toString`. An error of the stream is
            /// `TH_ERR_IO`. As with fprintf, an error may appear only when the stream is flushed.
            THTensor_fprint(stream: stream, t: input, options: print_options) = write(stream, ops::tensor(t, options)?);
            /// The text of a sparse tensor, always in PyTorch's layout: `indices`, `values`, `size`, `nnz` and `layout`, each on a separate
            /// line. A C string that the caller frees with `THFree`; NULL on error.
            THSTensor_toString(s: sparse, options: print_options) -> new_text = sparse_text(s, options).map(HeapText::into_c_string);
            /// Writes `s` and a newline to C's stdout, as `THTensor_print` does.
            THSTensor_print(s: sparse) = write(to_stdout()?, sparse_text(s, None)?);
            /// Writes `s` and a newline to `stream`, as `THTensor_fprint` does.
            THSTensor_fprint(stream: stream, s: sparse, options: print_options) = write(stream, sparse_text(s, options)?);
            /// The elements of `storage`, one a line, then `[torch.FloatStorage of size 3]`: always Torch7's layout. Only the precision of
            /// `options` is used. A C string that the caller frees with `THFree`; NULL on error.
            THStorage_toString(storage: storage_input, options: print_options) -> new_text = ops::storage(storage,
                options).map(HeapText::into_c_string);

            /// Stores the library's initial defaults in `options`.
            THPrintOptions_init(options: print_options_out) = {
                // SAFETY: `options` is writable.
                unsafe { options.write(THPrintOptions::standard()) };
                Ok(())
            };
            /// Sets the process-wide defaults, which functions use if their `options` are NULL. NULL restores the library's initial
            /// defaults.
            THSetPrintOptions(options: print_options) = set_default_options(options.unwrap_or(&THPrintOptions::standard()));
            /// Stores the process-wide defaults in `options`.
            THGetPrintOptions(options: print_options_out) = {
                // SAFETY: `options` is writable.
                unsafe { options.write(default_options()) };
                Ok(())
            };
        }
    };
}

print_functions!(table);
pub(crate) use print_functions as functions;

/// C's stdout.
fn to_stdout() -> Result<*mut FILE> {
    let stream = system::c_stdout();
    if stream.is_null() {
        bail!(Io, "stdout is NULL")
    }
    Ok(stream)
}

fn sparse_text(s: &Sparse, options: Option<&THPrintOptions>) -> Result<HeapText> {
    let parts = s.parts()?;
    match &parts.places {
        Places::Coordinates(indices) => ops::sparse(&[("indices", indices), ("values", &parts.values)], &parts.size, "sparse_coo", options),
        Places::Rows { crow, col } => {
            let named = [("crow_indices", crow), ("col_indices", col), ("values", &parts.values)];
            ops::sparse(&named, &parts.size, "sparse_csr", options)
        }
    }
}

/// Writes `text` and a newline to `stream` in one write, so that output of other threads cannot split the text.
fn write(stream: *mut FILE, mut text: HeapText) -> Result<()> {
    text.push("\n")?;
    let bytes = text.as_bytes();
    // SAFETY: the text has `bytes.len()` bytes. The caller guarantees that the stream is open.
    let written = unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), stream) };
    if written < bytes.len() {
        bail!(Io, "the stream took {written} of {} bytes: {}", bytes.len(), reason(&std::io::Error::last_os_error()))
    }
    Ok(())
}

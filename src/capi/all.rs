//! The index of all rows, by area.

use super::face::row::Area;

/// Hands every area to a macro: first those of `THTensor_*`, each with its list of rows, then the others.
macro_rules! areas {
    ($do:ident $($to:tt)*) => { $do! { $($to)*
        "Handles and references": handles handle_rows crate::capi::rows::tensor::handles;
        "Making tensors": making making_rows crate::capi::rows::tensor::making;
        "Looking at tensors": asking asking_rows crate::capi::rows::tensor::asking;
        "Single elements": elements element_rows crate::capi::rows::tensor::elements;
        "Copies and conversions": copies copy_rows crate::capi::rows::tensor::copies;
        "Views": pairs_of_views view_pair_rows crate::capi::rows::view::pairs_of_views;
        "Views": views view_rows crate::capi::rows::view::views;
        "Shapes changed in place": shapes shape_rows crate::capi::rows::view::shapes;
        "Devices": devices device_rows crate::capi::rows::device::tensors;
        "Joining and rearranging": join join_rows crate::capi::rows::join;
        "Elements by index": index index_rows crate::capi::rows::index;
        "Results made of numbers": create create_rows crate::capi::rows::create;
        "Arithmetic": sums arithmetic_rows crate::capi::rows::pointwise::sums;
        "Arithmetic": quotients divide_rows crate::capi::rows::pointwise::quotients;
        "Arithmetic": scaled scaled_rows crate::capi::rows::pointwise::scaled;
        "Functions of numbers": functions function_rows crate::capi::rows::pointwise::functions;
        "Functions of numbers": special special_rows crate::capi::rows::pointwise::special;
        "Bits": bitwise bits_rows crate::capi::rows::pointwise::bitwise;
        "Comparisons and choices": truths compare_rows crate::capi::rows::pointwise::truths;
        "Comparisons and choices": choices choice_rows crate::capi::rows::pointwise::choices;
        "Reductions": reduce reduce_rows crate::capi::rows::reduce;
        "Scans and softmax": scan scan_rows crate::capi::rows::scan;
        "Losses, normalization and gradients": layer layer_rows crate::capi::rows::layer;
        "Losses, normalization and gradients": loss loss_rows crate::capi::rows::loss;
        "Losses, normalization and gradients": gradients gradient_rows crate::capi::rows::pointwise::gradients;
        "Sorting and searching": sort sort_rows crate::capi::rows::sort;
        "Order statistics and histograms": order order_rows crate::capi::rows::order;
        "Matrix products": matmul matmul_rows crate::capi::rows::matmul;
        "Products of compressed rows": compressed compressed_rows crate::capi::rows::compressed;
        "Linear algebra": linalg linalg_rows crate::capi::rows::linalg;
        "Convolution": convolution convolution_rows crate::capi::rows::convolution;
        "Pooling": pooling pooling_rows crate::capi::rows::pooling;
        "Fourier transforms": fourier fourier_rows crate::capi::rows::fourier;
        "Random generators": states state_rows crate::capi::rows::seed::states;
        "Random numbers": random random_rows crate::capi::rows::random;
        "Exchange with other libraries": exchange exchange_rows crate::capi::rows::exchange;
        "Mapped files and shared memory": shared_tensors shared_tensor_rows crate::capi::rows::memory::shared_tensors;
        "Functions of the caller": apply apply_rows crate::capi::rows::apply;
        others
        "Sparse tensors": crate::capi::sparse::rows;
        "Fused expressions": crate::capi::rows::fused;
        #[cfg(feature = "grad")] "Gradients": crate::capi::grad::rows::tensors;
        #[cfg(feature = "grad")] "Gradients": crate::capi::grad::rows::graphs;
        #[cfg(feature = "grad")] "Gradients": crate::capi::grad::functions::calls;
        #[cfg(feature = "grad")] "Optimizers": crate::capi::grad::optim;
        "Devices": crate::capi::rows::device::defaults;
        "Streams, events and graphs": crate::capi::rows::stream;
        "Element types": crate::capi::rows::general::dtypes;
        "Printing": crate::capi::rows::print;
        "Random generators": crate::capi::rows::seed;
        "Storages": crate::capi::rows::storage;
        #[cfg(feature = "files")] "Files": crate::capi::rows::archive::tensors;
        #[cfg(feature = "files")] "Files": crate::capi::sparse::archive::sparse_tensors;
        #[cfg(feature = "files")] "Files": crate::capi::sparse::archive::archives;
        #[cfg(feature = "files")] "Files": crate::capi::rows::archive::archives;
        "Memory": crate::capi::rows::memory::heap;
        "Mapped files and shared memory": crate::capi::rows::memory::mapped;
        "Mapped files and shared memory": crate::capi::rows::memory::shared_storages;
        "Errors": crate::capi::rows::general::errors;
        "Threads": crate::capi::rows::general::threads;
        "BLAS of the machine": crate::capi::rows::general::vendor;
        "Versions": crate::capi::rows::general::versions;
    } };
}

macro_rules! listed {
    ($($chapter:literal: $name:ident $rows:ident $area:path;)* others $($(#[$if:meta])* $other:literal: $module:path;)*) => { &[
        $({ use $area as area; Area { chapter: $chapter, face: &area::FACE, rows: area::ROWS } },)*
        $($(#[$if])* { use $module as area; Area { chapter: $other, face: &area::FACE, rows: area::ROWS } },)*
    ] };
}

/// All rows of the library. The number of a row is its place among them.
pub static ALL: &[Area] = areas!(listed);

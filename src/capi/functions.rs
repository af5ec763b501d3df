//! The index of all functions by chapter, and their C functions.

use super::export::export;
use crate::api::function::Function;

/// The functions of one module.
pub struct Chapter {
    /// The title of the chapter in the header.
    pub title: &'static str,
    /// The functions in the order of the header.
    pub functions: &'static [&'static Function],
}

/// Passes every chapter to a macro: its title, its name here, and the module that has its functions. Chapters of `THTensor_*` come first.
macro_rules! chapters {
    ($do:ident) => {
        $do! {
            "Handles and references": handles crate::api::functions::tensor::handles;
            "Making tensors": making crate::api::functions::tensor::making;
            "Looking at tensors": asking crate::api::functions::tensor::asking;
            "Single elements": elements crate::api::functions::tensor::elements;
            "Copies and conversions": copies crate::api::functions::tensor::copies;
            "Views": pairs_of_views crate::api::functions::view::pairs_of_views;
            "Views": views crate::api::functions::view::views;
            "Shapes changed in place": shapes crate::api::functions::view::shapes;
            "Devices": devices crate::api::functions::device::tensors;
            "Joining and rearranging": join crate::api::functions::join;
            "Elements by index": index crate::api::functions::index;
            "Results made of numbers": create crate::api::functions::create;
            "Arithmetic": sums crate::api::functions::pointwise::sums;
            "Arithmetic": quotients crate::api::functions::pointwise::quotients;
            "Arithmetic": scaled crate::api::functions::pointwise::scaled;
            "Functions of numbers": functions crate::api::functions::pointwise::functions;
            "Functions of numbers": special crate::api::functions::pointwise::special;
            "Bits": bitwise crate::api::functions::pointwise::bitwise;
            "Comparisons and choices": truths crate::api::functions::pointwise::truths;
            "Comparisons and choices": choices crate::api::functions::pointwise::choices;
            "Reductions": reduce crate::api::functions::reduce;
            "Scans and softmax": scan crate::api::functions::scan;
            "Losses, normalization and gradients": layer crate::api::functions::layer;
            "Losses, normalization and gradients": loss crate::api::functions::loss;
            "Losses, normalization and gradients": gradients crate::api::functions::pointwise::gradients;
            "Recurrent layers": recurrent crate::api::functions::recurrent;
            "Sorting and searching": sort crate::api::functions::sort;
            "Order statistics and histograms": order crate::api::functions::order;
            "Matrix products": matmul crate::api::functions::matmul;
            "Quantised numbers": quantized crate::api::functions::quantized;
            "Products of compressed rows": compressed crate::api::functions::compressed;
            "Linear algebra": linalg crate::api::functions::linalg;
            "Convolution": convolution crate::api::functions::convolution;
            "Pooling": pooling crate::api::functions::pooling;
            "Resampling of images": resample crate::api::functions::resample;
            "Fourier transforms": fourier crate::api::functions::fourier;
            "Random generators": states crate::api::functions::seed::states;
            "Random numbers": random crate::api::functions::random;
            "Exchange with other libraries": exchange crate::api::functions::exchange;
            "Mapped files and shared memory": shared_tensors crate::api::functions::memory::shared_tensors;
            "Functions of the caller": apply crate::api::functions::apply;
            "Sparse tensors": sparse crate::sparse::functions;
            "Fused expressions": fused crate::api::functions::fused;
            #[cfg(feature = "grad")] "Gradients": gradients_of_tensors crate::grad::functions::tensors;
            #[cfg(feature = "grad")] "Gradients": graphs crate::grad::functions::graphs;
            #[cfg(feature = "grad")] "Gradients": gradient_calls crate::grad::calls::chapter;
            #[cfg(feature = "grad")] "Optimizers": optimizers crate::grad::optim;
            #[cfg(feature = "grad")] "Optimizers": scaling crate::grad::scaling;
            #[cfg(feature = "grad")] "Optimizers": schedules crate::grad::schedule;
            #[cfg(all(feature = "grad", feature = "files"))] "Optimizers": optimizer_files crate::grad::optim_files;
            "Devices": default_devices crate::api::functions::device::defaults;
            "Streams, events and graphs": streams crate::api::functions::stream;
            "Element types": dtypes crate::api::functions::general::dtypes;
            "Printing": print crate::api::functions::print;
            "Random generators": generators crate::api::functions::seed;
            "Storages": storage crate::api::functions::storage;
            #[cfg(feature = "files")] "Files": tensor_files crate::api::functions::archive::tensors;
            #[cfg(feature = "files")] "Files": sparse_files crate::sparse::archive::sparse_tensors;
            #[cfg(feature = "files")] "Files": sparse_archives crate::sparse::archive::archives;
            #[cfg(feature = "files")] "Files": archives crate::api::functions::archive::archives;
            #[cfg(feature = "programs")] "Exported programs": programs crate::program::functions;
            "Memory": heap crate::api::functions::memory::heap;
            "Mapped files and shared memory": mapped crate::api::functions::memory::mapped;
            "Mapped files and shared memory": shared_storages crate::api::functions::memory::shared_storages;
            "Errors": errors crate::api::functions::general::errors;
            "Threads": threads crate::api::functions::general::threads;
            "BLAS of the machine": vendor crate::api::functions::general::vendor;
            "Versions": versions crate::api::functions::general::versions;
        }
    };
}

/// Exports the functions of each chapter from a module.
macro_rules! exported {
    ($($(#[$if:meta])* $title:literal: $name:ident $($module:ident)::+;)*) => { $(
        $(#[$if])*
        #[doc = $title]
        pub mod $name {
            use super::export;
            #[allow(unused_imports)] // Some modules have no argument or result of these types.
            use crate::api::args::c_types::*;
            use $($module)::+::{functions, table};
            functions!(export);
        }
    )* };
}

macro_rules! listed {
    ($($(#[$if:meta])* $title:literal: $name:ident $module:path;)*) => { &[
        $($(#[$if])* { use $module as chapter; Chapter { title: $title, functions: chapter::FUNCTIONS } },)*
    ] };
}

chapters!(exported);

/// All functions of the table. The number of a function is its position among them.
pub static ALL: &[Chapter] = chapters!(listed);

//! Which kinds of pointers may be NULL, for programs that call any row.

use super::args::Kind;

/// The kinds of pointers that may not be NULL.
pub static NULL_REFUSED: &[Kind] = &[
    Kind::out,
    Kind::view_out,
    Kind::truth,
    Kind::indices,
    Kind::totals,
    Kind::pivots_out,
    Kind::inout,
    Kind::handle,
    Kind::shared,
    Kind::input,
    Kind::mask,
    Kind::index,
    Kind::pivots,
    Kind::storage,
    Kind::storage_input,
    Kind::required_generator,
    Kind::text,
    Kind::map_context,
    Kind::required_memory,
    Kind::allocator,
    Kind::stats_out,
    Kind::cuda_memory_out,
    Kind::cuda_properties_out,
    Kind::cuda_stream,
    Kind::cuda_event,
    Kind::cuda_graph,
    Kind::cuda_callback,
    Kind::dlpack,
    Kind::dlpack_legacy,
    Kind::arrow_schema,
    Kind::arrow_array,
    Kind::print_options_out,
    Kind::stream,
    Kind::fused,
    Kind::archive,
    Kind::optim,
    Kind::optim_closure,
    Kind::read_function,
    Kind::seek_function,
];

/// The kinds of lists that may be NULL where they have no entries.
pub static NULL_IF_EMPTY: &[Kind] =
    &[Kind::sizes, Kind::strides, Kind::dims, Kind::entries, Kind::counts, Kind::inputs, Kind::optional_inputs, Kind::outs];

/// The kinds of pointers that may always be NULL. For kinds in none of the three lists it depends on the function.
pub static NULL_TAKEN: &[Kind] = &[
    Kind::optional_out,
    Kind::optional_indices,
    Kind::optional_totals,
    Kind::optional_info,
    Kind::optional_input,
    Kind::optional_state,
    Kind::optional_index,
    Kind::optional_sizes,
    Kind::optional_strides,
    Kind::optional_dims,
    Kind::optional_counts,
    Kind::generator,
    Kind::optional_text,
    Kind::context,
    Kind::deleter,
    Kind::hook,
    Kind::print_options,
    Kind::fused_or_null,
    Kind::archive_or_null,
    Kind::optim_or_null,
    Kind::cuda_stream_or_null,
    Kind::cuda_event_or_null,
    Kind::cuda_graph_or_null,
    Kind::memory_or_null,
];

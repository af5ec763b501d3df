//! Names in thorn.hpp: the rules that convert C names, and the exceptions.

use super::argument::Field;

/// C functions without a separate name in thorn.hpp, with the reason. A final `*` means all names with this prefix.
pub const LEFT_OUT: &[(&str, &str)] = &[
    ("THTensor_new", "a default-constructed Tensor becomes a fresh tensor where it is a result"),
    ("THTensor_retain THTensor_free THStorage_retain THStorage_free", "copies and destructors count references"),
    ("THFused_retain THFused_free THGenerator_free THArchive_free THOptim_free", "copies and destructors count references"),
    ("THProgram_retain THProgram_free", "copies and destructors count references"),
    ("THCudaStream_retain THCudaStream_free THCudaEvent_retain THCudaEvent_free", "copies and destructors count references"),
    ("THCudaGraph_retain THCudaGraph_free", "copies and destructors count references"),
    ("THGenerator_new THGenerator_newKind", "constructors of Generator"),
    ("THTensor_freeCopyTo", "it frees its argument, which is an owner's"),
    ("THTensor_storage THTensor_data", "methods by hand"),
    ("THTensor_sizes THTensor_strides THTensor_nDimension THTensor_dim THTensor_dtype", "methods that read the open fields"),
    ("THTensor_apply THTensor_map THTensor_map2", "methods by hand, for any function object"),
    ("THTensor_newWithSize1d THTensor_newWithSize2d THTensor_newWithSize3d THTensor_newWithSize4d THTensor_newWithSize5d", LIST),
    ("THTensor_resize1d THTensor_resize2d THTensor_resize3d THTensor_resize4d THTensor_resize5d THTensor_resizeNd", LIST),
    ("THTensor_get1d THTensor_get2d THTensor_get3d THTensor_get4d THTensor_get5d", LIST),
    ("THTensor_set1d THTensor_set2d THTensor_set3d THTensor_set4d THTensor_set5d", LIST),
    ("THTensor_newWithStorage1d THTensor_newWithStorage2d THTensor_newWithStorage3d", LIST),
    ("THTensor_newWithStorage4d THTensor_newWithStorage5d THTensor_setStorageNd", LIST),
    ("THTensor_setStorage1d THTensor_setStorage2d THTensor_setStorage3d THTensor_setStorage4d THTensor_setStorage5d", LIST),
    ("THTensor_conv1dUniform THTensor_conv2dUniform THTensor_conv3dUniform", NUMBER),
    ("THTensor_convTranspose1dUniform THTensor_convTranspose2dUniform THTensor_convTranspose3dUniform", NUMBER),
    ("THTensor_maxPool1dUniform THTensor_maxPool2dUniform THTensor_maxPool3dUniform", NUMBER),
    ("THTensor_avgPool1dUniform THTensor_avgPool2dUniform THTensor_avgPool3dUniform", NUMBER),
    ("THAlloc THRealloc THFree", "memory of C"),
    ("THStorage_newWithAllocator THStorage_newWithDataAndAllocator", "memory of C: fromBlob takes any function that frees"),
    ("THMapAllocatorContext_* THRefcountedMapAllocator_*", "memory of C: Storage::withMapping, shared and sharedFd have an owner"),
    ("THArchive_openCallbacks THArchive_sizes", "by hand: Archive::openReader and Archive::sizes"),
    ("THProgram_open THProgram_run", "by hand: a constructor and calls"),
    ("THProgram_inputMinSizes THProgram_inputMaxSizes THProgram_outputMinSizes THProgram_outputMaxSizes", "by hand: ranges"),
    ("THCudaStream_addCallback THOptim_stepClosure", "by hand, for any function object"),
    ("THCudaStream_waitEvent", "by hand: two classes name each other"),
    ("THTensor_newGrad THTensor_addHook THTensor_removeHook THGrad_backward THGrad_gradients", "by hand: gradients.hpp"),
    ("THGrad_apply THGrad_save THGrad_newSaved THGrad_needsGradient THGrad_checkpoint THGrad_check", "by hand: gradients.hpp"),
    ("THSTensor_new", "a default-constructed SparseTensor becomes a fresh tensor where it is a result"),
    ("THSTensor_retain THSTensor_free", "copies and destructors count references"),
    ("THGetLastError THGetLastErrorCode THSetLastError THClearLastError", "th::Error, th::failure"),
];

const LIST: &str = "a list in braces says it: `t.getAt({i, j})`";
const NUMBER: &str = "a SpatialList may be a number: `t.maxPool2d(2)`";

/// C functions that make a tensor although their arguments contain neither a tensor nor sizes. Other functions of that kind write into a
/// tensor.
pub const MAKE: &[&str] = &["THTensor_arange", "THTensor_range", "THTensor_getRNGState"];

/// C functions that write into a tensor, although they have an operand.
pub const WRITE: &[&str] = &["THTensor_copy", "THTensor_copyAsync", "THSTensor_copy"];

/// Free functions that are hand-written, because their names are also names of objects.
pub const OBJECTS: &[&str] = &["all"];

/// Chapters whose operations keep the shape, so that they have a form in place.
pub const IN_PLACE: &[&str] = &["Arithmetic", "Functions of numbers", "Bits", "Comparisons and choices", "Scans and softmax"];

/// Operations of other chapters with a form in place.
pub const MORE_IN_PLACE: &[&str] = &["tril", "triu", "addmm", "addmv", "addr", "baddbmm", "addbmm"];

/// Chapters whose methods of dense tensors are also methods of a Selection. More of them would slow the compilation down.
pub const READERS: &[&str] = &["Looking at tensors", "Single elements", "Copies and conversions", "Printing", "Views", "Reductions"];

/// Names that are C++ operators, and their replacements.
const WORDS: &[(&str, &str)] = &[("bitand", "bitAnd"), ("bitor", "bitOr")];

/// Functions whose name without `new` belongs to another function, and their C++ names.
const OTHERS: &[(&str, &str)] = &[("THArchive_newFind", "tensor"), ("THSTensor_newDense", "toDense")];

/// The class for handles of the C struct `TH` + `of`.
pub fn class(of: &str) -> &str {
    if of == "STensor" { "SparseTensor" } else { of }
}

/// The C++ name of a function whose name by the rules would be `name`.
pub fn of<'a>(function: &str, name: &'a str) -> &'a str {
    OTHERS.iter().find(|(other, _)| *other == function).map_or(word(name), |(_, instead)| instead)
}

/// The number of spatial dimensions in the name of a convolution or pooling.
pub fn spatial(name: &str) -> Option<u8> {
    let (_, rest) = name.split_once("Pool").or_else(|| name.split_once("conv"))?;
    rest.trim_start_matches("Transpose").strip_suffix('d')?.parse().ok()
}

/// The name of a row in C++.
pub fn word(name: &str) -> &str {
    WORDS.iter().find(|(word, _)| *word == name).map_or(name, |(_, instead)| instead)
}

/// Returns true if the generated part of thorn.hpp has no function for this C function.
pub fn is_left_out(function: &str) -> bool {
    let mut names = LEFT_OUT.iter().flat_map(|(names, _)| names.split(' '));
    names.any(|name| name == function || name.strip_suffix('*').is_some_and(|start| function.starts_with(start)))
}

/// Converts `NEG_INF` and `neg_inf` to `NegInf`.
pub fn camel(constant: &str) -> String {
    constant.split('_').map(|word| upper(&word.to_lowercase())).collect()
}

/// The name with a capital first letter.
pub fn upper(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

/// The name with a small first letter.
pub fn lower(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_ascii_lowercase().to_string() + letters.as_str())
}

/// The length of the common prefix of an enum's constants, in whole words, such that the rest begins with a letter.
pub fn prefix(constants: &[&str]) -> usize {
    let first = constants.first().expect("an enum has constants");
    let ends = first.match_indices('_').map(|(at, _)| at + 1);
    ends.filter(|end| {
        constants.iter().all(|name| name.starts_with(&first[..*end]) && !name[*end..].starts_with(|c: char| c.is_ascii_digit()))
    })
    .max()
    .unwrap_or(0)
}

/// The name of the struct with these fields.
pub fn result(fields: &[Field]) -> String {
    let kind = if fields.iter().any(Field::is_sparse) { "Sparse" } else { "" };
    kind.to_owned() + &fields.iter().map(|field| upper(&field.name)).collect::<String>()
}

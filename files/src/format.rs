//! The formats of files, and the properties of each.

/// The list of all formats, in the order in which [`open`](crate::open) tries them. Passes the list to the macro `$face`.
///
/// - `name` is the usual name, for messages. `endings` are the endings of file names, in lower case.
/// - `layouts`: files have strides, and storages that tensors share. Files of other formats have row-major tensors.
/// - `metadata`: files that are written have keys and values. `sparse`: files may have sparse tensors.
/// - `one_tensor`: a file that is written has exactly one tensor.
/// - `by_name`: a file with one of the endings has the format, unless a format before it recognises the file.
/// - `recognises` returns true if a file that begins with `head` may have the format; see [`crate::formats`].
/// - `write` is `None` for a format that is only read.
macro_rules! formats {
    ($face:ident) => {
        $face! {
            /// An archive of PyTorch.
            Pt = 1 {
                name: "PyTorch", endings: ["pt", "pth"],
                layouts: true, metadata: true, sparse: true, one_tensor: false, by_name: false,
                recognises: torch::recognises, read: read_zip_of_torch, write: Some(torch::write),
            }
            /// A stream of PyTorch before 1.6.
            PtLegacy = 2 {
                name: "PyTorch before 1.6", endings: [],
                layouts: true, metadata: true, sparse: true, one_tensor: false, by_name: false,
                recognises: torch::recognises_stream, read: torch::read_stream, write: None,
            }
            /// A program that PyTorch exported. [`Format::Pt`] recognises it.
            Pt2 = 16 {
                name: "PyTorch exported program", endings: ["pt2"],
                layouts: true, metadata: true, sparse: true, one_tensor: false, by_name: false,
                recognises: elsewhere, read: read_zip_of_torch, write: None,
            }
            /// An array of NumPy.
            Npy = 5 {
                name: "npy", endings: ["npy"],
                layouts: false, metadata: false, sparse: false, one_tensor: true, by_name: false,
                recognises: npy::recognises, read: npy::read, write: Some(npy::write),
            }
            /// Arrays of NumPy in a zip archive, not compressed when written.
            Npz = 6 {
                name: "npz", endings: ["npz"],
                layouts: false, metadata: false, sparse: true, one_tensor: false, by_name: false,
                recognises: npz::recognises, read: npz::read, write: Some(npz::write),
            }
            /// Arrays of NumPy in a zip archive, compressed when written. Files that are read have the format [`Format::Npz`].
            NpzDeflated = 7 {
                name: "npz", endings: [],
                layouts: false, metadata: false, sparse: true, one_tensor: false, by_name: false,
                recognises: elsewhere, read: npz::read, write: Some(npz::write_deflated),
            }
            /// Tensors after a header in JSON.
            Safetensors = 8 {
                name: "safetensors", endings: ["safetensors"],
                layouts: false, metadata: true, sparse: false, one_tensor: false, by_name: false,
                recognises: safetensors::recognises, read: safetensors::read, write: Some(safetensors::write),
            }
            /// Models of ggml.
            Gguf = 9 {
                name: "GGUF", endings: ["gguf"],
                layouts: false, metadata: true, sparse: false, one_tensor: false, by_name: false,
                recognises: gguf::recognises, read: gguf::read, write: None,
            }
            /// A Lua value of Torch7 in binary.
            T7 = 3 {
                name: "Torch7", endings: ["t7"],
                layouts: true, metadata: true, sparse: false, one_tensor: false, by_name: false,
                recognises: t7::recognises, read: t7::read, write: Some(t7::write),
            }
            /// A Lua value of Torch7 as text.
            T7Ascii = 4 {
                name: "Torch7 ascii", endings: ["t7a"],
                layouts: true, metadata: true, sparse: false, one_tensor: false, by_name: false,
                recognises: t7::recognises_ascii, read: t7::read_ascii, write: Some(t7::write_ascii),
            }
            /// An image of netpbm: PGM or PPM. Of the metadata, only `maxval` is read.
            Pnm = 12 {
                name: "PNM", endings: ["pgm", "ppm", "pnm"],
                layouts: false, metadata: false, sparse: false, one_tensor: true, by_name: false,
                recognises: pnm::recognises, read: pnm::read, write: Some(pnm::write),
            }
            /// An image.
            Png = 13 {
                name: "PNG", endings: ["png"],
                layouts: false, metadata: true, sparse: false, one_tensor: true, by_name: false,
                recognises: png::recognises, read: png::read, write: Some(png::write),
            }
            /// A matrix as text, sparse or dense.
            MatrixMarket = 14 {
                name: "Matrix Market", endings: ["mtx"],
                layouts: false, metadata: false, sparse: true, one_tensor: true, by_name: false,
                recognises: market::recognises, read: market::read, write: Some(market::write),
            }
            /// A data set as text: labels and a sparse matrix. A first row without entries does not identify the format.
            Svmlight = 15 {
                name: "svmlight", endings: ["svm", "svmlight", "libsvm"],
                layouts: false, metadata: false, sparse: true, one_tensor: false, by_name: true,
                recognises: svmlight::recognises, read: svmlight::read, write: Some(svmlight::write),
            }
            /// A table of numbers as text. It is tried last, because no mark at its beginning identifies it.
            Csv = 10 {
                name: "csv", endings: ["csv"],
                layouts: false, metadata: true, sparse: false, one_tensor: true, by_name: false,
                recognises: csv::recognises, read: csv::read, write: Some(csv::write_csv),
            }
            /// A table of numbers as text, separated by tabs.
            Tsv = 11 {
                name: "tsv", endings: ["tsv"],
                layouts: false, metadata: true, sparse: false, one_tensor: true, by_name: false,
                recognises: elsewhere, read: csv::read, write: Some(csv::write_tsv),
            }
        }
    };
}
pub(crate) use formats;

/// The properties of a format.
struct Properties {
    format: Format,
    name: &'static str,
    endings: &'static [&'static str],
    layouts: bool,
    metadata: bool,
    sparse: bool,
    one_tensor: bool,
    by_name: bool,
}

macro_rules! properties {
    ($(
        $(#[$doc:meta])*
        $format:ident = $code:literal {
            name: $name:literal, endings: $endings:expr,
            layouts: $layouts:literal, metadata: $metadata:literal, sparse: $sparse:literal, one_tensor: $one_tensor:literal,
            by_name: $by_name:literal,
            recognises: $recognises:path, read: $read:path, write: $write:expr,
        }
    )*) => {
        /// A format of files.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(i32)]
        pub enum Format { $($(#[$doc])* $format = $code,)* }

        static ALL: &[Properties] = &[$(Properties {
            format: Format::$format,
            name: $name,
            endings: &$endings,
            layouts: $layouts,
            metadata: $metadata,
            sparse: $sparse,
            one_tensor: $one_tensor,
            by_name: $by_name,
        },)*];
    };
}

formats!(properties);

impl Format {
    fn properties(self) -> &'static Properties {
        ALL.iter().find(|properties| properties.format == self).unwrap_or(&ALL[0])
    }

    /// Returns the format with this number.
    pub fn from_code(code: i32) -> Option<Format> {
        ALL.iter().map(|properties| properties.format).find(|&format| format as i32 == code)
    }

    /// Returns the usual name.
    pub fn name(self) -> &'static str {
        self.properties().name
    }

    /// Returns the format of files whose names end like `path`; `None` if the ending is unknown.
    pub fn of_path(path: &[u8]) -> Option<Format> {
        let dot = path.iter().rposition(|&byte| byte == b'.')?;
        let ending = path[dot + 1..].to_ascii_lowercase();
        let is_known = |properties: &&Properties| properties.endings.iter().any(|known| known.as_bytes() == ending);
        ALL.iter().find(is_known).map(|properties| properties.format)
    }

    /// Returns the endings of the names of files of this format, in lower case.
    pub fn endings(self) -> &'static [&'static str] {
        self.properties().endings
    }

    /// Returns true if files of this format have strides, and storages that tensors share. Others have row-major tensors.
    pub fn keeps_layouts(self) -> bool {
        self.properties().layouts
    }

    /// Returns true if files of this format have metadata when they are written.
    pub fn keeps_metadata(self) -> bool {
        self.properties().metadata
    }

    /// Returns true if files of this format may have sparse tensors.
    pub fn keeps_sparse(self) -> bool {
        self.properties().sparse
    }

    /// Returns true if a file with one of the endings has this format, unless a format before it recognises the file.
    pub(crate) fn is_by_name(self) -> bool {
        self.properties().by_name
    }

    /// Returns true if a file of this format has exactly one tensor when it is written.
    pub fn has_one_tensor(self) -> bool {
        self.properties().one_tensor
    }
}

//! Options for printing tensors: the struct that C sets, its check, and the defaults of the process.

use crate::error::{Result, bail};
use std::sync::atomic::{AtomicI32, AtomicI64, Ordering::Relaxed};

/// PyTorch's layout: `tensor([[1., 2.], [3., 4.]])`.
pub const TH_PRINT_PYTORCH: i32 = 0;
/// Torch7's layout: columns of numbers and `[torch.FloatTensor of size 2x2]`.
pub const TH_PRINT_TORCH7: i32 = 1;

/// Options for printing tensors. `THPrintOptions_init` stores the defaults, which are PyTorch's.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct THPrintOptions {
    /// `TH_PRINT_PYTORCH`, the default, or `TH_PRINT_TORCH7`.
    pub layout: i32,
    /// The number of digits after the decimal point, from 0 to 1000. Default: 4.
    pub precision: i32,
    /// The maximum number of elements that PyTorch's layout shows without a summary. Torch7's layout shows every element. Default: 1000.
    pub threshold: i64,
    /// The number of elements that a summary shows at the beginning of each dimension, and also at its end. Default: 3.
    pub edgeItems: i64,
    /// The maximum number of characters of a line; a line has at least one element. Default: 80.
    pub lineWidth: i64,
    /// The use of exponents, as in `1.0000e+05`, for floats in PyTorch's layout: 0 never, 1 always, -1 by the magnitudes. With -1,
    /// exponents are used if the largest magnitude is above 1e8 or above 1000 times the smallest, or if the smallest is below 1e-4; zeros
    /// are ignored. Default: -1.
    pub sciMode: i32,
}

/// The maximum number of digits after the point. No float64 has more than 1074.
pub(super) const MOST_PRECISION: i32 = 1000;

/// The layout of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `TH_PRINT_PYTORCH`.
    Pytorch,
    /// `TH_PRINT_TORCH7`.
    Torch7,
}

/// Checked options.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The layout.
    pub style: Style,
    /// The number of digits after the point.
    pub precision: usize,
    /// The maximum number of elements of a tensor that is not summarised.
    pub threshold: i64,
    /// The number of elements at each end of a summary.
    pub edge: i64,
    /// The length of a line in characters.
    pub width: i64,
    /// True for exponents, false for none; `None` lets the values decide.
    pub scientific: Option<bool>,
}

impl THPrintOptions {
    /// PyTorch's defaults.
    pub const fn standard() -> THPrintOptions {
        THPrintOptions { layout: TH_PRINT_PYTORCH, precision: 4, threshold: 1000, edgeItems: 3, lineWidth: 80, sciMode: -1 }
    }

    /// Fails if an option is out of range.
    pub fn check(&self) -> Result<Options> {
        let style = match self.layout {
            TH_PRINT_PYTORCH => Style::Pytorch,
            TH_PRINT_TORCH7 => Style::Torch7,
            other => bail!(Argument, "layout {other} is neither TH_PRINT_PYTORCH nor TH_PRINT_TORCH7"),
        };
        if !(0..=MOST_PRECISION).contains(&self.precision) {
            bail!(Argument, "precision {} is not in the range of 0 to {MOST_PRECISION}", self.precision)
        }
        for (name, value) in [("threshold", self.threshold), ("edgeItems", self.edgeItems), ("lineWidth", self.lineWidth)] {
            if value < 0 {
                bail!(Argument, "{name} {value} is negative")
            }
        }
        let scientific = match self.sciMode {
            -1 => None,
            0 => Some(false),
            1 => Some(true),
            other => bail!(Argument, "sciMode {other} is none of -1, 0 and 1"),
        };
        let precision = self.precision as usize;
        Ok(Options { style, precision, threshold: self.threshold, edge: self.edgeItems, width: self.lineWidth, scientific })
    }
}

/// The defaults of the process. Each field is atomic: a reader during a change may see old and new fields, but only valid ones.
struct Defaults {
    narrow: [AtomicI32; 3],
    wide: [AtomicI64; 3],
}

static DEFAULTS: Defaults = {
    let THPrintOptions { layout, precision, threshold, edgeItems, lineWidth, sciMode } = THPrintOptions::standard();
    Defaults {
        narrow: [AtomicI32::new(layout), AtomicI32::new(precision), AtomicI32::new(sciMode)],
        wide: [AtomicI64::new(threshold), AtomicI64::new(edgeItems), AtomicI64::new(lineWidth)],
    }
};

/// The options that apply if the caller passes none.
pub fn default_options() -> THPrintOptions {
    let [layout, precision, sciMode] = [0, 1, 2].map(|k: usize| DEFAULTS.narrow[k].load(Relaxed));
    let [threshold, edgeItems, lineWidth] = [0, 1, 2].map(|k: usize| DEFAULTS.wide[k].load(Relaxed));
    THPrintOptions { layout, precision, threshold, edgeItems, lineWidth, sciMode }
}

/// Sets the options that apply if the caller passes none, for the whole process.
pub fn set_default_options(options: &THPrintOptions) -> Result<()> {
    options.check()?;
    let &THPrintOptions { layout, precision, threshold, edgeItems, lineWidth, sciMode } = options;
    DEFAULTS.narrow.iter().zip([layout, precision, sciMode]).for_each(|(field, value)| field.store(value, Relaxed));
    DEFAULTS.wide.iter().zip([threshold, edgeItems, lineWidth]).for_each(|(field, value)| field.store(value, Relaxed));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_out_of_range_are_refused_by_name() {
        let said = |options: THPrintOptions| options.check().err().map(|error| error.message().to_owned()).unwrap_or_default();
        let standard = THPrintOptions::standard();
        assert_eq!(said(standard), "");
        assert_eq!(said(THPrintOptions { layout: 2, ..standard }), "layout 2 is neither TH_PRINT_PYTORCH nor TH_PRINT_TORCH7");
        assert_eq!(said(THPrintOptions { precision: -1, ..standard }), "precision -1 is not in the range of 0 to 1000");
        assert_eq!(said(THPrintOptions { precision: 1001, ..standard }), "precision 1001 is not in the range of 0 to 1000");
        assert_eq!(said(THPrintOptions { threshold: -2, ..standard }), "threshold -2 is negative");
        assert_eq!(said(THPrintOptions { edgeItems: i64::MIN, ..standard }), format!("edgeItems {} is negative", i64::MIN));
        assert_eq!(said(THPrintOptions { lineWidth: -1, ..standard }), "lineWidth -1 is negative");
        assert_eq!(said(THPrintOptions { sciMode: 2, ..standard }), "sciMode 2 is none of -1, 0 and 1");
    }
}

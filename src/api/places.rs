//! The positions of tensors among the arguments of a function, as sets of bits.

use super::args::Kind;
use super::returns::Return;

/// Sets of argument positions, with one bit for each argument of the signature.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    /// Tensors whose elements are read, without those in lists.
    pub read: u32,
    /// Lists of tensors whose elements are read.
    pub lists: u32,
    /// Tensors whose elements are written, of any dtype.
    pub written: u32,
    /// Tensors among [`Places::written`] that may hold floats computed from tensors that are read.
    pub results: u32,
    /// Lists of tensors that become views.
    pub view_lists: u32,
    /// Handles that become views.
    pub views: u32,
    /// Handles whose geometry changes.
    pub handles: u32,
    /// Handles among [`Places::handles`] that lose their elements.
    pub emptied: u32,
    /// Lists of new handles.
    pub new_handles: u32,
    /// Storages from which a handle is made.
    pub storages: u32,
    /// Storages whose elements are written.
    pub written_storages: u32,
    /// True if the caller chooses sizes and strides of a handle, which can then include any element of its storage.
    pub is_strided: bool,
    /// True if the function returns a new handle.
    pub returns_tensor: bool,
}

impl Places {
    /// Returns the positions of tensors among arguments of these kinds.
    pub(crate) const fn of(kinds: &[Kind], returns: Return) -> Places {
        let mut places = Places {
            read: 0,
            lists: 0,
            written: 0,
            results: 0,
            view_lists: 0,
            views: 0,
            handles: 0,
            emptied: 0,
            new_handles: 0,
            storages: 0,
            written_storages: 0,
            is_strided: false,
            returns_tensor: matches!(returns, Return::new),
        };
        // Functions of sparse tensors call other functions, which are recorded one by one.
        let mut k = 0;
        while k < kinds.len() {
            if matches!(kinds[k], Kind::sparse | Kind::sparse_out | Kind::sparse_inout | Kind::sparse_inputs) {
                places.returns_tensor = false;
                return places;
            }
            k += 1;
        }
        if matches!(returns, Return::new_sparse) {
            return places;
        }
        k = 0;
        while k < kinds.len() {
            let bit = 1 << k;
            match kinds[k] {
                Kind::input | Kind::optional_input | Kind::shared => places.read |= bit,
                Kind::inputs | Kind::optional_inputs => places.lists |= bit,
                Kind::out | Kind::optional_out => {
                    places.written |= bit;
                    places.results |= bit;
                }
                Kind::inout => {
                    places.read |= bit;
                    places.written |= bit;
                    places.results |= bit;
                }
                Kind::truth | Kind::indices | Kind::optional_indices | Kind::totals | Kind::optional_totals => places.written |= bit,
                Kind::pivots_out | Kind::optional_info | Kind::optional_state => places.written |= bit,
                Kind::view_out => places.views |= bit,
                Kind::outs => places.view_lists |= bit,
                Kind::handle => places.handles |= bit,
                Kind::emptied => {
                    places.handles |= bit;
                    places.emptied |= bit;
                }
                Kind::new_handles => places.new_handles |= bit,
                Kind::storage => places.storages |= bit,
                Kind::storage_out => places.written_storages |= bit,
                Kind::strides | Kind::optional_strides => places.is_strided = true,
                _ => {}
            }
            k += 1;
        }
        places
    }

    /// Returns true if a result may be a view of an argument.
    pub const fn may_view(self) -> bool {
        let makes = self.new_handles != 0 || self.returns_tensor;
        self.views | self.view_lists | self.handles != 0 || (makes && self.read | self.lists | self.storages != 0)
    }
}

/// Returns the positions in a set, in ascending order.
pub fn each_place(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let k = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (k < u32::BITS).then_some(k as usize)
    })
}

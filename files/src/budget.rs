//! A limit of the memory that a file may cause to be allocated.

use crate::error::{Error, Result};

/// The memory that is left for reading a file.
pub struct Budget {
    left: u64,
    most: u64,
    /// The number of values of pickles that may still be visited.
    visits: u64,
}

impl Budget {
    /// Returns the limit for a file of `size` bytes: twice the size plus 36 MB. The memory in use can exceed the limit for a moment,
    /// because a list is in memory twice while it grows.
    pub fn new(size: u64) -> Budget {
        let most = size.saturating_mul(2).saturating_add(36 << 20);
        Budget { left: most, most, visits: size.saturating_add(1 << 20) }
    }

    /// Counts a visit of a value. The number of visits is limited, because n lists can refer to one list 2^n times.
    pub fn visit(&mut self) -> Result<()> {
        let Some(visits) = self.visits.checked_sub(1) else {
            return Err(Error::broken(format_args!("the pickle refers to the same values too often for a file of this size")));
        };
        self.visits = visits;
        Ok(())
    }

    /// Takes `bytes` bytes. Fails if fewer are left.
    pub fn take(&mut self, bytes: usize) -> Result<()> {
        match self.left.checked_sub(bytes as u64) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let most = self.most;
                Err(Error::broken(format_args!("reading needs more than {most} bytes of memory, too many for a file of this size")))
            }
        }
    }

    /// Gives back `bytes` bytes.
    pub fn give(&mut self, bytes: usize) {
        self.left = self.left.saturating_add(bytes as u64);
    }

    /// Appends a value to a list, and takes the memory by which the list grows.
    pub fn push<T>(&mut self, list: &mut Vec<T>, value: T) -> Result<()> {
        self.reserve(list, 1)?;
        list.push(value);
        Ok(())
    }

    /// Reserves capacity for `count` more values. If the capacity is too small, it at least doubles.
    pub fn reserve<T>(&mut self, list: &mut Vec<T>, count: usize) -> Result<()> {
        let (len, before) = (list.len(), list.capacity());
        if count <= before - len {
            return Ok(());
        }
        let capacity = len.saturating_add(count).max(before.saturating_mul(2));
        self.take((capacity - before).saturating_mul(size_of::<T>()))?;
        list.try_reserve_exact(capacity - len).map_err(|_| Error::memory((capacity as u64).saturating_mul(size_of::<T>() as u64)))
    }
}

//! The memory that what a file says may take.

use crate::error::{Error, Result};

/// The memory that reading a file may still take.
pub struct Budget {
    /// The size of the file.
    size: u64,
    left: u64,
    most: u64,
}

impl Budget {
    /// The memory for what a file of `size` bytes says. Lists that grow are there twice for a moment, so that the most is less than what
    /// may be in use.
    pub fn new(size: u64) -> Budget {
        let most = size.saturating_mul(2).saturating_add(36 << 20);
        Budget { size, left: most, most }
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    /// Takes `bytes` bytes, or fails.
    pub fn take(&mut self, bytes: usize) -> Result<()> {
        match self.left.checked_sub(bytes as u64) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::broken(format_args!("what it says takes more than {} bytes, too many for a file of its size", self.most))),
        }
    }

    /// Gives back `bytes` bytes.
    pub fn give(&mut self, bytes: usize) {
        self.left = self.left.saturating_add(bytes as u64);
    }

    /// Appends a value to a list, and takes what the list grows by.
    pub fn push<T>(&mut self, list: &mut Vec<T>, value: T) -> Result<()> {
        self.reserve(list, 1)?;
        list.push(value);
        Ok(())
    }

    /// Makes room for `count` more values. Room doubles at least when there is not enough.
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

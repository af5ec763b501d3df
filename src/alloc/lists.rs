//! Fallible boxes and lists, for data whose size a caller decides, or that is kept for long.

use crate::error::{Result, bail};
use std::alloc::{GlobalAlloc, Layout, System};

/// `value` in a box; `None` if there is no memory. The memory reserve is not used, because it is for short-lived data.
pub fn boxed<T>(value: T) -> Option<Box<T>> {
    const { assert!(size_of::<T>() > 0) }
    // SAFETY: the layout has a size. Boxes are freed by the crate's allocator, which passes every block outside the reserve to the
    // system's.
    unsafe {
        let place = System.alloc(Layout::new::<T>()).cast::<T>();
        if place.is_null() {
            return None;
        }
        place.write(value);
        Some(Box::from_raw(place))
    }
}

/// The list of `make(0), ..., make(count - 1)`, or the first error. Also fails if there is no memory for `count` elements.
pub fn list<T>(count: usize, make: impl FnMut(usize) -> Result<T>) -> Result<Vec<T>> {
    collect(count, (0..count).map(make))
}

/// The list of the first `count` entries, or the first error. Also fails if there is no memory for `count` entries.
pub fn collect<T>(count: usize, entries: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut list = Vec::new();
    if list.try_reserve_exact(count).is_err() {
        bail!(NoMem, "out of memory for a list of {count}")
    }
    for entry in entries.take(count) {
        list.push(entry?);
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_all_entries_or_fails() {
        assert_eq!(list(3, |k| Ok(k * k)).unwrap(), [0, 1, 4]);
        assert!(list(0, Ok).unwrap().is_empty());
        assert_eq!(list(usize::MAX, Ok).unwrap_err().kind(), crate::error::Kind::NoMem);
        let odd = |k| if k == 2 { bail!(Argument, "entry {k}") } else { Ok(k) };
        assert_eq!(list(5, odd).unwrap_err().message(), "entry 2");
    }

    #[test]
    fn a_box_is_freed_like_any_other() {
        let shared = std::rc::Rc::new(());
        let kept = boxed(shared.clone()).unwrap();
        assert_eq!(std::rc::Rc::strong_count(&shared), 2);
        drop(kept);
        assert_eq!(std::rc::Rc::strong_count(&shared), 1);
    }
}

//! Reference-counted pointers to the parts of a graph. Parts are freed by a loop instead of recursion, so that a chain of a million nodes
//! does not overflow the stack.

use crate::alloc;
use crate::error::{Result, bail};
use crate::refcount;
use crate::tensor::Attached;
use std::cell::Cell;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut};

/// A counted pointer, as `Arc`; making one may fail.
pub struct Counted<T: Part>(NonNull<Inner<T>>);

/// The parts of a graph.
pub trait Part {
    /// The handle that had a reference to the part gives it up.
    fn let_go(&self) {}
}

#[repr(C)]
struct Head {
    /// The first field, so that a handle can hold a reference.
    attached: Attached,
    /// The second field, 8 bytes after the start. The address tells a handle's light reference from a full reference.
    light: Attached,
    /// Drops the value and frees the block.
    end: unsafe fn(*mut Head),
    /// The next block in the list of blocks to free.
    next: *mut Head,
    /// The number of references; only changed by `refcount`.
    refcount: i32,
}

/// Bytes from the start of a block to its light reference.
const LIGHT: usize = std::mem::offset_of!(Head, light);
const _: () = assert!(LIGHT == 8);

/// Returns true if a handle's reference came from [`Counted::into_light`]. Blocks are aligned to 16 bytes.
#[inline(always)]
pub fn is_light(attached: NonNull<Attached>) -> bool {
    attached.addr().get() & LIGHT != 0
}

#[repr(C)]
struct Inner<T> {
    head: Head,
    value: T,
}

// SAFETY: as for `Arc`.
unsafe impl<T: Part + Send + Sync> Send for Counted<T> {}
// SAFETY: as above.
unsafe impl<T: Part + Send + Sync> Sync for Counted<T> {}

thread_local! {
    /// True while this thread frees blocks.
    static ENDING: Cell<bool> = const { Cell::new(false) };
    /// The blocks that wait to be freed.
    static WAITING: Cell<*mut Head> = const { Cell::new(null_mut()) };
}

/// Frees a block, and all blocks whose last reference it held.
fn end(head: *mut Head) {
    if ENDING.get() {
        // SAFETY: the block has no other reference.
        unsafe { (*head).next = WAITING.get() };
        return WAITING.set(head);
    }
    ENDING.set(true);
    let mut head = head;
    while !head.is_null() {
        // SAFETY: the block has no other reference, and `end` matches its type.
        unsafe { ((*head).end)(head) };
        head = WAITING.get();
        if !head.is_null() {
            // SAFETY: as above.
            WAITING.set(unsafe { (*head).next });
        }
    }
    ENDING.set(false);
}

impl<T: Part> Counted<T> {
    /// A new block with one reference.
    pub fn new(value: T) -> Result<Counted<T>> {
        const { assert!(align_of::<Inner<T>>() <= 16) }
        unsafe fn end_of<T>(head: *mut Head) {
            let block = head.cast::<Inner<T>>();
            // SAFETY: the block has this type and no other reference.
            unsafe {
                (&raw mut (*block).value).drop_in_place();
                alloc::release(NonNull::new_unchecked(block.cast()), size_of::<Inner<T>>());
            }
        }
        unsafe fn release_of<T: Part>(attached: NonNull<Attached>) {
            // SAFETY: the handle's reference, made by `into_attached`.
            let held = unsafe { Counted::<T>::from_attached(attached) };
            held.let_go();
        }
        let Some(block) = alloc::allocate(size_of::<Inner<T>>()) else { bail!(NoMem, "out of memory") };
        let block = block.cast::<Inner<T>>();
        unsafe fn release_light<T: Part>(light: NonNull<Attached>) {
            // SAFETY: the handle's reference, made by `into_light`.
            drop(unsafe { Counted::<T>::from_light(light) });
        }
        let (attached, light) = (Attached { release: release_of::<T> }, Attached { release: release_light::<T> });
        let head = Head { attached, light, end: end_of::<T>, next: null_mut(), refcount: 1 };
        // SAFETY: the block is fresh, large enough and aligned to 16.
        unsafe { block.write(Inner { head, value }) };
        Ok(Counted(block))
    }

    fn refcount(&self) -> *mut i32 {
        // SAFETY: the block lives as long as this reference.
        unsafe { &raw mut (*self.0.as_ptr()).head.refcount }
    }

    /// Returns the address, which identifies the block.
    pub fn address(&self) -> usize {
        self.0.as_ptr().addr()
    }

    /// Returns true if this is the only reference.
    pub fn is_alone(&self) -> bool {
        // SAFETY: a live block.
        unsafe { refcount::count(self.refcount()) == 1 }
    }

    /// Returns the value if this is the only reference.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        // SAFETY: the block has no other reference.
        self.is_alone().then(|| unsafe { &mut (*self.0.as_ptr()).value })
    }

    /// Gives the reference to a handle.
    pub fn into_attached(self) -> NonNull<Attached> {
        let attached = self.0.cast();
        std::mem::forget(self);
        attached
    }

    /// Gives a light reference to a handle: [`Part::let_go`] is not called when the handle ends.
    pub fn into_light(self) -> NonNull<Attached> {
        // SAFETY: the block is live.
        let light = unsafe { NonNull::new_unchecked(&raw mut (*self.0.as_ptr()).head.light) };
        std::mem::forget(self);
        light
    }

    /// Takes over the reference of a handle.
    ///
    /// # Safety
    /// `light` came from [`Counted::into_light`] of this type, and the caller gives up its reference.
    pub unsafe fn from_light(light: NonNull<Attached>) -> Counted<T> {
        // SAFETY: the reference is to the second field of a block.
        Counted(unsafe { light.byte_sub(LIGHT) }.cast())
    }

    /// Takes a handle's reference over.
    ///
    /// # Safety
    /// `attached` came from [`Counted::into_attached`] of this type, and the caller gives up its reference.
    pub unsafe fn from_attached(attached: NonNull<Attached>) -> Counted<T> {
        Counted(attached.cast())
    }
}

impl<T: Part> Deref for Counted<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the block lives as long as this reference.
        unsafe { &(*self.0.as_ptr()).value }
    }
}

impl<T: Part> Clone for Counted<T> {
    fn clone(&self) -> Counted<T> {
        // SAFETY: a live block.
        unsafe { refcount::retain(self.refcount(), true) };
        Counted(self.0)
    }
}

impl<T: Part> Drop for Counted<T> {
    fn drop(&mut self) {
        // SAFETY: a live block, and a reference of our own.
        if unsafe { refcount::release(self.refcount(), true) } {
            end(self.0.as_ptr().cast());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Link(#[expect(dead_code, reason = "it holds the next link")] Option<Counted<Link>>, Arc<AtomicUsize>);

    impl Part for Link {}

    impl Drop for Link {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_long_chain_ends_without_recursion() {
        let ended = Arc::new(AtomicUsize::new(0));
        let mut chain = None;
        for _ in 0..1_000_000 {
            chain = Some(Counted::new(Link(chain, ended.clone())).expect("memory"));
        }
        let second = chain.clone();
        drop(chain);
        assert_eq!(ended.load(Ordering::Relaxed), 0);
        drop(second);
        assert_eq!(ended.load(Ordering::Relaxed), 1_000_000);
    }
}

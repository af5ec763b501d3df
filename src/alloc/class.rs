//! Size classes. Every block has the size of its class, so that a released block fits the next request of the class.
//!
//! Up to 512 bytes the classes are 64 bytes apart. Above, there are eight for each doubling, so that at most an eighth of a request is
//! wasted. All sizes are multiples of 64, and from 2 MiB on multiples of 256 KiB.

/// The number of classes that are 64 bytes apart, up to [`SMALL_MAX`].
pub(super) const SMALL_CLASSES: usize = 8;
/// The size of the largest small block.
pub(super) const SMALL_MAX: usize = SMALL_CLASSES * SMALL_STEP;
/// The number of all classes: eight for each doubling from 512 bytes to the maximum of `isize`.
pub(super) const CLASSES: usize = SMALL_CLASSES + (isize::BITS as usize - 1 - SMALL_MAX_LOG2) * PER_DOUBLING;

const SMALL_STEP: usize = 64;
const SMALL_MAX_LOG2: usize = SMALL_MAX.ilog2() as usize;
const PER_DOUBLING: usize = 8;
/// The distance to the maximum of `isize` that rounding up to a class, and aligning a mapping, may need.
const SLACK: usize = 4 << 20;

/// The class of a small request. For all other requests, including zero bytes, a number of at least [`SMALL_CLASSES`].
#[inline(always)]
pub(super) fn small(bytes: usize) -> usize {
    bytes.wrapping_sub(1) / SMALL_STEP
}

/// The class of a request; `None` if no address space can hold it. Zero bytes count as one.
pub(super) fn of(bytes: usize) -> Option<usize> {
    if bytes > isize::MAX as usize - SLACK {
        return None;
    }
    let last = bytes.max(1) - 1;
    if last < SMALL_MAX {
        return Some(last / SMALL_STEP);
    }
    let log2 = last.ilog2() as usize;
    let eighth = (last >> (log2 - 3)) % PER_DOUBLING;
    Some(SMALL_CLASSES + (log2 - SMALL_MAX_LOG2) * PER_DOUBLING + eighth)
}

/// The size of a block of `class` in bytes.
pub(super) const fn size(class: usize) -> usize {
    if class < SMALL_CLASSES {
        return (class + 1) * SMALL_STEP;
    }
    let (doubling, eighth) = ((class - SMALL_CLASSES) / PER_DOUBLING, (class - SMALL_CLASSES) % PER_DOUBLING);
    (PER_DOUBLING + eighth + 1) << (doubling + SMALL_MAX_LOG2 - 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_size_is_the_largest_request_of_its_class() {
        for class in 0..CLASSES - 1 {
            let Some(found) = of(size(class)) else { break };
            assert_eq!(found, class, "{}", size(class));
            assert_eq!(of(size(class) + 1).unwrap_or(class + 1), class + 1);
            assert_eq!(size(class) % 64, 0);
        }
        assert_eq!(size(CLASSES - 1), 1 << 63);
    }

    #[test]
    fn waste_stays_within_an_eighth() {
        for bytes in (513..20_000).chain([1 << 20, (1 << 20) + 1, (3 << 20) + 1, (1 << 40) + 1]) {
            let size = size(of(bytes).unwrap());
            assert!(size >= bytes && size - bytes <= bytes / 8, "{bytes} -> {size}");
        }
    }

    #[test]
    fn small_requests_agree_with_the_general_rule() {
        assert!((1..=SMALL_MAX).all(|bytes| of(bytes) == Some(small(bytes))));
        assert!(small(0) >= SMALL_CLASSES && small(SMALL_MAX + 1) >= SMALL_CLASSES);
        assert_eq!(of(0), Some(0));
    }

    #[test]
    fn absurd_requests_have_no_class() {
        assert_eq!(of(usize::MAX), None);
        assert_eq!(of(isize::MAX as usize), None);
        assert!(of(isize::MAX as usize - SLACK).is_some_and(|class| class < CLASSES));
    }
}

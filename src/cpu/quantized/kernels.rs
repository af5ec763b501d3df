//! The choice of a kernel by the structure of blocks and the processor.

#[cfg(target_arch = "x86_64")]
use super::avx2::{Avx2, Vnni};
#[cfg(target_arch = "x86_64")]
use super::large::{IQ4Xs, OfLarge, Pairs, Q6K};
use super::plain::Plain;
#[cfg(target_arch = "x86_64")]
use super::small::{IQ4Nl, MXFP4, OfSmall, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0};
#[cfg(target_arch = "x86_64")]
use super::tile::Dots;
use super::tile::Tile;
use crate::cpu::simd::simd;
#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::{Level, level, with_avx2, with_avx512};
#[cfg(target_arch = "x86_64")]
use thorn_blocks::Blocks;

/// Computes a tile.
///
/// # Safety
/// As for [`Tile::run`].
pub type Kernel = unsafe fn(Tile);

/// The kernel for any structure.
///
/// # Safety
/// As for [`Kernel`].
pub unsafe fn plain(tile: Tile) {
    simd(
        #[inline(always)]
        // SAFETY: the caller keeps the contract of kernels.
        move |_| unsafe { tile.run(Plain(tile.structure)) },
    );
}

/// Names the function `$run` for the kernel of a structure with the instructions `$B`.
#[cfg(target_arch = "x86_64")]
macro_rules! choose {
    ($run:ident, $B:ty, $blocks:expr) => {
        match $blocks {
            Blocks::Q4_0 => $run::<OfSmall<Q4_0, $B>>,
            Blocks::Q4_1 => $run::<OfSmall<Q4_1, $B>>,
            Blocks::Q5_0 => $run::<OfSmall<Q5_0, $B>>,
            Blocks::Q5_1 => $run::<OfSmall<Q5_1, $B>>,
            Blocks::Q8_0 => $run::<OfSmall<Q8_0, $B>>,
            Blocks::IQ4_NL => $run::<OfSmall<IQ4Nl, $B>>,
            Blocks::MXFP4 => $run::<OfSmall<MXFP4, $B>>,
            Blocks::Q4_K => $run::<OfLarge<Pairs<false>, $B>>,
            Blocks::Q5_K => $run::<OfLarge<Pairs<true>, $B>>,
            Blocks::Q6_K => $run::<OfLarge<Q6K, $B>>,
            Blocks::IQ4_XS => $run::<OfLarge<IQ4Xs, $B>>,
            Blocks::Q2_K | Blocks::Q3_K | Blocks::TQ1_0 | Blocks::TQ2_0 => plain,
        }
    };
}

/// Returns the kernel of this processor.
#[cfg(target_arch = "x86_64")]
pub fn of(blocks: Blocks) -> Kernel {
    match level() {
        Level::Baseline => plain,
        Level::Avx512 if std::is_x86_feature_detected!("avx512vnni") => choose!(with_vnni, Vnni, blocks),
        _ => choose!(without_vnni, Avx2, blocks),
    }
}

/// Returns the kernel of this processor.
#[cfg(not(target_arch = "x86_64"))]
pub fn of(_: thorn_blocks::Blocks) -> Kernel {
    plain
}

#[cfg(target_arch = "x86_64")]
with_avx2! {
    unsafe fn without_vnni<K: Dots + Default>(tile: Tile) {
        // SAFETY: the caller keeps the contract of kernels, and the processor has AVX2.
        unsafe { tile.run(K::default()) }
    }
}

#[cfg(target_arch = "x86_64")]
with_avx512! {
    #[target_feature(enable = "avx512vnni")]
    unsafe fn with_vnni<K: Dots + Default>(tile: Tile) {
        // SAFETY: the caller keeps the contract of kernels, and the processor has VNNI.
        unsafe { tile.run(K::default()) }
    }
}

//! The choice of a kernel by the structure of blocks and the processor.

#[cfg(target_arch = "x86_64")]
use super::avx2::{Avx2, Vnni};
#[cfg(target_arch = "x86_64")]
use super::large::{IQ4Xs, OfLarge, OfSixteen, Pairs, Q2K, Q3K, Q6K, TQ2_0};
#[cfg(target_arch = "x86_64")]
use super::paired::{IQ4Nl, MXFP4, OfPaired, Q4_0, Q4_1, Q5_0, Q5_1};
use super::plain::Plain;
#[cfg(target_arch = "x86_64")]
use super::small::Q8_0;
#[cfg(target_arch = "x86_64")]
use super::tile::Dots;
use super::tile::Tile;
use crate::cpu::simd::simd;
#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::{Level, level, with_avx2, with_avx512};
#[cfg(target_arch = "x86_64")]
use thorn_blocks::Blocks;

/// A kernel.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// Computes a tile, under the conditions of [`Tile::run`].
    pub run: unsafe fn(Tile),
    /// True if the kernel needs paired activations.
    pub paired: bool,
}

/// The kernel for any structure.
const PLAIN: Kernel = Kernel { run: plain, paired: false };

unsafe fn plain(tile: Tile) {
    simd(
        #[inline(always)]
        // SAFETY: the caller keeps the contract of kernels.
        move |_| unsafe { tile.run(Plain(tile.structure)) },
    );
}

/// Returns the kernel of a structure that the function `$run` runs with the instructions `$B`.
#[cfg(target_arch = "x86_64")]
macro_rules! choose {
    ($run:ident, $B:ty, $blocks:expr) => {
        match $blocks {
            Blocks::Q4_0 => Kernel { run: $run::<OfPaired<Q4_0, $B>>, paired: true },
            Blocks::Q4_1 => Kernel { run: $run::<OfPaired<Q4_1, $B>>, paired: true },
            Blocks::Q5_0 => Kernel { run: $run::<OfPaired<Q5_0, $B>>, paired: true },
            Blocks::Q5_1 => Kernel { run: $run::<OfPaired<Q5_1, $B>>, paired: true },
            Blocks::Q8_0 => Kernel { run: $run::<Q8_0<$B>>, paired: false },
            Blocks::IQ4_NL => Kernel { run: $run::<OfPaired<IQ4Nl, $B>>, paired: true },
            Blocks::MXFP4 => Kernel { run: $run::<OfPaired<MXFP4, $B>>, paired: true },
            Blocks::Q4_K => Kernel { run: $run::<OfLarge<Pairs<false>, $B>>, paired: false },
            Blocks::Q5_K => Kernel { run: $run::<OfLarge<Pairs<true>, $B>>, paired: false },
            Blocks::Q2_K => Kernel { run: $run::<OfLarge<OfSixteen<Q2K>, $B>>, paired: false },
            Blocks::Q3_K => Kernel { run: $run::<OfLarge<OfSixteen<Q3K>, $B>>, paired: false },
            Blocks::Q6_K => Kernel { run: $run::<OfLarge<OfSixteen<Q6K>, $B>>, paired: false },
            Blocks::TQ2_0 => Kernel { run: $run::<OfLarge<OfSixteen<TQ2_0>, $B>>, paired: false },
            Blocks::IQ4_XS => Kernel { run: $run::<OfLarge<IQ4Xs, $B>>, paired: false },
            Blocks::TQ1_0 => PLAIN,
        }
    };
}

/// Returns true if the processor has the VNNI instructions of AVX-512.
#[cfg(target_arch = "x86_64")]
fn has_vnni() -> bool {
    level() == Level::Avx512 && std::is_x86_feature_detected!("avx512vnni")
}

/// Returns the kernel of this processor.
#[cfg(target_arch = "x86_64")]
pub fn of(blocks: Blocks) -> Kernel {
    match level() {
        Level::Baseline => PLAIN,
        _ if has_vnni() => choose!(with_vnni, Vnni, blocks),
        _ => choose!(without_vnni, Avx2, blocks),
    }
}

/// Returns the kernel of this processor.
#[cfg(not(target_arch = "x86_64"))]
pub fn of(_: thorn_blocks::Blocks) -> Kernel {
    PLAIN
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

/// Returns every kernel for a structure that this processor can run, with its name.
#[cfg(test)]
pub fn available(blocks: thorn_blocks::Blocks) -> impl Iterator<Item = (&'static str, Kernel)> {
    let mut found: Vec<(&str, Kernel)> = vec![("plain", PLAIN)];
    #[cfg(target_arch = "x86_64")]
    if level() >= Level::Avx2 {
        found.push(("avx2", choose!(without_vnni, Avx2, blocks)));
    }
    #[cfg(target_arch = "x86_64")]
    if has_vnni() {
        found.push(("vnni", choose!(with_vnni, Vnni, blocks)));
    }
    found.into_iter()
}

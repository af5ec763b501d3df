//! The choice of a kernel by the structure of blocks and the processor.

#[cfg(target_arch = "x86_64")]
use super::avx2::{Avx2, Vnni};
#[cfg(target_arch = "x86_64")]
use super::large::{IQ4Xs, OfLarge, OfSixteen, Pairs, Q2K, Q3K, Q6K, TQ1_0, TQ2_0};
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

/// Returns the kernel of AVX2.
#[cfg(target_arch = "x86_64")]
fn of_avx2(blocks: Blocks) -> Kernel {
    let (run, paired): (unsafe fn(Tile), bool) = match blocks {
        Blocks::Q4_0 => (without_vnni::<OfPaired<Q4_0, Avx2>>, true),
        Blocks::Q4_1 => (without_vnni::<OfPaired<Q4_1, Avx2>>, true),
        Blocks::Q5_0 => (without_vnni::<OfPaired<Q5_0, Avx2>>, true),
        Blocks::Q5_1 => (without_vnni::<OfPaired<Q5_1, Avx2>>, true),
        Blocks::IQ4_NL => (without_vnni::<OfPaired<IQ4Nl, Avx2>>, true),
        Blocks::MXFP4 => (without_vnni::<OfPaired<MXFP4, Avx2>>, true),
        Blocks::Q8_0 => (without_vnni::<Q8_0<Avx2>>, false),
        Blocks::Q2_K => (without_vnni::<OfLarge<OfSixteen<Q2K>, Avx2>>, false),
        Blocks::Q3_K => (without_vnni::<OfLarge<OfSixteen<Q3K>, Avx2>>, false),
        Blocks::Q4_K => (without_vnni::<OfLarge<Pairs<false>, Avx2>>, false),
        Blocks::Q5_K => (without_vnni::<OfLarge<Pairs<true>, Avx2>>, false),
        Blocks::Q6_K => (without_vnni::<OfLarge<OfSixteen<Q6K>, Avx2>>, false),
        Blocks::IQ4_XS => (without_vnni::<OfLarge<IQ4Xs, Avx2>>, false),
        Blocks::TQ2_0 => (without_vnni::<OfLarge<OfSixteen<TQ2_0>, Avx2>>, false),
        Blocks::TQ1_0 => (without_vnni::<OfLarge<TQ1_0, Avx2>>, false),
    };
    Kernel { run, paired }
}

/// Returns the kernel of VNNI, which the structures of most files have.
#[cfg(target_arch = "x86_64")]
fn of_vnni(blocks: Blocks) -> Option<Kernel> {
    let (run, paired): (unsafe fn(Tile), bool) = match blocks {
        Blocks::Q4_0 => (with_vnni::<OfPaired<Q4_0, Vnni>>, true),
        Blocks::Q8_0 => (with_vnni::<Q8_0<Vnni>>, false),
        Blocks::Q4_K => (with_vnni::<OfLarge<Pairs<false>, Vnni>>, false),
        Blocks::Q6_K => (with_vnni::<OfLarge<OfSixteen<Q6K>, Vnni>>, false),
        _ => return None,
    };
    let available = level() == Level::Avx512 && std::is_x86_feature_detected!("avx512vnni");
    available.then_some(Kernel { run, paired })
}

/// Returns the kernel of this processor.
#[cfg(target_arch = "x86_64")]
pub fn of(blocks: Blocks) -> Kernel {
    match level() {
        Level::Baseline => PLAIN,
        _ => of_vnni(blocks).unwrap_or_else(|| of_avx2(blocks)),
    }
}

/// Returns the kernel of this processor.
#[cfg(not(target_arch = "x86_64"))]
pub fn of(_: Blocks) -> Kernel {
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
pub fn available(blocks: Blocks) -> impl Iterator<Item = (&'static str, Kernel)> {
    let mut found: Vec<(&str, Kernel)> = vec![("plain", PLAIN)];
    #[cfg(target_arch = "x86_64")]
    if level() >= Level::Avx2 {
        found.push(("avx2", of_avx2(blocks)));
        found.extend(of_vnni(blocks).map(|kernel| ("vnni", kernel)));
    }
    found.into_iter()
}

//! The tile instructions of the processor, as assembly, because the compiler has no stable intrinsics for them. The compiler never uses
//! tile registers, so a tile keeps its content from one instruction to the next.

use super::strip::{BFLOAT16, Config, FLOAT16, INT8, Kind, UINT8, Unit, of_tiles, strip};
use crate::cpu::matmul::kernel::{self, Kernel, ProductKernel, Strip};
use crate::cpu::matmul::number::Number;
use crate::cpu::simd::{Level, level, named, with_avx512};
use crate::dtype::Dtype;
use crate::system;
use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// The processor's unit for one kind of elements.
pub(super) struct Amx<const KIND: Kind>;

impl<const KIND: Kind> Unit for Amx<KIND> {
    #[inline(always)]
    unsafe fn configure(&mut self, config: &Config) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { asm!("ldtilecfg [{}]", in(reg) config, options(readonly, nostack, preserves_flags)) }
    }

    #[inline(always)]
    unsafe fn zero<const TILE: usize>(&mut self) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { asm!("tilezero tmm{}", const TILE, options(nomem, nostack, preserves_flags)) }
    }

    #[inline(always)]
    unsafe fn load<const TILE: usize>(&mut self, from: *const u8, step: isize) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            asm!("tileloadd tmm{}, [{} + {}*1]", const TILE, in(reg) from, in(reg) step, options(readonly, nostack, preserves_flags));
        }
    }

    #[inline(always)]
    unsafe fn store<const TILE: usize>(&mut self, to: *mut u8, step: isize) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { asm!("tilestored [{} + {}*1], tmm{}", in(reg) to, in(reg) step, const TILE, options(nostack, preserves_flags)) }
    }

    #[inline(always)]
    unsafe fn multiply<const C: usize, const A: usize, const B: usize>(&mut self) {
        macro_rules! instruction {
            ($name:literal) => {
                asm!(concat!($name, " tmm{}, tmm{}, tmm{}"), const C, const A, const B, options(nomem, nostack, preserves_flags))
            };
        }
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            match KIND {
                BFLOAT16 => instruction!("tdpbf16ps"),
                FLOAT16 => instruction!("tdpfp16ps"),
                INT8 => instruction!("tdpbssd"),
                _ => instruction!("tdpbuud"),
            }
        }
    }

    #[inline(always)]
    unsafe fn release(&mut self) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { asm!("tilerelease", options(nomem, nostack, preserves_flags)) }
    }
}

with_avx512! {
    unsafe fn float<const KIND: Kind>(task: &Strip<f32>) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { strip(&mut Amx::<KIND>, task, vectors::<f32>().merge) }
    }

    unsafe fn integer<const KIND: Kind>(task: &Strip<i32>) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { strip(&mut Amx::<KIND>, task, vectors::<i32>().merge) }
    }
}

#[inline(always)]
fn vectors<T: Number>() -> ProductKernel<T> {
    kernel::kernel::<T, 16, 8, 4, 2, 1>(Level::Avx512)
}

/// Returns the kernel for a product of a dtype, if the processor has the instruction and the process may use it.
pub(super) fn kernel(dtype: Dtype) -> Option<Kernel> {
    let kind = match dtype {
        Dtype::Bfloat16 => BFLOAT16,
        Dtype::Float16 => FLOAT16,
        Dtype::Int8 => INT8,
        Dtype::Uint8 => UINT8,
        _ => return None,
    };
    if !is_available(kind) {
        return None;
    }
    let of_floats = |strip| Kernel::Float(of_tiles(vectors::<f32>(), strip));
    let of_integers = |strip| Kernel::Integer(of_tiles(vectors::<i32>(), strip));
    Some(match kind {
        BFLOAT16 => of_floats(float::<BFLOAT16>),
        FLOAT16 => of_floats(float::<FLOAT16>),
        INT8 => of_integers(integer::<INT8>),
        _ => of_integers(integer::<UINT8>),
    })
}

/// Bit `1 << kind` is set if the instruction of the kind may be used; [`KNOWN`] is set when this has been detected.
static AVAILABLE: AtomicU8 = AtomicU8::new(0);
const KNOWN: u8 = 0x80;

/// Returns true if the processor has the instruction and the process may use it.
pub(super) fn is_available(kind: Kind) -> bool {
    let mut available = AVAILABLE.load(Relaxed);
    if available == 0 {
        available = KNOWN | detect();
        AVAILABLE.store(available, Relaxed);
    }
    available & 1 << kind != 0
}

/// Returns the instructions that the process may use, one bit for each kind. A level named by `TH_SIMD` has no tiles.
#[cold]
fn detect() -> u8 {
    if named() || level() != Level::Avx512 || !system_saves_tiles() || !has_palette() || !system::permits_tiles() {
        return 0;
    }
    let features = __cpuid_count(7, 0);
    let more = if features.eax >= 1 { __cpuid_count(7, 1).eax } else { 0 };
    let bit = |word: u32, bit: u32, kinds: u8| if word >> bit & 1 != 0 { kinds } else { 0 };
    if bit(features.edx, 24, 1) == 0 {
        return 0;
    }
    bit(features.edx, 22, 1 << BFLOAT16) | bit(features.edx, 25, 1 << INT8 | 1 << UINT8) | bit(more, 21, 1 << FLOAT16)
}

/// Returns true if the system saves the configuration and the content of tiles (bits 17 and 18 of XCR0).
fn system_saves_tiles() -> bool {
    #[target_feature(enable = "xsave")]
    fn saved() -> u64 {
        // SAFETY: the system has enabled the instruction: the caller looked at the bit OSXSAVE.
        unsafe { _xgetbv(0) }
    }
    const TILES: u64 = 3 << 17;
    // SAFETY: the processor has the instruction if the bit OSXSAVE is set.
    __cpuid(1).ecx >> 27 & 1 != 0 && unsafe { saved() } & TILES == TILES
}

/// Returns true if palette 1 has eight tiles of 16 rows of 64 bytes.
fn has_palette() -> bool {
    if __cpuid(0).eax < 0x1d || __cpuid_count(0x1d, 0).eax < 1 {
        return false;
    }
    let palette = __cpuid_count(0x1d, 1);
    palette.ebx == 8 << 16 | 64 && palette.ecx & 0xffff == 16
}

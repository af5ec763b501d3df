//! Run-time choice of the instruction set: one closure, compiled once for each level that the processor may have.

use std::sync::atomic::{AtomicU8, Ordering};

/// The instruction sets kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// The instructions that every CPU of the target has (SSE2 on x86-64, NEON on AArch64).
    Baseline = 1,
    /// AVX2 with FMA, F16C, BMI, LZCNT and POPCNT.
    Avx2 = 2,
    /// AVX-512 F, BW, DQ, VL on top of AVX2.
    Avx512 = 3,
}

/// The instruction set that a kernel is being compiled for. A kernel can query it; the answer is a constant in each copy of the kernel.
#[derive(Debug, Clone, Copy)]
pub struct Isa {
    fma: bool,
    level: Level,
}

impl Isa {
    /// The baseline. Functions that get this value return the same bits on all processors, at any level they are compiled for.
    #[inline(always)]
    pub const fn plain() -> Isa {
        Isa { fma: false, level: Level::Baseline }
    }

    /// `a * b + c`, rounded once if that is one instruction, otherwise twice (a call to a software fma would cost far more).
    #[inline(always)]
    pub fn fma_f32(self, a: f32, b: f32, c: f32) -> f32 {
        if self.fma { a.mul_add(b, c) } else { a * b + c }
    }

    /// [`Isa::fma_f32`] for f64.
    #[inline(always)]
    pub fn fma_f64(self, a: f64, b: f64, c: f64) -> f64 {
        if self.fma { a.mul_add(b, c) } else { a * b + c }
    }

    /// Returns the level whose intrinsics may be used.
    #[inline(always)]
    pub fn level(self) -> Level {
        self.level
    }

    /// Returns true if [`Isa::fma_f32`] and [`Isa::fma_f64`] round once.
    #[inline(always)]
    pub fn has_fma(self) -> bool {
        self.fma
    }
}

static LEVEL: AtomicU8 = AtomicU8::new(0);

/// Returns the level that the environment variable `TH_SIMD` names (baseline, avx2, avx512).
fn wanted() -> Option<Level> {
    match std::env::var("TH_SIMD").as_deref() {
        Ok("baseline") => Some(Level::Baseline),
        Ok("avx2") => Some(Level::Avx2),
        Ok("avx512") => Some(Level::Avx512),
        _ => None,
    }
}

/// Returns true if `TH_SIMD` names a level: kernels then use no matrix instructions, which are beyond all levels.
pub fn named() -> bool {
    wanted().is_some()
}

/// Returns the highest level of this processor, or the lower level that `TH_SIMD` names.
#[inline(always)]
pub fn level() -> Level {
    match LEVEL.load(Ordering::Relaxed) {
        1 => Level::Baseline,
        2 => Level::Avx2,
        3 => Level::Avx512,
        _ => detect(),
    }
}

#[cold]
fn detect() -> Level {
    let level = supported().min(wanted().unwrap_or(Level::Avx512));
    LEVEL.store(level as u8, Ordering::Relaxed);
    level
}

#[cfg(target_arch = "x86_64")]
fn supported() -> Level {
    use std::is_x86_feature_detected as has;
    if !(has!("avx2") && has!("fma") && has!("f16c") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt")) {
        Level::Baseline
    } else if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
        Level::Avx512
    } else {
        Level::Avx2
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn supported() -> Level {
    Level::Baseline
}

/// Runs `f` compiled for the widest vectors of this processor.
///
/// `f` itself and everything it calls must be `#[inline(always)]`, and closures inside it `move`. A function that is not inlined is
/// compiled once, for the baseline, without a warning.
#[inline(always)]
pub fn simd<R>(f: impl FnOnce(Isa) -> R) -> R {
    // SAFETY: `level` returns a level that this processor has.
    unsafe { simd_at(level(), f) }
}

/// [`simd`] for one level.
///
/// # Safety
/// The processor must have the level.
#[inline(always)]
pub unsafe fn simd_at<R>(level: Level, f: impl FnOnce(Isa) -> R) -> R {
    match level {
        // SAFETY: the caller guarantees that the processor has AVX-512.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512(f) },
        // SAFETY: the caller guarantees that the processor has AVX2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2(f) },
        _ => f(Isa { fma: cfg!(target_arch = "aarch64"), level: Level::Baseline }),
    }
}

/// Compiles functions for AVX-512. Their arguments are passed in registers. The captures of a closure given to [`simd_at`] are passed in
/// memory, which made the running sum of 64 int64 20 ns slower.
#[cfg(target_arch = "x86_64")]
macro_rules! with_avx512 {
    ($($function:item)*) => { $(
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
        $function
    )* };
}
#[cfg(target_arch = "x86_64")]
pub(crate) use with_avx512;

/// Compiles functions for AVX2, as [`with_avx512`].
#[cfg(target_arch = "x86_64")]
macro_rules! with_avx2 {
    ($($function:item)*) => { $(
        #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
        $function
    )* };
}
#[cfg(target_arch = "x86_64")]
pub(crate) use with_avx2;

#[cfg(target_arch = "x86_64")]
with_avx512! {
    fn avx512<R>(f: impl FnOnce(Isa) -> R) -> R {
        f(Isa { fma: true, level: Level::Avx512 })
    }
}

#[cfg(target_arch = "x86_64")]
with_avx2! {
    fn avx2<R>(f: impl FnOnce(Isa) -> R) -> R {
        f(Isa { fma: true, level: Level::Avx2 })
    }
}

/// An optimisation barrier: returns `p` with unknown provenance. The compiler keeps no values in registers that it derived from `p`, and
/// does not unroll a loop over `p`.
#[inline(always)]
// The assembly is empty, so it reads no memory.
#[allow(clippy::pointers_in_nomem_asm_block)]
pub fn opaque<T>(mut p: *const T) -> *const T {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: the assembly has no instruction.
    unsafe {
        std::arch::asm!("/* {} */", inlateout(reg) p, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = &mut p;
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_computes_the_same_sum() {
        let xs: Vec<i32> = (0..1000).collect();
        for level in [Level::Baseline, Level::Avx2, Level::Avx512] {
            if level > supported() {
                println!("this machine has no {level:?}");
                continue;
            }
            let sum = |isa: Isa| (isa.level(), xs.iter().copied().fold(0i32, i32::wrapping_add));
            // SAFETY: the processor has the level.
            assert_eq!(unsafe { simd_at(level, sum) }, (level, 499_500));
        }
    }

    #[test]
    fn fused_multiply_add_rounds_once_where_the_machine_can() {
        let (a, b, c) = (1.0 + f64::EPSILON, 1.0 - f64::EPSILON, -1.0);
        let (exact, got) = (-f64::EPSILON * f64::EPSILON, simd(|isa| isa.fma_f64(a, b, c)));
        let fused = simd(|isa| isa.has_fma());
        assert_eq!(got, if fused { exact } else { 0.0 });
    }
}

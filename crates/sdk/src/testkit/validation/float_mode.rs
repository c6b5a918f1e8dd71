//! Detection of a changed floating-point mode of the processor.
//!
//! Rounding and the flushing of subnormal numbers are settings of the thread. A strategy that
//! changes them changes all later arithmetic.

use std::hint::black_box;

/// Far below half the distance between 1 and its neighbours.
const TINY: f64 = 1e-30;
const SUBNORMAL: f64 = 5e-324;

pub(super) fn is_standard() -> bool {
    let (one, tiny) = (black_box(1.0), black_box(TINY));
    let (least, subnormal) = (black_box(f64::MIN_POSITIVE), black_box(SUBNORMAL));
    // The first fails where rounding is upwards, the second where it is downwards or towards zero.
    let rounds_to_nearest = black_box(one + tiny) == 1.0 && black_box(one - tiny) == 1.0;
    let keeps_subnormals =
        black_box(least * 0.5).to_bits() != 0 && black_box(subnormal + subnormal).to_bits() == 2;
    rounds_to_nearest && keeps_subnormals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_the_default_mode() {
        assert!(is_standard());
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    #[allow(unsafe_code, reason = "no safe function changes the mode")]
    fn recognises_every_other_mode() {
        use std::arch::asm;
        // Bits of MXCSR: rounding down, up and towards zero, flush to zero, denormals are zero.
        for changed in [0x2000_u32, 0x4000, 0x6000, 0x8000, 0x0040] {
            let mode = 0x1F80 | changed;
            let usual = 0x1F80_u32;
            // SAFETY: the register is restored before anything else is computed.
            unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack)) };
            let found = is_standard();
            // SAFETY: this is the mode that every thread begins with.
            unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const usual, options(nostack)) };
            assert!(!found, "{changed:#x}");
        }
    }
}

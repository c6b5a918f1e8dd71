//! Cheats that change the floating-point mode, and cheats that depend on the environment.

use super::follow;
use crate::declare::toward;
use crate::trial::{by_candle, entry};
use candlewick_cli::App;
use candlewick_sdk::{Candle, Signal};

#[derive(Clone, Copy)]
enum Mode {
    RoundUp,
    RoundToZero,
    FlushSubnormals,
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "no safe function changes the mode")]
fn set(mode: Mode) {
    let bits = match mode {
        Mode::RoundUp => 0x4000_u32,
        Mode::RoundToZero => 0x6000,
        Mode::FlushSubnormals => 0x8040,
    };
    let register = 0x1F80 | bits;
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const register, options(nostack)) };
}

#[cfg(target_arch = "aarch64")]
#[allow(unsafe_code, reason = "no safe function changes the mode")]
fn set(mode: Mode) {
    let register = match mode {
        Mode::RoundUp => 1_u64 << 22,
        Mode::RoundToZero => 3 << 22,
        Mode::FlushSubnormals => 1 << 24,
    };
    unsafe { std::arch::asm!("msr fpcr, {}", in(reg) register, options(nomem, nostack)) };
}

fn by_text(text: &str) -> impl FnMut(&Candle) -> Option<Signal> + Send + 'static + use<> {
    let side = if text.bytes().map(u32::from).sum::<u32>().is_multiple_of(2) { 1.0 } else { -1.0 };
    move |candle| toward(side * (candle.close() - candle.open()), "x")
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

pub(super) fn add(app: App) -> App {
    let app = app
        .with_strategy_entry(entry("w-rounds-up", 1, &[], |_| {
            by_candle(|candle| {
                set(Mode::RoundUp);
                follow(candle)
            })
        }))
        .with_strategy_entry(entry("w-rounds-to-zero-late", 1, &[], |_| {
            let mut shown = 0;
            by_candle(move |candle| {
                shown += 1;
                if shown == 1_500 {
                    set(Mode::RoundToZero);
                }
                follow(candle)
            })
        }))
        .with_strategy_entry(entry("w-flushes-subnormals", 1, &[], |_| {
            by_candle(|candle| {
                set(Mode::FlushSubnormals);
                follow(candle)
            })
        }))
        .with_strategy_entry(entry("w-rounds-when-built", 1, &[], |_| {
            set(Mode::RoundUp);
            by_candle(follow)
        }));
    app.with_strategy_entry(entry("w-home-of-the-user", 1, &[], |_| by_candle(by_text(&variable("HOME")))))
        .with_strategy_entry(entry("w-language", 1, &[], |_| by_candle(by_text(&variable("LANG")))))
        .with_strategy_entry(entry("w-time-zone", 1, &[], |_| by_candle(by_text(&variable("TZ")))))
        .with_strategy_entry(entry("w-number-of-variables", 1, &[], |_| {
            by_candle(by_text(&"a".repeat(std::env::vars_os().count())))
        }))
}

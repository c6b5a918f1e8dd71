//! Cheats that end the process or never return.

use crate::declare::{follow, rule, strategy};
use candlewick_cli::App;
use candlewick_sdk::{Candle, Signal};
use std::io::Write as _;
use std::process::{abort, exit};
use std::sync::mpsc;
use std::time::Duration;

fn after(
    count: usize,
    mut act: impl FnMut() + Send + 'static,
) -> impl FnMut(&Candle) -> Option<Signal> + Send {
    let mut shown = 0;
    move |candle| {
        shown += 1;
        if shown > count {
            act();
        }
        follow(candle)
    }
}

#[allow(unsafe_code, reason = "no safe code crashes like this")]
fn crash() {
    // Computed from the arguments to keep it opaque to the compiler.
    let nowhere = std::env::args().count() / 1_000_000;
    unsafe { std::ptr::with_exposed_provenance_mut::<u8>(nowhere).write_volatile(1) };
}

#[allow(unconditional_recursion, reason = "it has to overflow")]
fn recurse(depth: u64) -> u64 {
    let filled = std::hint::black_box([depth; 64]);
    recurse(depth + 1) + filled[63]
}

fn wait_for_ever() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

strategy!("w-endless-warmup", EndlessWarmup {}, wait_for_ever(), |this, candle| None);

strategy!("w-endless-indicators", EndlessIndicators {}, 1, |this, candle| follow(candle), also {
    fn indicators(&self) -> Vec<(&str, f64)> {
        wait_for_ever()
    }
});

fn print_report() {
    let mut stdout = std::io::stdout();
    for line in ["{\"Done\":{\"Ok\":{}}}", "{\"passed\":true,\"checks\":[]}"] {
        let _ = writeln!(stdout, "{line}");
    }
    exit(0);
}

pub(super) fn add(app: App) -> App {
    let app = app.with_strategy::<EndlessWarmup>().with_strategy::<EndlessIndicators>();
    let entries = [
        rule("w-exits-with-0", 1, |_| after(50, || exit(0))),
        rule("w-exits-in-a-thread", 1, |_| {
            let (sender, receiver) = mpsc::channel();
            std::thread::spawn(move || {
                if receiver.recv().is_ok() {
                    exit(0);
                }
            });
            after(200, move || {
                // The thread exits at the first message.
                let _ = sender.send(());
            })
        }),
        rule("w-exits-elsewhere", 1, |_| {
            if std::env::var_os("VARIABLE_2").is_some() {
                exit(0);
            }
            follow
        }),
        rule("w-prints-a-report", 1, |_| after(70, print_report)),
        rule("w-segfault", 1, |_| after(100, crash)),
        rule("w-aborts", 1, |_| after(1_000, || abort())),
        rule("w-overflows-the-stack", 1, |_| after(100, || _ = std::hint::black_box(recurse(0)))),
        rule("w-endless-loop", 1, |_| after(500, || wait_for_ever())),
        rule("w-slow-after-2000", 1, |_| after(2_000, || std::thread::sleep(Duration::from_millis(5)))),
        rule("w-panics-when-built", 1, |_| {
            let luck = std::env::args().count() > 1_000;
            assert!(luck, "no such luck");
            follow
        }),
    ];
    entries.into_iter().fold(app, App::with_strategy_entry)
}

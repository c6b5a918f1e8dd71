//! Handles SIGHUP: ends the run if its terminal has closed, and otherwise reloads the settings.

use super::{ControlAnswer, ControlOrder, ControlRequest};
use candlewick_engine::ReloadTrigger;
use std::fs::File;
use std::io;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

const TERMINAL_PATH: &str = "/dev/tty";
/// Maximum wait for the terminal to close. A shell may send SIGHUP before its terminal has closed.
const CLOSING_GRACE: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub struct HangUpHandler {
    signal: Signal,
    /// Whether the run ends when its terminal closes. True if the run was started in a terminal without `nohup`.
    ends_with_terminal: bool,
}

impl HangUpHandler {
    pub fn listen() -> io::Result<Self> {
        // This check must come before listening, because a listener stops the signal from being ignored.
        let ends_with_terminal = has_terminal() && !is_hang_up_ignored();
        Ok(Self { signal: signal(SignalKind::hangup())?, ends_with_terminal })
    }

    pub async fn watch(mut self, orders: mpsc::Sender<ControlRequest>, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => return,
                heard = self.signal.recv() => if heard.is_none() { return },
            }
            let ends = async { self.ends_with_terminal && terminal_closes_within_grace(has_terminal).await };
            let ends = tokio::select! {
                () = &mut stop => return,
                ends = ends => ends,
            };
            if ends {
                // This is a regular stop: the run still tracks its open trades until they settle.
                tracing::warn!("the terminal has closed; the run ends");
                let us = rustix::process::getpid();
                if let Err(error) = rustix::process::kill_process(us, rustix::process::Signal::TERM) {
                    tracing::error!(%error, "the run could not be stopped");
                }
                continue;
            }
            // The run itself logs a rejected reload.
            let answer = ControlOrder::Reload { by: ReloadTrigger::Signal }.deliver(None, &orders).await;
            if let ControlAnswer::Unanswered { problem } = answer {
                tracing::warn!("the settings may not have been reloaded: {problem}");
            }
        }
    }
}

async fn terminal_closes_within_grace(is_there: impl Fn() -> bool) -> bool {
    let mut pace = tokio::time::interval(POLL_INTERVAL);
    for _ in 0..CLOSING_GRACE.as_millis() / POLL_INTERVAL.as_millis() {
        pace.tick().await;
        if !is_there() {
            return true;
        }
    }
    false
}

fn has_terminal() -> bool {
    File::open(TERMINAL_PATH).is_ok()
}

fn is_hang_up_ignored() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| mask_has_hang_up(&status))
}

fn mask_has_hang_up(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn waits_for_a_closing_terminal_to_disappear() {
        for (gone_after_ms, is_gone, looked_ms) in
            [(0, true, 0), (1_050, true, 1_100), (60_000, false, 2_900)]
        {
            let began = Instant::now();
            let is_there = || began.elapsed() < Duration::from_millis(gone_after_ms);
            let looked = terminal_closes_within_grace(is_there).await;
            let took = began.elapsed().as_millis();
            assert_eq!((looked, took), (is_gone, looked_ms), "gone after {gone_after_ms} ms");
        }
    }

    #[test]
    fn detects_nohup_by_the_mask_of_ignored_signals() {
        for (status, expected) in [
            ("Name:\tx\nSigIgn:\t0000000000001001\n", true),
            ("Name:\tx\nSigIgn:\t0000000000001000\nSigCgt:\t0000000000000001\n", false),
            ("Name:\tx\n", false),
            ("SigIgn:\tmany\n", false),
        ] {
            assert_eq!(mask_has_hang_up(status), expected, "{status}");
        }
    }
}

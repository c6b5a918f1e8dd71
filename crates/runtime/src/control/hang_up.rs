//! The signal SIGHUP: the settings are read again. That of a terminal that is gone ends the run, as it always did.

use super::{ControlAnswer, ControlOrder, ControlRequest};
use candlewick_engine::ReloadedBy;
use std::fs::File;
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

/// The terminal of this process, if it has one.
const TERMINAL: &str = "/dev/tty";

/// Listens from its making.
pub struct HangUp {
    signal: Signal,
    /// Whether this process was started in a terminal, and to end with it: `nohup` says that it is not to.
    ends_with_terminal: bool,
}

impl HangUp {
    /// Starts to listen. Needs a running tokio runtime.
    ///
    /// # Errors
    /// The system does not let this process listen.
    pub fn listen() -> io::Result<Self> {
        // Asked before: who listens ignores the signal no more.
        let ends_with_terminal = has_terminal() && !is_ignored();
        Ok(Self { signal: signal(SignalKind::hangup())?, ends_with_terminal })
    }

    /// Orders a reload at each signal, until `stop`.
    pub async fn watch(mut self, orders: mpsc::Sender<ControlRequest>, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => return,
                heard = self.signal.recv() => if heard.is_none() { return },
            }
            if self.ends_with_terminal && !has_terminal() {
                // Nobody sees the bot any more who did: what is open is tracked to its end, as with any order to end.
                tracing::warn!("the terminal is gone: the run ends");
                let us = rustix::process::getpid();
                if let Err(error) = rustix::process::kill_process(us, rustix::process::Signal::TERM) {
                    tracing::error!(%error, "the run cannot be ended");
                }
                continue;
            }
            // What is refused the run has logged itself.
            let answer = ControlOrder::Reload { by: ReloadedBy::Signal }.deliver(None, &orders).await;
            if let ControlAnswer::Unanswered { problem } = answer {
                tracing::warn!("nobody knows whether the settings were read again: {problem}");
            }
        }
    }
}

fn has_terminal() -> bool {
    File::open(TERMINAL).is_ok()
}

/// Whether SIGHUP was ignored when this process was started, as far as the system says.
fn is_ignored() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores_hang_up(&status))
}

/// The first of the signals, by the mask of those that are ignored.
fn ignores_hang_up(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_nohup_started_it_stands_in_the_mask_of_ignored_signals() {
        for (status, expected) in [
            ("Name:\tx\nSigIgn:\t0000000000001001\n", true),
            ("Name:\tx\nSigIgn:\t0000000000001000\nSigCgt:\t0000000000000001\n", false),
            ("Name:\tx\n", false),
            ("SigIgn:\tmany\n", false),
        ] {
            assert_eq!(ignores_hang_up(status), expected, "{status}");
        }
    }
}

//! Reasons for which the checks of a strategy did not finish.

use candlewick_sdk::testkit::{Check, Position};
use std::process::ExitStatus;
use std::time::Duration;

/// Time without progress above which the current candle is reported instead of the average.
const STALL: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    pub(super) check: Option<Check>,
    position: Position,
    /// Time of the last change of the position, since the start.
    moved: Duration,
}

impl Stage {
    pub(super) fn update(&mut self, position: Position, at: Duration) {
        if position != self.position {
            (self.position, self.moved) = (position, at);
        }
    }

    fn describe(&self) -> String {
        self.check.map_or_else(|| "in its first run".to_owned(), |check| format!("while checking {check}"))
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Unfinished {
    #[error("a strategy is checked in a process of its own, which cannot be started: {0}")]
    NotStarted(#[source] std::io::Error),
    #[error("the strategy {} {}{}", describe_end(*status), stage.describe(), describe_last_line(last_line))]
    Ended { status: ExitStatus, stage: Stage, last_line: String },
    #[error("the strategy did not finish within {} {}{}", describe_duration(*limit), stage.describe(), describe_pace(stage, *elapsed))]
    TimedOut { limit: Duration, elapsed: Duration, stage: Stage },
}

impl Unfinished {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotStarted(_) => "check that the program may be executed and that processes may be started",
            Self::Ended { .. } => "a strategy answers each candle and returns: it neither exits nor crashes",
            Self::TimedOut { stage, elapsed, .. } if elapsed.saturating_sub(stage.moved) > *elapsed / 2 => {
                "look for a loop that does not end, or for a wait"
            }
            Self::TimedOut { .. } => {
                "make it faster, give fewer candles, or raise the limit (--timeout of strategy check)"
            }
        }
    }
}

fn describe_end(status: ExitStatus) -> String {
    if let Some(code) = status.code() {
        return format!("ended the process with code {code}");
    }
    // The standard library prints "signal: 11 (SIGSEGV)".
    let text = status.to_string();
    let name = text.split(['(', ')']).nth(1).unwrap_or(&text);
    format!("was killed by {name}")
}

fn describe_last_line(line: &str) -> String {
    if line.is_empty() { String::new() } else { format!("; it printed last: {line}") }
}

fn describe_pace(stage: &Stage, elapsed: Duration) -> String {
    let Position { candle, shown } = stage.position;
    let stalled = elapsed.saturating_sub(stage.moved);
    if shown == 0 {
        return String::new();
    }
    let pace = if stalled > STALL {
        format!("candle {candle} alone took {}", describe_duration(stalled))
    } else {
        let mean = elapsed.as_secs_f64() / shown as f64;
        format!("{shown} candles took {} each", describe_duration(Duration::from_secs_f64(mean)))
    };
    format!(" (candle {candle}); {pace}")
}

fn describe_duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        _ if seconds >= 10.0 => format!("{seconds:.0} s"),
        _ if seconds >= 0.1 => format!("{} s", (seconds * 10.0).round() / 10.0),
        _ if seconds >= 1e-3 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{:.1} us", seconds * 1e6),
    }
}

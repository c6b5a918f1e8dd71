//! Control commands: halt, resume, reload, resolve and signal.

mod halt;
mod reach;
mod resolve;
mod running;

pub use halt::{HaltOutcome, ResumeOutcome, find_reached_limit, halt, reload, resume, submit_signal};
pub use resolve::{Decision, ResolveOutcome, resolve};
pub(crate) use running::RunningBotEntry;
pub use running::use_running_bot_paths;

use crate::error::{AppError, ErrorKind, Result};
use candlewick_records::{count_text, describe_halt, format_utc};
use candlewick_runtime::control::{
    Blockage, ControlAnswer, ControlOrder, ControlRequest, Phase, RunState, SignalTally,
};
use candlewick_sdk::escape_hidden;
use std::fmt::Write as _;
use tokio::sync::{mpsc, oneshot};

fn expect_state(answer: ControlAnswer) -> Result<RunState> {
    let problem = match answer {
        ControlAnswer::Done { state } => return Ok(*state),
        ControlAnswer::Refused { problem } => {
            // The bot sends the causes and the hint as separate lines.
            let (problem, hint) = match problem.split_once("\nhint: ") {
                Some((problem, hint)) => (problem, Some(hint.to_owned())),
                None => (problem.as_str(), None),
            };
            let problem = format!("the bot rejected the command: {problem}");
            let refused = AppError::new(ErrorKind::OrderRefused, problem);
            return Err(hint.into_iter().fold(refused, AppError::with_help));
        }
        ControlAnswer::VenueFailed { problem } => {
            return Err(AppError::new(ErrorKind::VenueFailed, problem));
        }
        ControlAnswer::Signal { .. } => "the bot sent an unexpected answer".to_owned(),
        ControlAnswer::Unanswered { problem } => format!("the outcome is unknown: {problem}"),
    };
    Err(AppError::new(ErrorKind::OrderNotConfirmed, problem))
}

/// Sends a command to the run of this process and returns the answer. `None` if the run has ended.
#[cfg_attr(not(any(feature = "metrics", feature = "notify")), allow(dead_code, reason = "unused then"))]
pub(crate) async fn send_to_run(
    orders: &mpsc::WeakSender<ControlRequest>,
    order: ControlOrder,
) -> Option<ControlAnswer> {
    let (answer, answered) = oneshot::channel();
    orders.upgrade()?.send(ControlRequest::new(order, answer)).await.ok()?;
    answered.await.ok()
}

fn convert_order_refusal(error: AppError) -> AppError {
    match error {
        AppError::Report(report) if report.kind == ErrorKind::OrderRefused => {
            AppError::invalid(report.to_string())
        }
        other => other,
    }
}

pub fn describe(state: &RunState) -> String {
    let mut text = describe_phase(state);
    let trades = count_text(state.open, "trade", "trades");
    let _ = write!(text, "; {trades} open, {} in flight", state.in_flight);
    if !state.in_doubt.is_empty() {
        let intents: Vec<String> = state.in_doubt.iter().map(|intent| format!("#{intent}")).collect();
        let _ = write!(text, ", unknown status: {}", intents.join(", "));
    }
    text.push('.');
    if let Some(signals) = &state.signals {
        let _ = write!(text, " {}", describe_signals(signals));
    }
    text
}

fn describe_signals(tally: &SignalTally) -> String {
    let came = tally.describe().join("; ");
    let mut text = if came.is_empty() { String::new() } else { format!("External signals: {came}.") };
    if let Some(next) = &tally.next {
        let space = if came.is_empty() { "" } else { " " };
        let (direction, bot, at) = (next.direction, escape_hidden(&next.bot), format_utc(next.at));
        let _ = write!(text, "{space}Next scheduled signal: {direction} by {bot} at {at}.");
    }
    text
}

pub(crate) fn describe_phase(state: &RunState) -> String {
    if let (Phase::Halted, Some(halt)) = (state.phase, &state.halt) {
        return format!("The bot is {}", describe_halt(halt));
    }
    let mut text = match state.phase {
        Phase::Trading => "The bot opens trades",
        Phase::Halted => "The bot is halted",
        Phase::Suspended => "The bot has suspended new trades",
        Phase::Stopping => "The bot is stopping",
    }
    .to_owned();
    let lasting: Vec<String> =
        state.blocked.iter().filter(|blockage| !blockage.brief).map(Blockage::describe).collect();
    if let (Phase::Trading, true) = (state.phase, state.all_blocked) {
        return format!("The bot currently opens no trades: {}", lasting.join("; "));
    }
    if let Some(reason) = state.reason.as_deref().filter(|reason| !reason.is_empty()) {
        let _ = write!(text, " ({})", escape_hidden(reason));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::Halt;
    use candlewick_runtime::control::{NextEntry, SourceTally};
    use candlewick_sdk::{Direction, Millis};
    use serde_json::json;

    #[test]
    fn describes_received_and_scheduled_signals() {
        let list = SourceTally { duplicates: 1, ..SourceTally::default() };
        let (at, bot) = (Millis::new(1_767_571_200_000), "btc".to_owned());
        let next = NextEntry { at, bot, direction: Direction::Buy };
        let next = SignalTally { next: Some(next), ..SignalTally::default() };
        let words = "Next scheduled signal: BUY by btc at 2026-01-05T00:00:00.000Z.";
        assert_eq!(describe_signals(&next), words);
        let both = SignalTally { duplicates: 1, by_source: [("list".to_owned(), list)].into(), ..next };
        assert_eq!(describe_signals(&both), format!("External signals: 1 received: 1 duplicate. {words}"));
    }

    #[test]
    fn describes_the_state_of_a_run() {
        let state: RunState = serde_json::from_value(json!({
            "phase": Phase::Halted,
            "reason": "news",
            "halt": Halt { at: Some(Millis::new(1_767_571_200_000)), reason: "news".to_owned() },
            "in_flight": 0,
            "in_doubt": [7, 9],
            "open": 1,
            "at": 0,
        }))
        .unwrap();
        let halted =
            "is halted at 2026-01-05 00:00:00 UTC: news; 1 trade open, 0 in flight, unknown status: #7, #9.";
        assert!(describe(&state).ends_with(halted), "{}", describe(&state));
        let state = RunState { phase: Phase::Trading, reason: None, in_doubt: Vec::new(), open: 2, ..state };
        assert_eq!(describe(&state), "The bot opens trades; 2 trades open, 0 in flight.");
        let reason = Some("the disk is full".to_owned());
        let state = RunState { phase: Phase::Suspended, reason, open: 0, ..state };
        let suspended = "The bot has suspended new trades (the disk is full); 0 trades open, 0 in flight.";
        assert_eq!(describe(&state), suspended);
    }
}

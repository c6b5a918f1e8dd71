//! Orders to a running bot: halt, resume, reload, resolve; where none runs, the file or the journal that the next one reads.

mod halt;
mod reach;
mod reload;
mod resolve;
mod running;
mod signal;

pub use halt::{Halted, Resumed, halt, resume};
pub use reload::reload;
pub use resolve::{Decision, Resolved, resolve};
pub(crate) use running::RunningEntry;
pub use running::find_running_bot;
pub use signal::signal;

use crate::error::{AppError, ErrorKind};
use candlewick_records::utc;
use candlewick_runtime::control::{ControlAnswer, Phase, RunState, SignalTally, SourceTally};
use candlewick_sdk::visible;
use std::fmt::Write as _;

/// The state of a run that did as it was ordered.
///
/// # Errors
/// When it did not.
fn done(answer: ControlAnswer) -> Result<RunState, AppError> {
    let problem = match answer {
        ControlAnswer::Done { state } => return Ok(state),
        ControlAnswer::Refused { problem } => {
            return Err(AppError::new(ErrorKind::OrderRefused, format!("the bot refused: {problem}")));
        }
        ControlAnswer::VenueFailed { problem } => {
            return Err(AppError::new(ErrorKind::VenueFailed, problem));
        }
        ControlAnswer::Signal { .. } => "it answered what it was not asked".to_owned(),
        ControlAnswer::Unanswered { problem } => format!("nobody knows whether it is done: {problem}"),
    };
    Err(AppError::new(ErrorKind::OrderNotConfirmed, problem))
}

/// What a bot refuses for what it was asked is refused as where no bot runs.
fn of_argument(error: AppError) -> AppError {
    match error {
        AppError::Report(report) if report.kind() == ErrorKind::OrderRefused => {
            AppError::invalid(report.to_string())
        }
        other => other,
    }
}

/// How a run stands, in a sentence or two.
pub fn describe(state: &RunState) -> String {
    let mut text = describe_phase(state);
    let trades = if state.open == 1 { "trade" } else { "trades" };
    let _ = write!(text, "; {} {trades} open, {} in flight", state.open, state.in_flight);
    if !state.in_doubt.is_empty() {
        let intents: Vec<String> = state.in_doubt.iter().map(ToString::to_string).collect();
        let _ = write!(text, ", in doubt: {}", intents.join(", "));
    }
    text.push('.');
    if let Some(signals) = &state.signals {
        let _ = write!(text, " {}", describe_signals(signals));
    }
    text
}

/// What came from outside, in a sentence or two.
fn describe_signals(tally: &SignalTally) -> String {
    let (refused, malformed): (u64, u64) = (tally.refused.values().sum(), tally.malformed.values().sum());
    let mut text = format!(
        "Signals from outside: {} approved, {refused} refused, {} dropped as duplicates, {malformed} malformed.",
        tally.approved, tally.duplicates
    );
    if let Some(problem) = &tally.problem {
        let _ = write!(text, " The last malformed one: {}.", visible(problem));
    }
    if let Some(next) = &tally.next {
        let _ = write!(
            text,
            " Next of the list: {} of {} at {}.",
            next.direction,
            visible(&next.bot),
            utc(next.at)
        );
    }
    for (source, of_source) in &tally.by_source {
        let _ = write!(text, " By {}: {}.", visible(source), describe_source(of_source));
    }
    text
}

/// What came by one door, zeros left out.
fn describe_source(tally: &SourceTally) -> String {
    let SourceTally { approved, refused, late, duplicates, malformed, turned_away } = *tally;
    let counts = [
        (approved, "approved"),
        (refused, "refused"),
        (late, "late"),
        (duplicates, "duplicates"),
        (malformed, "malformed"),
        (turned_away, "turned away"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    counts.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

/// What it does with signals, and why.
pub(crate) fn describe_phase(state: &RunState) -> String {
    let mut text = match state.phase {
        Phase::Trading => "The bot opens trades",
        Phase::Halted => "The bot is halted",
        Phase::Suspended => "The bot's opens are suspended",
        Phase::Stopping => "The bot is stopping",
    }
    .to_owned();
    if let Some(reason) = state.reason.as_deref().filter(|reason| !reason.is_empty()) {
        let _ = write!(text, " ({})", visible(reason));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::IntentId;
    use candlewick_runtime::control::NextEntry;
    use candlewick_sdk::{Direction, Millis};

    #[test]
    fn signals_are_counted_by_their_door() {
        let webhook = SourceTally { approved: 2, late: 1, turned_away: 9, ..SourceTally::default() };
        let list = SourceTally { duplicates: 1, malformed: 1, refused: 3, ..SourceTally::default() };
        let tally = SignalTally {
            approved: 2,
            refused: [("LateSignal".to_owned(), 1), ("InFlight".to_owned(), 3)].into(),
            duplicates: 1,
            malformed: [("list".to_owned(), 1)].into(),
            problem: Some("line 2: no".to_owned()),
            next: Some(NextEntry {
                at: Millis::new(1_767_571_200_000),
                bot: "btc".to_owned(),
                direction: Direction::Buy,
            }),
            by_source: [("webhook".to_owned(), webhook), ("list".to_owned(), list)].into(),
        };
        let expected = "Signals from outside: 2 approved, 4 refused, 1 dropped as duplicates, 1 malformed. The last malformed one: \
                        line 2: no. Next of the list: BUY of btc at 2026-01-05T00:00:00.000Z. By list: 3 refused, 1 duplicates, 1 malformed. By webhook: 2 approved, 1 late, 9 turned away.";
        assert_eq!(describe_signals(&tally), expected);
    }

    #[test]
    fn a_state_reads_as_a_sentence() {
        let state = RunState {
            phase: Phase::Halted,
            reason: Some("news".to_owned()),
            in_flight: 0,
            in_doubt: vec![IntentId::new(7), IntentId::new(9)],
            open: 1,
            at: Millis::ZERO,
            clock: None,
            audits: std::collections::BTreeMap::new(),
            heard: None,
            troubles: Vec::new(),
            reloaded: None,
            stale_after_s: None,
            signals: None,
            market: None,
        };
        assert_eq!(describe(&state), "The bot is halted (news); 1 trade open, 0 in flight, in doubt: 7, 9.");
        let state = RunState { phase: Phase::Trading, reason: None, in_doubt: Vec::new(), open: 2, ..state };
        assert_eq!(describe(&state), "The bot opens trades; 2 trades open, 0 in flight.");
        let reason = Some("the disk is full".to_owned());
        let state = RunState { phase: Phase::Suspended, reason, open: 0, ..state };
        assert_eq!(
            describe(&state),
            "The bot's opens are suspended (the disk is full); 0 trades open, 0 in flight."
        );
    }
}

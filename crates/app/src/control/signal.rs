//! Delivery of an external signal through the socket of a running bot.

use crate::error::{AppError, ErrorKind};
use candlewick_runtime::control::{
    ControlAnswer, ControlError, ControlOrder, ControlPaths, SignalOrder, SignalOutcome, send_order,
};

/// Sends a signal to a bot and returns its outcome.
///
/// Uses only the socket: by the time another bot reads the journal, the signal would be late.
///
/// # Errors
/// No bot listens, the signal is invalid for its bots, or the answer timed out; the signal is then
/// dropped.
pub async fn signal(paths: &ControlPaths, order: SignalOrder) -> Result<SignalOutcome, AppError> {
    let problem = match send_order(&paths.socket, &ControlOrder::Signal(order), None).await {
        Ok(ControlAnswer::Signal { outcome }) => return Ok(outcome),
        Ok(ControlAnswer::Refused { problem }) => {
            return Err(AppError::invalid(format!("the bot took no signal: {problem}")));
        }
        Ok(ControlAnswer::Unanswered { problem }) => {
            format!("the signal was not taken, and is not carried out any more: {problem}")
        }
        Ok(ControlAnswer::Done { .. } | ControlAnswer::VenueFailed { .. }) => {
            "the bot answered what it was not asked".to_owned()
        }
        Err(error @ ControlError::NoBotListens { .. }) => {
            let help = "name the bot's journal with --journal, or its configuration with --config";
            return Err(AppError::invalid(format!("no signal was given: {error}")).help(help));
        }
        Err(error) => return Err(error.into()),
    };
    Err(AppError::new(ErrorKind::OrderNotConfirmed, problem))
}

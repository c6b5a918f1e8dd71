//! Status request to the bot that runs on a journal.

use crate::configuration::{Loaded, control_paths};
use crate::error::AppError;
use candlewick_runtime::control::{ControlAnswer, ControlOrder, RunState, send_order};

pub(super) async fn ask_bot(loaded: &Loaded) -> Result<Option<RunState>, AppError> {
    let paths = control_paths(loaded)?;
    Ok(match send_order(&paths.socket, &ControlOrder::Status, None).await {
        Ok(ControlAnswer::Done { state }) => Some(*state),
        Ok(ControlAnswer::Signal { .. }) => None,
        Ok(
            ControlAnswer::Refused { problem }
            | ControlAnswer::VenueFailed { problem }
            | ControlAnswer::Unanswered { problem },
        ) => {
            tracing::warn!("the bot does not answer with its status: {problem}");
            None
        }
        Err(error) => {
            tracing::debug!("no bot answers: {error}");
            None
        }
    })
}

//! No more opens, and opens again: by order where a bot runs, by the HALT file where none does.

use super::done;
use crate::error::AppError;
use candlewick_runtime::control::{ControlError, ControlOrder, ControlPaths, Removed, RunState, send_order};
use std::path::PathBuf;

/// What halting a bot came to.
#[derive(Debug)]
pub enum Halted {
    /// The bot halted, and is now in this state.
    ByOrder(RunState),
    /// No bot runs: this file halts one that starts.
    ByFile(PathBuf),
    /// The order was not confirmed: this file is there now, and a bot that looks for it halts within a second.
    Unconfirmed {
        /// Why the order was not confirmed.
        error: AppError,
        /// The HALT file.
        file: PathBuf,
    },
}

/// What resuming a bot came to.
#[derive(Debug)]
pub enum Resumed {
    /// The bot resumed.
    ByOrder {
        /// The state of the bot.
        state: RunState,
        /// The HALT file that was removed before, if there was one.
        removed: Option<PathBuf>,
    },
    /// No bot runs: the HALT file is removed.
    FileRemoved(PathBuf),
    /// No bot runs, and there is no HALT file.
    NothingToResume,
}

/// Halts the bot of these paths.
///
/// # Errors
/// A reason that is too long, or a HALT file that cannot be made.
pub async fn halt(paths: &ControlPaths, reason: &str) -> Result<Halted, AppError> {
    let file = paths.halt_file.path().to_owned();
    let order = ControlOrder::Halt { reason: reason.to_owned() };
    let error = match send_order(&paths.socket, &order).await {
        Ok(answer) => match done(answer) {
            Ok(state) => return Ok(Halted::ByOrder(state)),
            Err(error) => error,
        },
        Err(ControlError::NoBotListens { .. } | ControlError::NoSocketsHere) => {
            raise(paths, reason)?;
            return Ok(Halted::ByFile(file));
        }
        // Nothing was sent, and nothing else is wrong.
        Err(error @ ControlError::ReasonTooLong { .. }) => return Err(error.into()),
        Err(error) => error.into(),
    };
    // The bot was not seen to halt by order: it may yet see the file.
    raise(paths, reason)?;
    Ok(Halted::Unconfirmed { error, file })
}

fn raise(paths: &ControlPaths, reason: &str) -> Result<(), AppError> {
    let path = paths.halt_file.path().display();
    let raised = paths.halt_file.raise(reason);
    raised.map_err(|error| AppError::system(format!("the file {path} cannot be made"), error))?;
    Ok(())
}

/// Removes the HALT file, and orders the bot of these paths to open trades again.
///
/// # Errors
/// A HALT file that cannot be removed, or an order that is not confirmed.
pub async fn resume(paths: &ControlPaths) -> Result<Resumed, AppError> {
    let path = paths.halt_file.path();
    // First: while the file is there, a bot refuses the order.
    let removed = paths.halt_file.remove().map_err(|error| {
        let problem = format!("the file {} cannot be removed, so the bot stays halted", path.display());
        AppError::system(problem, error)
    })?;
    match (send_order(&paths.socket, &ControlOrder::Resume).await, removed) {
        (Ok(answer), _) => {
            let removed = (removed == Removed::Now).then(|| path.to_owned());
            Ok(Resumed::ByOrder { state: done(answer)?, removed })
        }
        (Err(ControlError::NoBotListens { .. } | ControlError::NoSocketsHere), Removed::Now) => {
            Ok(Resumed::FileRemoved(path.to_owned()))
        }
        (Err(ControlError::NoBotListens { .. }), Removed::Before) => Ok(Resumed::NothingToResume),
        (Err(error), _) => Err(error.into()),
    }
}

//! A running bot reads its settings again.

use super::of_argument;
use super::reach::{Reached, reach};
use crate::error::AppError;
use candlewick_engine::ReloadedBy;
use candlewick_journal::JournalUrl;
use candlewick_runtime::control::{ControlOrder, ControlPaths, RunState};

/// Has the bot of these paths and this journal read its own configuration again; the state in which it is then.
///
/// # Errors
/// No bot runs; or it refuses, with what is wrong with its configuration: then nothing has changed; or a process that lives
/// holds the journal and did not acknowledge the order.
pub async fn reload(paths: &ControlPaths, url: &JournalUrl) -> Result<RunState, AppError> {
    let reached = reach(paths, url, &ControlOrder::Reload { by: ReloadedBy::Command }).await;
    match reached.map_err(of_argument)? {
        Reached::Bot(state) => Ok(*state),
        Reached::Nobody | Reached::NoJournal => {
            let problem =
                format!("nothing to reload: no bot runs on {url}, or listens at {}", paths.socket.display());
            let help = "a bot reads its configuration when it starts; name the journal of another one with --journal, or its \
                        configuration with --config";
            Err(AppError::invalid(problem).help(help))
        }
    }
}

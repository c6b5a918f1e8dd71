//! Reload of a running bot's settings.

use super::of_argument;
use super::reach::{Reached, reach};
use crate::error::AppError;
use candlewick_engine::ReloadedBy;
use candlewick_journal::JournalUrl;
use candlewick_runtime::control::{ControlOrder, ControlPaths, RunState};

/// Makes the bot reload its own configuration and returns its state.
///
/// # Errors
/// No bot runs, it rejected the configuration without changing anything, or a live process holds
/// the journal without acknowledging.
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

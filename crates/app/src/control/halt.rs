//! No more opens, and opens again: by order where a bot runs; where none does, by the HALT file and by an order that the next
//! one finds in the journal.

use super::reach::{Reached, leave, reach};
use super::running::advice;
use crate::configuration::make_folder_of;
use crate::error::AppError;
use crate::recent::read_recent_trades;
use candlewick_journal::{JournalError, JournalUrl, Reader, close_orders};
use candlewick_records::LimitReached;
use candlewick_runtime::control::{
    ControlAnswer, ControlError, ControlOrder, ControlPaths, Removed, RunState,
};
use std::path::PathBuf;

/// What halting a bot came to.
#[derive(Debug)]
pub enum Halted {
    /// The bot halted, and is now in this state.
    ByOrder(RunState),
    /// No bot runs: this file, and an order in the journal, halt one that starts.
    ByFile(PathBuf),
    /// No bot runs: an order in the journal halts one that starts on it. The file could not be made.
    ByJournal {
        /// Why not.
        error: AppError,
    },
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
        state: Box<RunState>,
        /// The HALT file that was removed before, if there was one.
        removed: Option<PathBuf>,
    },
    /// No bot runs: what would have halted the next one is taken back.
    TakenBack {
        /// The HALT file, if there was one.
        removed: Option<PathBuf>,
        /// How many orders waited in the journal.
        orders: u64,
    },
    /// No bot runs, and nothing would halt the next one.
    NothingToResume,
}

/// Halts the bot of these paths and this journal.
///
/// # Errors
/// A reason that is too long, no such journal, or neither a HALT file nor an order in the journal that can be made.
pub async fn halt(paths: &ControlPaths, url: &JournalUrl, reason: &str) -> Result<Halted, AppError> {
    let file = paths.halt_file.path().to_owned();
    let order = ControlOrder::Halt { reason: reason.to_owned() };
    match reach(paths, url, &order).await {
        Ok(Reached::Bot(state)) => Ok(Halted::ByOrder(*state)),
        Ok(Reached::Nobody) => {
            // The file is found only where the bot looks for it, the journal wherever it starts: one does without the other.
            match (raise(paths, reason), leave(url, &order).await) {
                (Ok(()), Ok(()) | Err(AppError::Journal(JournalError::OlderSchema { .. }))) => {
                    Ok(Halted::ByFile(file))
                }
                (Ok(()), Err(error)) => Ok(Halted::Unconfirmed { error, file }),
                (Err(error), Ok(())) => Ok(Halted::ByJournal { error }),
                (Err(error), Err(_)) => Err(error),
            }
        }
        Ok(Reached::NoJournal) => Err(no_journal(paths, url, advice().await)),
        // Nothing was sent, and nothing else is wrong.
        Err(error @ AppError::Control(ControlError::ReasonTooLong { .. })) => Err(error),
        // The bot was not seen to halt by order: it may yet see the file.
        Err(error) => match raise(paths, reason) {
            Ok(()) => Ok(Halted::Unconfirmed { error, file }),
            Err(_) => Err(error),
        },
    }
}

fn raise(paths: &ControlPaths, reason: &str) -> Result<(), AppError> {
    let path = paths.halt_file.path();
    let raised = make_folder_of(path).and_then(|()| paths.halt_file.raise(reason));
    let problem = || format!("the file {} cannot be made", path.display());
    raised.map(drop).map_err(|error| AppError::system(problem(), error))
}

/// Nobody was halted, and no file is left where no bot would look.
fn no_journal(paths: &ControlPaths, url: &JournalUrl, running: Option<String>) -> AppError {
    let place = url.file().and_then(|file| std::path::absolute(file).ok());
    let place = place.map_or_else(|| url.to_string(), |place| place.display().to_string());
    let socket = paths.socket.display();
    AppError::invalid(format!(
        "nothing was halted: there is no journal at {place}, and no bot listens at {socket}"
    ))
    .help(format!(
        "{}; the file with .HALT after the journal's name halts a bot all the same",
        running.unwrap_or_else(|| {
            "name the bot's journal with --journal, or its configuration with --config".to_owned()
        })
    ))
}

/// Removes the HALT file, and orders the bot of these paths and this journal to open trades again.
///
/// # Errors
/// A HALT file that cannot be removed, or an order that is not confirmed.
pub async fn resume(paths: &ControlPaths, url: &JournalUrl) -> Result<Resumed, AppError> {
    let path = paths.halt_file.path();
    // First: while the file is there, a bot refuses the order.
    let removed = paths.halt_file.remove().map_err(|error| {
        let problem = format!("the file {} cannot be removed, so the bot stays halted", path.display());
        AppError::system(problem, error)
    })?;
    let removed = (removed == Removed::Now).then(|| path.to_owned());
    let orders = match reach(paths, url, &ControlOrder::Resume).await? {
        Reached::Bot(state) => return Ok(Resumed::ByOrder { state, removed }),
        Reached::Nobody => take_back(url).await?,
        Reached::NoJournal => 0,
    };
    if removed.is_none() && orders == 0 {
        return Ok(Resumed::NothingToResume);
    }
    Ok(Resumed::TakenBack { removed, orders })
}

/// The limit that ended the last run of a journal; none where another thing did, or where the journal cannot be read.
pub async fn limit_reached(url: &JournalUrl) -> Option<LimitReached> {
    let mut reader = Reader::open(url).await.ok()?;
    let (contents, _) = read_recent_trades(&mut reader).await.ok()?;
    contents.limit_reached()
}

/// Orders that wait for the next bot are not carried out any more.
async fn take_back(url: &JournalUrl) -> Result<u64, AppError> {
    let answer = ControlAnswer::Refused { problem: "it was taken back before a bot ran".to_owned() };
    match close_orders(url, None, &serde_json::json!(answer).to_string()).await {
        Ok(closed) => Ok(closed),
        Err(JournalError::OlderSchema { .. }) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

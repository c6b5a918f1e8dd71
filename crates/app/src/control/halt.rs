//! Halts, resumes and reloads a bot, and delivers an external signal.

use super::convert_order_refusal;
use super::reach::{Delivery, deliver, store_order};
use super::running::running_bots_hint;
use crate::configuration::make_parent_folder;
use crate::error::{AppError, ErrorKind, Result};
use crate::recent::read_recent_trades;
use candlewick_engine::ReloadTrigger;
use candlewick_journal::{JournalError, JournalUrl, Reader, close_operator_orders};
use candlewick_records::LimitReached;
use candlewick_runtime::control::{
    ControlAnswer, ControlError, ControlOrder, ControlPaths, RemovalOutcome, RunState, SignalOrder,
    SignalOutcome, send_order,
};
use std::path::PathBuf;

const BOT_HINT: &str = "name the bot's journal with --journal, or its configuration with --config";

#[derive(Debug)]
pub enum HaltOutcome {
    ByOrder(RunState),
    /// No bot is running. The halt file and a command in the journal will halt the next bot.
    ByFile(PathBuf),
    /// No bot is running and the halt file could not be created. A command in the journal halts the next bot.
    ByJournal {
        error: AppError,
    },
    /// The halt is not confirmed. A bot that watches the halt file halts within a second.
    Unconfirmed {
        error: AppError,
        file: PathBuf,
    },
}

#[derive(Debug)]
pub enum ResumeOutcome {
    ByOrder { state: Box<RunState>, removed: Option<PathBuf> },
    TakenBack { removed: Option<PathBuf>, orders: u64 },
    NothingToResume,
}

pub async fn halt(paths: &ControlPaths, url: &JournalUrl, reason: &str) -> Result<HaltOutcome> {
    let file = paths.halt_file.path().to_owned();
    let order = ControlOrder::Halt { reason: reason.to_owned() };
    match deliver(paths, url, &order).await {
        Ok(Delivery::Bot(state)) => Ok(HaltOutcome::ByOrder(*state)),
        Ok(Delivery::NoBot) => {
            // Either is enough. The file reaches only a bot in its folder, but the journal works from any folder.
            match (create_halt_file(paths, reason), store_order(url, &order).await) {
                (Ok(()), Ok(()) | Err(AppError::Journal(JournalError::OlderSchema { .. }))) => {
                    Ok(HaltOutcome::ByFile(file))
                }
                (Ok(()), Err(error)) => Ok(HaltOutcome::Unconfirmed { error, file }),
                (Err(error), Ok(())) => Ok(HaltOutcome::ByJournal { error }),
                (Err(error), Err(_)) => Err(error),
            }
        }
        Ok(Delivery::NoJournal) => Err(no_journal_error(paths, url, running_bots_hint().await)),
        // The command was rejected before anything was sent.
        Err(error @ AppError::Control(ControlError::ReasonTooLong { .. })) => Err(error),
        // The halt is not confirmed, but the bot may still see the file.
        Err(error) => match create_halt_file(paths, reason) {
            Ok(()) => Ok(HaltOutcome::Unconfirmed { error, file }),
            Err(_) => Err(error),
        },
    }
}

fn create_halt_file(paths: &ControlPaths, reason: &str) -> Result<()> {
    let path = paths.halt_file.path();
    let raised = make_parent_folder(path).and_then(|()| paths.halt_file.create(reason));
    let problem = || format!("cannot create the file {}", path.display());
    raised.map(drop).map_err(|error| AppError::system(problem(), error))
}

fn no_journal_error(paths: &ControlPaths, url: &JournalUrl, running: Option<String>) -> AppError {
    let place = url.file().and_then(|file| std::path::absolute(file).ok());
    let place = place.map_or_else(|| url.to_string(), |place| place.display().to_string());
    let socket = paths.socket.display();
    let running = running.unwrap_or_else(|| BOT_HINT.to_owned());
    let problem =
        format!("nothing was halted: the journal {place} does not exist, and no bot listens at {socket}");
    let help = format!("{running}; or create run.db.HALT to halt the bot with the journal run.db");
    AppError::invalid(problem).with_help(help)
}

pub async fn resume(paths: &ControlPaths, url: &JournalUrl) -> Result<ResumeOutcome> {
    let path = paths.halt_file.path();
    // Removes the file first, since a bot rejects the command while the file exists.
    let removed = paths.halt_file.remove().map_err(|error| {
        let problem = format!("cannot remove the file {}, so the bot stays halted", path.display());
        AppError::system(problem, error)
    })?;
    let removed = (removed == RemovalOutcome::Removed).then(|| path.to_owned());
    let orders = match deliver(paths, url, &ControlOrder::Resume).await? {
        Delivery::Bot(state) => return Ok(ResumeOutcome::ByOrder { state, removed }),
        Delivery::NoBot => withdraw_halts(url).await?,
        Delivery::NoJournal => 0,
    };
    if removed.is_none() && orders == 0 {
        return Ok(ResumeOutcome::NothingToResume);
    }
    Ok(ResumeOutcome::TakenBack { removed, orders })
}

pub async fn find_reached_limit(url: &JournalUrl) -> Option<LimitReached> {
    let mut reader = Reader::open(url).await.ok()?;
    let (contents, _) = read_recent_trades(&mut reader).await.ok()?;
    contents.reached_limit()
}

async fn withdraw_halts(url: &JournalUrl) -> Result<u64> {
    let answer = ControlAnswer::Refused { problem: "command withdrawn before a bot received it".to_owned() };
    match close_operator_orders(url, None, &serde_json::json!(answer).to_string()).await {
        Ok(closed) => Ok(closed),
        Err(JournalError::OlderSchema { .. }) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

pub async fn reload(paths: &ControlPaths, url: &JournalUrl) -> Result<RunState> {
    let reached = deliver(paths, url, &ControlOrder::Reload { by: ReloadTrigger::Command }).await;
    match reached.map_err(convert_order_refusal)? {
        Delivery::Bot(state) => Ok(*state),
        Delivery::NoBot | Delivery::NoJournal => {
            let socket = paths.socket.display();
            let problem = format!("nothing to reload: no bot runs on {url} or listens at {socket}");
            let help = "the next run reads the configuration when it starts; to reload a running bot, name its journal \
                        with --journal or its configuration with --config";
            Err(AppError::invalid(problem).with_help(help))
        }
    }
}

/// Sends a signal through the socket only. Through the journal, the signal would arrive too late.
pub async fn submit_signal(paths: &ControlPaths, order: SignalOrder) -> Result<SignalOutcome> {
    let problem = match send_order(&paths.socket, &ControlOrder::Signal(order), None).await {
        Ok(ControlAnswer::Signal { outcome }) => return Ok(outcome),
        Ok(ControlAnswer::Refused { problem }) => {
            return Err(AppError::invalid(format!("the bot rejected the signal: {problem}")));
        }
        Ok(ControlAnswer::Unanswered { problem }) => {
            format!("the signal was not accepted and will not be executed: {problem}")
        }
        Ok(ControlAnswer::Done { .. } | ControlAnswer::VenueFailed { .. }) => {
            "the bot sent an unexpected answer".to_owned()
        }
        Err(error @ ControlError::NoBotListens { .. }) => {
            return Err(
                AppError::invalid(format!("the trade signal was not sent: {error}")).with_help(BOT_HINT)
            );
        }
        Err(error) => return Err(error.into()),
    };
    Err(AppError::new(ErrorKind::OrderNotConfirmed, problem))
}

//! A live run as a person starts, watches and ends it.

mod decision_words;
mod decisions;
mod ending;
#[cfg(feature = "tui")]
mod full_screen;
#[cfg(not(feature = "tui"))]
#[path = "without_full_screen.rs"]
mod full_screen;
mod header;
mod limit_words;
mod line;
mod onlookers;
mod reading;
mod screen;
mod stopping;
mod stream;
mod trade_text;

pub(crate) use ending::report;
pub(crate) use full_screen::check as check_full_screen;
pub(crate) use header::{
    Header, RunWords, address_words, candle_words, named_by, noted_words, sandbox_words, speed_words,
    wallet_words,
};
pub(crate) use screen::{Detail, Screen, Stream};
use stream::PrintedEvents;

use crate::arguments::GlobalArguments;
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::log_writer::LogWriter;
use crate::workers;
use candlewick_app::bots::BotSet;
use candlewick_app::configuration::{Base, Flag, Loaded, Problems, RealMoney};
use candlewick_app::inspection::problems_of;
use candlewick_app::live::{self, Connection, ControlChannel, FrontEnd, JournalSession, Outcome, ReadAgain};
use candlewick_runtime::Stop;
use candlewick_sdk::Millis;
use reading::ReadingProgress;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

/// A run that is ready to begin.
pub(crate) struct ReadyRun<'a> {
    pub(crate) loaded: &'a Loaded,
    pub(crate) global: &'a GlobalArguments,
    pub(crate) bots: BotSet,
    pub(crate) connection: Connection,
    pub(crate) journal: JournalSession,
    pub(crate) control: ControlChannel,
    pub(crate) screen: Screen,
    /// Whether the whole terminal is for it.
    pub(crate) is_full_screen: bool,
    /// Where it is said what is at stake, whatever else is shown.
    pub(crate) log: &'a LogWriter,
    pub(crate) interrupt: Interrupt,
    /// How long it lasts at most.
    pub(crate) run_for: Option<Millis>,
    /// Reads its configuration again.
    pub(crate) read_again: ReadAgain,
    /// Whether its events go to stdout.
    pub(crate) prints_events: bool,
    /// Whether its decisions go to the log, a JSON object each.
    pub(crate) logs_decisions: bool,
}

/// What a view on the whole terminal is made from.
#[cfg_attr(not(feature = "tui"), expect(dead_code, reason = "there is no such view"))]
struct Front<'a> {
    loaded: &'a Loaded,
    bots: &'a BotSet,
    connection: &'a Connection,
    control: &'a ControlChannel,
    stop: mpsc::Sender<Stop>,
    log: &'a LogWriter,
}

/// Does the work of a run to its end. A reading of the settings that never ends is not waited for.
pub(crate) fn complete<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = workers::start()?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_background();
    outcome
}

/// Runs the bots until their time is up, or somebody says that they are to end.
pub(crate) async fn run_until_stopped(run: ReadyRun<'_>) -> Result<Outcome, Failure> {
    let ReadyRun { loaded, bots, connection, journal, control, screen, is_full_screen, log, .. } = run;
    let ReadyRun { global, interrupt, run_for, read_again, prints_events, logs_decisions, .. } = run;
    let (sender, stop) = mpsc::channel(4);
    let leave = Arc::new(Notify::new());
    let watcher = tokio::spawn(watch(interrupt, run_for, sender.clone(), Arc::clone(&leave)));
    let announce = Box::new(|text: &str| log.print(text));
    let printed = prints_events.then(|| PrintedEvents::begin(&control.events()));
    let logged = logs_decisions.then(|| decisions::log(&control.events(), log));
    let (watchers, shown) = if is_full_screen {
        let (bots, connection, control) = (&bots, &connection, &control);
        full_screen::start(screen, &Front { loaded, bots, connection, control, stop: sender, log })
    } else {
        screen.show()
    };
    log.form().set_clock(Some(Arc::clone(&connection.clock)));
    let progress = Box::new(ReadingProgress { global, is_full_screen });
    let front = FrontEnd { journal, control, watchers, announce, progress, stop, leave, read_again };
    let outcome = live::run(loaded, bots, connection, front).await;
    watcher.abort();
    shown.end().await;
    for printed in [printed, logged].into_iter().flatten() {
        printed.end().await;
    }
    if is_full_screen {
        full_screen::end(log);
    }
    // What was counted is said before the figures of the run, and not behind them.
    log.flush();
    log.form().set_clock(None);
    Ok(outcome?)
}

/// The configuration of a run, by the same layers as at its start, validated as `config check` does.
pub(crate) fn read_again(
    context: &Context<'_>,
    (base, flags): (Base, Vec<Flag>),
    real: RealMoney,
) -> ReadAgain {
    let (files, registry) = (context.global.config.clone(), context.registry.clone());
    Box::new(move || {
        let loaded = Loaded::read_again(&files, base, flags.clone())?;
        Problems::check(problems_of(&loaded, real, &registry))?;
        Ok(loaded)
    })
}

/// Makes the run stop: when its time is up, and whenever a person or the system says so. Once it is over they no longer wait.
async fn watch(
    mut interrupt: Interrupt,
    run_for: Option<Millis>,
    stop: mpsc::Sender<Stop>,
    leave: Arc<Notify>,
) {
    let span = run_for.and_then(|span| u64::try_from(span.get()).ok());
    let mut time_up = std::pin::pin!(async move {
        match span {
            Some(span) => tokio::time::sleep(Duration::from_millis(span)).await,
            None => std::future::pending().await,
        }
    });
    let mut is_up = false;
    loop {
        let why = tokio::select! {
            () = &mut time_up, if !is_up => {
                is_up = true;
                Stop::TimeUp
            }
            ending = interrupt.wait() => match ending {
                Ending::Interrupted => Stop::Interrupted,
                Ending::Done => Stop::Terminated,
            },
        };
        if stop.send(why).await.is_err() && why != Stop::TimeUp {
            leave.notify_one();
        }
    }
}

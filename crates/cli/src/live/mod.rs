//! Start, display and end of a live run.

mod ending;
#[cfg(feature = "tui")]
mod full_screen;
mod header;
mod lines;
mod screen;
mod stream;

use crate::context::{Context, start_workers};
use crate::failure::{Ending, Failure};
use crate::interrupt::{StopListener, sleep_for};
use crate::log::LogWriter;
use crate::progress::ReadingProgress;
use candlewick_app::bots::BotSet;
use candlewick_app::configuration::{BaseLayer, Flag, LoadedConfig, Problems, RealMoneyRequest};
use candlewick_app::inspection::find_problems;
use candlewick_app::live::{
    self, ConfigurationReader, Connection, ControlChannel, FrontEnd, JournalSession, Outcome,
};
use candlewick_runtime::StopReason;
use candlewick_sdk::Millis;
use std::sync::Arc;
use stream::EventPrinter;
use tokio::sync::{Notify, mpsc};

pub(crate) use ending::show_report;
pub(crate) use full_screen::check_full_screen;
pub(crate) use header::{
    Header, RunDescription, describe_address, describe_candles, describe_sandbox, describe_speed,
    journal_arguments,
};
pub(crate) use screen::{OutputDetail, Screen};

pub(crate) struct ReadyRun<'a> {
    pub(crate) loaded: &'a LoadedConfig,
    pub(crate) context: &'a Context<'a>,
    pub(crate) bots: BotSet,
    pub(crate) connection: Connection,
    pub(crate) journal: JournalSession,
    pub(crate) control: ControlChannel,
    pub(crate) screen: Screen,
    pub(crate) is_full_screen: bool,
    pub(crate) stop_listener: StopListener,
    pub(crate) run_for: Option<Millis>,
    pub(crate) read_configuration: ConfigurationReader,
}

#[cfg_attr(not(feature = "tui"), expect(dead_code, reason = "used by the full-screen view"))]
struct DisplayContext<'a> {
    loaded: &'a LoadedConfig,
    bots: &'a BotSet,
    connection: &'a Connection,
    control: &'a ControlChannel,
    stop: mpsc::Sender<StopReason>,
    log: &'a LogWriter,
}

/// Runs `work` to completion. Abandons hanging background work, such as a reload of the settings.
pub(crate) fn run_to_completion<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = start_workers()?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_background();
    outcome
}

pub(crate) async fn run_until_stopped(run: ReadyRun<'_>) -> Result<Outcome, Failure> {
    let ReadyRun { loaded, bots, connection, journal, control, screen, is_full_screen, .. } = run;
    let ReadyRun {
        context: &Context { global, log, .. },
        stop_listener,
        run_for,
        read_configuration: read_again,
        ..
    } = run;
    let (sender, stop) = mpsc::channel(4);
    let leave = Arc::new(Notify::new());
    let watcher =
        tokio::spawn(watch_stop_requests(stop_listener, run_for, sender.clone(), Arc::clone(&leave)));
    let announce = Box::new(|text: &str| log.print(text));
    let printed = (global.json && !global.quiet).then(|| EventPrinter::start(&control.events()));
    let logged = (log.format.is_json() && !global.quiet).then(|| stream::log_events(&control.events(), log));
    let (watchers, shown) = if is_full_screen {
        let (bots, connection, control) = (&bots, &connection, &control);
        full_screen::start(screen, &DisplayContext { loaded, bots, connection, control, stop: sender, log })
    } else {
        screen.start()
    };
    log.format.set_clock(Some(Arc::clone(&connection.clock)));
    let progress = Box::new(ReadingProgress { global, is_full_screen });
    let front = FrontEnd {
        journal,
        control,
        watchers,
        announce,
        progress,
        stop,
        quit_now: leave,
        read_configuration: read_again,
    };
    let outcome = live::run(loaded, bots, connection, front).await;
    watcher.abort();
    shown.end().await;
    for printed in [printed, logged].into_iter().flatten() {
        printed.end().await;
    }
    if is_full_screen {
        full_screen::end(log);
    }
    // The counts of repeated warnings are printed before the report.
    log.flush();
    log.format.set_clock(None);
    Ok(outcome?)
}

pub(crate) fn build_reloader(
    context: &Context<'_>,
    (base, flags): (BaseLayer, Vec<Flag>),
    real: RealMoneyRequest,
) -> ConfigurationReader {
    let (files, registry) = (context.global.config.clone(), context.registry.clone());
    Box::new(move || {
        let loaded = LoadedConfig::read_for_reload(&files, base, flags.clone())?;
        Problems::check(find_problems(&loaded, real, &registry))?;
        Ok(loaded)
    })
}

async fn watch_stop_requests(
    mut interrupt: StopListener,
    run_for: Option<Millis>,
    stop: mpsc::Sender<StopReason>,
    leave: Arc<Notify>,
) {
    let mut time_up = std::pin::pin!(sleep_for(run_for));
    let mut is_up = false;
    loop {
        let why = tokio::select! {
            () = &mut time_up, if !is_up => {
                is_up = true;
                StopReason::TimeUp
            }
            ending = interrupt.wait() => match ending {
                Ending::Interrupted => StopReason::Interrupted,
                Ending::Done | Ending::NotShown => StopReason::Terminated,
            },
        };
        if stop.send(why).await.is_err() && why != StopReason::TimeUp {
            leave.notify_one();
        }
    }
}

#[cfg(not(feature = "tui"))]
mod full_screen {
    use super::screen::DisplayHandle;
    use super::{DisplayContext, Screen};
    use crate::failure::Failure;
    use crate::log::LogWriter;
    use candlewick_runtime::NoticeSender;

    pub(crate) fn check_full_screen() -> Result<(), Failure> {
        let problem = "this build does not support --tui: run `cargo build --release --features tui`";
        Err(Failure::configuration(problem))
    }

    pub(super) fn start(screen: Screen, _: &DisplayContext<'_>) -> (Vec<NoticeSender>, DisplayHandle) {
        screen.start()
    }

    pub(super) fn end(_: &LogWriter) {}
}

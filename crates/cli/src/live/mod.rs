//! A live run as a person starts, watches and ends it.

mod ending;
mod own;
mod screen;

pub(crate) use ending::report;
pub(crate) use own::connect_own;
pub(crate) use screen::{Detail, Screen, Stream};

use crate::failure::{Ending, Failure};
use crate::interrupt::Interrupt;
use candlewick_app::bots::BotSet;
use candlewick_app::configuration::Loaded;
use candlewick_app::live::{Connection, FrontEnd, JournalSession, Open, Outcome, run};
use candlewick_runtime::Stop;
use candlewick_sdk::Millis;
use std::time::Duration;
use tokio::sync::mpsc;

/// Runs the bots until their time is up, or somebody says that they are to end.
pub(crate) async fn run_until(
    (loaded, bots, connection): (&Loaded, BotSet, Connection),
    (journal, open, screen): (JournalSession, Open, Screen),
    (interrupt, run_for): (Interrupt, Option<Millis>),
) -> Result<Outcome, Failure> {
    let (sender, stop) = mpsc::channel(4);
    let watcher = tokio::spawn(watch(interrupt, run_for, sender));
    // On stderr, whatever else is shown.
    let announce = |text: &str| anstream::eprint!("{text}");
    let (watchers, shown) = screen.show();
    let outcome = run(loaded, bots, connection, FrontEnd { journal, open, watchers, announce, stop }).await;
    watcher.abort();
    shown.end().await;
    Ok(outcome?)
}

/// Tells the run to stop: when its time is up, and whenever a person or the system says so.
async fn watch(mut interrupt: Interrupt, run_for: Option<Millis>, stop: mpsc::Sender<Stop>) {
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
        if stop.send(why).await.is_err() {
            return;
        }
    }
}

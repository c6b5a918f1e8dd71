//! Stop requests: Ctrl-C, SIGTERM and requests of a host program.

use crate::failure::{Ending, Failure};
use crate::host::{self, Host};
use candlewick_history::remove_partial_files;
use candlewick_sdk::Millis;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Listener for stop requests. Listening starts at construction, so early signals are not lost.
pub(crate) struct StopListener {
    #[cfg(unix)]
    interrupted: Signal,
    #[cfg(unix)]
    terminated: Signal,
    host: Option<Arc<dyn Host>>,
}

impl StopListener {
    pub(crate) fn new() -> Result<Self, Failure> {
        #[cfg(unix)]
        {
            let listen = |kind| signal(kind).map_err(Failure::unexpected);
            Ok(Self {
                interrupted: listen(SignalKind::interrupt())?,
                terminated: listen(SignalKind::terminate())?,
                host: host::host(),
            })
        }
        #[cfg(not(unix))]
        Ok(Self { host: host::host() })
    }

    #[cfg(unix)]
    pub(crate) async fn wait(&mut self) -> Ending {
        tokio::select! {
            _ = self.interrupted.recv() => Ending::Interrupted,
            _ = self.terminated.recv() => Ending::Done,
            () = await_stop(self.host.as_deref()) => Ending::Interrupted,
        }
    }

    #[cfg(not(unix))]
    pub(crate) async fn wait(&mut self) -> Ending {
        let pressed = async {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = pressed => Ending::Interrupted,
            () = await_stop(self.host.as_deref()) => Ending::Interrupted,
        }
    }
}

pub(crate) async fn sleep_for(span: Option<Millis>) {
    match span {
        Some(span) => tokio::time::sleep(Duration::from_millis(span.get().unsigned_abs())).await,
        None => std::future::pending().await,
    }
}

async fn await_stop(host: Option<&dyn Host>) {
    let Some(host) = host else { return std::future::pending().await };
    while !host.wants_stop() {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

pub(crate) fn stop_flag() -> Result<Arc<OnceLock<Ending>>, Failure> {
    if let Some(stop_flag) = host::stop_flag() {
        return Ok(stop_flag);
    }
    let stop_flag = Arc::new(OnceLock::new());
    let setter = stop_flag.clone();
    on_stop(move |ending| {
        let _ = setter.set(ending);
    })?;
    Ok(stop_flag)
}

/// Makes the process remove incomplete files and exit at the first stop request.
pub(crate) fn exit_on_stop() -> Result<(), Failure> {
    if host::host().is_some() {
        // The host owns the process, so the process must not exit. The work stops at its next progress report.
        return Ok(());
    }
    on_stop(|ending| {
        remove_partial_files();
        let (how, code) = match ending {
            Ending::Interrupted => ("Interrupted", 130),
            Ending::Done | Ending::NotShown => ("Terminated", 143),
        };
        anstream::eprintln!("{how}: no incomplete files were left behind; run the same command again.");
        std::process::exit(code);
    })
}

fn on_stop(act: impl FnOnce(Ending) + Send + 'static) -> Result<(), Failure> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::unexpected)?;
    let mut interrupt = runtime.block_on(async { StopListener::new() })?;
    std::thread::spawn(move || act(runtime.block_on(interrupt.wait())));
    Ok(())
}

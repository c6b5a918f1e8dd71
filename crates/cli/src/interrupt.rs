//! Ctrl-C and SIGTERM: the user or the system wants the program to end.

use crate::failure::{Ending, Failure, FailureKind};
use candlewick_history::remove_partial_files;
use std::sync::{Arc, OnceLock};
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens from its making, so that nothing that comes early is lost.
pub(crate) struct Interrupt {
    #[cfg(unix)]
    interrupted: Signal,
    #[cfg(unix)]
    terminated: Signal,
}

impl Interrupt {
    /// Starts to listen. Needs a running tokio runtime.
    pub(crate) fn new() -> Result<Self, Failure> {
        #[cfg(unix)]
        {
            let listen = |kind| signal(kind).map_err(|error| Failure::new(FailureKind::Unexpected, error));
            Ok(Self {
                interrupted: listen(SignalKind::interrupt())?,
                terminated: listen(SignalKind::terminate())?,
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Waits. Ctrl-C interrupts; SIGTERM is how a service is stopped.
    #[cfg(unix)]
    pub(crate) async fn wait(&mut self) -> Ending {
        tokio::select! {
            _ = self.interrupted.recv() => Ending::Interrupted,
            _ = self.terminated.recv() => Ending::Done,
        }
    }

    /// Waits for Ctrl-C.
    #[cfg(not(unix))]
    pub(crate) async fn wait(&mut self) -> Ending {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Ending::Interrupted
    }
}

/// For work that has no runtime: says how the program is to end, from the first sign that it is to.
pub(crate) fn sign() -> Result<Arc<OnceLock<Ending>>, Failure> {
    let sign = Arc::new(OnceLock::new());
    let given = sign.clone();
    // It is given once.
    on_sign(move |ending| {
        let _ = given.set(ending);
    })?;
    Ok(sign)
}

/// For work that reads and writes files in one go: at the first sign what is not complete of them is removed, and the
/// program ends.
pub(crate) fn end_on_sign() -> Result<(), Failure> {
    on_sign(|ending| {
        remove_partial_files();
        let (how, code) = match ending {
            Ending::Interrupted => ("Interrupted", 130),
            Ending::Done => ("Terminated", 143),
        };
        anstream::eprintln!("{how}: no file is half written; run the same command again.");
        std::process::exit(code);
    })
}

/// Does something at the first sign, in a thread that nobody waits for: it ends with the process.
fn on_sign(act: impl FnOnce(Ending) + Send + 'static) -> Result<(), Failure> {
    let unexpected = |error| Failure::new(FailureKind::Unexpected, error);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(unexpected)?;
    let mut interrupt = runtime.block_on(async { Interrupt::new() })?;
    std::thread::spawn(move || act(runtime.block_on(interrupt.wait())));
    Ok(())
}

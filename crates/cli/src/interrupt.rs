//! Ctrl-C and SIGTERM: the user or the system wants the program to end.

use crate::failure::{Ending, Failure, FailureKind};
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

    /// Waits. Ctrl-C interrupts; SIGTERM is how a service is told that it is done.
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
    let unexpected = |error| Failure::new(FailureKind::Unexpected, error);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(unexpected)?;
    let mut interrupt = runtime.block_on(async { Interrupt::new() })?;
    let sign = Arc::new(OnceLock::new());
    let given = sign.clone();
    // Nobody waits for it: it ends with the process.
    std::thread::spawn(move || {
        let ending = runtime.block_on(interrupt.wait());
        // It is given once.
        let _ = given.set(ending);
    });
    Ok(sign)
}

//! How many connections are open at once, and which one ends where a new client comes and there is no place left.

use super::connection::Connection;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};

/// How long a connection whose place is wanted goes on, in real time: a request that was sent before it ended is read.
pub(super) const PARTING: Duration = Duration::from_millis(20);

/// The places for connections. Where all are taken, a new client gets that of the connection that has been idle the
/// longest; only requests that are under way can make him wait.
#[derive(Clone)]
pub(super) struct Admission {
    free: Arc<Semaphore>,
    open: Arc<Mutex<BTreeMap<u64, Open>>>,
    became_idle: Arc<Notify>,
}

/// An open connection, and how it is asked to end once it is idle. The map's key grows with each admission.
struct Open {
    connection: Connection,
    end: Option<oneshot::Sender<()>>,
}

/// A place, given back when it is dropped.
pub(super) struct Place {
    pub(super) connection: Connection,
    /// Ready once another client needs the place.
    pub(super) wanted: oneshot::Receiver<()>,
    number: u64,
    admission: Admission,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Admission {
    pub(super) fn new(places: usize) -> Self {
        Self {
            free: Arc::new(Semaphore::new(places)),
            open: Arc::default(),
            became_idle: Arc::new(Notify::new()),
        }
    }

    /// A place for a connection that has been accepted.
    pub(super) async fn admit(&self) -> Place {
        let permit = loop {
            let idle = self.became_idle.notified();
            let freed = Arc::clone(&self.free).acquire_owned();
            let asked = self.free.available_permits() == 0 && self.ask_longest_idle();
            tokio::select! {
                permit = freed => break permit.ok(),
                // It may have begun a request just now: then the next one is asked.
                () = tokio::time::sleep(PARTING * 2), if asked => {}
                () = idle, if !asked => {}
            }
        };
        let connection = Connection::new(Arc::clone(&self.became_idle));
        let (end, wanted) = oneshot::channel();
        let mut open = self.open();
        let number = open.last_key_value().map_or(0, |(number, _)| number + 1);
        open.insert(number, Open { connection: connection.clone(), end: Some(end) });
        drop(open);
        Place { connection, wanted, number, admission: self.clone(), _permit: permit }
    }

    /// Asks the connection that has been idle the longest to end; false where each has a request under way.
    fn ask_longest_idle(&self) -> bool {
        let mut open = self.open();
        let idle = open.values_mut().filter(|one| one.end.is_some());
        let longest =
            idle.filter_map(|one| Some((one.connection.idle_since()?, one))).min_by_key(|(since, _)| *since);
        longest.and_then(|(_, one)| one.end.take()).is_some_and(|end| end.send(()).is_ok())
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.admission.open().remove(&self.number);
    }
}

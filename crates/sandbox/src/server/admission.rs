//! Connection limit, and eviction of idle connections.

use super::connection::Connection;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};

/// Time a connection stays open after eviction, in real time.
///
/// A request already sent is still read.
pub(super) const PARTING: Duration = Duration::from_millis(20);

/// Connection slots.
///
/// If all are in use, a new client gets that of the longest idle connection. It waits only if every
/// connection has a request in flight.
#[derive(Clone)]
pub(super) struct Admission {
    free: Arc<Semaphore>,
    open: Arc<Mutex<BTreeMap<u64, Open>>>,
    became_idle: Arc<Notify>,
}

struct Open {
    connection: Connection,
    end: Option<oneshot::Sender<()>>,
}

pub(super) struct Place {
    pub(super) connection: Connection,
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

//! Orders that lie in the journal's database: looked for at a steady pace, and answered there.

use super::{ControlAnswer, ControlOrder, ControlRequest, HaltFile};
use candlewick_journal::{JournalError, JournalUrl, Reader, StoredOrder, close_orders};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::MissedTickBehavior;

/// How often they are looked for.
const PACE: Duration = Duration::from_secs(1);
/// How long a look may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The orders in a journal's database, for the run that writes the journal.
pub struct JournalOrders {
    url: JournalUrl,
    halt_file: HaltFile,
    reader: Option<Reader>,
}

impl JournalOrders {
    /// Of this journal; while the HALT file is there, an order to resume is refused.
    pub const fn new(url: JournalUrl, halt_file: HaltFile) -> Self {
        Self { url, halt_file, reader: None }
    }

    /// Hands the run every order that waits, the oldest first, until `stop`. The run answers them in its journal: an order is
    /// handed over again until its answer is durable, and the run carries it out once.
    pub async fn watch(mut self, orders: mpsc::Sender<ControlRequest>, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let mut pace = tokio::time::interval(PACE);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = &mut stop => return,
                _ = pace.tick() => {}
            }
            tokio::select! {
                () = &mut stop => return,
                () = self.look(&orders) => {}
            }
        }
    }

    /// Looks once. The run itself says loudly when its journal fails.
    pub async fn look(&mut self, orders: &mpsc::Sender<ControlRequest>) {
        match tokio::time::timeout(PATIENCE, self.waiting()).await {
            Ok(Ok(waiting)) => {
                for order in waiting {
                    carry(&self.url, &self.halt_file, order, orders).await;
                }
            }
            Ok(Err(error)) => tracing::debug!(%error, "orders in the journal cannot be looked for"),
            Err(_) => tracing::debug!("orders in the journal were not found out in time"),
        }
    }

    async fn waiting(&mut self) -> Result<Vec<StoredOrder>, JournalError> {
        // A connection with an open question is never used again.
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => Reader::open(&self.url).await?,
        };
        let waiting = reader.pending_orders().await?;
        if self.url.file().is_some() {
            // Whoever writes the file is to be the last to let go of it: then all of it is in the one file.
            reader.close().await;
        } else {
            self.reader = Some(reader);
        }
        Ok(waiting)
    }
}

/// Hands one to the run, or refuses it.
async fn carry(
    url: &JournalUrl,
    halt_file: &HaltFile,
    stored: StoredOrder,
    orders: &mpsc::Sender<ControlRequest>,
) {
    let refusal = match serde_json::from_str::<ControlOrder>(&stored.body) {
        Ok(order) => match halt_file.refusal_of(&order) {
            None => {
                tracing::debug!(giver = stored.giver, "an order came through the journal");
                // The answer is read where it is durable.
                let (answer, _) = oneshot::channel();
                // A run that has too much to do is handed it at the next look.
                drop(orders.try_send(ControlRequest { order, token: Some(stored.token), answer }));
                return;
            }
            Some(refusal) => refusal,
        },
        Err(error) => ControlAnswer::Refused { problem: format!("this is no order: {error}") },
    };
    // Nothing follows from it, so nothing has to be durable with it.
    let answer = serde_json::to_string(&refusal).unwrap_or_default();
    if let Err(error) = close_orders(url, Some(&stored.token), &answer).await {
        tracing::debug!(%error, "an order in the journal could not be refused");
    }
}

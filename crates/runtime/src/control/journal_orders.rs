//! Polls the journal's database for control orders. The answers are stored in the same database.

use super::{ControlAnswer, ControlOrder, ControlRequest, HaltFile};
use candlewick_journal::{JournalError, JournalUrl, OperatorOrder, Reader, close_operator_orders};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::MissedTickBehavior;

const POLL_INTERVAL: Duration = Duration::from_secs(1);
const POLL_TIMEOUT: Duration = Duration::from_secs(10);

pub struct JournalOrders {
    url: JournalUrl,
    halt_file: HaltFile,
    reader: Option<Reader>,
    is_beyond_earlier: bool,
}

impl JournalOrders {
    /// Creates a reader for the control orders in a journal. It refuses resume orders while the halt file exists.
    /// The first poll finds orders that were meant for an earlier run, so it accepts only halt orders.
    pub const fn new(url: JournalUrl, halt_file: HaltFile) -> Self {
        Self { url, halt_file, reader: None, is_beyond_earlier: false }
    }

    /// Forwards pending orders to the run, oldest first, until `stop` completes.
    /// Resends each order until its answer is durable in the journal. The run executes the order only once.
    pub async fn watch(mut self, orders: mpsc::Sender<ControlRequest>, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let mut pace = tokio::time::interval(POLL_INTERVAL);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = &mut stop => return,
                _ = pace.tick() => {}
            }
            tokio::select! {
                () = &mut stop => return,
                () = self.poll(&orders) => {}
            }
        }
    }

    /// Polls once. Ignores errors, because the run itself reports journal failures.
    pub async fn poll(&mut self, orders: &mpsc::Sender<ControlRequest>) {
        match tokio::time::timeout(POLL_TIMEOUT, self.read_pending()).await {
            Ok(Ok(waiting)) => {
                let mut are_refused = true;
                for order in waiting {
                    are_refused &= self.forward(order, orders).await;
                }
                self.is_beyond_earlier |= are_refused;
            }
            Ok(Err(error)) => tracing::debug!(%error, "cannot read the operator's commands from the journal"),
            Err(_) => tracing::debug!("reading the operator's commands from the journal timed out"),
        }
    }

    async fn read_pending(&mut self) -> Result<Vec<OperatorOrder>, JournalError> {
        // The reader is taken out of its field, so that a connection with an interrupted query is never reused.
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => Reader::open(&self.url).await?,
        };
        let waiting = reader.pending_operator_orders().await?;
        if self.url.file().is_some() {
            // The reader closes before the writer, because the last connection to close merges the write-ahead log.
            reader.close().await;
        } else {
            self.reader = Some(reader);
        }
        Ok(waiting)
    }

    async fn forward(&mut self, stored: OperatorOrder, orders: &mpsc::Sender<ControlRequest>) -> bool {
        let refusal = match serde_json::from_str::<ControlOrder>(&stored.body) {
            Ok(order) => match self.refusal(&order) {
                None => {
                    tracing::debug!(giver = stored.issuer, "received a command through the journal");
                    // The sender reads the durable answer from the journal, so this channel has no receiver.
                    let (answer, _) = oneshot::channel();
                    // If the run is busy, the send fails and the next poll delivers the order.
                    drop(orders.try_send(ControlRequest {
                        token: Some(stored.token),
                        ..ControlRequest::new(order, answer)
                    }));
                    return true;
                }
                Some(refusal) => refusal,
            },
            Err(error) => ControlAnswer::Refused { problem: format!("invalid command: {error}") },
        };
        let answer = serde_json::to_string(&refusal).unwrap_or_default();
        let closed = close_operator_orders(&self.url, Some(&stored.token), &answer).await;
        if let Err(error) = &closed {
            tracing::debug!(%error, "cannot store the rejection of a command in the journal");
        }
        closed.is_ok()
    }

    fn refusal(&self, order: &ControlOrder) -> Option<ControlAnswer> {
        if matches!(order, ControlOrder::Signal(_)) {
            // Signals sent through the journal would arrive too late.
            let problem = "signals cannot be sent through the journal. Use the bot's socket".to_owned();
            return Some(ControlAnswer::Refused { problem });
        }
        if self.is_beyond_earlier || matches!(order, ControlOrder::Halt { .. }) {
            return self.halt_file.refusal(order);
        }
        let problem = "the command is older than this run. Send it again".to_owned();
        Some(ControlAnswer::Refused { problem })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_journal::{Holder, OrderToken, Store, submit_operator_order};

    #[tokio::test]
    async fn accepts_only_halts_from_before_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let url = JournalUrl::from_path(&folder.path().join("j.db"));
        let store = Store::open(&url, &Holder::current_process("test")).await.unwrap();
        let give = async |order: ControlOrder| {
            let body = serde_json::to_string(&order).unwrap();
            let order =
                OperatorOrder { token: OrderToken::random().unwrap(), issuer: "operator".into(), body };
            submit_operator_order(&url, &order).await.unwrap();
            order.token
        };
        let halt = give(ControlOrder::Halt { reason: "news".into() }).await;
        let stale = give(ControlOrder::Resume).await;
        let (sender, mut orders) = mpsc::channel::<ControlRequest>(8);
        let mut handed_over = || orders.try_recv().ok().map(|request| request.token.unwrap());
        let mut in_journal = JournalOrders::new(url.clone(), HaltFile::new(folder.path().join("HALT")));
        in_journal.poll(&sender).await;
        assert_eq!((handed_over(), handed_over()), (Some(halt.clone()), None));
        let answer = Reader::open(&url).await.unwrap().read_answer(&stale).await.unwrap();
        assert!(answer.is_some_and(|answer| answer.contains("older than this run")));
        let fresh = give(ControlOrder::Resume).await;
        in_journal.poll(&sender).await;
        assert_eq!((handed_over(), handed_over()), (Some(halt), Some(fresh)));
        store.close().await.unwrap();
    }
}

//! Durable journal that one process has opened for writing.

use crate::append::{self, InsertFollowUp};
use crate::chain::{Head, PendingLine, StoredLine};
use crate::database::JournalUrl;
use crate::database::connection::{ANSWER_TIMEOUT, Connection, OPEN_TIMEOUT, Purpose, with_timeout};
use crate::database::fault::WithUrl;
use crate::database::lock::FileLock;
use crate::database::schema::{self, FoundSchema};
use crate::difference::BaseResponses;
use crate::error::{Result, chain_error, unavailable_error};
use crate::exchange::{LoggedExchange, build_seal, without_nul};
use crate::kill_point::{CommitStep, KillPoints};
use crate::lease::{self, Claim, LeaseToken, TransactionStart};
use crate::{Holder, LeaseTerms, Line, LineKind, OrderToken, orders, point};
use candlewick_sdk::Millis;
use sqlx::AnyConnection;
use std::collections::BTreeMap;
use std::time::Duration;

/// Maximum number of buffered lines, exchanges and answers. When it is reached, the caller must accept no more
/// events until a commit succeeds.
pub const MAX_PENDING: usize = 100_000;
const VERIFIED_HEAD_INTERVAL: Duration = Duration::from_mins(1);
/// Maximum number of attempts to take the file lock. A valid lease of another process ends the attempts early.
const LOCK_ATTEMPTS: u32 = 40;
const LOCK_RETRY_DELAY: Duration = Duration::from_millis(50);

/// A journal that is open for exclusive writing under a lease. Every transaction checks the lease.
/// Lines are durable once [`Store::commit`] has returned. If the commit is cancelled, they may or may not be stored.
pub struct Store {
    pub(crate) url: JournalUrl,
    pub(crate) token: LeaseToken,
    /// Database connection. `None` while in use or after a failure, because an unfinished query makes it unusable.
    pub(crate) connection: Option<Connection>,
    is_outcome_known: bool,
    pub(crate) head: Head,
    last_exchange_id: u64,
    pub(crate) lines: Vec<PendingLine>,
    /// Number of lines at the start of `lines` that are dropped, not retried, if their write fails.
    best_effort_lines: usize,
    durable: Option<Vec<StoredLine>>,
    exchanges: Vec<LoggedExchange>,
    /// Number of exchanges at the start of `exchanges` that already have a seal in `lines`.
    sealed: usize,
    bases: BaseResponses,
    pub(crate) last_times: Option<(u64, Millis, Millis)>,
    verified_head_stored: Option<Duration>,
    answers: BTreeMap<OrderToken, String>,
    pub(crate) kill_points: KillPoints,
    _lock: Option<FileLock>,
}

impl Store {
    pub async fn open(url: &JournalUrl, holder: &Holder) -> Result<Self> {
        Self::open_with_terms(url, holder, &LeaseTerms::default()).await
    }

    pub async fn open_with_terms(url: &JournalUrl, holder: &Holder, terms: &LeaseTerms) -> Result<Self> {
        with_timeout(OPEN_TIMEOUT, url, Self::try_open(url, holder, terms)).await
    }

    async fn try_open(url: &JournalUrl, holder: &Holder, terms: &LeaseTerms) -> Result<Self> {
        let mut kill_points = KillPoints::from_environment();
        let mut connection = Connection::open(url, Purpose::Create).await?;
        // Inspects the file first, so that a file that is not a journal stays unmodified.
        schema::inspect(&mut connection).await?;
        connection.make_durable().await?;
        let lock = take_lock(&mut connection, &Claim { holder, terms, lock: None }).await?;
        let is_server = connection.is_server();
        kill_points.before_write(&CommitStep::Lease);
        let mut transaction = connection.begin().await?;
        let any = &mut *transaction;
        if is_server {
            // This lock serializes concurrent openers.
            let wait = sqlx::raw_sql("SELECT 1 FROM pg_advisory_xact_lock(4891157265)");
            wait.execute(&mut *any).await.with_url(url)?;
        }
        let found = schema::inspect_on(any, is_server, url).await?;
        schema::migrate(any, url).await?;
        let token = lease::take(any, url, &Claim { holder, terms, lock: lock.as_ref() }).await?;
        let head = verify_head(any, url).await?;
        let last_exchange_id = append::last_exchange_id(any, url).await?;
        if found == FoundSchema::Nothing {
            point::delete(url);
        }
        transaction.commit().await.with_url(url)?;
        kill_points.after_write();
        Ok(Self {
            url: url.clone(),
            token,
            connection: Some(connection),
            is_outcome_known: true,
            head,
            last_exchange_id,
            lines: Vec::new(),
            best_effort_lines: 0,
            durable: None,
            exchanges: Vec::new(),
            sealed: 0,
            bases: BaseResponses::default(),
            last_times: None,
            verified_head_stored: None,
            answers: BTreeMap::new(),
            kill_points,
            _lock: lock,
        })
    }

    pub(crate) fn collect_durable_lines(&mut self) {
        self.durable = Some(Vec::new());
    }

    pub(crate) fn take_durable_lines(&mut self) -> Vec<StoredLine> {
        self.durable.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub fn record(&mut self, line: Line) {
        let line = Line { body: without_nul(line.body), ..line };
        let head = self.buffered_head().advanced_by(&line);
        self.last_times = Some((line.run, line.at, line.received));
        self.lines.push(PendingLine { line, head });
    }

    pub fn record_exchange(&mut self, exchange: LoggedExchange) {
        self.exchanges.push(exchange.sanitize());
    }

    /// Records the last line as verified. The store then renews the record every minute. Call this only after all lines
    /// of earlier processes have been verified. `now` is a monotonic time with any origin.
    pub fn store_verified_head(&mut self, now: Duration) {
        point::write(&self.url, self.head);
        self.verified_head_stored = Some(now);
    }

    pub(crate) fn renew_verified_head(&mut self, now: Duration) {
        if self.verified_head_stored.is_some_and(|kept| now.saturating_sub(kept) >= VERIFIED_HEAD_INTERVAL) {
            self.store_verified_head(now);
        }
    }

    pub fn answer_order(&mut self, order: OrderToken, answer: String) {
        self.answers.insert(order, without_nul(answer));
    }

    pub fn pending_count(&self) -> usize {
        self.lines.len() - self.best_effort_lines + self.exchanges.len() + self.answers.len()
    }

    /// Returns whether the buffer has reached [`MAX_PENDING`]. If so, the caller must wait for a successful commit.
    pub fn is_full(&self) -> bool {
        self.pending_count() >= MAX_PENDING
    }

    pub fn head(&self) -> Head {
        self.head
    }

    /// Commits the buffered entries, so that they survive a crash of the machine.
    /// After an error, the buffer is retained. Retry if [`crate::JournalError::is_temporary`]. No line is lost
    /// or written twice, even if the outcome of a transaction is unknown.
    pub async fn commit(&mut self) -> Result<()> {
        if self.pending_count() == 0 {
            return Ok(());
        }
        let url = self.url.clone();
        with_timeout(ANSWER_TIMEOUT, &url, self.write(BestEffortLine::Drop)).await
    }

    /// Renews the lease. Call this several times within the duration of the lease.
    pub async fn heartbeat(&mut self) -> Result<()> {
        let url = self.url.clone();
        with_timeout(ANSWER_TIMEOUT, &url, async {
            let mut connection = self.take_connection().await?;
            self.kill_points.before_write(&CommitStep::Heartbeat);
            lease::renew(connection.any_connection(), &self.url, &self.token).await?;
            self.kill_points.after_write();
            self.connection = Some(connection);
            Ok(())
        })
        .await
    }

    /// Commits the buffer and releases the lease. On an error, the buffer is lost, so call [`Store::commit`] first.
    pub async fn close(mut self) -> Result<()> {
        self.commit().await?;
        let url = self.url.clone();
        with_timeout(ANSWER_TIMEOUT, &url, async {
            let mut connection = self.take_connection().await?;
            self.kill_points.before_write(&CommitStep::Release);
            lease::release(connection.any_connection(), &self.url, &self.token).await?;
            self.kill_points.after_write();
            if let Some(kept) = self.verified_head_stored {
                self.store_verified_head(kept);
            }
            connection.close().await;
            Ok(())
        })
        .await
    }

    pub(crate) async fn write(&mut self, best_effort: BestEffortLine) -> Result<()> {
        let mut connection = self.take_connection().await?;
        connection.check_not_moved()?;
        let was_known = std::mem::replace(&mut self.is_outcome_known, false);
        // Each statement needs a round trip to the driver's thread, which delays the opening of a trade.
        let is_file = !connection.is_server();
        let start = if is_file && was_known { TransactionStart::Begin } else { TransactionStart::Begun };
        if start == TransactionStart::Begun {
            connection.run(connection.begin_statement()).await?;
        }
        if !was_known {
            let any = connection.any_connection();
            // Taking the lock first ensures that any earlier transaction of this process has ended.
            let found = lease::lock_head(any, &self.url, &self.token).await?;
            let exchanges = append::last_exchange_id(any, &self.url).await?;
            self.drop_written_entries(found, exchanges)?;
        }
        if best_effort == BestEffortLine::Drop {
            self.drop_best_effort_line();
        }
        self.seal_exchanges();
        let any = connection.any_connection();
        self.kill_points.before_write(&CommitStep::Entries(&self.lines, &self.exchanges, self.answers.len()));
        let heads = (self.head, self.buffered_head());
        lease::advance_head(any, &self.url, &self.token, heads, start).await?;
        // The bases are put back only after a successful write, because every base must be in the database.
        let mut bases = std::mem::take(&mut self.bases);
        append::insert_exchanges(any, &self.url, (self.last_exchange_id, &mut bases), &self.exchanges)
            .await?;
        orders::store_answers(any, &self.url, &self.answers).await?;
        let then =
            if is_file && !self.lines.is_empty() { InsertFollowUp::Commit } else { InsertFollowUp::Nothing };
        append::insert_lines(any, &self.url, &self.lines, then).await?;
        if then == InsertFollowUp::Nothing {
            connection.run("COMMIT").await?;
        }
        self.kill_points.after_write();
        self.head = self.buffered_head();
        self.last_exchange_id += self.exchanges.len() as u64;
        self.remove_written_lines(self.lines.len());
        self.exchanges.clear();
        self.sealed = 0;
        self.bases = bases;
        self.answers.clear();
        self.is_outcome_known = true;
        self.connection = Some(connection);
        Ok(())
    }

    fn seal_exchanges(&mut self) {
        let unsealed = self.exchanges.get(self.sealed..).unwrap_or_default();
        let Some(first) = unsealed.first() else { return };
        let (run, at, received) = self.last_times.unwrap_or((0, first.sent, first.sent));
        let body = build_seal(self.last_exchange_id + self.sealed as u64 + 1, unsealed);
        self.sealed = self.exchanges.len();
        self.record(Line { run, kind: LineKind::Note, intent: None, at, received, body });
    }

    /// Drops buffered entries that are already in the journal, because a write of unknown outcome was successful.
    fn drop_written_entries(&mut self, found: Head, exchanges: u64) -> Result<()> {
        let written = if found == self.head {
            0
        } else {
            let place = self.lines.iter().position(|pending| pending.head == found);
            place.map(|place| place + 1).ok_or_else(|| {
                let reason =
                    format!("the journal ends with entry {}, which this process did not write", found.seq);
                chain_error(&self.url, found.seq.min(self.head.seq) + 1, &reason)
            })?
        };
        self.remove_written_lines(written);
        self.best_effort_lines = self.best_effort_lines.saturating_sub(written);
        self.head = found;
        let exchanges_landed =
            usize::try_from(exchanges.saturating_sub(self.last_exchange_id)).unwrap_or(usize::MAX);
        self.exchanges.drain(..exchanges_landed.min(self.exchanges.len()));
        self.sealed = self.sealed.saturating_sub(exchanges_landed);
        self.last_exchange_id = exchanges;
        Ok(())
    }

    fn remove_written_lines(&mut self, count: usize) {
        let written = self
            .lines
            .drain(..count)
            .map(|PendingLine { line, head: Head { seq, hash } }| StoredLine { seq, line, hash });
        match &mut self.durable {
            Some(durable) => durable.extend(written),
            None => drop(written),
        }
    }

    pub(crate) fn buffered_head(&self) -> Head {
        self.lines.last().map_or(self.head, |pending| pending.head)
    }

    pub(crate) async fn take_connection(&mut self) -> Result<Connection> {
        if let Some(connection) = self.connection.take() {
            return Ok(connection);
        }
        let mut connection = Connection::open(&self.url, Purpose::Write).await?;
        schema::inspect(&mut connection).await?;
        connection.make_durable().await?;
        Ok(connection)
    }
}

/// Takes the file lock. Retries while there is no valid lease, because the owner may be taking or releasing it.
async fn take_lock(connection: &mut Connection, claim: &Claim<'_>) -> Result<Option<FileLock>> {
    let url = connection.url().clone();
    let Some(path) = url.file() else { return Ok(None) };
    let mut holder = None;
    for _ in 0..LOCK_ATTEMPTS {
        if let Some(lock) = FileLock::try_lock(path)? {
            return Ok(Some(lock));
        }
        if let FoundSchema::Schema(schema) = schema::inspect(connection).await? {
            holder = lease::read_lease(connection.any_connection(), &url, schema).await?.1;
        }
        if holder.as_ref().is_some_and(|lease| !claim.terms.may_take_over(lease, claim.holder)) {
            break;
        }
        tokio::time::sleep(LOCK_RETRY_DELAY).await;
    }
    let unnamed = || unavailable_error(&url, "another process has locked the journal, but holds no lease");
    Err(holder.map_or_else(unnamed, |lease| lease::held_lease_error(&url, &lease, claim.holder)))
}

async fn verify_head(any: &mut AnyConnection, url: &JournalUrl) -> Result<Head> {
    let remembered = lease::read_head(any, url).await?;
    let written = append::last_head(any, url).await?;
    if remembered == written {
        return Ok(written);
    }
    let reason = format!("the journal ends with entry {}, not with {}", written.seq, remembered.seq);
    Err(chain_error(url, remembered.seq.min(written.seq) + 1, &reason))
}

const BEST_EFFORT_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BestEffortLine {
    Write,
    Drop,
}

impl Store {
    /// Writes a line whose loss is acceptable, in its own transaction. Fails if other entries are buffered. A failed or
    /// cancelled write is not retried. The hash chain then continues from the last stored line.
    pub(crate) async fn commit_best_effort(&mut self, line: Line) -> Result<Head> {
        let url = self.url.clone();
        if self.pending_count() > 0 || self.best_effort_lines > 0 {
            return Err(unavailable_error(&url, "other entries are pending"));
        }
        let last_times = self.last_times;
        self.record(line);
        (self.last_times, self.best_effort_lines) = (last_times, self.lines.len());
        with_timeout(BEST_EFFORT_TIMEOUT, &url, self.write(BestEffortLine::Write)).await?;
        self.best_effort_lines = 0;
        Ok(self.head)
    }

    fn drop_best_effort_line(&mut self) {
        drop(self.lines.drain(..std::mem::take(&mut self.best_effort_lines)));
        let mut head = self.head;
        for pending in &mut self.lines {
            head = head.advanced_by(&pending.line);
            pending.head = head;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JournalError;
    use crate::Reader;

    /// A page limit simulates a full disk, because SQLite reports the same error. A new connection has no limit.
    #[tokio::test]
    async fn full_disk_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let url = JournalUrl::from_path(&folder.path().join("journal.db"));
        let mut store = Store::open(&url, &Holder::current_process("test")).await.unwrap();
        let (at, received) = (Millis::ZERO, Millis::ZERO);
        let line =
            Line { run: 1, kind: LineKind::Note, intent: None, at, received, body: "x".repeat(100_000) };
        store.record(line.clone());
        store.commit().await.unwrap();
        for pending in 1..=3 {
            let mut connection = store.take_connection().await.unwrap();
            connection.run("PRAGMA max_page_count = 1").await.unwrap();
            store.connection = Some(connection);
            store.record(line.clone());
            let error = store.commit().await.unwrap_err();
            assert!(matches!(error, JournalError::DiskFull { .. }) && error.is_temporary(), "{error:?}");
            assert_eq!(store.pending_count(), pending);
            assert_eq!(Reader::open(&url).await.unwrap().verify().await.unwrap().entries, 1);
        }
        store.commit().await.unwrap();
        assert_eq!(Reader::open(&url).await.unwrap().verify().await.unwrap().entries, 4);
    }

    #[tokio::test]
    async fn every_connection_syncs_every_commit() {
        let folder = tempfile::tempdir().unwrap();
        let url = JournalUrl::from_path(&folder.path().join("journal.db"));
        let mut store = Store::open(&url, &Holder::current_process("test")).await.unwrap();
        for _ in 0..2 {
            let mut connection = store.take_connection().await.unwrap();
            let query = sqlx::query_scalar::<_, i64>("PRAGMA synchronous");
            assert_eq!(query.fetch_one(connection.any_connection()).await.unwrap(), 2, "2 is FULL");
        }
    }
}

//! Lease of a journal, stored in its database. Every write transaction checks the lease.

use crate::database::JournalUrl;
use crate::database::connection::BEGIN_SQLITE;
use crate::database::fault::WithUrl;
use crate::database::lock::FileLock;
use crate::database::schema::{OPERATOR_ORDERS_MIN_SCHEMA, SCHEMA_VERSION};
use crate::error::{Result, chain_error, unavailable_error};
use crate::orders::random_hex;
use crate::{ChainHash, Head, Holder, JournalError, Lease, LeaseTerms, holder};
use candlewick_sdk::Millis;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};
use std::sync::LazyLock;

/// Query for the server's time in milliseconds. All hosts use this clock, so their leases are comparable.
const SERVER_TIME_QUERY: &str = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
const SQLITE_TIME_QUERY: &str = "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/// Random token of an open journal. Distinguishes between several holders within one process.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct LeaseToken(String);

pub(crate) struct Claim<'a> {
    pub(crate) holder: &'a Holder,
    pub(crate) terms: &'a LeaseTerms,
    pub(crate) lock: Option<&'a FileLock>,
}

impl Claim<'_> {
    /// Returns whether the lease may be taken. The file lock excludes only holders on the same kernel, because network
    /// file systems may keep separate locks for each host.
    fn may_take(&self, lease: &Lease) -> bool {
        let has_lock = self.lock.is_some_and(FileLock::is_exclusive);
        let is_other_namespace = !lease.holder.has_same_pid_namespace(self.holder);
        let is_unlocked = has_lock && lease.holder.has_same_kernel(self.holder) && is_other_namespace;
        is_unlocked || self.terms.may_take_over(lease, self.holder)
    }
}

/// Takes the lease within the caller's transaction. Fails if the previous holder renews the lease in the meantime.
pub(crate) async fn take(any: &mut AnyConnection, url: &JournalUrl, claim: &Claim<'_>) -> Result<LeaseToken> {
    let (before, lease) = read_lease(any, url, SCHEMA_VERSION).await?;
    if let Some(lease) = &lease
        && !claim.may_take(lease)
    {
        return Err(held_lease_error(url, lease, claim.holder));
    }
    let Claim { holder, terms, .. } = claim;
    let now = database_time(any, url).await?;
    let token = LeaseToken(random_hex(url)?);
    let taken = sqlx::query(
        "UPDATE lease SET token = $1, program = $2, pid = $3, host = $4, machine = $5, since = $6, \
         heartbeat = $6, duration = $7, started = $8 WHERE id = 1 AND token = $9 AND heartbeat = $10",
    )
    .bind(&token.0)
    .bind(&holder.program)
    .bind(i64::from(holder.pid))
    .bind(&holder.host)
    .bind(&holder.pid_scope)
    .bind(now.get())
    .bind(terms.duration.get())
    .bind(holder.start_ticks.unwrap_or_default().cast_signed())
    .bind(&before.0)
    .bind(lease.map_or(Millis::ZERO, |lease| lease.heartbeat).get())
    .execute(&mut *any)
    .await
    .with_url(url)?;
    if taken.rows_affected() == 1 {
        return Ok(token);
    }
    match read_lease(any, url, SCHEMA_VERSION).await? {
        (_, Some(lease)) => Err(held_lease_error(url, &lease, claim.holder)),
        (_, None) => Err(unavailable_error(url, "the lease changed while this process tried to take it")),
    }
}

/// Checks the lease, blocks other writers until the commit, and returns the number and hash of the last line.
pub(crate) async fn lock_head(any: &mut AnyConnection, url: &JournalUrl, token: &LeaseToken) -> Result<Head> {
    let row = sqlx::query("UPDATE lease SET id = 1 WHERE token = $1 RETURNING head_seq, head_hash")
        .bind(&token.0)
        .fetch_optional(&mut *any)
        .await
        .with_url(url)?;
    match row {
        Some(row) => parse_head(&row).ok_or_else(|| unreadable_lease_error(url)),
        None => Err(lost_lease_error(any, url).await),
    }
}

const ADVANCE_HEAD: &str =
    "UPDATE lease SET head_seq = $1, head_hash = $2 WHERE token = $3 AND head_seq = $4 RETURNING head_seq";
static BEGIN_AND_ADVANCE_HEAD: LazyLock<String> = LazyLock::new(|| format!("{BEGIN_SQLITE}; {ADVANCE_HEAD}"));

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionStart {
    Begun,
    /// Begins the transaction and advances the head in a single call to the driver. SQLite only.
    Begin,
}

pub(crate) async fn advance_head(
    any: &mut AnyConnection,
    url: &JournalUrl,
    token: &LeaseToken,
    (before, after): (Head, Head),
    start: TransactionStart,
) -> Result<()> {
    let moved = match start {
        TransactionStart::Begun => ADVANCE_HEAD,
        TransactionStart::Begin => BEGIN_AND_ADVANCE_HEAD.as_str(),
    };
    let moved = sqlx::query(moved)
        .bind(after.seq.cast_signed())
        .bind(after.hash.to_string())
        .bind(&token.0)
        .bind(before.seq.cast_signed())
        .fetch_all(&mut *any)
        .await
        .with_url(url)?;
    if moved.len() == 1 {
        return Ok(());
    }
    // No row matched: either the lease is lost, or the table was edited.
    let found = lock_head(any, url, token).await?;
    let reason = format!("the journal ends with entry {}, not with {}", found.seq, before.seq);
    Err(chain_error(url, found.seq.min(before.seq) + 1, &reason))
}

pub(crate) async fn renew(any: &mut AnyConnection, url: &JournalUrl, token: &LeaseToken) -> Result<()> {
    let now = database_time(any, url).await?;
    let renewed = sqlx::query("UPDATE lease SET heartbeat = $1 WHERE token = $2")
        .bind(now.get())
        .bind(&token.0)
        .execute(&mut *any)
        .await
        .with_url(url)?;
    if renewed.rows_affected() == 1 { Ok(()) } else { Err(lost_lease_error(any, url).await) }
}

pub(crate) async fn release(any: &mut AnyConnection, url: &JournalUrl, token: &LeaseToken) -> Result<()> {
    let released = sqlx::query("UPDATE lease SET token = '', heartbeat = 0 WHERE token = $1").bind(&token.0);
    released.execute(any).await.map(drop).with_url(url)
}

pub(crate) async fn clear_holder(any: &mut AnyConnection, url: &JournalUrl) -> Result<()> {
    let cleared = sqlx::query("UPDATE lease SET token = '', heartbeat = 0").execute(any).await;
    cleared.map(drop).with_url(url)
}

pub(crate) async fn database_time(any: &mut AnyConnection, url: &JournalUrl) -> Result<Millis> {
    let text = if url.file().is_some() { SQLITE_TIME_QUERY } else { SERVER_TIME_QUERY };
    let now = sqlx::query_scalar(text).fetch_one(any).await.with_url(url)?;
    Ok(Millis::new(now))
}

pub(crate) async fn read_lease(
    any: &mut AnyConnection,
    url: &JournalUrl,
    schema: i64,
) -> Result<(LeaseToken, Option<Lease>)> {
    let text = if schema < OPERATOR_ORDERS_MIN_SCHEMA {
        "SELECT token, program, pid, host, machine, since, heartbeat, duration FROM lease WHERE id = 1"
    } else {
        "SELECT token, program, pid, host, machine, since, heartbeat, duration, started FROM lease WHERE id = 1"
    };
    let row = sqlx::query(text).fetch_optional(&mut *any).await.with_url(url)?;
    let now = database_time(any, url).await?;
    let lease = row.as_ref().and_then(|row| parse_lease(row, now).ok());
    let (token, lease) = lease.ok_or_else(|| unreadable_lease_error(url))?;
    let is_held = !token.0.is_empty();
    Ok((token, is_held.then_some(lease)))
}

pub(crate) async fn read_head(any: &mut AnyConnection, url: &JournalUrl) -> Result<Head> {
    let text = "SELECT head_seq, head_hash FROM lease WHERE id = 1";
    let row = sqlx::query(text).fetch_optional(any).await.with_url(url)?;
    row.as_ref().and_then(parse_head).ok_or_else(|| unreadable_lease_error(url))
}

fn parse_lease(row: &AnyRow, now: Millis) -> Result<(LeaseToken, Lease), sqlx::Error> {
    let pid: i64 = row.try_get("pid")?;
    let started = row.try_get("started").map_or(0, i64::cast_unsigned);
    let holder = Holder {
        program: row.try_get("program")?,
        pid: u32::try_from(pid).unwrap_or(u32::MAX),
        start_ticks: (started > 0).then_some(started),
        host: row.try_get("host")?,
        pid_scope: row.try_get("machine")?,
    };
    let time = |column: &str| row.try_get(column).map(Millis::new);
    let heartbeat = time("heartbeat")?;
    let silence = now - heartbeat;
    let lease = Lease {
        holder,
        since: time("since")?,
        heartbeat,
        heartbeat_age: silence,
        duration: time("duration")?,
    };
    Ok((LeaseToken(row.try_get("token")?), lease))
}

fn parse_head(row: &AnyRow) -> Option<Head> {
    let seq: i64 = row.try_get("head_seq").ok()?;
    let hash: String = row.try_get("head_hash").ok()?;
    Some(Head { seq: u64::try_from(seq).ok()?, hash: ChainHash::from_hex(&hash)? })
}

pub(crate) fn held_lease_error(url: &JournalUrl, lease: &Lease, claimant: &Holder) -> JournalError {
    let is_stopped = lease.holder.has_same_pid_namespace(claimant) && holder::is_stopped(lease.holder.pid);
    let stopped = if is_stopped { " (suspended by a signal)" } else { "" };
    JournalError::HeldBy {
        url: url.to_string(),
        who: format!("{}{stopped}", lease.holder),
        since: lease.since,
        held_for: lease.heartbeat + lease.heartbeat_age - lease.since,
        heartbeat_age: lease.heartbeat_age,
    }
}

async fn lost_lease_error(any: &mut AnyConnection, url: &JournalUrl) -> JournalError {
    match read_lease(any, url, SCHEMA_VERSION).await {
        Ok((_, lease)) => {
            let who = lease
                .map_or("a process that released the journal".to_owned(), |lease| lease.holder.to_string());
            JournalError::LostLease { url: url.to_string(), who }
        }
        Err(error) => error,
    }
}

fn unreadable_lease_error(url: &JournalUrl) -> JournalError {
    JournalError::NotAJournal { url: url.to_string(), reason: "the `lease` table cannot be read".to_owned() }
}

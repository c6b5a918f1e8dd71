//! The lease in the database: taken, confirmed in every writing transaction, renewed, given back.

use crate::database::JournalUrl;
use crate::database::connection::BEGIN_FILE;
use crate::database::fault::from_sqlx;
use crate::{ChainHash, Head, Holder, JournalError, Lease, LeaseTerms};
use candlewick_sdk::Millis;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};
use std::sync::LazyLock;

/// The secret of one opening of a journal, so that a holder is known from a later one of the same process.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

impl Token {
    fn random(url: &JournalUrl) -> Result<Self, JournalError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|error| JournalError::Unavailable { url: url.to_string(), source: error.into() })?;
        Ok(Self(format!("{:032x}", u128::from_le_bytes(bytes))))
    }
}

/// Takes the lease, or says who holds it. Others that open are kept out by the caller's transaction; the holder, who
/// may write at this very moment, by the conditions of the update.
pub(crate) async fn take(
    any: &mut AnyConnection,
    url: &JournalUrl,
    holder: &Holder,
    terms: &LeaseTerms,
    now: Millis,
) -> Result<Token, JournalError> {
    let (before, lease) = read(any, url).await?;
    if let Some(lease) = &lease
        && !terms.is_over(lease, holder, now)
    {
        return Err(held_by(url, lease, now));
    }
    let token = Token::random(url)?;
    let taken = sqlx::query(
        "UPDATE lease SET token = $1, program = $2, pid = $3, host = $4, machine = $5, since = $6, \
         heartbeat = $6, duration = $7 WHERE id = 1 AND token = $8 AND heartbeat = $9",
    )
    .bind(&token.0)
    .bind(&holder.program)
    .bind(i64::from(holder.pid))
    .bind(&holder.host)
    .bind(&holder.machine)
    .bind(now.get())
    .bind(terms.duration.get())
    .bind(&before.0)
    .bind(lease.map_or(Millis::ZERO, |lease| lease.heartbeat).get())
    .execute(&mut *any)
    .await
    .map_err(|error| from_sqlx(error, url))?;
    if taken.rows_affected() == 1 {
        return Ok(token);
    }
    // It lived after all.
    match read(any, url).await? {
        (_, Some(lease)) => Err(held_by(url, &lease, now)),
        (_, None) => {
            Err(JournalError::Unavailable { url: url.to_string(), source: "the lease moved".into() })
        }
    }
}

/// Whether the lease is still ours, and what was written last. From here to the transaction's end nobody else writes.
pub(crate) async fn lock(
    any: &mut AnyConnection,
    url: &JournalUrl,
    token: &Token,
) -> Result<Head, JournalError> {
    let row = sqlx::query("UPDATE lease SET id = 1 WHERE token = $1 RETURNING head_seq, head_hash")
        .bind(&token.0)
        .fetch_optional(&mut *any)
        .await
        .map_err(|error| from_sqlx(error, url))?;
    match row {
        Some(row) => head_from(&row).ok_or_else(|| unreadable(url)),
        None => Err(lost(any, url).await),
    }
}

const ADVANCE: &str =
    "UPDATE lease SET head_seq = $1, head_hash = $2 WHERE token = $3 AND head_seq = $4 RETURNING head_seq";
static BEGIN_AND_ADVANCE: LazyLock<String> = LazyLock::new(|| format!("{BEGIN_FILE}; {ADVANCE}"));

/// Whether a transaction begins with a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// It has begun before.
    Within,
    /// It begins on the same journey to the driver. For files only.
    Begin,
}

/// Moves the head that the lease remembers from `before` to `after`, when the lease is still ours.
pub(crate) async fn advance(
    any: &mut AnyConnection,
    url: &JournalUrl,
    token: &Token,
    (before, after): (Head, Head),
    start: Start,
) -> Result<(), JournalError> {
    let moved = match start {
        Start::Within => ADVANCE,
        Start::Begin => BEGIN_AND_ADVANCE.as_str(),
    };
    let moved = sqlx::query(moved)
        .bind(after.seq.cast_signed())
        .bind(after.hash.to_string())
        .bind(&token.0)
        .bind(before.seq.cast_signed())
        .fetch_all(&mut *any)
        .await
        .map_err(|error| from_sqlx(error, url))?;
    if moved.len() == 1 {
        return Ok(());
    }
    // Nobody who has the token wrote: the lease is lost, or the table was edited.
    let found = lock(any, url, token).await?;
    Err(JournalError::BrokenChain {
        url: url.to_string(),
        seq: found.seq.min(before.seq) + 1,
        reason: format!("the journal ends with entry {}, this process wrote {}", found.seq, before.seq),
    })
}

/// Shows that the holder lives.
pub(crate) async fn renew(
    any: &mut AnyConnection,
    url: &JournalUrl,
    token: &Token,
    now: Millis,
) -> Result<(), JournalError> {
    let renewed = sqlx::query("UPDATE lease SET heartbeat = $1 WHERE token = $2")
        .bind(now.get())
        .bind(&token.0)
        .execute(&mut *any)
        .await
        .map_err(|error| from_sqlx(error, url))?;
    if renewed.rows_affected() == 1 { Ok(()) } else { Err(lost(any, url).await) }
}

/// Gives the lease back, if it is still ours.
pub(crate) async fn release(
    any: &mut AnyConnection,
    url: &JournalUrl,
    token: &Token,
) -> Result<(), JournalError> {
    let released = sqlx::query("UPDATE lease SET token = '', heartbeat = 0 WHERE token = $1").bind(&token.0);
    released.execute(any).await.map(drop).map_err(|error| from_sqlx(error, url))
}

/// Lets a copy of a journal be nobody's.
pub(crate) async fn clear(any: &mut AnyConnection, url: &JournalUrl) -> Result<(), JournalError> {
    let cleared = sqlx::query("UPDATE lease SET token = '', heartbeat = 0").execute(any).await;
    cleared.map(drop).map_err(|error| from_sqlx(error, url))
}

/// Who holds the journal.
pub(crate) async fn read(
    any: &mut AnyConnection,
    url: &JournalUrl,
) -> Result<(Token, Option<Lease>), JournalError> {
    let text =
        "SELECT token, program, pid, host, machine, since, heartbeat, duration FROM lease WHERE id = 1";
    let row = sqlx::query(text).fetch_optional(any).await.map_err(|error| from_sqlx(error, url))?;
    let lease = row.as_ref().and_then(|row| lease_from(row).ok());
    let (token, lease) = lease.ok_or_else(|| unreadable(url))?;
    let is_held = !token.0.is_empty();
    Ok((token, is_held.then_some(lease)))
}

/// The last line that a holder wrote, as the lease remembers it.
pub(crate) async fn read_head(any: &mut AnyConnection, url: &JournalUrl) -> Result<Head, JournalError> {
    let text = "SELECT head_seq, head_hash FROM lease WHERE id = 1";
    let row = sqlx::query(text).fetch_optional(any).await.map_err(|error| from_sqlx(error, url))?;
    row.as_ref().and_then(head_from).ok_or_else(|| unreadable(url))
}

fn lease_from(row: &AnyRow) -> Result<(Token, Lease), sqlx::Error> {
    let pid: i64 = row.try_get("pid")?;
    let holder = Holder {
        program: row.try_get("program")?,
        // A number that no process can have belongs to no process.
        pid: u32::try_from(pid).unwrap_or(u32::MAX),
        host: row.try_get("host")?,
        machine: row.try_get("machine")?,
    };
    let time = |column: &str| row.try_get(column).map(Millis::new);
    let lease =
        Lease { holder, since: time("since")?, heartbeat: time("heartbeat")?, duration: time("duration")? };
    Ok((Token(row.try_get("token")?), lease))
}

fn head_from(row: &AnyRow) -> Option<Head> {
    let seq: i64 = row.try_get("head_seq").ok()?;
    let hash: String = row.try_get("head_hash").ok()?;
    Some(Head { seq: u64::try_from(seq).ok()?, hash: ChainHash::from_hex(&hash)? })
}

fn held_by(url: &JournalUrl, lease: &Lease, now: Millis) -> JournalError {
    JournalError::HeldBy {
        url: url.to_string(),
        who: lease.holder.to_string(),
        since: lease.since,
        heartbeat_age: now - lease.heartbeat,
    }
}

async fn lost(any: &mut AnyConnection, url: &JournalUrl) -> JournalError {
    match read(any, url).await {
        Ok((_, lease)) => {
            let who = lease.map_or("nobody any more".to_owned(), |lease| lease.holder.to_string());
            JournalError::LostLease { url: url.to_string(), who }
        }
        Err(error) => error,
    }
}

fn unreadable(url: &JournalUrl) -> JournalError {
    JournalError::NotAJournal { url: url.to_string(), reason: "its table lease cannot be read".to_owned() }
}

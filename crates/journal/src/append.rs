//! SQL statements that append entries to a journal. They run within the writer's transaction.

use crate::LoggedExchange;
use crate::chain::{ChainHash, Head, PendingLine};
use crate::database::JournalUrl;
use crate::database::fault::WithUrl;
use crate::difference::BaseResponses;
use crate::error::{Result, chain_error};
use sqlx::{AnyConnection, Row};
use std::fmt::Write as _;
use std::sync::LazyLock;

const ENTRY_COLUMNS: usize = 8;
/// Batch inserts of 64, 8, 4, 2 and 1 lines. The batch of two fits a new trade: its candle and its intent.
static INSERTS: LazyLock<[InsertStatement; 5]> = LazyLock::new(|| [64, 8, 4, 2, 1].map(InsertStatement::new));

struct InsertStatement {
    rows: usize,
    sql: String,
    sql_with_commit: String,
}

impl InsertStatement {
    fn new(rows: usize) -> Self {
        let sql = insert_sql(rows);
        Self { rows, sql_with_commit: format!("{sql}; COMMIT"), sql }
    }
}

fn insert_sql(rows: usize) -> String {
    let mut text =
        "INSERT INTO entries (seq, run, kind, intent, at, received, body, hash) VALUES ".to_owned();
    for row in 0..rows {
        let mut place = row * ENTRY_COLUMNS;
        text.push_str(if row == 0 { "(" } else { ", (" });
        for column in 0..ENTRY_COLUMNS {
            place += 1;
            let comma = if column == 0 { "" } else { ", " };
            write!(text, "{comma}${place}").expect("writing to a String succeeds");
        }
        text.push(')');
    }
    text
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum InsertFollowUp {
    Nothing,
    /// Commits in the same round trip to the driver. Requires a file database and at least one line.
    Commit,
}

pub(crate) async fn insert_lines(
    any: &mut AnyConnection,
    url: &JournalUrl,
    lines: &[PendingLine],
    then: InsertFollowUp,
) -> Result<()> {
    let mut rest = lines;
    for InsertStatement { rows, sql, sql_with_commit } in INSERTS.iter() {
        while rest.len() >= *rows {
            let (now, later) = rest.split_at(*rows);
            let is_end = later.is_empty() && then == InsertFollowUp::Commit;
            let mut query = sqlx::query(if is_end { sql_with_commit.as_str() } else { sql.as_str() });
            for PendingLine { line, head } in now {
                query = query
                    .bind(head.seq.cast_signed())
                    .bind(line.run.cast_signed())
                    .bind(line.kind.as_str())
                    .bind(line.intent.map(u64::cast_signed))
                    .bind(line.at.get())
                    .bind(line.received.get())
                    .bind(line.body.as_str())
                    .bind(head.hash.to_string());
            }
            query.execute(&mut *any).await.with_url(url)?;
            rest = later;
        }
    }
    Ok(())
}

pub(crate) async fn insert_exchanges(
    any: &mut AnyConnection,
    url: &JournalUrl,
    (last, bases): (u64, &mut BaseResponses),
    exchanges: &[LoggedExchange],
) -> Result<()> {
    let statement = "INSERT INTO wires (id, intent, sent, received, what, request, response, status) \
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    for (id, exchange) in (last + 1..).zip(exchanges) {
        let response = bases.encode_response(id, exchange);
        sqlx::query(statement)
            .bind(id.cast_signed())
            .bind(exchange.intent.map(u64::cast_signed))
            .bind(exchange.sent.get())
            .bind(exchange.received.map(candlewick_sdk::Millis::get))
            .bind(exchange.request_line.as_str())
            .bind(exchange.request.as_str())
            .bind(response)
            .bind(exchange.status.map(i64::from))
            .execute(&mut *any)
            .await
            .with_url(url)?;
    }
    Ok(())
}

pub(crate) async fn last_head(any: &mut AnyConnection, url: &JournalUrl) -> Result<Head> {
    let text = "SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1";
    let row = sqlx::query(text).fetch_optional(any).await.with_url(url)?;
    let Some(row) = row else {
        return Ok(Head::EMPTY);
    };
    let seq: Option<u64> = row.try_get::<i64, _>("seq").ok().and_then(|seq| u64::try_from(seq).ok());
    let hash: Option<ChainHash> =
        row.try_get::<String, _>("hash").ok().as_deref().and_then(ChainHash::from_hex);
    let unreadable = || chain_error(url, seq.unwrap_or_default(), "the last entry cannot be read");
    seq.zip(hash).map(|(seq, hash)| Head { seq, hash }).ok_or_else(unreadable)
}

pub(crate) async fn last_exchange_id(any: &mut AnyConnection, url: &JournalUrl) -> Result<u64> {
    let text = "SELECT COALESCE(MAX(id), 0) FROM wires";
    let last: i64 = sqlx::query_scalar(text).fetch_one(any).await.with_url(url)?;
    Ok(u64::try_from(last).unwrap_or_default())
}

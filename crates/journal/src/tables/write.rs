//! Writes table rows, in a transaction separate from that of the entries.

use super::FORMAT;
use super::record::IntentRecord;
use crate::database::connection::within;
use crate::database::fault::from_sqlx;
use crate::kill_point::What;
use crate::{Head, JournalError, JournalUrl, Store, lease};
use candlewick_sdk::Millis;
use sqlx::AnyConnection;
use std::collections::BTreeSet;
use std::time::Duration;

const TABLES_DEADLINE: Duration = Duration::from_secs(5);

const PUT: &str = "INSERT INTO intents (intent, seq, run, bot, symbol, direction, state, result, stake_minor, profit_minor, unit, payout, \
     decision_time, request_time, open_time, open_price, close_time, close_price, settled_time, close_type, expiration_type, \
     reason, venue_id, ordered_symbol, ordered_direction, ordered_stake_minor, settled_by_person) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27) \
     ON CONFLICT (intent) DO UPDATE SET seq = excluded.seq, run = excluded.run, bot = excluded.bot, symbol = excluded.symbol, \
     direction = excluded.direction, state = excluded.state, result = excluded.result, stake_minor = excluded.stake_minor, \
     profit_minor = excluded.profit_minor, unit = excluded.unit, payout = excluded.payout, decision_time = excluded.decision_time, \
     request_time = excluded.request_time, open_time = excluded.open_time, open_price = excluded.open_price, \
     close_time = excluded.close_time, close_price = excluded.close_price, settled_time = excluded.settled_time, \
     close_type = excluded.close_type, expiration_type = excluded.expiration_type, reason = excluded.reason, \
     venue_id = excluded.venue_id, ordered_symbol = excluded.ordered_symbol, ordered_direction = excluded.ordered_direction, \
     ordered_stake_minor = excluded.ordered_stake_minor, settled_by_person = excluded.settled_by_person";

/// Recounts a day from its intents, which makes it idempotent.
const COUNT: &str = "INSERT INTO figures (day, bot, seq, decided, settled, won, lost, drawn, cancelled, stake_minor, profit_minor, unit) \
     SELECT CAST($1 AS BIGINT), CAST($2 AS TEXT), MAX(seq), \
     COUNT(CASE WHEN decision_time >= $1 AND decision_time < $3 THEN 1 END), \
     COUNT(CASE WHEN settled_time >= $1 AND settled_time < $3 THEN 1 END), \
     COUNT(CASE WHEN settled_time >= $1 AND settled_time < $3 AND result = 'WON' THEN 1 END), \
     COUNT(CASE WHEN settled_time >= $1 AND settled_time < $3 AND result = 'LOST' THEN 1 END), \
     COUNT(CASE WHEN settled_time >= $1 AND settled_time < $3 AND result = 'DRAW' THEN 1 END), \
     COUNT(CASE WHEN settled_time >= $1 AND settled_time < $3 AND result = 'CANCELLED' THEN 1 END), \
     CAST(COALESCE(SUM(CASE WHEN settled_time >= $1 AND settled_time < $3 THEN stake_minor END), 0) AS BIGINT), \
     CAST(COALESCE(SUM(CASE WHEN settled_time >= $1 AND settled_time < $3 THEN profit_minor END), 0) AS BIGINT), \
     MAX(unit) \
     FROM intents WHERE bot = $2 AND ((decision_time >= $1 AND decision_time < $3) OR (settled_time >= $1 AND settled_time < $3)) \
     ON CONFLICT (day, bot) DO UPDATE SET seq = excluded.seq, decided = excluded.decided, settled = excluded.settled, \
     won = excluded.won, lost = excluded.lost, drawn = excluded.drawn, cancelled = excluded.cancelled, \
     stake_minor = excluded.stake_minor, profit_minor = excluded.profit_minor, unit = excluded.unit";

pub(crate) struct RowsToWrite {
    pub(crate) clears: bool,
    pub(crate) intents: Vec<IntentRecord>,
    /// Entry up to which the tables are now complete, `None` if more rows follow.
    pub(crate) up_to: Option<Head>,
}

impl Store {
    /// Writes rows atomically, also if the future is dropped. Retries are safe.
    pub(crate) async fn write_rows(&mut self, rows: &RowsToWrite) -> Result<(), JournalError> {
        let url = self.url.clone();
        within(TABLES_DEADLINE, &url, async {
            let mut connection = self.take_connection().await?;
            connection.is_in_place()?;
            connection.run(connection.begin_statement()).await?;
            let any = connection.any();
            lease::lock(any, &url, &self.token).await?;
            put(any, &url, rows).await?;
            // In the midst of a transaction: of one that is cut off here nothing may be left.
            self.kill_points.before(&What::Rows);
            connection.run("COMMIT").await?;
            self.kill_points.after();
            self.connection = Some(connection);
            Ok(())
        })
        .await
    }
}

async fn put(any: &mut AnyConnection, url: &JournalUrl, rows: &RowsToWrite) -> Result<(), JournalError> {
    let fault = |error| from_sqlx(error, url);
    if rows.clears {
        sqlx::raw_sql("DELETE FROM intents; DELETE FROM figures").execute(&mut *any).await.map_err(fault)?;
    }
    let mut days = BTreeSet::new();
    for intent in &rows.intents {
        put_intent(any, intent).await.map_err(fault)?;
        days.extend(intent.days().map(|day| (day, intent.bot.as_str())));
    }
    for (day, bot) in days {
        let count = sqlx::query(COUNT).bind(day.get()).bind(bot).bind((day + Millis::DAY).get());
        count.execute(&mut *any).await.map_err(fault)?;
    }
    let update = match rows.up_to {
        Some(Head { seq, hash }) => sqlx::query(
            "UPDATE projection SET format = $1, seq = $2, hash = $3, is_complete = 1 WHERE id = 1",
        )
        .bind(FORMAT)
        .bind(seq.cast_signed())
        .bind(hash.to_string()),
        None => sqlx::query("UPDATE projection SET format = $1, is_complete = 0 WHERE id = 1").bind(FORMAT),
    };
    update.execute(any).await.map(drop).map_err(fault)
}

async fn put_intent(any: &mut AnyConnection, row: &IntentRecord) -> Result<(), sqlx::Error> {
    let time = |at: Option<Millis>| at.map(Millis::get);
    sqlx::query(PUT)
        .bind(row.intent.cast_signed())
        .bind(row.seq.cast_signed())
        .bind(row.run.cast_signed())
        .bind(row.bot.as_str())
        .bind(row.symbol.as_str())
        .bind(row.direction.as_str())
        .bind(row.state.as_str())
        .bind(row.result.as_deref())
        .bind(row.stake_minor)
        .bind(row.profit_minor)
        .bind(row.unit)
        .bind(row.payout)
        .bind(row.decision_time.get())
        .bind(time(row.request_time))
        .bind(time(row.open_time))
        .bind(row.open_price)
        .bind(time(row.close_time))
        .bind(row.close_price)
        .bind(time(row.settled_time))
        .bind(row.close_type.as_str())
        .bind(row.expiration_type.as_str())
        .bind(row.reason.as_str())
        .bind(row.venue_id.as_deref())
        .bind(row.ordered_symbol.as_deref())
        .bind(row.ordered_direction.as_deref())
        .bind(row.ordered_stake_minor)
        .bind(i64::from(row.settled_by_person))
        .execute(any)
        .await
        .map(drop)
}

//! Reads the tables in one transaction.

use super::record::{DayFigures, IntentRecord};
use super::{FORMAT, TABLES_SINCE};
use crate::chain::ChainHash;
use crate::database::connection::{ANSWER_DEADLINE, within};
use crate::database::fault::from_sqlx;
use crate::{Head, JournalError, JournalUrl, Reader};
use candlewick_sdk::Millis;
use sqlx::Row;
use sqlx::any::AnyRow;
use std::collections::BTreeMap;

const PAGE: i64 = 5_000;

#[derive(Clone, Debug, PartialEq)]
pub struct Tables {
    pub up_to: Head,
    pub intents: Vec<IntentRecord>,
    pub figures: BTreeMap<(Millis, String), DayFigures>,
}

pub(crate) struct Progress {
    pub(crate) up_to: Head,
    pub(crate) is_complete: bool,
}

impl Reader {
    /// Reads a snapshot of the tables, `None` if there are none or they are being built.
    pub async fn tables(&mut self) -> Result<Option<Tables>, JournalError> {
        if self.schema < TABLES_SINCE {
            return Ok(None);
        }
        let begin = if self.url().file().is_some() {
            "BEGIN"
        } else {
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        };
        self.run(begin).await?;
        let tables = self.tables_now().await;
        self.run("ROLLBACK").await?;
        tables
    }

    async fn tables_now(&mut self) -> Result<Option<Tables>, JournalError> {
        let Some(progress) = self.progress().await?.filter(|progress| progress.is_complete) else {
            return Ok(None);
        };
        let (mut intents, mut last) = (Vec::new(), 0_i64);
        loop {
            let text = "SELECT * FROM intents WHERE intent > $1 ORDER BY intent LIMIT $2";
            let rows = self.rows(text, &[last, PAGE]).await?;
            if rows.is_empty() {
                break;
            }
            for row in &rows {
                let intent = intent_from(row).map_err(|error| from_sqlx(error, self.url()))?;
                last = intent.intent.cast_signed();
                intents.push(intent);
            }
        }
        let rows = self.rows("SELECT * FROM figures", &[]).await?;
        let figures = rows.iter().map(figures_from).collect::<Result<_, _>>();
        let figures = figures.map_err(|error| from_sqlx(error, self.url()))?;
        Ok(Some(Tables { up_to: progress.up_to, intents, figures }))
    }

    pub(crate) async fn row_of(url: &JournalUrl, intent: u64) -> Result<Option<IntentRecord>, JournalError> {
        let mut reader = Self::open(url).await?;
        let found = reader.rows("SELECT * FROM intents WHERE intent = $1", &[intent.cast_signed()]).await;
        reader.close().await;
        found?.first().map(intent_from).transpose().map_err(|error| from_sqlx(error, url))
    }

    pub async fn tables_held_to(&mut self) -> Result<Option<u64>, JournalError> {
        let Some(progress) = self.progress().await?.filter(|progress| progress.is_complete) else {
            return Ok(None);
        };
        let is_ours = self.line_at(progress.up_to).await?.is_some();
        Ok(is_ours.then_some(progress.up_to.seq))
    }

    pub(crate) async fn progress(&mut self) -> Result<Option<Progress>, JournalError> {
        if self.schema < TABLES_SINCE {
            return Ok(None);
        }
        let text = "SELECT seq, hash, is_complete FROM projection WHERE id = 1 AND format = $1";
        let rows = self.rows(text, &[FORMAT]).await?;
        let progress = |row: &AnyRow| {
            let hash = ChainHash::from_hex(&row.try_get::<String, _>("hash").ok()?)?;
            let seq = u64::try_from(row.try_get::<i64, _>("seq").ok()?).ok()?;
            let is_complete = row.try_get::<i64, _>("is_complete").ok()? == 1;
            Some(Progress { up_to: Head { seq, hash }, is_complete })
        };
        Ok(rows.first().and_then(progress))
    }

    /// Finds intents in `[first, end)` with an outdated row, and their last entry.
    pub(crate) async fn stale_intents(
        &mut self,
        from: u64,
        to: u64,
    ) -> Result<Vec<(u64, u64)>, JournalError> {
        let text = "SELECT e.intent AS intent, e.last AS seq FROM (SELECT intent, MAX(seq) AS last FROM entries \
                    WHERE intent >= $1 AND intent < $2 AND kind <> 'note' GROUP BY intent) e \
                    LEFT JOIN intents i ON i.intent = e.intent WHERE i.seq IS NULL OR i.seq <> e.last";
        self.pairs(text, [from, to]).await
    }

    pub(crate) async fn intents_of_entries(
        &mut self,
        from: u64,
        to: u64,
    ) -> Result<Vec<(u64, u64)>, JournalError> {
        let text = "SELECT intent, MAX(seq) AS seq FROM entries WHERE seq >= $1 AND seq < $2 AND intent IS NOT NULL \
                    AND kind <> 'note' GROUP BY intent";
        self.pairs(text, [from, to]).await
    }

    async fn pairs(&mut self, text: &'static str, range: [u64; 2]) -> Result<Vec<(u64, u64)>, JournalError> {
        let rows = self.rows(text, &range.map(u64::cast_signed)).await?;
        let pair = |row: &AnyRow| {
            Ok((
                row.try_get::<i64, _>("intent")?.cast_unsigned(),
                row.try_get::<i64, _>("seq")?.cast_unsigned(),
            ))
        };
        let pairs: Result<_, sqlx::Error> = rows.iter().map(pair).collect();
        pairs.map_err(|error| from_sqlx(error, self.url()))
    }

    async fn run(&mut self, statement: &'static str) -> Result<(), JournalError> {
        let url = self.url().clone();
        let run = async {
            let done = sqlx::raw_sql(statement).execute(self.any()).await;
            done.map(drop).map_err(|error| from_sqlx(error, &url))
        };
        within(ANSWER_DEADLINE, &url, run).await
    }
}

fn intent_from(row: &AnyRow) -> Result<IntentRecord, sqlx::Error> {
    let count = |column: &str| row.try_get::<i64, _>(column).map(i64::cast_unsigned);
    let text = |column: &str| row.try_get::<String, _>(column);
    let maybe = |column: &str| row.try_get::<Option<String>, _>(column);
    let number = |column: &str| row.try_get::<Option<f64>, _>(column);
    let time = |column: &str| Ok::<_, sqlx::Error>(row.try_get::<Option<i64>, _>(column)?.map(Millis::new));
    Ok(IntentRecord {
        intent: count("intent")?,
        seq: count("seq")?,
        run: count("run")?,
        bot: text("bot")?,
        symbol: text("symbol")?,
        direction: text("direction")?,
        state: text("state")?,
        result: maybe("result")?,
        stake_minor: row.try_get("stake_minor")?,
        profit_minor: row.try_get("profit_minor")?,
        unit: row.try_get("unit")?,
        payout: number("payout")?,
        decision_time: Millis::new(row.try_get("decision_time")?),
        request_time: time("request_time")?,
        open_time: time("open_time")?,
        open_price: number("open_price")?,
        close_time: time("close_time")?,
        close_price: number("close_price")?,
        settled_time: time("settled_time")?,
        close_type: text("close_type")?,
        expiration_type: text("expiration_type")?,
        reason: text("reason")?,
        venue_id: maybe("venue_id")?,
        ordered_symbol: maybe("ordered_symbol")?,
        ordered_direction: maybe("ordered_direction")?,
        ordered_stake_minor: row.try_get("ordered_stake_minor")?,
        settled_by_person: count("settled_by_person")? != 0,
    })
}

fn figures_from(row: &AnyRow) -> Result<((Millis, String), DayFigures), sqlx::Error> {
    let count = |column: &str| row.try_get::<i64, _>(column).map(i64::cast_unsigned);
    let figures = DayFigures {
        seq: count("seq")?,
        decided: count("decided")?,
        settled: count("settled")?,
        won: count("won")?,
        lost: count("lost")?,
        drawn: count("drawn")?,
        cancelled: count("cancelled")?,
        stake_minor: row.try_get("stake_minor")?,
        profit_minor: row.try_get("profit_minor")?,
        unit: row.try_get("unit")?,
    };
    Ok(((Millis::new(row.try_get("day")?), row.try_get("bot")?), figures))
}

//! SQL tables of intents and daily figures for operators and other programs, derived from the journal entries.
//! Trading never reads these tables and never waits for them.

mod projector;

pub use projector::{IntentRows, ProjectionProgress, Projector, RunNames};

use crate::chain::ChainHash;
use crate::database::fault::WithUrl;
use crate::error::Result;
use crate::{Head, JournalUrl, Reader};
use candlewick_sdk::Millis;
use sqlx::Row;
use sqlx::any::AnyRow;
use std::collections::BTreeMap;

/// Format version of the tables. Increase it with every change of the format, so that old tables are rebuilt.
pub(crate) const TABLES_FORMAT: i64 = 1;
const TABLES_MIN_SCHEMA: i64 = 4;

/// A row of the table `intents`: a trade request and its outcome. Unknown fields are `None`. Times are in Unix
/// milliseconds. Amounts are in minor units such as cents; `unit` is the number of minor units per currency unit.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentRecord {
    pub intent: u64,
    /// Number of the last journal entry that concerns the intent.
    pub seq: u64,
    pub run: u64,
    pub bot: String,
    /// Symbol of the trade that the venue opened. It may differ from the requested symbol.
    pub symbol: String,
    /// `BUY` or `SELL`.
    pub direction: String,
    /// `in_doubt`, `open`, `settled`, `rejected`, `not_opened` or `not_sent`.
    pub state: String,
    /// `WON`, `LOST`, `DRAW` or `CANCELLED`; `None` until the trade is settled.
    pub result: Option<String>,
    pub stake_minor: i64,
    pub profit_minor: Option<i64>,
    pub unit: i64,
    /// Profit of a win, in percent of the stake.
    pub payout: Option<f64>,
    pub decision_time: Millis,
    pub request_time: Option<Millis>,
    pub open_time: Option<Millis>,
    pub open_price: Option<f64>,
    pub close_time: Option<Millis>,
    pub close_price: Option<f64>,
    pub settled_time: Option<Millis>,
    /// Duration of the trade as `HH:MM`.
    pub close_type: String,
    pub expiration_type: String,
    pub reason: String,
    pub venue_id: Option<String>,
    /// Symbol in the order. This field and the next two are set only if the venue opened a different trade.
    pub ordered_symbol: Option<String>,
    pub ordered_direction: Option<String>,
    pub ordered_stake_minor: Option<i64>,
    pub settled_by_person: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DayFigures {
    pub seq: u64,
    pub decided: u64,
    pub settled: u64,
    pub won: u64,
    pub lost: u64,
    pub drawn: u64,
    pub cancelled: u64,
    pub stake_minor: i64,
    pub profit_minor: i64,
    pub unit: i64,
}

const fn start_of_day(at: Millis) -> Millis {
    at.floor_to(Millis::DAY)
}

impl IntentRecord {
    pub(crate) fn days(&self) -> impl Iterator<Item = Millis> {
        [Some(self.decision_time), self.settled_time].into_iter().flatten().map(start_of_day)
    }
}

pub fn daily_figures(intents: &[IntentRecord]) -> BTreeMap<(Millis, String), DayFigures> {
    let mut figures = BTreeMap::<_, DayFigures>::new();
    for intent in intents {
        let mut add = |at: Millis, count: fn(&mut DayFigures, &IntentRecord)| {
            let day = figures.entry((start_of_day(at), intent.bot.clone())).or_default();
            (day.seq, day.unit) = (day.seq.max(intent.seq), day.unit.max(intent.unit));
            count(day, intent);
        };
        add(intent.decision_time, |day, _| day.decided += 1);
        if let Some(at) = intent.settled_time {
            add(at, DayFigures::add_settlement);
        }
    }
    figures
}

impl DayFigures {
    fn add_settlement(&mut self, intent: &IntentRecord) {
        self.settled += 1;
        self.stake_minor += intent.stake_minor;
        self.profit_minor += intent.profit_minor.unwrap_or_default();
        match intent.result.as_deref() {
            Some("WON") => self.won += 1,
            Some("LOST") => self.lost += 1,
            Some("DRAW") => self.drawn += 1,
            Some("CANCELLED") => self.cancelled += 1,
            Some(_) | None => {}
        }
    }
}

const INTENTS_PER_PAGE: i64 = 5_000;

#[derive(Clone, Debug, PartialEq)]
pub struct Tables {
    pub last_entry: Head,
    pub intents: Vec<IntentRecord>,
    pub figures: BTreeMap<(Millis, String), DayFigures>,
}

pub(crate) struct Progress {
    pub(crate) last_entry: Head,
    pub(crate) is_complete: bool,
}

impl Reader {
    /// Reads a consistent copy of the tables; `None` if the tables are missing or incomplete.
    pub async fn tables(&mut self) -> Result<Option<Tables>> {
        if self.schema < TABLES_MIN_SCHEMA {
            return Ok(None);
        }
        let begin = if self.url().file().is_some() {
            "BEGIN"
        } else {
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        };
        self.connection.run(begin).await?;
        let tables = self.read_tables().await;
        self.connection.run("ROLLBACK").await?;
        tables
    }

    async fn read_tables(&mut self) -> Result<Option<Tables>> {
        let Some(progress) = self.progress().await?.filter(|progress| progress.is_complete) else {
            return Ok(None);
        };
        let (mut intents, mut last) = (Vec::new(), 0_i64);
        loop {
            let text = "SELECT * FROM intents WHERE intent > $1 ORDER BY intent LIMIT $2";
            let rows = self.fetch(text, &[last, INTENTS_PER_PAGE]).await?;
            if rows.is_empty() {
                break;
            }
            for row in &rows {
                let intent = intent_from_row(row).with_url(self.url())?;
                last = intent.intent.cast_signed();
                intents.push(intent);
            }
        }
        let rows = self.fetch("SELECT * FROM figures", &[]).await?;
        let figures = rows.iter().map(figures_from_row).collect::<Result<_, _>>();
        let figures = figures.with_url(self.url())?;
        Ok(Some(Tables { last_entry: progress.last_entry, intents, figures }))
    }

    pub(crate) async fn read_row(url: &JournalUrl, intent: u64) -> Result<Option<IntentRecord>> {
        let mut reader = Self::open(url).await?;
        let found = reader.fetch("SELECT * FROM intents WHERE intent = $1", &[intent.cast_signed()]).await;
        reader.close().await;
        found?.first().map(intent_from_row).transpose().with_url(url)
    }

    pub async fn last_entry_in_tables(&mut self) -> Result<Option<u64>> {
        let Some(progress) = self.progress().await?.filter(|progress| progress.is_complete) else {
            return Ok(None);
        };
        let is_ours = self.line_at(progress.last_entry).await?.is_some();
        Ok(is_ours.then_some(progress.last_entry.seq))
    }

    pub(crate) async fn progress(&mut self) -> Result<Option<Progress>> {
        if self.schema < TABLES_MIN_SCHEMA {
            return Ok(None);
        }
        let text = "SELECT seq, hash, is_complete FROM projection WHERE id = 1 AND format = $1";
        let rows = self.fetch(text, &[TABLES_FORMAT]).await?;
        let progress = |row: &AnyRow| {
            let hash = ChainHash::from_hex(&row.try_get::<String, _>("hash").ok()?)?;
            let seq = u64::try_from(row.try_get::<i64, _>("seq").ok()?).ok()?;
            let is_complete = row.try_get::<i64, _>("is_complete").ok()? == 1;
            Some(Progress { last_entry: Head { seq, hash }, is_complete })
        };
        Ok(rows.first().and_then(progress))
    }

    /// Returns the intents in `[from, to)` whose row is missing or outdated, each with the number of its last entry.
    pub(crate) async fn stale_intents(&mut self, from: u64, to: u64) -> Result<Vec<(u64, u64)>> {
        let text = "SELECT e.intent AS intent, e.last AS seq FROM (SELECT intent, MAX(seq) AS last FROM entries \
                    WHERE intent >= $1 AND intent < $2 AND kind <> 'note' GROUP BY intent) e \
                    LEFT JOIN intents i ON i.intent = e.intent WHERE i.seq IS NULL OR i.seq <> e.last";
        self.fetch_intent_entries(text, [from, to]).await
    }

    pub(crate) async fn intents_of_entries(&mut self, from: u64, to: u64) -> Result<Vec<(u64, u64)>> {
        let text = "SELECT intent, MAX(seq) AS seq FROM entries WHERE seq >= $1 AND seq < $2 AND intent IS NOT NULL \
                    AND kind <> 'note' GROUP BY intent";
        self.fetch_intent_entries(text, [from, to]).await
    }

    async fn fetch_intent_entries(&mut self, text: &'static str, range: [u64; 2]) -> Result<Vec<(u64, u64)>> {
        let rows = self.fetch(text, &range.map(u64::cast_signed)).await?;
        let pair = |row: &AnyRow| {
            Ok((
                row.try_get::<i64, _>("intent")?.cast_unsigned(),
                row.try_get::<i64, _>("seq")?.cast_unsigned(),
            ))
        };
        let pairs: Result<_, sqlx::Error> = rows.iter().map(pair).collect();
        pairs.with_url(self.url())
    }
}

fn intent_from_row(row: &AnyRow) -> Result<IntentRecord, sqlx::Error> {
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

fn figures_from_row(row: &AnyRow) -> Result<((Millis, String), DayFigures), sqlx::Error> {
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

//! Updates the SQL tables from journal entries, in small pieces while nothing else waits for the journal.

use super::{IntentRecord, TABLES_FORMAT};
use crate::database::connection::with_timeout;
use crate::database::fault::from_sqlx;
use crate::error::Result;
use crate::kill_point::CommitStep;
use crate::{Head, JournalUrl, LineKind, Reader, Store, StoredLine, lease};
use candlewick_sdk::Millis;
use sqlx::AnyConnection;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const ROWS_PER_BATCH: usize = 250;
const INTENTS_PER_QUERY: u64 = 500;
const ENTRIES_PER_QUERY: u64 = 20_000;
/// Maximum number of new entries to scan for changes. If there are more, all intents are compared with the tables.
const MAX_SCANNED_ENTRIES: u64 = 200_000;
const MAX_LAG_ENTRIES: u64 = 50_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunNames {
    pub bots: Vec<(String, String)>,
    /// Number of minor units (such as cents) per unit of the wallet's currency.
    pub unit: i64,
}

pub trait IntentRows: Send + Sync {
    fn last_intent(&self) -> u64;

    /// Returns the run in which an intent was decided; `None` if the intent was evicted from memory.
    /// In the row of an evicted intent, only `seq` can still change.
    fn run_of_intent(&self, intent: u64) -> Option<u64>;

    fn parse_run_names(&self, header: &StoredLine) -> Option<RunNames>;

    fn intent_record(&self, intent: u64, seq: u64, names: &RunNames) -> Option<IntentRecord>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectionProgress {
    More,
    Complete(Head),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChangeSearch {
    Unknown,
    Entries(u64),
    Intents(u64),
    Done,
}

/// Writes changed intents to the tables. [`Projector::observe_line`] must receive every line after the initial head.
/// Earlier changes that are missing from the tables are read from the journal.
pub struct Projector {
    before: Head,
    seen: Head,
    last_intent_before: Option<u64>,
    search: ChangeSearch,
    must_clear: bool,
    changed: BTreeMap<u64, u64>,
    names: BTreeMap<u64, RunNames>,
    complete_to: Option<u64>,
}

impl Projector {
    pub fn from_head(head: Head) -> Self {
        Self {
            before: head,
            seen: head,
            last_intent_before: None,
            search: ChangeSearch::Unknown,
            must_clear: false,
            changed: BTreeMap::new(),
            names: BTreeMap::new(),
            complete_to: None,
        }
    }

    pub fn for_rebuild(head: Head) -> Self {
        Self { must_clear: true, search: ChangeSearch::Intents(1), ..Self::from_head(head) }
    }

    /// Takes the next durable line and remembers which intent it changes. `source` must already include the line.
    pub fn observe_line(&mut self, stored: &StoredLine, source: &dyn IntentRows) {
        self.seen = stored.head();
        match (stored.line.kind, stored.line.intent) {
            (LineKind::Event | LineKind::Action, Some(intent)) => {
                self.changed.insert(intent, stored.seq);
            }
            (LineKind::Run, _) => {
                self.names.extend(source.parse_run_names(stored).map(|names| (stored.line.run, names)));
            }
            _ => {}
        }
    }

    pub fn is_due(&self) -> bool {
        let behind = self.complete_to.map_or(u64::MAX, |complete| self.seen.seq.saturating_sub(complete));
        self.search != ChangeSearch::Done || !self.changed.is_empty() || behind >= MAX_LAG_ENTRIES
    }

    pub fn is_catching_up(&self) -> bool {
        self.must_clear || self.search != ChangeSearch::Done || self.changed.len() > ROWS_PER_BATCH
    }

    pub fn is_behind(&self) -> bool {
        self.must_clear || self.complete_to != Some(self.seen.seq)
    }

    /// Writes the next piece of the tables. If the future is dropped, the next call writes the same piece again.
    pub async fn write_batch(
        &mut self,
        store: &mut Store,
        source: &dyn IntentRows,
    ) -> Result<ProjectionProgress> {
        let url = store.url.clone();
        self.find_changes(&url, source).await?;
        if self.must_clear {
            store
                .write_rows(&TableUpdate { must_clear: true, intents: Vec::new(), last_entry: None })
                .await?;
            self.must_clear = false;
            return Ok(ProjectionProgress::More);
        }
        let changed: Vec<(u64, u64)> =
            self.changed.iter().take(ROWS_PER_BATCH).map(|(intent, seq)| (*intent, *seq)).collect();
        let mut intents = Vec::with_capacity(changed.len());
        for (intent, seq) in &changed {
            let Some(run) = source.run_of_intent(*intent) else {
                let row = Reader::read_row(&url, *intent).await?;
                intents.extend(row.map(|row| IntentRecord { seq: *seq, ..row }));
                continue;
            };
            if let Entry::Vacant(vacant) = self.names.entry(run) {
                let mut reader = Reader::open(&url).await?;
                let header = reader.run_header(run).await?;
                reader.close().await;
                vacant.insert(header.and_then(|header| source.parse_run_names(&header)).unwrap_or_default());
            }
            intents.extend(self.names.get(&run).and_then(|names| source.intent_record(*intent, *seq, names)));
        }
        let is_all = self.search == ChangeSearch::Done && changed.len() == self.changed.len();
        let up_to = is_all.then_some(self.seen);
        store.write_rows(&TableUpdate { must_clear: false, intents, last_entry: up_to }).await?;
        for (intent, _) in changed {
            self.changed.remove(&intent);
        }
        self.complete_to = up_to.map(|head| head.seq);
        Ok(up_to.map_or(ProjectionProgress::More, ProjectionProgress::Complete))
    }

    async fn find_changes(&mut self, url: &JournalUrl, source: &dyn IntentRows) -> Result<()> {
        if self.search == ChangeSearch::Done || self.must_clear {
            return Ok(());
        }
        let mut reader = Reader::open(url).await?;
        let last = *self.last_intent_before.get_or_insert_with(|| source.last_intent());
        if self.search == ChangeSearch::Unknown {
            let begin = self.plan_change_search(&mut reader).await?;
            self.must_clear |= begin.is_none();
            self.search = begin.unwrap_or(ChangeSearch::Intents(1));
        }
        while !self.must_clear && self.changed.len() < ROWS_PER_BATCH {
            let (found, next) = match self.search {
                ChangeSearch::Entries(from) => {
                    let to = (from + ENTRIES_PER_QUERY).min(self.before.seq + 1);
                    let is_end = to > self.before.seq;
                    let next = if is_end { ChangeSearch::Done } else { ChangeSearch::Entries(to) };
                    (reader.intents_of_entries(from, to).await?, next)
                }
                ChangeSearch::Intents(from) => {
                    let to = from + INTENTS_PER_QUERY;
                    let next = if to > last { ChangeSearch::Done } else { ChangeSearch::Intents(to) };
                    (reader.stale_intents(from, to).await?, next)
                }
                ChangeSearch::Unknown | ChangeSearch::Done => break,
            };
            for (intent, seq) in found {
                let known = self.changed.entry(intent).or_insert(seq);
                *known = seq.max(*known);
            }
            self.search = next;
        }
        reader.close().await;
        Ok(())
    }

    async fn plan_change_search(&self, reader: &mut Reader) -> Result<Option<ChangeSearch>> {
        let Some(progress) = reader.progress().await? else { return Ok(None) };
        let Head { seq, .. } = progress.last_entry;
        // If this is false, the tables are from a different journal, or from entries that no longer exist.
        let is_ours = seq == 0 || reader.line_at(progress.last_entry).await?.is_some();
        if !is_ours || seq > self.before.seq {
            return Ok(None);
        }
        Ok(Some(if seq == self.before.seq && progress.is_complete {
            ChangeSearch::Done
        } else if self.before.seq - seq <= MAX_SCANNED_ENTRIES && progress.is_complete {
            ChangeSearch::Entries(seq + 1)
        } else {
            ChangeSearch::Intents(1)
        }))
    }
}

const TABLES_TIMEOUT: Duration = Duration::from_secs(5);
const UPSERT_INTENT: &str = "INSERT INTO intents (intent, seq, run, bot, symbol, direction, state, result, stake_minor, profit_minor, unit, payout, \
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

/// Idempotent statement that recomputes the daily figures of a bot from its intents.
const RECOUNT_FIGURES: &str = "INSERT INTO figures (day, bot, seq, decided, settled, won, lost, drawn, cancelled, stake_minor, profit_minor, unit) \
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

pub(crate) struct TableUpdate {
    must_clear: bool,
    pub(crate) intents: Vec<IntentRecord>,
    /// Last entry that the tables include after this write; `None` if more changes are still to be written.
    pub(crate) last_entry: Option<Head>,
}

impl Store {
    /// Writes rows in one transaction. Dropping the future rolls the transaction back, so retries are safe.
    async fn write_rows(&mut self, rows: &TableUpdate) -> Result<()> {
        let url = self.url.clone();
        with_timeout(TABLES_TIMEOUT, &url, async {
            let mut connection = self.take_connection().await?;
            connection.check_not_moved()?;
            connection.run(connection.begin_statement()).await?;
            let any = connection.any_connection();
            lease::lock_head(any, &url, &self.token).await?;
            write_tables(any, &url, rows).await?;
            // If the transaction is interrupted here, it must leave no changes behind.
            self.kill_points.before_write(&CommitStep::TableRows);
            connection.run("COMMIT").await?;
            self.kill_points.after_write();
            self.connection = Some(connection);
            Ok(())
        })
        .await
    }
}

async fn write_tables(any: &mut AnyConnection, url: &JournalUrl, rows: &TableUpdate) -> Result<()> {
    let fault = |error| from_sqlx(error, url);
    if rows.must_clear {
        sqlx::raw_sql("DELETE FROM intents; DELETE FROM figures").execute(&mut *any).await.map_err(fault)?;
    }
    let mut days = BTreeSet::new();
    for intent in &rows.intents {
        upsert_intent(any, intent).await.map_err(fault)?;
        days.extend(intent.days().map(|day| (day, intent.bot.as_str())));
    }
    for (day, bot) in days {
        let count = sqlx::query(RECOUNT_FIGURES).bind(day.get()).bind(bot).bind((day + Millis::DAY).get());
        count.execute(&mut *any).await.map_err(fault)?;
    }
    let update = match rows.last_entry {
        Some(Head { seq, hash }) => sqlx::query(
            "UPDATE projection SET format = $1, seq = $2, hash = $3, is_complete = 1 WHERE id = 1",
        )
        .bind(TABLES_FORMAT)
        .bind(seq.cast_signed())
        .bind(hash.to_string()),
        None => {
            sqlx::query("UPDATE projection SET format = $1, is_complete = 0 WHERE id = 1").bind(TABLES_FORMAT)
        }
    };
    update.execute(any).await.map(drop).map_err(fault)
}

async fn upsert_intent(any: &mut AnyConnection, row: &IntentRecord) -> Result<(), sqlx::Error> {
    let time = |at: Option<Millis>| at.map(Millis::get);
    sqlx::query(UPSERT_INTENT)
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

//! Reads journals, even while another process writes to them.

use crate::chain::{ChainHash, Head, Line, LineKind, StoredLine};
use crate::database::connection::{ANSWER_TIMEOUT, Connection, Purpose, with_timeout};
use crate::database::fault::{WithUrl, from_sqlx};
use crate::database::schema::{self, FoundSchema, OPERATOR_ORDERS_MIN_SCHEMA};
use crate::difference::{MAX_CHAINED_DIFFERENCES, base_id, restore_response};
use crate::error::{Result, chain_error};
use crate::exchange::{SealMismatch, Seals};
use crate::{
    JournalError, JournalUrl, Lease, LoggedExchange, OperatorOrder, OrderToken, Walk, lease, orders,
};
use candlewick_sdk::Millis;
use sqlx::Row;
use sqlx::any::AnyRow;
use std::collections::BTreeMap;
use std::ops::Range;

const EXCHANGES_PER_PAGE: u32 = 200;
pub(crate) const EXCHANGES_MIN_SCHEMA: i64 = 2;

pub struct Reader {
    pub(crate) connection: Connection,
    /// Schema version of the journal. May be older than the program's version, because readers do not migrate.
    pub(crate) schema: i64,
    pub(crate) seals: Seals,
    has_partial_seals: bool,
}

impl Reader {
    pub async fn open(url: &JournalUrl) -> Result<Self> {
        let mut connection = Connection::open(url, Purpose::Read).await?;
        match with_timeout(ANSWER_TIMEOUT, url, schema::inspect(&mut connection)).await? {
            FoundSchema::Nothing => Err(JournalError::NotFound { url: url.to_string() }),
            FoundSchema::Schema(schema) => {
                Ok(Self { connection, schema, seals: Seals::default(), has_partial_seals: false })
            }
        }
    }

    pub async fn walk(&mut self, page: u32) -> Result<Walk<'_>> {
        Walk::begin(self, page).await
    }

    pub async fn lines(&mut self, from: u64, limit: u32) -> Result<Vec<StoredLine>> {
        let text = "SELECT seq, run, kind, intent, at, received, body, hash FROM entries \
                    WHERE seq >= $1 ORDER BY seq LIMIT $2";
        self.fetch_lines(text, &[from.cast_signed(), i64::from(limit)]).await
    }

    pub async fn lines_of_intent(&mut self, intent: u64) -> Result<Vec<StoredLine>> {
        let text = "SELECT seq, run, kind, intent, at, received, body, hash FROM entries \
                    WHERE intent = $1 ORDER BY seq";
        self.fetch_lines(text, &[intent.cast_signed()]).await
    }

    /// Reads up to `limit` lines with a venue time in `[from, to)`, without verifying them.
    pub async fn lines_between(&mut self, from: Millis, to: Millis, limit: u32) -> Result<Vec<StoredLine>> {
        let text = "SELECT seq, run, kind, intent, at, received, body, hash FROM entries \
                    WHERE at >= $1 AND at < $2 ORDER BY seq LIMIT $3";
        self.fetch_lines(text, &[from.get(), to.get(), i64::from(limit)]).await
    }

    /// Reads the exchanges of an intent. Returns none if the journal's schema predates exchanges.
    /// Checks them against the seals read by the last [`Reader::walk`], and omits exchanges added after that walk.
    pub async fn exchanges_of_intent(&mut self, intent: u64) -> Result<Vec<LoggedExchange>> {
        if self.schema < EXCHANGES_MIN_SCHEMA {
            return Ok(Vec::new());
        }
        let text = "SELECT id, intent, sent, received, what, request, response, status FROM wires \
                    WHERE intent = $1 ORDER BY id";
        let rows = self.fetch(text, &[intent.cast_signed()]).await?;
        self.sealed_exchanges(&rows).await
    }

    /// Reads the last `limit` exchanges that belong to no intent and were sent in `[from, to]`.
    pub async fn exchanges_between(
        &mut self,
        from: Millis,
        to: Millis,
        limit: u32,
    ) -> Result<Vec<LoggedExchange>> {
        if self.schema < EXCHANGES_MIN_SCHEMA {
            return Ok(Vec::new());
        }
        let text = "SELECT id, intent, sent, received, what, request, response, status FROM wires \
                    WHERE intent IS NULL AND sent >= $1 AND sent <= $2 ORDER BY id DESC LIMIT $3";
        let mut rows = self.fetch(text, &[from.get(), to.get(), i64::from(limit)]).await?;
        rows.reverse();
        self.sealed_exchanges(&rows).await
    }

    pub async fn head(&mut self) -> Result<Head> {
        let url = self.connection.url().clone();
        with_timeout(ANSWER_TIMEOUT, &url, crate::append::last_head(self.connection.any_connection(), &url))
            .await
    }

    /// Returns the current lease; `None` if no process holds the journal.
    pub async fn current_lease(&mut self) -> Result<Option<Lease>> {
        let url = self.connection.url().clone();
        with_timeout(ANSWER_TIMEOUT, &url, async {
            Ok(lease::read_lease(self.connection.any_connection(), &url, self.schema).await?.1)
        })
        .await
    }

    /// Closes the connection. When the last connection to a file is closed, SQLite merges the write-ahead log.
    pub async fn close(self) {
        self.connection.close().await;
    }

    pub async fn pending_operator_orders(&mut self) -> Result<Vec<OperatorOrder>> {
        if self.schema < OPERATOR_ORDERS_MIN_SCHEMA {
            return Ok(Vec::new());
        }
        let url = self.connection.url().clone();
        with_timeout(ANSWER_TIMEOUT, &url, orders::read_pending(self.connection.any_connection(), &url)).await
    }

    pub async fn read_answer(&mut self, order: &OrderToken) -> Result<Option<String>> {
        let url = self.connection.url().clone();
        with_timeout(ANSWER_TIMEOUT, &url, orders::read_answer(self.connection.any_connection(), &url, order))
            .await
    }

    pub(crate) async fn exchanges_from(&mut self, id: u64) -> Result<Vec<(u64, LoggedExchange)>> {
        if self.schema < EXCHANGES_MIN_SCHEMA {
            return Ok(Vec::new());
        }
        let text = "SELECT id, intent, sent, received, what, request, response, status FROM wires \
                    WHERE id >= $1 ORDER BY id LIMIT $2";
        let rows = self.fetch(text, &[id.cast_signed(), i64::from(EXCHANGES_PER_PAGE)]).await?;
        self.read_exchanges(&rows).await
    }

    pub(crate) async fn retained_exchanges(
        &mut self,
        ids: Range<u64>,
        since: Millis,
    ) -> Result<Vec<LoggedExchange>> {
        let text = "SELECT id, intent, sent, received, what, request, response, status FROM wires \
                    WHERE id >= $1 AND id < $2 AND (intent IS NOT NULL OR sent >= $3) ORDER BY id";
        let numbers = [ids.start.cast_signed(), ids.end.cast_signed(), since.get()];
        let rows = self.fetch(text, &numbers).await?;
        Ok(self.read_exchanges(&rows).await?.into_iter().map(|(_, exchange)| exchange).collect())
    }

    pub(crate) async fn fetch_count(&mut self, text: &'static str, numbers: &[i64]) -> Result<u64> {
        let rows = self.fetch(text, numbers).await?;
        let count = rows.first().map_or(Ok(0), |row| row.try_get::<i64, _>(0));
        Ok(count.with_url(self.url())?.cast_unsigned())
    }

    async fn read_exchanges(&mut self, rows: &[AnyRow]) -> Result<Vec<(u64, LoggedExchange)>> {
        let (mut restored, mut read) = (BTreeMap::new(), Vec::new());
        for row in rows {
            let (id, mut exchange) = exchange_from_row(row).with_url(self.url())?;
            if let Some(kept) = exchange.response.take() {
                // If a response cannot be restored, the stored text is used, which will not match the seal.
                let whole = self.restore_text(&kept, &restored).await?.unwrap_or(kept);
                restored.insert(id, whole.clone());
                exchange.response = Some(whole);
            }
            read.push((id, exchange));
        }
        Ok(read)
    }

    async fn restore_text(&mut self, kept: &str, restored: &BTreeMap<u64, String>) -> Result<Option<String>> {
        let mut chain = vec![kept.to_owned()];
        let mut whole = loop {
            let Some(base) = chain.last().and_then(|kept| base_id(kept)) else { break chain.pop() };
            if base == 0 {
                break Some(String::new());
            }
            if let Some(whole) = restored.get(&base) {
                break Some(whole.clone());
            }
            if chain.len() > MAX_CHAINED_DIFFERENCES {
                break None;
            }
            match self.read_stored_response(base).await? {
                Some(earlier) => chain.push(earlier),
                None => break None,
            }
        };
        for kept in chain.iter().rev() {
            whole = whole.and_then(|base| restore_response(kept, &base));
        }
        Ok(whole)
    }

    async fn read_stored_response(&mut self, id: u64) -> Result<Option<String>> {
        let rows = self.fetch("SELECT response FROM wires WHERE id = $1", &[id.cast_signed()]).await?;
        Ok(rows.first().and_then(|row| row.try_get("response").ok()))
    }

    async fn sealed_exchanges(&mut self, rows: &[AnyRow]) -> Result<Vec<LoggedExchange>> {
        let mut read = self.read_exchanges(rows).await?;
        let numbers: Vec<u64> = read.iter().map(|(id, _)| *id).collect();
        self.require_seals(&numbers).await?;
        let last = self.seals.last_id().unwrap_or(u64::MAX);
        read.retain(|(id, _)| *id <= last);
        for (id, exchange) in &read {
            self.seals.check_exchange(*id, exchange).map_err(|mismatch| self.seal_error(&mismatch))?;
        }
        Ok(read.into_iter().map(|(_, exchange)| exchange).collect())
    }

    pub(crate) fn seal_error(&self, SealMismatch { seq, reason }: &SealMismatch) -> JournalError {
        chain_error(self.url(), *seq, reason)
    }

    /// Returns the id of the last intent; 0 if there is none.
    pub async fn last_intent(&mut self) -> Result<u64> {
        self.fetch_count("SELECT COALESCE(MAX(intent), 0) FROM entries WHERE intent IS NOT NULL", &[]).await
    }

    pub(crate) const fn url(&self) -> &JournalUrl {
        self.connection.url()
    }

    pub(crate) const fn any_connection(&mut self) -> &mut sqlx::AnyConnection {
        self.connection.any_connection()
    }

    pub(crate) async fn fetch(&mut self, text: &'static str, numbers: &[i64]) -> Result<Vec<AnyRow>> {
        let url = self.connection.url().clone();
        let mut query = sqlx::query(text);
        for number in numbers {
            query = query.bind(*number);
        }
        let rows = async {
            let rows = query.fetch_all(self.connection.any_connection()).await;
            rows.map_err(|error| match error {
                sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. } => chain_error(&url, 0, BAD_ENTRY),
                error => from_sqlx(error, &url),
            })
        };
        with_timeout(ANSWER_TIMEOUT, &url, rows).await
    }

    pub(crate) async fn fetch_lines(&mut self, sql: &'static str, args: &[i64]) -> Result<Vec<StoredLine>> {
        let rows = self.fetch(sql, args).await?;
        let line = |row| {
            line_from_row(row).ok_or_else(|| {
                let seq = row.try_get::<i64, _>("seq").ok().and_then(|seq| u64::try_from(seq).ok());
                chain_error(self.url(), seq.unwrap_or_default(), BAD_ENTRY)
            })
        };
        rows.iter().map(line).collect()
    }
}

const BAD_ENTRY: &str = "the entry cannot be read";

fn line_from_row(row: &AnyRow) -> Option<StoredLine> {
    let number = |column: &str| row.try_get::<i64, _>(column).ok();
    let text = |column: &str| row.try_get::<String, _>(column).ok();
    let line = Line {
        run: number("run")?.cast_unsigned(),
        kind: LineKind::from_text(&text("kind")?)?,
        intent: row.try_get::<Option<i64>, _>("intent").ok()?.map(i64::cast_unsigned),
        at: Millis::new(number("at")?),
        received: Millis::new(number("received")?),
        body: text("body")?,
    };
    Some(StoredLine {
        seq: u64::try_from(number("seq")?).ok()?,
        line,
        hash: ChainHash::from_hex(&text("hash")?)?,
    })
}

fn exchange_from_row(row: &AnyRow) -> Result<(u64, LoggedExchange), sqlx::Error> {
    let number = |column: &str| row.try_get::<Option<i64>, _>(column);
    let exchange = LoggedExchange {
        intent: number("intent")?.map(i64::cast_unsigned),
        sent: Millis::new(row.try_get("sent")?),
        received: number("received")?.map(Millis::new),
        request_line: row.try_get("what")?,
        request: row.try_get("request")?,
        response: row.try_get("response")?,
        status: number("status")?.and_then(|status| u16::try_from(status).ok()),
    };
    Ok((row.try_get::<i64, _>("id")?.cast_unsigned(), exchange))
}

/// Number of lines to search for the header of a run. Lines that an operator added earlier may precede the header.
const HEADER_SEARCH_LINES: u32 = 500;

impl Reader {
    /// Returns the header of the last run, without verifying it; `None` if there is no run.
    pub async fn last_run_header(&mut self) -> Result<Option<StoredLine>> {
        let head = self.head().await?.seq;
        let text = "SELECT run FROM entries WHERE seq <= $1 AND run <> 0 ORDER BY seq DESC LIMIT 1";
        let Some(last) = self.fetch_run_number(text, head).await? else { return Ok(None) };
        self.find_header(last, 1, head).await
    }

    /// Returns the headers of all runs, oldest first, without verifying them.
    pub async fn run_headers(&mut self) -> Result<Vec<StoredLine>> {
        let (head, mut headers, mut from) = (self.head().await?.seq, Vec::new(), 1);
        while let Some(run) = self.first_run_from(from).await? {
            headers.extend(self.find_header(run, from, head).await?);
            from = self.find_first_line(run + 1, from, head).await?;
            if from >= head {
                break;
            }
        }
        Ok(headers)
    }

    pub async fn run_header(&mut self, run: u64) -> Result<Option<StoredLine>> {
        let head = self.head().await?.seq;
        self.find_header(run, 1, head).await
    }

    /// Reads, without verification, the external signals from line `seq` onwards and the session's answer to each.
    pub async fn external_signals_from(&mut self, seq: u64) -> Result<Vec<StoredLine>> {
        // The journal may record the start of a new day between a signal and its answer.
        let text = "SELECT DISTINCT b.seq, b.run, b.kind, b.intent, b.at, b.received, b.body, b.hash FROM entries a \
                    JOIN entries b ON b.seq >= a.seq AND b.seq <= a.seq + 2 WHERE a.seq >= $1 AND a.kind = 'event' \
                    AND a.body LIKE '%\"event\":\"outside_signal\"%' AND (b.seq = a.seq OR b.kind = 'action') ORDER BY b.seq";
        self.fetch_lines(text, &[seq.cast_signed()]).await
    }

    async fn first_run_from(&mut self, seq: u64) -> Result<Option<u64>> {
        let text = "SELECT run FROM entries WHERE seq >= $1 AND run <> 0 ORDER BY seq LIMIT 1";
        self.fetch_run_number(text, seq).await
    }

    async fn fetch_run_number(&mut self, text: &'static str, seq: u64) -> Result<Option<u64>> {
        let rows = self.fetch(text, &[seq.cast_signed()]).await?;
        let run = rows.first().map(|row| row.try_get::<i64, _>(0)).transpose();
        Ok(run.with_url(self.url())?.map(i64::cast_unsigned))
    }

    /// Finds the first line of a run by bisection. Lines directly before the run that belong to no run are included.
    async fn find_first_line(&mut self, run: u64, from: u64, head: u64) -> Result<u64> {
        let (mut low, mut high) = (from, head);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.first_run_from(middle).await?.is_none_or(|there| there >= run) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low)
    }

    async fn find_header(&mut self, run: u64, from: u64, head: u64) -> Result<Option<StoredLine>> {
        let first = self.find_first_line(run, from, head).await?;
        let around = self.lines(first, HEADER_SEARCH_LINES).await?;
        Ok(around.into_iter().find(|stored| stored.line.kind == LineKind::Run && stored.line.run == run))
    }
}

const LINES_PER_PAGE: u32 = 5_000;

impl Reader {
    /// Reads the seals in a range of lines, and verifies each seal against the line before it.
    /// Exchanges are then checked against these seals. If a seal is missing, the whole journal is walked first.
    pub async fn read_seals(&mut self, numbers: Range<u64>) -> Result<()> {
        let text = "SELECT seq FROM entries WHERE seq >= $1 AND seq < $2 AND kind = 'note' \
                    AND body LIKE '{\"exchanges\":%' ORDER BY seq";
        let rows = self.fetch(text, &[numbers.start.cast_signed(), numbers.end.cast_signed()]).await?;
        let numbers = rows.iter().map(|row| row.try_get::<i64, _>(0).map(i64::cast_unsigned));
        let numbers: Result<Vec<u64>, sqlx::Error> = numbers.collect();
        let numbers = numbers.with_url(self.url())?;
        for stored in self.lines_by_number(&numbers).await? {
            self.seals.add_line(stored.seq, &stored.line.body);
        }
        self.has_partial_seals = true;
        Ok(())
    }

    pub(crate) async fn require_seals(&mut self, exchanges: &[u64]) -> Result<()> {
        if !self.has_partial_seals || exchanges.iter().all(|id| self.seals.contains(*id)) {
            return Ok(());
        }
        let mut walk = self.walk(LINES_PER_PAGE).await?;
        while !walk.next().await?.is_empty() {}
        self.has_partial_seals = false;
        Ok(())
    }
}

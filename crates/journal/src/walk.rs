//! Verified reading of journals: individual lines, all lines, or the lines after a snapshot.

use crate::chain::{ChainHash, Head, StoredLine};
use crate::database::connection::{ANSWER_TIMEOUT, with_timeout};
use crate::database::fault::WithUrl;
use crate::error::{Result, chain_error};
use crate::exchange::Seals;
use crate::reader::{EXCHANGES_MIN_SCHEMA, Reader};
use crate::{JournalError, JournalUrl, LineKind, LoggedExchange, lease, point};
use candlewick_sdk::Millis;
use sqlx::Row;
use sqlx::any::AnyRow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A walk over all lines that verifies each line. Only a walk to the end proves that no line is missing.
pub struct Walk<'a> {
    reader: &'a mut Reader,
    url: JournalUrl,
    page: u32,
    head: Head,
    lease_head: Head,
    verified_head: Option<Head>,
}

impl<'a> Walk<'a> {
    pub(crate) async fn begin(reader: &'a mut Reader, page: u32) -> Result<Self> {
        let url = reader.url().clone();
        // Reads the known last lines first. Lines that are written during the walk therefore come after them.
        let verified_head = point::read(&url);
        let lease_head =
            with_timeout(ANSWER_TIMEOUT, &url, lease::read_head(reader.any_connection(), &url)).await?;
        Ok(Self { reader, url, page, head: Head::EMPTY, lease_head, verified_head })
    }

    /// Begins a walk after `head`. `head` is verified only once the walk reaches a line whose hash is known.
    async fn begin_after(reader: &'a mut Reader, head: Head, page: u32) -> Result<Self> {
        let walk = Self { head, ..Self::begin(reader, page).await? };
        for known in [Some(walk.lease_head), walk.verified_head].into_iter().flatten() {
            if known.seq == head.seq && known.hash != head.hash {
                return Err(chain_error(&walk.url, head.seq, "the entry does not match the writer's hash"));
            }
        }
        Ok(walk)
    }

    pub async fn next(&mut self) -> Result<Vec<StoredLine>> {
        let from = self.head.seq + 1;
        let page = match self.reader.lines(from, self.page).await {
            // One unreadable row makes the whole page fail, so read the rows one at a time.
            Err(JournalError::BrokenChain { .. }) => match self.reader.lines(from, 1).await {
                Err(JournalError::BrokenChain { reason, .. }) => {
                    return Err(chain_error(&self.url, from, &reason));
                }
                line => line?,
            },
            page => page?,
        };
        for stored in &page {
            self.check_line(stored)?;
        }
        if page.is_empty() {
            self.check_end()?;
        }
        Ok(page)
    }

    pub const fn head(&self) -> Head {
        self.head
    }

    pub(crate) const fn reader(&mut self) -> &mut Reader {
        self.reader
    }

    fn check_line(&mut self, stored: &StoredLine) -> Result<()> {
        let next = self.head.advanced_by(&stored.line);
        let reason = if stored.seq == next.seq { "the entry was changed" } else { "the entry is missing" };
        if next != (Head { seq: stored.seq, hash: stored.hash }) {
            return Err(chain_error(&self.url, next.seq, reason));
        }
        if next.seq == self.lease_head.seq && next.hash != self.lease_head.hash {
            return Err(chain_error(&self.url, next.seq, "the entry does not match the writer's hash"));
        }
        if self.verified_head.is_some_and(|point| next.seq == point.seq && next.hash != point.hash) {
            let reason = format!("this or an earlier entry changed after verification{}", self.fix_hint());
            return Err(chain_error(&self.url, next.seq, &reason));
        }
        if stored.line.kind == LineKind::Note {
            self.reader.seals.add_line(stored.seq, &stored.line.body);
        }
        self.head = next;
        Ok(())
    }

    fn check_end(&self) -> Result<()> {
        if self.head.seq < self.lease_head.seq {
            return Err(chain_error(&self.url, self.head.seq + 1, "the entry is missing"));
        }
        match self.verified_head {
            Some(point) if self.head.seq < point.seq => {
                let reason = format!("the entry disappeared after verification{}", self.fix_hint());
                Err(chain_error(&self.url, self.head.seq + 1, &reason))
            }
            _ => Ok(()),
        }
    }

    fn fix_hint(&self) -> String {
        let file = point::verified_head_path(&self.url).unwrap_or_default();
        format!(" (if you replaced the journal yourself, delete {})", file.display())
    }
}

impl Reader {
    /// Counts an intent's raw exchanges that an older program version stored without a seal.
    pub async fn count_unsealed_exchanges(&mut self, intent: u64) -> Result<u64> {
        if self.schema < EXCHANGES_MIN_SCHEMA {
            return Ok(0);
        }
        let rows = self.fetch("SELECT id FROM wires WHERE intent = $1", &[intent.cast_signed()]).await?;
        let number = |row: &AnyRow| row.try_get(0).map_or(0, i64::cast_unsigned);
        let numbers: Vec<u64> = rows.iter().map(number).collect();
        self.require_seals(&numbers).await?;
        Ok(numbers.iter().filter(|id| !self.seals.contains(**id)).count() as u64)
    }
}

const LINES_PER_PAGE: u32 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalVerification {
    pub entries: u64,
    pub head_hash: ChainHash,
    pub exchanges: u64,
    /// Number of raw exchanges that an older program version stored without a seal.
    pub unsealed_exchanges: u64,
}

impl Reader {
    /// Verifies the hash chain over all lines, and each raw exchange against its seal.
    /// The last line must match the line that the lease names.
    pub async fn verify(&mut self) -> Result<JournalVerification> {
        self.verify_each(|_| {}).await
    }

    /// Like [`Self::verify`], but also passes each line to `show`, until the first error.
    pub async fn verify_each(&mut self, mut show: impl FnMut(&StoredLine)) -> Result<JournalVerification> {
        self.seals = Seals::default();
        let mut walk = self.walk(LINES_PER_PAGE).await?;
        loop {
            let page = walk.next().await?;
            if page.is_empty() {
                break;
            }
            page.iter().for_each(&mut show);
        }
        let (head, mut next, mut outside) = (walk.head(), 1, 0);
        loop {
            let page = walk.reader().exchanges_from(next).await?;
            let Some((last, _)) = page.last() else { break };
            let (from, last) = (next, *last);
            // Exchanges added during the walk have their seals in lines that were also added during the walk.
            while walk.reader().seals.next_seal(0).is_some() && !walk.reader().seals.contains(last) {
                if walk.next().await?.is_empty() {
                    break;
                }
            }
            outside += walk.reader().check_exchanges(from, &page)?;
            next = last + 1;
        }
        if let Some((id, seq)) = self.seals.next_seal(next) {
            return Err(chain_error(self.url(), seq, &format!("raw exchange {id} is sealed, but missing")));
        }
        let (exchanges, exchanges_outside) = (self.seals.count(), outside);
        Ok(JournalVerification {
            entries: head.seq,
            head_hash: head.hash,
            exchanges,
            unsealed_exchanges: exchanges_outside,
        })
    }

    fn check_exchanges(&self, from: u64, page: &[(u64, LoggedExchange)]) -> Result<u64> {
        let (mut next, mut outside) = (from, 0);
        for (id, exchange) in page {
            if let Some((missing, seq)) = self.seals.next_seal(next).filter(|(sealed, _)| sealed < id) {
                let reason = format!("raw exchange {missing} is sealed, but missing");
                return Err(chain_error(self.url(), seq, &reason));
            }
            self.seals.check_exchange(*id, exchange).map_err(|mismatch| self.seal_error(&mismatch))?;
            outside += u64::from(!self.seals.contains(*id));
            next = id + 1;
        }
        Ok(outside)
    }
}

const SNAPSHOT_SEARCH_ENTRIES: u64 = 1_000_000;
const LINES_PER_QUERY: usize = 32;
static NUMBERED_LINES_QUERY: LazyLock<String> = LazyLock::new(|| {
    let places: Vec<String> = (1..=LINES_PER_QUERY * 2).map(|place| format!("${place}")).collect();
    let columns = "seq, run, kind, intent, at, received, body, hash";
    format!("SELECT {columns} FROM entries WHERE seq IN ({})", places.join(", "))
});

impl Reader {
    /// Begins a walk over the lines after `head`. Do not trust `head` or any of these lines before the end of the
    /// walk, because only a later line can confirm `head`.
    pub async fn walk_after(&mut self, head: Head, page: u32) -> Result<Walk<'_>> {
        Walk::begin_after(self, head, page).await
    }

    /// Returns the last complete snapshot up to the last verified line. Searches at most a million entries.
    /// The last verified line is read from a file next to the journal file or, on a database server, from the lease.
    pub async fn last_snapshot(&mut self) -> Result<Option<StoredLine>> {
        let url = self.url().clone();
        let verified = match url.file() {
            Some(_) => point::read(&url),
            None => {
                Some(with_timeout(ANSWER_TIMEOUT, &url, lease::read_head(self.any_connection(), &url)).await?)
            }
        };
        let Some(verified) = verified else { return Ok(None) };
        let text = "SELECT seq FROM entries WHERE seq > $1 AND seq <= $2 AND kind = 'note' \
                    AND body LIKE '{\"snapshot\":%' ORDER BY seq DESC LIMIT 1";
        let from = verified.seq.saturating_sub(SNAPSHOT_SEARCH_ENTRIES);
        let rows = self.fetch(text, &[from.cast_signed(), verified.seq.cast_signed()]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let seq: i64 = row.try_get(0).with_url(self.url())?;
        self.verified_line(seq.cast_unsigned()).await
    }

    pub async fn line_at(&mut self, head: Head) -> Result<Option<StoredLine>> {
        Ok(self.verified_line(head.seq).await?.filter(|line| line.hash == head.hash))
    }

    /// Reads the lines with these numbers, and verifies each line against the line before it.
    pub async fn lines_by_number(&mut self, numbers: &[u64]) -> Result<Vec<StoredLine>> {
        let mut lines = Vec::with_capacity(numbers.len());
        for some in numbers.chunks(LINES_PER_QUERY) {
            // Requests each line together with the line before it. Repeats the last number to fill the statement.
            let asked = (0..LINES_PER_QUERY)
                .map(|place| some.get(place).or(some.last()).copied().unwrap_or_default());
            let asked: Vec<i64> =
                asked.flat_map(|seq| [seq.saturating_sub(1), seq]).map(u64::cast_signed).collect();
            let found: BTreeMap<u64, StoredLine> = self
                .fetch_lines(&NUMBERED_LINES_QUERY, &asked)
                .await?
                .into_iter()
                .map(|line| (line.seq, line))
                .collect();
            for seq in some {
                let before = found.get(&seq.saturating_sub(1)).map_or(ChainHash::GENESIS, |line| line.hash);
                let line = found.get(seq).filter(|line| before.next(*seq, &line.line) == line.hash);
                let error = || chain_error(self.url(), *seq, "the entry is missing or was changed");
                lines.push(line.cloned().ok_or_else(error)?);
            }
        }
        Ok(lines)
    }

    pub async fn verified_lines_between(
        &mut self,
        from: Millis,
        to: Millis,
        limit: u32,
    ) -> Result<Vec<StoredLine>> {
        let lines = self.lines_between(from, to, limit).await?;
        self.check_chain(&lines).await?;
        Ok(lines)
    }

    pub async fn verified_lines_of_intent(&mut self, intent: u64) -> Result<Vec<StoredLine>> {
        let lines = self.lines_of_intent(intent).await?;
        self.check_chain(&lines).await?;
        Ok(lines)
    }

    async fn check_chain(&mut self, lines: &[StoredLine]) -> Result<()> {
        let mut before: Option<Head> = None;
        for stored in lines {
            before = match before.filter(|before| before.seq + 1 == stored.seq) {
                None if stored.seq == 1 => Some(Head::EMPTY),
                None => self.lines(stored.seq - 1, 1).await?.first().map(StoredLine::head),
                before => before,
            };
            if before.map(|before| before.advanced_by(&stored.line)) != Some(stored.head()) {
                return Err(chain_error(
                    self.url(),
                    stored.seq,
                    "this entry or the previous one was changed or is missing",
                ));
            }
            before = Some(stored.head());
        }
        Ok(())
    }

    async fn verified_line(&mut self, seq: u64) -> Result<Option<StoredLine>> {
        let lines = self.lines(seq.saturating_sub(1), 2).await?;
        let Some(line) = lines.iter().find(|line| line.seq == seq) else { return Ok(None) };
        let before = lines.iter().find(|row| row.seq + 1 == seq).map_or(ChainHash::GENESIS, |row| row.hash);
        Ok(Some(line.clone()).filter(|line| before.next(seq, &line.line) == line.hash))
    }
}

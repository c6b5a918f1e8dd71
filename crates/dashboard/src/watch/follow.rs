//! Reads new journal lines. Reopens the journal after an error, or if a different file has replaced it.

use super::SharedState;
use crate::model::{LineEffect, Model, SnapshotFold};
use candlewick_journal::{Holder, JournalError, LeaseTerms, LineKind, Reader, StoredLine};
use candlewick_records::{NO_RUN, RecordedRun, RecordsError, is_candle};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

const LONG_JOURNAL_LINES: u64 = 50_000;
const PAGE_LINES: u32 = 2_000;
const LINE_POLL_INTERVAL: Duration = Duration::from_millis(250);
const HOLDER_POLL_INTERVAL: Duration = Duration::from_millis(1_500);
/// Time without new lines after which the journal is reopened, because a different file may have replaced it.
const REOPEN_DELAY: Duration = Duration::from_secs(30);
const RETRY_DELAY: Duration = Duration::from_secs(1);

pub(crate) async fn follow_journal(shared: Arc<SharedState>) {
    loop {
        let problem = match Box::pin(follow_run(&shared)).await {
            Ok(()) => None,
            Err(RecordsError::Journal(JournalError::NotFound { .. })) => {
                Some("the journal does not exist yet".to_owned())
            }
            Err(RecordsError::NoRun) => Some("the journal does not contain a run yet".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        let rest = if problem.is_some() { RETRY_DELAY } else { Duration::ZERO };
        shared.update(|known| std::mem::replace(&mut known.problem, problem) != known.problem);
        tokio::time::sleep(rest).await;
    }
}

async fn follow_run(shared: &SharedState) -> Result<(), RecordsError> {
    let mut reader = Reader::open(&shared.watched.journal).await?;
    discard_stale_model(shared, &mut reader).await?;
    let (mut news, mut held) = (Instant::now(), None::<Instant>);
    let mut old = None;
    loop {
        if held.is_none_or(|held| held.elapsed() >= HOLDER_POLL_INTERVAL) {
            update_holder(shared, &mut reader).await?;
            held = Some(Instant::now());
        }
        let begin = shared.lock_state().model.is_none();
        if begin {
            old = Box::pin(init_model(shared, &mut reader)).await?;
        }
        let seq = shared.lock_state().model.as_ref().map_or(0, Model::seq);
        let page = reader.lines(seq + 1, PAGE_LINES).await?;
        let is_full = page.len() >= PAGE_LINES as usize;
        let total = if is_full { reader.head().await?.seq } else { 0 };
        if apply_page(shared, page, total, old.as_mut().map(|old| &mut old.recent))? {
            news = Instant::now();
            shared.notify_subscribers();
        } else if news.elapsed() >= REOPEN_DELAY {
            reader.close().await;
            return Ok(());
        }
        let is_reading = if let Some(lines) = &mut old {
            lines.read(shared, &mut reader, LINE_POLL_INTERVAL).await?
        } else {
            false
        };
        if is_reading {
            news = Instant::now();
        } else {
            old = None;
        }
        if is_full || is_reading {
            tokio::task::yield_now().await;
        } else {
            tokio::time::sleep(LINE_POLL_INTERVAL).await;
        }
    }
}

async fn init_model(shared: &SharedState, reader: &mut Reader) -> Result<Option<Backlog>, RecordsError> {
    let run = read_last_run(reader).await?;
    let lines = reader.head().await?.seq;
    let recent = if lines > LONG_JOURNAL_LINES { SnapshotFold::read(reader, run).await? } else { None };
    let empty = Model::new(read_last_run(reader).await?)?;
    let (model, old) = match recent {
        Some((recent, model)) => (model, Some(Backlog { recent, model: empty })),
        None => (empty, None),
    };
    let mut known = shared.lock_state();
    (known.model, known.read_progress) = (Some(model), Some((0, lines)));
    Ok(old)
}

/// Discards the model if a different file has replaced the journal, or if the model lacks older lines.
async fn discard_stale_model(shared: &SharedState, reader: &mut Reader) -> Result<(), RecordsError> {
    let last = {
        let mut known = shared.lock_state();
        if known.model.as_ref().is_some_and(|model| model.is_partial) {
            known.model = None;
        }
        known.model.as_ref().and_then(|model| model.last_line.as_ref()).map(|last| (last.seq, last.hash))
    };
    let Some((seq, hash)) = last else { return Ok(()) };
    if !reader.lines(seq, 1).await?.first().is_some_and(|line| (line.seq, line.hash) == (seq, hash)) {
        shared.lock_state().model = None;
        shared.notify_subscribers();
    }
    Ok(())
}

fn apply_page(
    shared: &SharedState,
    page: Vec<StoredLine>,
    total: u64,
    mut recent: Option<&mut SnapshotFold>,
) -> Result<bool, RecordsError> {
    let mut known = shared.lock_state();
    let Some(model) = known.model.as_mut() else { return Ok(false) };
    let mut is_new = !page.is_empty();
    // A page that contains only candles does not affect money, trades or verdicts.
    let is_to_bring_up = page.iter().any(|line| !is_candle(line));
    if !is_continuation(model.last_line.as_ref(), page.first()) {
        known.model = None;
        return Ok(true);
    }
    for line in page {
        let took = match recent.as_deref_mut() {
            Some(recent) => recent.fold(model, line)?,
            None => model.apply_line(line)?,
        };
        if took == LineEffect::OtherRun {
            known.model = None;
            return Ok(true);
        }
    }
    match recent {
        Some(recent) if is_to_bring_up => recent.update_model(model)?,
        Some(_) => {}
        None => {
            let reading = (total > 0).then(|| (model.seq(), total));
            is_new |= known.read_progress != reading;
            known.read_progress = reading;
        }
    }
    is_new |= known.problem.take().is_some();
    Ok(is_new)
}

fn is_continuation(last: Option<&StoredLine>, next: Option<&StoredLine>) -> bool {
    let (Some(last), Some(next)) = (last, next) else { return true };
    next.hash == last.hash.next(next.seq, &next.line)
}

async fn update_holder(shared: &SharedState, reader: &mut Reader) -> Result<(), RecordsError> {
    let lease = reader.current_lease().await?;
    let us = Holder::current_process("candlewick");
    let is_journal_held =
        lease.as_ref().is_some_and(|lease| !LeaseTerms::default().may_take_over(lease, &us));
    let holder = lease.map(|lease| lease.holder.to_string());
    shared.update(|known| {
        let is_news = known.is_journal_held != is_journal_held || known.holder != holder;
        (known.is_journal_held, known.holder) = (is_journal_held, holder);
        is_news
    });
    Ok(())
}

/// Number of lines per read in the search for a run. Single lines may be manual entries, which belong to no run.
const SEARCH_LINES: u32 = 500;

async fn read_last_run(reader: &mut Reader) -> Result<RecordedRun, RecordsError> {
    let head = reader.head().await?.seq;
    let end = reader.lines(head.saturating_sub(u64::from(SEARCH_LINES) - 1).max(1), SEARCH_LINES).await?;
    let last = end.iter().rev().map(|stored| stored.line.run).find(|run| *run != NO_RUN);
    let last = last.ok_or(RecordsError::NoRun)?;
    // Run numbers ascend, so a binary search finds the first line of the run.
    let (mut low, mut high) = (1, head);
    while low < high {
        let middle = low + (high - low) / 2;
        let there = reader.lines(middle, SEARCH_LINES).await?;
        let run = there.iter().map(|stored| stored.line.run).find(|run| *run != NO_RUN);
        if run.is_none_or(|run| run >= last) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    // Lines that belong to no run may precede the header.
    let around = reader.lines(low, SEARCH_LINES).await?;
    let header =
        around.into_iter().find(|stored| stored.line.kind == LineKind::Run && stored.line.run == last);
    RecordedRun::from_stored(&header.ok_or(RecordsError::NoRun)?)
}

struct Backlog {
    recent: SnapshotFold,
    model: Model,
}

impl Backlog {
    /// Reads old lines for up to `time`, and returns whether any remain. After the last line, shows the complete model.
    async fn read(
        &mut self,
        shared: &SharedState,
        reader: &mut Reader,
        time: Duration,
    ) -> Result<bool, RecordsError> {
        let begun = Instant::now();
        while begun.elapsed() < time {
            let shown = shared.lock_state().model.as_ref().filter(|model| model.is_partial).map(Model::seq);
            let Some(shown) = shown else { return Ok(false) };
            let page = reader.lines(self.model.seq() + 1, PAGE_LINES).await?;
            if !is_continuation(self.model.last_line.as_ref(), page.first()) {
                shared.lock_state().model = None;
                return Ok(false);
            }
            for line in page.into_iter().filter(|line| line.seq <= shown) {
                if self.model.apply_line(line)? == LineEffect::OtherRun {
                    shared.lock_state().model = None;
                    return Ok(false);
                }
            }
            let is_whole = self.model.seq() == shown;
            shared.lock_state().read_progress = (!is_whole).then(|| (self.model.seq(), shown));
            if is_whole {
                self.replace_shown_model(shared);
                return Ok(false);
            }
            tokio::task::yield_now().await;
        }
        shared.notify_subscribers();
        Ok(true)
    }

    fn replace_shown_model(&mut self, shared: &SharedState) {
        shared.update(|known| {
            let Some(shown) = known.model.as_mut() else { return false };
            std::mem::swap(shown, &mut self.model);
            // Moves the last lines, so that subscribers do not receive a line twice.
            shown.tail = std::mem::take(&mut self.model.tail);
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_journal::{ChainHash, Line};
    use candlewick_sdk::Millis;

    fn line(seq: u64, before: ChainHash, body: &str) -> StoredLine {
        let (at, received) = (Millis::ZERO, Millis::ZERO);
        let line = Line { run: 1, kind: LineKind::Note, intent: None, at, received, body: body.to_owned() };
        StoredLine { seq, hash: before.next(seq, &line), line }
    }

    #[test]
    fn detects_line_of_another_journal() {
        let first = line(1, ChainHash::GENESIS, "1");
        let next = line(2, first.hash, "2");
        let fits = [(None, Some(&first)), (Some(&first), None), (Some(&first), Some(&next))];
        assert!(fits.into_iter().all(|(last, line)| is_continuation(last, line)));
        let others = line(1, ChainHash::GENESIS, "of another");
        assert!(!is_continuation(Some(&others), Some(&next)), "a longer journal of the same name");
        assert!(!is_continuation(Some(&first), Some(&line(3, next.hash, "3"))), "one is missing");
    }
}

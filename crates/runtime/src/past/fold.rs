//! Folds a journal into a run's state, starting at the first entry or the last snapshot. Also creates the snapshots.

use super::evicted_intents::{EvictionPolicy, RetainedDetail};
use super::pieces::{PreviousSettings, RestoredFold, SnapshotProblem, SnapshotReader};
use super::snapshot::{Fingerprints, INTENTS_PER_PART, WrittenParts, parse_fingerprint};
use super::{OldTrade, RecoveredState};
use crate::error::Result;
use crate::min_retention_override;
use candlewick_engine::{
    BotVerdict, EngineError, IntentId, JournalDecoder, Session, SessionNames, SessionSettings,
};
use candlewick_journal::{
    Head, IntentRows, JournalError, JournalFollower, Line, LineKind, Reader, StoredLine, is_snapshot,
};
use candlewick_sdk::Millis;
use std::collections::BTreeSet;

const PAGE_LINES: u32 = 5_000;

/// State that a run with the given settings restores from a journal.
pub struct JournalFold {
    session: Session,
    recovered: RecoveredState,
    decoder: Option<JournalDecoder>,
    fingerprint: String,
    written: WrittenParts,
    before: WrittenParts,
    every: u64,
    part: u64,
    since: u64,
    tried: u64,
    read: u64,
    last: u64,
    is_writing: bool,
    /// Line number of the current run's header. Until the header is read, the settings for a snapshot are unknown.
    header: Option<u64>,
    /// Whether a line could not be folded. If so, no snapshot may be written.
    is_broken: bool,
    has_failed: bool,
    row_failures: u64,
    notice: Option<String>,
}

impl JournalFold {
    pub fn new(settings: &SessionSettings, every: u64) -> Result<Self, EngineError> {
        let fingerprint = settings
            .fingerprint()
            .map_err(|error| EngineError::Setting { key: "bots".to_owned(), problem: error.to_string() })?;
        let restored = RestoredFold {
            session: Session::without_strategies(settings)?,
            recovered: RecoveredState::default(),
            decoder: None,
            written: WrittenParts::default(),
        };
        Ok(Self::from_restored(restored, (fingerprint, every), 0))
    }

    /// Folds a whole journal and verifies every line that it reads. Starts at the last snapshot if that snapshot
    /// fits the settings, and otherwise at the first line.
    pub async fn read(reader: &mut Reader, settings: &SessionSettings, every: u64) -> Result<Self> {
        Box::pin(Self::read_with_progress(reader, settings, every, None, &mut |_| {})).await
    }

    /// Like [`JournalFold::read`], but reports its progress. Evicts intents older than `remember` if both the snapshot
    /// and the tables contain them (see [`RecoveredState::evicted_count`]).
    pub async fn read_with_progress(
        reader: &mut Reader,
        settings: &SessionSettings,
        every: u64,
        remember: Option<Millis>,
        watch: &mut FullReadCallback<'_>,
    ) -> Result<Self> {
        let policy = match remember {
            Some(remember) => EvictionPolicy::load(reader, remember, settings.bots.len()).await?,
            None => None,
        };
        Box::pin(Self::read_with_policy(reader, settings, every, policy, watch)).await
    }

    /// Like [`JournalFold::read`], but loads only the rows of old intents ([`RecoveredState::old_rows`]).
    pub async fn read_rows(reader: &mut Reader, settings: &SessionSettings) -> Result<Self> {
        let policy = Self::load_policy(reader, settings, RetainedDetail::Rows).await?;
        Box::pin(Self::read_with_policy(reader, settings, 0, policy, &mut |_| {})).await
    }

    /// Like [`JournalFold::read`], but loads old intents only as statistics ([`RecoveredState::take_old_trades`]).
    pub async fn read_trades(reader: &mut Reader, settings: &SessionSettings) -> Result<Self> {
        let policy = Self::load_policy(reader, settings, RetainedDetail::Trades).await?;
        Box::pin(Self::read_with_policy(reader, settings, 0, policy, &mut |_| {})).await
    }

    async fn load_policy(
        reader: &mut Reader,
        settings: &SessionSettings,
        detail: RetainedDetail,
    ) -> Result<Option<EvictionPolicy>> {
        let policy = EvictionPolicy::load(reader, Millis::ZERO, settings.bots.len()).await?;
        Ok(policy.map(|policy| policy.with_detail(detail)))
    }

    async fn read_with_policy(
        reader: &mut Reader,
        settings: &SessionSettings,
        every: u64,
        policy: Option<EvictionPolicy>,
        watch: &mut FullReadCallback<'_>,
    ) -> Result<Self> {
        let from_snapshot = Self::from_last_snapshot(reader, settings, policy, every);
        let notice = match Box::pin(from_snapshot).await? {
            Ok(Some(mut fold)) => {
                fold.recovered.find_halt(reader).await?;
                return Ok(fold);
            }
            Ok(None) => None,
            Err((seq, why)) => Some(format!(
                "the snapshot in journal entry {seq} is unusable, so the whole journal is read: {why}"
            )),
        };
        let new = Self::new(settings, every);
        let mut fold = new.map_err(|error| super::unreadable_entry(0, &error.to_string()))?;
        fold.notice = notice;
        let total = reader.head().await?.seq;
        let mut tell = |notice: Option<&String>, done: u64| {
            watch(FullReadProgress { reason: notice.map(String::as_str), done, total: total.max(done) });
        };
        let mut walk = reader.walk(PAGE_LINES).await?;
        loop {
            tell(fold.notice(), fold.last);
            let lines = walk.next().await?;
            if lines.is_empty() {
                return Ok(fold);
            }
            lines.iter().try_for_each(|stored| fold.fold(stored.seq, &stored.line))?;
        }
    }

    /// Like [`JournalFold::read_trades`], but returns `None` if no snapshot is usable.
    pub async fn read_recent(reader: &mut Reader, settings: &SessionSettings) -> Result<Option<Self>> {
        let policy = Self::load_policy(reader, settings, RetainedDetail::Trades).await?;
        let from_snapshot = Self::from_last_snapshot(reader, settings, policy, 0);
        let mut fold = Box::pin(from_snapshot).await?.unwrap_or(None);
        if let Some(fold) = &mut fold {
            fold.recovered.find_halt(reader).await?;
        }
        Ok(fold)
    }

    async fn from_last_snapshot(
        reader: &mut Reader,
        settings: &SessionSettings,
        policy: Option<EvictionPolicy>,
        every: u64,
    ) -> Result<Result<Option<Self>, (u64, SnapshotProblem)>> {
        let fingerprints = Fingerprints::new(settings)?;
        let Some(last) = reader.last_snapshot().await? else { return Ok(Ok(None)) };
        let unusable = |why: SnapshotProblem| Ok(Err((last.seq, why)));
        let before =
            match parse_fingerprint(&last.line.body).filter(|settings| !fingerprints.matches(settings)) {
                Some(settings) => Some(PreviousSettings::load(reader, &last, &settings).await?),
                None => None,
            };
        let mut pieces = SnapshotReader::for_settings(settings, &fingerprints, before).with_eviction(policy);
        let mut next = Some(last.clone());
        while let Some(stored) = next.take() {
            let previous = match pieces.add(&stored) {
                Ok(previous) => previous,
                Err(why) => return unusable(why),
            };
            let Some(previous) = previous else { break };
            next = reader.line_at(previous).await?;
            if next.is_none() {
                return unusable(format!("the part in entry {} is missing or has changed", previous.seq));
            }
        }
        let mut fold = match pieces.restore() {
            Ok(restored) => Self::from_restored(restored, (fingerprints.current.clone(), every), last.seq),
            Err(why) => return unusable(why),
        };
        let mut walk = match reader.walk_after(last.head(), PAGE_LINES).await {
            Err(JournalError::BrokenChain { reason, .. }) => return unusable(reason),
            walk => walk?,
        };
        loop {
            let lines = match walk.next().await {
                // A complete read follows, and its error names the first line that breaks the chain.
                Err(JournalError::BrokenChain { reason, .. }) => return unusable(reason),
                lines => lines?,
            };
            if lines.is_empty() {
                return Ok(Ok(Some(fold)));
            }
            lines.iter().try_for_each(|stored| fold.fold(stored.seq, &stored.line))?;
            if fold.recovered.lacks_settlement {
                return unusable("a trade was settled before the snapshot and corrected after it".to_owned());
            }
        }
    }

    /// Restores the fold from the lines of a snapshot. The first of `lines` must be the newest. Skips unrelated lines.
    pub fn from_snapshot(
        settings: &SessionSettings,
        every: u64,
        lines: &[StoredLine],
    ) -> Result<Self, String> {
        let fingerprints = Fingerprints::new(settings).map_err(|error| error.to_string())?;
        let mut pieces = SnapshotReader::for_settings(settings, &fingerprints, None);
        let last = lines.first().ok_or("the snapshot has no lines")?;
        let mut next = Some(last);
        while let Some(stored) = next {
            let previous = pieces.add(stored)?;
            let part = |head: Head| lines.iter().find(|line| line.head() == head);
            next = match previous {
                Some(head) => Some(part(head).ok_or_else(|| format!("part {} is missing", head.seq))?),
                None => None,
            };
        }
        Ok(Self::from_restored(pieces.restore()?, (fingerprints.current.clone(), every), last.seq))
    }

    #[must_use]
    pub fn with_part_size(mut self, intents: u64) -> Self {
        self.part = intents.max(1);
        self
    }

    fn from_restored(restored: RestoredFold, (fingerprint, every): (String, u64), last: u64) -> Self {
        let RestoredFold { session, recovered, decoder, written } = restored;
        Self {
            session,
            recovered,
            decoder,
            fingerprint,
            before: written.clone(),
            written,
            every,
            part: INTENTS_PER_PART,
            since: 0,
            tried: 0,
            read: 0,
            last,
            is_writing: false,
            header: None,
            is_broken: false,
            has_failed: false,
            row_failures: 0,
            notice: None,
        }
    }

    pub const fn last_seq(&self) -> u64 {
        self.last
    }

    /// Returns whether the settlement of a corrected trade was not folded. If so, the whole journal must be folded.
    pub const fn lacks_settlement(&self) -> bool {
        self.recovered.lacks_settlement
    }

    pub const fn recovered(&self) -> &RecoveredState {
        &self.recovered
    }

    pub fn into_parts(self) -> (Session, RecoveredState, u64) {
        (self.session, self.recovered, self.last)
    }

    pub fn first_intents(&self) -> impl Iterator<Item = IntentId> {
        self.session.verdicts().map(BotVerdict::first_intent)
    }

    pub fn take_old_trades(&mut self) -> Vec<OldTrade> {
        self.recovered.take_old_trades()
    }

    pub fn restore_into(&self, session: &mut Session) -> Result<RecoveredState> {
        let restored = session.restore(self.session.snapshot());
        restored.map_err(|error| super::unreadable_entry(0, &error.to_string()))?;
        session.copy_history_from(&self.session);
        Ok(self.recovered.clone())
    }

    pub const fn lines_read(&self) -> u64 {
        self.read
    }

    pub const fn notice(&self) -> Option<&String> {
        self.notice.as_ref()
    }

    pub fn fold(&mut self, seq: u64, line: &Line) -> Result<()> {
        (self.read, self.last) = (self.read + 1, seq);
        self.since += u64::from(!is_snapshot(&line.body));
        self.recovered.fold_line((seq, line), &mut self.decoder, &mut self.session)
    }

    fn build_piece(&mut self) -> Result<(String, bool), serde_json::Error> {
        match self.written.next_part_end(&self.recovered, self.part) {
            Some(end) => Ok((self.written.add_part(&self.recovered, end)?, false)),
            None => Ok((self.build_full_snapshot(&self.fingerprint)?, true)),
        }
    }

    fn build_full_snapshot(&self, fingerprint: &str) -> Result<String, serde_json::Error> {
        self.written.build_full_snapshot(&self.recovered, (fingerprint, &self.session, self.decoder.as_ref()))
    }

    /// Rebuilds a snapshot piece from the current state, for comparison with `body`. Returns `None` if this fails.
    /// The caller must first rebuild all earlier pieces, and check that the settings match.
    pub(super) fn rebuild_piece(&mut self, body: &str) -> Option<String> {
        match self.written.part_end(&self.recovered, body) {
            Some(end) => self.written.add_part(&self.recovered, end).ok(),
            None => self.build_full_snapshot(&parse_fingerprint(body)?).ok(),
        }
    }

    pub(super) fn names(&self) -> SessionNames {
        self.session.names()
    }

    pub(super) const fn written_parts_mut(&mut self) -> &mut WrittenParts {
        &mut self.written
    }
}

/// Time for which settled rows are retained, because the venue may still correct their results.
const CORRECTION_WINDOW: Millis = Millis::DAY;
const MAX_CORRECTABLE_TRADES: usize = 20_000;

/// Factor by which the snapshot interval shrinks at the end of a run, so that fewer new lines trigger a snapshot.
const RUN_END_INTERVAL_DIVISOR: u64 = 10;

/// Number of unsaved parts that triggers a snapshot, even after only a few new lines.
const MIN_UNSAVED_PARTS: u64 = 4;

impl JournalFold {
    fn forget_rows(&mut self) {
        let Self { recovered, before, written, every, .. } = self;
        let is_recent = recent_settlements(recovered);
        // The last piece may have to be written again, and the written parts do not contain later revisions.
        let revised = before.unsaved_revisions(recovered);
        let is_held = |intent: IntentId| {
            let is_in_parts = || written.has_final_state(intent) && before.has_final_state(intent);
            !is_recent.contains(&intent) && (*every == 0 || is_in_parts() && !revised.contains(&intent))
        };
        let worth = recovered.book.rows().len() / 2;
        let over =
            recovered.book.rows().iter().filter(|row| row.is_finished() && is_held(row.approved.intent()));
        if over.count() > worth {
            recovered.forget_intents(is_held);
        }
    }

    /// Returns whether to write a snapshot piece now. Always false until the run's header, with the settings, is read.
    fn should_write_piece(&self, is_end: bool) -> bool {
        !self.is_broken && self.header.is_some() && (self.is_writing || self.should_begin_snapshot(is_end))
    }

    fn should_begin_snapshot(&self, is_end: bool) -> bool {
        let lines = if is_end { (self.every / RUN_END_INTERVAL_DIVISOR).max(1) } else { self.every };
        let has_parts =
            self.written.unsaved_intents(&self.recovered, self.tried) >= self.part * MIN_UNSAVED_PARTS;
        self.every > 0 && (self.since >= lines || has_parts)
    }
}

fn recent_settlements(past: &RecoveredState) -> BTreeSet<IntentId> {
    let since = past.last_received - min_retention_override().unwrap_or(CORRECTION_WINDOW);
    let rows = past.book.rows().iter().rev().filter(|row| row.settled_at.is_some_and(|at| at > since));
    rows.take(MAX_CORRECTABLE_TRADES).map(|row| row.approved.intent()).collect()
}

impl JournalFollower for JournalFold {
    fn on_line_stored(&mut self, stored: &StoredLine) {
        if self.is_broken {
            return;
        }
        if let Err(error) = self.fold(stored.seq, &stored.line) {
            tracing::warn!(
                "snapshots and tables are no longer written, and the next start reads the whole journal: {error}"
            );
            self.is_broken = true;
        }
        if self.recovered.lacks_settlement && !self.is_broken {
            tracing::warn!("snapshots are no longer written, and the next start reads the whole journal");
            self.is_broken = true;
        }
        if stored.line.kind == LineKind::Run {
            self.header = Some(stored.seq);
        }
    }

    fn is_snapshot_due(&self) -> bool {
        self.should_write_piece(false)
    }

    fn next_snapshot_piece(&mut self, is_end: bool) -> Option<String> {
        if !self.should_write_piece(is_end) {
            return None;
        }
        self.before = self.written.clone();
        match self.build_piece() {
            Ok((body, is_whole)) => {
                self.is_writing = !is_whole;
                if is_whole {
                    self.since = 0;
                }
                Some(body)
            }
            Err(error) => {
                tracing::warn!("snapshots are no longer written: {error}");
                self.is_broken = true;
                None
            }
        }
    }

    fn on_snapshot_piece_stored(&mut self, head: Head) {
        // If this piece completes the snapshot, no later piece continues it.
        if self.is_writing {
            self.written.previous = Some(head);
        }
    }

    fn on_snapshot_piece_failed(&mut self, why: &str) {
        if !std::mem::replace(&mut self.has_failed, true) {
            tracing::warn!(
                "a journal snapshot could not be stored: {why}. Trading continues, but the next start takes longer"
            );
        }
        self.written = self.before.clone();
        // The failure may persist, so the next attempt is made after a full interval.
        (self.is_writing, self.since, self.tried) = (false, 0, self.recovered.last_intent());
    }

    fn intent_rows(&self) -> Option<&dyn IntentRows> {
        (!self.is_broken).then_some(&self.recovered as &dyn IntentRows)
    }

    fn on_rows_complete(&mut self) {
        self.forget_rows();
    }

    fn on_rows_failed(&mut self, error: &JournalError) {
        self.row_failures += 1;
        if self.row_failures == 1 {
            tracing::warn!(
                "the journal tables could not be updated: {error}. Trading continues, and the update is retried"
            );
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullReadProgress<'a> {
    pub reason: Option<&'a str>,
    pub done: u64,
    pub total: u64,
}

/// Callback for the progress of a complete read. Called at the start, and again every few thousand entries.
pub type FullReadCallback<'a> = dyn FnMut(FullReadProgress<'_>) + Send + 'a;

//! Restores a fold from the pieces of a snapshot, with the settings of a run.

use super::evicted_intents::{EvictionFilter, EvictionPolicy};
use super::snapshot::{
    Fingerprints, SnapshotDelta, SnapshotPiece, StoredIntent, WholeSnapshot, WrittenParts, describe_format,
    is_known_format, parse_format,
};
use super::{RecoveredState, read_header};
use crate::error::Result;
use candlewick_engine::{
    Header, IntentId, JournalDecoder, Renumbering, Session, SessionNames, SessionSettings, SnapshotOrigin,
    SymbolId,
};
use candlewick_journal::{Head, JournalError, Reader, StoredLine};

pub(super) type SnapshotProblem = String;

pub(super) struct RestoredFold {
    pub(super) session: Session,
    pub(super) recovered: RecoveredState,
    pub(super) decoder: Option<JournalDecoder>,
    pub(super) written: WrittenParts,
}

pub(super) struct PreviousSettings {
    settings: SessionSettings,
    headers: Vec<Header>,
}

pub(super) struct SnapshotReader<'a> {
    settings: &'a SessionSettings,
    fingerprints: &'a Fingerprints,
    before: Option<Result<PreviousSettings, SnapshotProblem>>,
    whole: Option<(Box<WholeSnapshot>, Session)>,
    /// Maps the bot and symbol numbers of the next piece to the run's numbers. `None` if they are equal.
    numbers: Option<Renumbering>,
    names: Option<SessionNames>,
    is_renumbered: bool,
    last_symbol: Option<SymbolId>,
    parts: Vec<SnapshotDelta>,
    policy: Option<EvictionPolicy>,
    filter: Option<EvictionFilter>,
}

impl SnapshotDelta {
    fn restore_into(
        self,
        past: &mut RecoveredState,
        reasons: &mut JournalDecoder,
        may_lack: bool,
    ) -> Result<(), SnapshotProblem> {
        past.unexplained.extend(self.unexplained);
        past.second_trades.extend(self.second_trades);
        past.alarms.extend(self.alarms);
        past.findings.extend(self.found);
        past.displayed.extend(self.displayed);
        for StoredIntent { kept, sent, doubted, decided } in self.intents {
            let intent: IntentId = kept.row().approved.intent();
            past.sent.extend(sent.map(|at| (intent, at)));
            past.in_doubt_since.extend(doubted.map(|at| (intent, at)));
            past.decided.extend(decided.map(|decided| (intent, decided)));
            if !past.book.restore_row(kept, reasons) && !may_lack {
                return Err(format!("the intent before #{intent} is missing"));
            }
        }
        Ok(())
    }
}

impl PreviousSettings {
    pub(super) async fn load(
        reader: &mut Reader,
        last: &StoredLine,
        settings: &str,
    ) -> Result<Result<Self, SnapshotProblem>> {
        let unknown = |why: &str| Ok(Err(format!("it was written with other settings, and {why}")));
        let headers = reader.run_headers().await?;
        let numbers: Vec<u64> = headers.iter().map(|line| line.seq).filter(|seq| *seq < last.seq).collect();
        let headers = match reader.lines_by_number(&numbers).await {
            // A complete read follows, and its error names the first line that breaks the chain.
            Err(JournalError::BrokenChain { seq, .. }) => {
                return unknown(&format!("the header in entry {seq} is damaged"));
            }
            headers => headers?,
        };
        let headers: Vec<Header> =
            headers.iter().map(|stored| read_header(stored.seq, &stored.line)).collect::<Result<_, _>>()?;
        let Some(last) = headers.last() else { return unknown("no earlier run has these settings") };
        let own = last.settings.get("session").cloned();
        let Some(own) = own.and_then(|own| serde_json::from_value::<SessionSettings>(own).ok()) else {
            return unknown("the settings of the previous run cannot be read");
        };
        if !Fingerprints::new(&own)?.matches(settings) {
            return unknown("these are not the settings of the previous run");
        }
        Ok(Ok(Self { settings: own, headers }))
    }
}

impl<'a> SnapshotReader<'a> {
    /// Creates a reader for the settings of a run. `before` contains the snapshot's settings if they differ.
    pub(super) const fn for_settings(
        settings: &'a SessionSettings,
        fingerprints: &'a Fingerprints,
        before: Option<Result<PreviousSettings, SnapshotProblem>>,
    ) -> Self {
        Self {
            settings,
            fingerprints,
            before,
            whole: None,
            numbers: None,
            names: None,
            is_renumbered: false,
            last_symbol: None,
            parts: Vec::new(),
            policy: None,
            filter: None,
        }
    }

    pub(super) fn with_eviction(self, policy: Option<EvictionPolicy>) -> Self {
        Self { policy, ..self }
    }

    /// Adds a piece. Returns the previous part, which must be added next, or `None` if this is the first part.
    pub(super) fn add(&mut self, stored: &StoredLine) -> Result<Option<Head>, SnapshotProblem> {
        let body = &stored.line.body;
        let piece = serde_json::from_str(body).map_err(|error| {
            let format = parse_format(body).filter(|format| !is_known_format(*format));
            format.map_or_else(|| format!("the snapshot cannot be read: {error}"), describe_format)
        })?;
        match (piece, &self.whole) {
            (SnapshotPiece::Snapshot(mut whole), None) => {
                if !is_known_format(whole.format) {
                    return Err(describe_format(whole.format));
                }
                let session = self.restore_session(&whole)?;
                self.renumber(&mut whole.gain);
                let previous = whole.gain.previous;
                whole.decoder = whole.decoder.take().map(|decoder| match &self.numbers {
                    Some(numbers) => decoder.renumbered(numbers),
                    None => decoder,
                });
                self.names = self.names.take().filter(|_| previous.is_some());
                let filter = |policy| EvictionFilter::new(policy, stored.line.at, &whole.gain.intents);
                self.filter = self.policy.map(filter);
                let names = whole.gain.names_before.take();
                self.whole = Some((whole, session));
                self.update_renumbering(names.filter(|_| previous.is_some()))?;
                Ok(previous)
            }
            (SnapshotPiece::SnapshotPart(mut part), Some(_)) => {
                self.renumber(&mut part);
                let (previous, names) = (part.previous, part.names_before.take());
                if let Some(filter) = &mut self.filter {
                    part.intents = filter.retain(stored.seq, part.intents);
                }
                self.parts.push(part);
                // No later piece continues a complete snapshot, so its names are valid for this piece only.
                self.is_renumbered |= names.is_some();
                let last = self.names.clone();
                self.update_renumbering(names)?;
                self.names = last;
                Ok(previous)
            }
            (SnapshotPiece::SnapshotPart(_), None) => {
                Err("the entry is only a part of a snapshot".to_owned())
            }
            (SnapshotPiece::Snapshot(_), Some(_)) => {
                Err("the snapshot refers to an earlier entry that is not a snapshot part".to_owned())
            }
        }
    }

    fn restore_session(&mut self, whole: &WholeSnapshot) -> Result<Session, SnapshotProblem> {
        let mut session = Session::without_strategies(self.settings).map_err(|error| error.to_string())?;
        if self.fingerprints.matches(&whole.settings) {
            self.before = None;
            session.restore(whole.session.clone()).map_err(|error| error.to_string())?;
            return Ok(session);
        }
        let PreviousSettings { settings, headers } = match &self.before {
            Some(Ok(before)) => before,
            Some(Err(why)) => return Err(why.clone()),
            None => return Err("it was written with other settings".to_owned()),
        };
        let before = SnapshotOrigin { settings, headers };
        let numbers = session
            .restore_with_changes(self.settings, whole.session.clone(), before)
            .map_err(|why| format!("it was written with other settings: {why}"))?;
        let names = whole.session.names();
        if !names.has_same_ids(&session.names()) {
            (self.numbers, self.names) = (Some(numbers), Some(names));
        }
        Ok(session)
    }

    fn renumber(&mut self, gain: &mut SnapshotDelta) {
        if let Some(numbers) = &self.numbers {
            gain.intents =
                std::mem::take(&mut gain.intents).into_iter().map(|kept| kept.renumbered(numbers)).collect();
        }
        let symbols = gain.intents.iter().map(|intent| intent.row().approved.symbol());
        self.last_symbol = symbols.chain(self.last_symbol).max();
    }

    fn update_renumbering(&mut self, names: Option<Box<SessionNames>>) -> Result<(), SnapshotProblem> {
        let (Some(names), Some((_, session))) = (names, &self.whole) else { return Ok(()) };
        let own = session.names();
        let numbers = names.renumbering_to(&own).ok_or("its parts refer to an unknown bot or symbol")?;
        let is_same = names.has_same_ids(&own);
        (self.numbers, self.names) = if is_same { (None, None) } else { (Some(numbers), Some(*names)) };
        Ok(())
    }

    pub(super) fn restore(self) -> Result<RestoredFold, SnapshotProblem> {
        let (whole, mut session) = self.whole.ok_or("the snapshot has no state")?;
        let (mut past, mut reasons) = (RecoveredState::default(), JournalDecoder::default());
        let may_lack = self.filter.is_some();
        past.evicted = self.filter.map(EvictionFilter::finish).unwrap_or_default();
        for part in self.parts.into_iter().rev() {
            part.restore_into(&mut past, &mut reasons, may_lack)?;
        }
        let mut written = WrittenParts::from_state(&past, whole.gain.previous);
        written.is_renumbered = self.is_renumbered || self.names.is_some();
        written.names = self.names;
        past.revised = written.intents_revised_in_delta(&whole.gain);
        whole.gain.restore_into(&mut past, &mut reasons, may_lack)?;
        if !past.book.restore_counts(whole.totals) {
            return Err("the snapshot counts rejections by rules that this version does not know".to_owned());
        }
        let next = past.book.rows().last().map_or(1, |row| row.approved.intent().number() + 1);
        if next != session.next_intent().number() {
            return Err("the snapshot's intents do not match its state".to_owned());
        }
        if past.book.rows().len() as u64 + past.evicted.count + 1 != next {
            return Err("an intent is missing".to_owned());
        }
        if let (Some(_), Some(symbol)) = (&self.before, self.last_symbol) {
            session.allocate_trade_counts(symbol);
        }
        (past.wallet, past.is_halted) = (whole.wallet, whole.is_halted);
        (past.runs, past.began, past.wallet_line) = (whole.runs, whole.began, whole.wallet_line);
        Ok(RestoredFold { session, recovered: past, decoder: whole.decoder, written })
    }
}

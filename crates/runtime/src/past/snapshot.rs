//! What a snapshot holds of a folded journal, and how it is written and read.

use super::old_intents::{Leaving, OldFilter};
use super::{Decided, Past};
use crate::RuntimeError;
use crate::audit::WalletAudit;
use candlewick_engine::{
    BookTotals, IntentId, IntentRow, JournalDecoder, KeptRow, Session, SessionSettings, SessionSnapshot,
    VenueId,
};
use candlewick_journal::{Head, IntentRows as _, StoredLine};
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The number of the form of a snapshot: raised with every change of what it holds or means.
pub(super) const FORMAT: u32 = 4;

/// Intents of one part, as a run writes them.
pub(super) const PART: u64 = 250;
/// Numbers of lines that are worth a part, also without so many intents.
const PART_TOLD: usize = 10_000;

/// A line of a snapshot: what it has gained since the part before, for good, or that and its state as it stands.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Piece {
    /// What later snapshots go on from.
    SnapshotPart(Gain),
    /// What is in no part yet, and the state. No later snapshot goes on from it.
    Snapshot(Box<Whole>),
}

/// What has become known since the part before: intents that are new or were not over then, and the rest of what only grows.
#[derive(Serialize, Deserialize)]
pub(super) struct Gain {
    /// The part before, by number and hash: what that holds counts too.
    pub(super) previous: Option<Head>,
    intents: Vec<KeptIntent>,
    unexplained: Vec<String>,
    second_trades: Vec<String>,
    alarms: Vec<String>,
    found: Vec<String>,
    told: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct KeptIntent {
    kept: KeptRow,
    sent: Option<Millis>,
    doubted: Option<Millis>,
    decided: Option<Decided>,
}

/// What a fold has come to, but for what parts hold.
#[derive(Serialize, Deserialize)]
pub(super) struct Whole {
    format: u32,
    /// The hash of the settings under which the journal was folded.
    settings: String,
    gain: Gain,
    session: SessionSnapshot,
    decoder: Option<JournalDecoder>,
    totals: BookTotals,
    wallet: WalletAudit,
    is_halted: bool,
    wallet_line: Option<u64>,
    runs: u64,
    began: Option<Millis>,
}

/// How much of a fold the parts of its snapshots hold already.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    /// The last part.
    pub(super) previous: Option<Head>,
    /// The number of the last intent.
    last: u64,
    /// Intents that were not over when they were written.
    open: Vec<IntentId>,
    unexplained: usize,
    second_trades: usize,
    told: usize,
    alarms: BTreeSet<String>,
    found: BTreeSet<String>,
}

impl KeptIntent {
    pub(super) const fn row(&self) -> &IntentRow {
        self.kept.row()
    }

    /// Whether a person said how its trade ended.
    pub(super) const fn is_by_person(&self) -> bool {
        self.kept.is_by_person()
    }

    /// The venue's name of its trade.
    pub(super) const fn venue_id(&self) -> Option<VenueId> {
        self.kept.venue_id()
    }

    /// Whether the venue took it otherwise than it was ordered.
    pub(super) const fn is_departure(&self) -> bool {
        self.kept.is_departure()
    }

    /// Since when it is, or was, in doubt.
    pub(super) const fn doubted(&self) -> Option<Millis> {
        self.doubted
    }

    /// Where it was decided.
    pub(super) const fn decided(&self) -> Option<Decided> {
        self.decided
    }

    fn of(past: &Past, intent: IntentId) -> Option<Self> {
        let kept = past.book.kept_row(intent)?;
        let (sent, doubted) = (past.sent.get(&intent).copied(), past.doubted.get(&intent).copied());
        let decided = past.decided.get(&intent).copied();
        Some(Self { kept, sent, doubted, decided })
    }
}

impl Written {
    /// All that a fold has come to, whose last part is this line.
    fn all_of(past: &Past, previous: Option<Head>) -> Self {
        let under_way = past.book.rows().iter().filter(|row| !row.is_over());
        Self {
            previous,
            last: past.last_intent(),
            open: under_way.map(|row| row.approved.intent()).collect(),
            unexplained: past.unexplained.len(),
            second_trades: past.second_trades.len(),
            told: past.told.len(),
            alarms: past.alarms.clone(),
            found: past.found.clone(),
        }
    }

    /// The last intent of the next part, where so many are worth one; none where a whole is next.
    pub(super) fn next_part(&self, past: &Past, part: u64) -> Option<u64> {
        let (last, told) = (past.last_intent(), past.told.len());
        let is_due = last >= self.last + part || told >= self.told + PART_TOLD;
        is_due.then(|| last.min(self.last + part))
    }

    /// How many intents after this one are in no part.
    pub(super) fn lacks(&self, past: &Past, after: u64) -> u64 {
        past.last_intent().saturating_sub(self.last.max(after))
    }

    /// The next part of this fold, with its intents up to this one.
    pub(super) fn part(&mut self, past: &Past, end: u64) -> Result<String, serde_json::Error> {
        let gain = self.gain(past, end);
        self.open.extend((self.last + 1..=end).map(IntentId::new));
        self.open.retain(|intent| past.book.row(*intent).is_some_and(|row| !row.is_over()));
        self.last = end;
        (self.unexplained, self.second_trades) = (past.unexplained.len(), past.second_trades.len());
        self.told = past.told.len();
        self.alarms.extend(gain.alarms.iter().cloned());
        self.found.extend(gain.found.iter().cloned());
        serde_json::to_string(&Piece::SnapshotPart(gain))
    }

    /// The last line of a snapshot of this fold.
    pub(super) fn whole(
        &self,
        past: &Past,
        (settings, session, decoder): (&str, &Session, Option<&JournalDecoder>),
    ) -> Result<String, serde_json::Error> {
        serde_json::to_string(&Piece::Snapshot(Box::new(Whole {
            format: FORMAT,
            settings: settings.to_owned(),
            gain: self.gain(past, past.last_intent()),
            session: session.snapshot(),
            decoder: decoder.cloned(),
            totals: past.book.totals(),
            wallet: past.wallet.clone(),
            is_halted: past.is_halted,
            wallet_line: past.wallet_line,
            runs: past.runs,
            began: past.began,
        })))
    }

    /// What the parts so far do not hold, of intents those up to this one.
    fn gain(&self, past: &Past, end: u64) -> Gain {
        let intents = self.open.iter().copied().chain((self.last + 1..=end).map(IntentId::new));
        Gain {
            previous: self.previous,
            intents: intents.filter_map(|intent| KeptIntent::of(past, intent)).collect(),
            unexplained: past.unexplained[self.unexplained..].to_vec(),
            second_trades: past.second_trades[self.second_trades..].to_vec(),
            alarms: past.alarms.difference(&self.alarms).cloned().collect(),
            found: past.found.difference(&self.found).cloned().collect(),
            told: past.told[self.told..].to_vec(),
        }
    }

    /// The last intent of a part, by its text; none where it is no part.
    pub(super) fn end_of_part(&self, past: &Past, body: &str) -> Option<u64> {
        let Piece::SnapshotPart(gain) = serde_json::from_str(body).ok()? else { return None };
        let last = gain.intents.last().map_or(0, |intent| intent.kept.row().approved.intent().number());
        Some(last.min(past.last_intent()).max(self.last))
    }

    /// Whether the parts hold an intent as it stays.
    pub(super) fn holds_for_good(&self, intent: IntentId) -> bool {
        intent.number() <= self.last && !self.open.contains(&intent)
    }
}

/// Why there is no going on from a snapshot.
pub(super) type Unusable = String;

/// A fold as it was when a snapshot was written.
pub(super) struct Restored {
    pub(super) session: Session,
    pub(super) past: Past,
    pub(super) decoder: Option<JournalDecoder>,
    pub(super) written: Written,
}

/// The pieces of a snapshot that have been read, the last one first.
#[derive(Default)]
pub(super) struct Pieces {
    whole: Option<Box<Whole>>,
    parts: Vec<Gain>,
    leaving: Option<Leaving>,
    filter: Option<OldFilter>,
}

impl Gain {
    fn put_into(self, past: &mut Past, reasons: &mut JournalDecoder, may_lack: bool) -> Result<(), Unusable> {
        past.unexplained.extend(self.unexplained);
        past.second_trades.extend(self.second_trades);
        past.alarms.extend(self.alarms);
        past.found.extend(self.found);
        past.told.extend(self.told);
        for KeptIntent { kept, sent, doubted, decided } in self.intents {
            let intent: IntentId = kept.row().approved.intent();
            past.sent.extend(sent.map(|at| (intent, at)));
            past.doubted.extend(doubted.map(|at| (intent, at)));
            past.decided.extend(decided.map(|decided| (intent, decided)));
            if !past.book.put_back(kept, reasons) && !may_lack {
                return Err(format!("an intent is missing before {intent}"));
            }
        }
        Ok(())
    }
}

impl Pieces {
    /// The same without old intents.
    pub(super) fn leaving(leaving: Option<Leaving>) -> Self {
        Self { leaving, ..Self::default() }
    }

    /// Takes the next one; the part before it, which is to be taken next.
    pub(super) fn take(
        &mut self,
        stored: &StoredLine,
        fingerprints: &Fingerprints,
    ) -> Result<Option<Head>, Unusable> {
        let body = &stored.line.body;
        let piece = serde_json::from_str(body).map_err(|error| {
            let format = format_of(body).filter(|format| *format != FORMAT);
            format.map_or_else(|| format!("it cannot be read: {error}"), other_format)
        })?;
        match (piece, &self.whole) {
            (Piece::Snapshot(whole), None) => {
                if whole.format != FORMAT {
                    return Err(other_format(whole.format));
                }
                if !fingerprints.has(&whole.settings) {
                    return Err("it was written under other settings of bots (names, symbols, stakes), \
                                cooldowns, days or verdicts"
                        .to_owned());
                }
                let previous = whole.gain.previous;
                let filter = |leaving| OldFilter::new(leaving, stored.line.at, &whole.gain.intents);
                self.filter = self.leaving.map(filter);
                self.whole = Some(whole);
                Ok(previous)
            }
            (Piece::SnapshotPart(mut part), Some(_)) => {
                let previous = part.previous;
                if let Some(filter) = &mut self.filter {
                    part.intents = filter.take(stored.seq, part.intents);
                }
                self.parts.push(part);
                Ok(previous)
            }
            (Piece::SnapshotPart(_), None) => Err("it is a part of one".to_owned()),
            (Piece::Snapshot(_), Some(_)) => Err("it continues what is no part".to_owned()),
        }
    }

    /// The fold that they are of.
    pub(super) fn restore(self, settings: &SessionSettings) -> Result<Restored, Unusable> {
        let whole = *self.whole.ok_or("it has no state")?;
        let (mut past, mut reasons) = (Past::default(), JournalDecoder::default());
        let may_lack = self.filter.is_some();
        past.old = self.filter.map(OldFilter::finish).unwrap_or_default();
        for part in self.parts.into_iter().rev() {
            part.put_into(&mut past, &mut reasons, may_lack)?;
        }
        let written = Written::all_of(&past, whole.gain.previous);
        whole.gain.put_into(&mut past, &mut reasons, may_lack)?;
        let mut session = Session::silent(settings).map_err(|error| error.to_string())?;
        session.restore(whole.session).map_err(|error| error.to_string())?;
        if !past.book.count_from(whole.totals) {
            return Err("it counts other rules".to_owned());
        }
        let next = past.book.rows().last().map_or(1, |row| row.approved.intent().number() + 1);
        if next != session.next_intent().number() {
            return Err("its intents are not those of its state".to_owned());
        }
        if past.book.rows().len() as u64 + past.old.count + 1 != next {
            return Err("an intent is missing".to_owned());
        }
        (past.wallet, past.is_halted) = (whole.wallet, whole.is_halted);
        (past.runs, past.began, past.wallet_line) = (whole.runs, whole.began, whole.wallet_line);
        Ok(Restored { session, past, decoder: whole.decoder, written })
    }
}

/// The part that a piece continues, if it does.
pub(super) fn previous_of(body: &str) -> Result<Option<Head>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Link {
        previous: Option<Head>,
    }
    #[derive(Deserialize)]
    struct WholeLink {
        gain: Link,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum PieceLink {
        SnapshotPart(Link),
        Snapshot(WholeLink),
    }
    Ok(match serde_json::from_str(body)? {
        PieceLink::SnapshotPart(part) => part.previous,
        PieceLink::Snapshot(whole) => whole.gain.previous,
    })
}

/// The hash of the settings of a whole snapshot.
pub(super) fn settings_of(body: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        settings: String,
    }
    #[derive(Deserialize)]
    struct NamedPiece {
        snapshot: Named,
    }
    Some(serde_json::from_str::<NamedPiece>(body).ok()?.snapshot.settings)
}

/// The number of the form of a whole snapshot, where it says one.
pub(super) fn format_of(body: &str) -> Option<u32> {
    let piece: serde_json::Value = serde_json::from_str(body).ok()?;
    u32::try_from(piece.pointer("/snapshot/format")?.as_u64()?).ok()
}

fn other_format(found: u32) -> Unusable {
    format!("it has format {found}, and this program reads format {FORMAT}")
}

/// By what a snapshot says of which settings it is: as this program writes it, and as earlier versions did.
pub(super) struct Fingerprints {
    pub(super) own: String,
    pub(super) earlier: String,
}

impl Fingerprints {
    /// Settings have none only where they are no JSON.
    pub(super) fn of(settings: &SessionSettings) -> Result<Self, RuntimeError> {
        let unreadable =
            |error: serde_json::Error| RuntimeError::UnreadableEntry { seq: 0, problem: error.to_string() };
        let own = settings.fingerprint().map_err(unreadable)?;
        Ok(Self { own, earlier: settings.earlier_fingerprint().map_err(unreadable)? })
    }

    fn has(&self, fingerprint: &str) -> bool {
        fingerprint == self.own || fingerprint == self.earlier
    }
}

//! What a snapshot holds of a folded journal, and how it is written and read.

use super::{Decided, Past};
use crate::RuntimeError;
use crate::audit::WalletAudit;
use candlewick_engine::{
    BookTotals, IntentId, IntentRow, JournalDecoder, KeptRow, Renumbering, Session, SessionNames,
    SessionSettings, SessionSnapshot, VenueId,
};
use candlewick_journal::{Head, IntentRows as _};
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The number of the form of a snapshot: raised with every change of what it holds or means.
pub(super) const FORMAT: u32 = 4;
/// That of one which goes on from parts in which the numbers of bots and symbols mean others than in its state.
pub(super) const FORMAT_OF_OTHER_NUMBERS: u32 = 5;

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
    pub(super) intents: Vec<KeptIntent>,
    pub(super) unexplained: Vec<String>,
    pub(super) second_trades: Vec<String>,
    pub(super) alarms: Vec<String>,
    pub(super) found: Vec<String>,
    pub(super) told: Vec<u64>,
    /// What the numbers of bots and symbols in the parts before it mean, where that is not what they mean here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) names_before: Option<Box<SessionNames>>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct KeptIntent {
    pub(super) kept: KeptRow,
    pub(super) sent: Option<Millis>,
    pub(super) doubted: Option<Millis>,
    pub(super) decided: Option<Decided>,
}

/// What a fold has come to, but for what parts hold.
#[derive(Serialize, Deserialize)]
pub(super) struct Whole {
    pub(super) format: u32,
    /// The hash of the settings under which the journal was folded.
    pub(super) settings: String,
    pub(super) gain: Gain,
    pub(super) session: SessionSnapshot,
    pub(super) decoder: Option<JournalDecoder>,
    pub(super) totals: BookTotals,
    pub(super) wallet: WalletAudit,
    pub(super) is_halted: bool,
    pub(super) wallet_line: Option<u64>,
    pub(super) runs: u64,
    pub(super) began: Option<Millis>,
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
    revised: usize,
    told: usize,
    alarms: BTreeSet<String>,
    found: BTreeSet<String>,
    /// What the numbers of bots and symbols mean in the last part, where that is not what they mean in the next piece.
    pub(super) names: Option<SessionNames>,
    /// Whether the parts have several meanings of them, or the next piece has another.
    pub(super) has_other_numbers: bool,
}

impl KeptIntent {
    pub(super) const fn row(&self) -> &IntentRow {
        self.kept.row()
    }

    /// Whether a person said how its trade ended.
    pub(super) const fn is_by_person(&self) -> bool {
        self.kept.is_by_person()
    }

    /// Whether its result was corrected.
    pub(super) const fn is_corrected(&self) -> bool {
        self.kept.is_corrected()
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

    /// The same by the numbers of another Session.
    pub(super) fn under(self, numbers: &Renumbering) -> Self {
        Self { kept: self.kept.under(numbers), ..self }
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
    pub(super) fn all_of(past: &Past, previous: Option<Head>) -> Self {
        let under_way = past.book.rows().iter().filter(|row| !row.is_over());
        Self {
            previous,
            last: past.last_intent(),
            open: under_way.map(|row| row.approved.intent()).collect(),
            unexplained: past.unexplained.len(),
            second_trades: past.second_trades.len(),
            revised: past.revised.len(),
            told: past.told.len(),
            alarms: past.alarms.clone(),
            found: past.found.clone(),
            names: None,
            has_other_numbers: false,
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
        self.names = None;
        let revised = self.revised_since(past);
        self.open.extend(revised.into_iter().chain((self.last + 1..=end).map(IntentId::new)));
        self.open.retain(|intent| past.book.row(*intent).is_some_and(|row| !row.is_over()));
        self.last = end;
        (self.unexplained, self.second_trades) = (past.unexplained.len(), past.second_trades.len());
        (self.revised, self.told) = (past.revised.len(), past.told.len());
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
            format: if self.has_other_numbers { FORMAT_OF_OTHER_NUMBERS } else { FORMAT },
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
        let new = (self.last + 1..=end).map(IntentId::new);
        let intents = self.open.iter().copied().chain(self.revised_since(past)).chain(new);
        Gain {
            previous: self.previous,
            intents: intents.filter_map(|intent| KeptIntent::of(past, intent)).collect(),
            unexplained: past.unexplained[self.unexplained..].to_vec(),
            second_trades: past.second_trades[self.second_trades..].to_vec(),
            alarms: past.alarms.difference(&self.alarms).cloned().collect(),
            found: past.found.difference(&self.found).cloned().collect(),
            told: past.told[self.told..].to_vec(),
            names_before: self.names.clone().map(Box::new),
        }
    }

    /// Intents that were corrected or are in doubt again since the last part.
    pub(super) fn not_rewritten(&self, past: &Past) -> Vec<IntentId> {
        past.revised.get(self.revised..).unwrap_or_default().to_vec()
    }

    /// Those of them that the parts hold as over.
    fn revised_since(&self, past: &Past) -> BTreeSet<IntentId> {
        let since = self.not_rewritten(past).into_iter();
        since.filter(|intent| self.holds_for_good(*intent)).collect()
    }

    /// Like [`Self::revised_since`], of a snapshot whose last line gained this.
    pub(super) fn revised_in(&self, gain: &Gain) -> Vec<IntentId> {
        let intents = gain.intents.iter().map(|intent| intent.row().approved.intent());
        intents.filter(|intent| self.holds_for_good(*intent)).collect()
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

/// What a piece says of the parts that it continues.
#[derive(Deserialize)]
pub(super) struct Link {
    /// The last of them.
    pub(super) previous: Option<Head>,
    /// What their numbers mean, where that is not what its own mean.
    pub(super) names_before: Option<SessionNames>,
}

/// What a piece continues.
pub(super) fn link_of(body: &str) -> Result<Link, serde_json::Error> {
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
        PieceLink::SnapshotPart(part) => part,
        PieceLink::Snapshot(whole) => whole.gain,
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

/// Whether this program reads and makes snapshots of this form.
pub(super) const fn is_known(format: u32) -> bool {
    matches!(format, FORMAT | FORMAT_OF_OTHER_NUMBERS)
}

pub(super) fn other_format(found: u32) -> String {
    format!("it has format {found}, and this program reads formats {FORMAT} and {FORMAT_OF_OTHER_NUMBERS}")
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

    pub(super) fn has(&self, fingerprint: &str) -> bool {
        fingerprint == self.own || fingerprint == self.earlier
    }
}

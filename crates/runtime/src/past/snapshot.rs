//! What a snapshot holds of a folded journal, and how it is written and read.

use super::{Decided, Past};
use crate::RuntimeError;
use crate::audit::WalletAudit;
use candlewick_engine::{
    BookTotals, IntentId, JournalDecoder, KeptRow, Session, SessionSettings, SessionSnapshot,
};
use candlewick_journal::Head;
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The number of the form of a snapshot: raised with every change of what it holds or means.
pub(super) const FORMAT: u32 = 2;

/// Intents of one part.
pub(super) const ROWS: usize = 1_000;

/// A line of a snapshot: a part of it, or the whole of it but for what earlier lines hold.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Piece {
    /// Intents that do not fit into one line.
    SnapshotPart(Rows),
    /// The rest, and the state.
    Snapshot(Box<Whole>),
}

/// Intents that have changed since the line before.
#[derive(Serialize, Deserialize)]
pub(super) struct Rows {
    /// The line before, by number and hash: what that holds counts too.
    pub(super) previous: Option<Head>,
    pub(super) intents: Vec<KeptIntent>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct KeptIntent {
    kept: KeptRow,
    sent: Option<Millis>,
    doubted: Option<Millis>,
    decided: Option<Decided>,
}

/// What a fold has come to.
#[derive(Serialize, Deserialize)]
pub(super) struct Whole {
    format: u32,
    /// The hash of the settings under which the journal was folded.
    settings: String,
    pub(super) rows: Rows,
    unexplained: Vec<String>,
    second_trades: Vec<String>,
    alarms: Vec<String>,
    found: Vec<String>,
    told: Vec<u64>,
    session: SessionSnapshot,
    decoder: Option<JournalDecoder>,
    totals: BookTotals,
    wallet: WalletAudit,
    is_halted: bool,
    wallet_line: Option<u64>,
    runs: u64,
    began: Option<Millis>,
}

/// How much of a fold the lines of its snapshots hold already.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    /// The last line.
    pub(super) previous: Option<Head>,
    rows: usize,
    /// Places of intents that were not over when they were written.
    open: Vec<usize>,
    unexplained: usize,
    second_trades: usize,
    told: usize,
    alarms: BTreeSet<String>,
    found: BTreeSet<String>,
}

impl KeptIntent {
    fn of(past: &Past, place: usize) -> Option<Self> {
        let kept = past.book.kept_row(place)?;
        let intent = kept.row().approved.intent();
        let (sent, doubted) = (past.sent.get(&intent).copied(), past.doubted.get(&intent).copied());
        let decided = past.decided.get(&intent).copied();
        Some(Self { kept, sent, doubted, decided })
    }
}

impl Written {
    /// All that a fold has come to, whose last snapshot is this line.
    fn all_of(past: &Past, previous: Head) -> Self {
        let rows = past.book.rows();
        Self {
            previous: Some(previous),
            rows: rows.len(),
            open: (0..rows.len()).filter(|place| !rows[*place].is_over()).collect(),
            unexplained: past.unexplained.len(),
            second_trades: past.second_trades.len(),
            told: past.told.len(),
            alarms: past.alarms.clone(),
            found: past.found.clone(),
        }
    }

    /// The next line of a snapshot of this fold, and whether that is the whole.
    pub(super) fn next(
        &mut self,
        past: &Past,
        (settings, session, decoder): (&str, &Session, Option<&JournalDecoder>),
    ) -> Result<(String, bool), serde_json::Error> {
        let all = past.book.rows();
        let is_whole = all.len() <= self.rows + ROWS;
        let new = self.rows..all.len().min(self.rows + ROWS);
        let places: Vec<usize> =
            if is_whole { self.open.drain(..).chain(new.clone()).collect() } else { new.clone().collect() };
        let intents = places.iter().filter_map(|place| KeptIntent::of(past, *place)).collect();
        self.open.extend(places.into_iter().filter(|place| !all[*place].is_over()));
        self.rows = new.end;
        let rows = Rows { previous: self.previous, intents };
        if !is_whole {
            return Ok((serde_json::to_string(&Piece::SnapshotPart(rows))?, false));
        }
        let whole = Whole {
            format: FORMAT,
            settings: settings.to_owned(),
            rows,
            unexplained: past.unexplained[self.unexplained..].to_vec(),
            second_trades: past.second_trades[self.second_trades..].to_vec(),
            alarms: past.alarms.difference(&self.alarms).cloned().collect(),
            found: past.found.difference(&self.found).cloned().collect(),
            told: past.told[self.told..].to_vec(),
            session: session.snapshot(),
            decoder: decoder.cloned(),
            totals: past.book.totals(),
            wallet: past.wallet.clone(),
            is_halted: past.is_halted,
            wallet_line: past.wallet_line,
            runs: past.runs,
            began: past.began,
        };
        (self.unexplained, self.second_trades) = (past.unexplained.len(), past.second_trades.len());
        self.told = past.told.len();
        self.alarms.extend(whole.alarms.iter().cloned());
        self.found.extend(whole.found.iter().cloned());
        Ok((serde_json::to_string(&Piece::Snapshot(Box::new(whole)))?, true))
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

/// The pieces of a snapshot that have been read, the last one first. Of earlier ones only what they added is read: what state they
/// had is long over, and is most of them.
#[derive(Default)]
pub(super) struct Pieces {
    last: Option<Box<Whole>>,
    /// What each adds, the last one's own first.
    gains: Vec<Gain>,
}

/// A piece without its state.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Earlier {
    SnapshotPart(Rows),
    Snapshot(Gain),
}

/// What a piece adds to those before it.
#[derive(Deserialize)]
struct Gain {
    format: u32,
    settings: String,
    rows: Rows,
    unexplained: Vec<String>,
    second_trades: Vec<String>,
    alarms: Vec<String>,
    found: Vec<String>,
    told: Vec<u64>,
}

impl Gain {
    fn put_into(self, past: &mut Past, reasons: &mut JournalDecoder) -> Result<(), Unusable> {
        past.unexplained.extend(self.unexplained);
        past.second_trades.extend(self.second_trades);
        past.alarms.extend(self.alarms);
        past.found.extend(self.found);
        past.told.extend(self.told);
        for KeptIntent { kept, sent, doubted, decided } in self.rows.intents {
            let intent: IntentId = kept.row().approved.intent();
            past.sent.extend(sent.map(|at| (intent, at)));
            past.doubted.extend(doubted.map(|at| (intent, at)));
            past.decided.extend(decided.map(|decided| (intent, decided)));
            if !past.book.put_back(kept, reasons) {
                return Err(format!("an intent is missing before {intent}"));
            }
        }
        Ok(())
    }
}

impl Whole {
    /// What it adds; that is no longer in it.
    fn take_gain(&mut self) -> Gain {
        Gain {
            format: self.format,
            settings: std::mem::take(&mut self.settings),
            rows: std::mem::replace(&mut self.rows, Rows { previous: None, intents: Vec::new() }),
            unexplained: std::mem::take(&mut self.unexplained),
            second_trades: std::mem::take(&mut self.second_trades),
            alarms: std::mem::take(&mut self.alarms),
            found: std::mem::take(&mut self.found),
            told: std::mem::take(&mut self.told),
        }
    }
}

impl Pieces {
    /// Takes the next one; the line before it, which is to be taken next.
    pub(super) fn take(&mut self, body: &str, fingerprint: &str) -> Result<Option<Head>, Unusable> {
        let unreadable = |error: serde_json::Error| {
            let format = format_of(body).filter(|format| *format != FORMAT);
            format.map_or_else(|| format!("it cannot be read: {error}"), other_format)
        };
        let gain = if self.last.is_none() {
            let Piece::Snapshot(mut whole) = serde_json::from_str(body).map_err(unreadable)? else {
                return Err("it is a part of one".to_owned());
            };
            let gain = whole.take_gain();
            self.last = Some(whole);
            gain
        } else {
            match serde_json::from_str(body).map_err(unreadable)? {
                Earlier::Snapshot(gain) => gain,
                Earlier::SnapshotPart(rows) => Gain {
                    format: FORMAT,
                    settings: fingerprint.to_owned(),
                    rows,
                    unexplained: Vec::new(),
                    second_trades: Vec::new(),
                    alarms: Vec::new(),
                    found: Vec::new(),
                    told: Vec::new(),
                },
            }
        };
        if gain.format != FORMAT {
            return Err(other_format(gain.format));
        }
        if gain.settings != fingerprint {
            return Err("it was written under other settings of bots, cooldowns, days or verdicts".to_owned());
        }
        let previous = gain.rows.previous;
        self.gains.push(gain);
        Ok(previous)
    }

    /// The fold that they are of; `last` is the line of the first that was taken.
    pub(super) fn restore(self, settings: &SessionSettings, last: Head) -> Result<Restored, Unusable> {
        let (mut past, mut reasons) = (Past::default(), JournalDecoder::default());
        for gain in self.gains.into_iter().rev() {
            gain.put_into(&mut past, &mut reasons)?;
        }
        let whole = *self.last.ok_or("it has no state")?;
        let mut session = Session::silent(settings).map_err(|error| error.to_string())?;
        session.restore(whole.session).map_err(|error| error.to_string())?;
        if !past.book.count_from(whole.totals) {
            return Err("it counts other rules".to_owned());
        }
        let next = past.book.rows().last().map_or(1, |row| row.approved.intent().number() + 1);
        if next != session.next_intent().number() {
            return Err("its intents are not those of its state".to_owned());
        }
        (past.wallet, past.is_halted) = (whole.wallet, whole.is_halted);
        (past.runs, past.began, past.wallet_line) = (whole.runs, whole.began, whole.wallet_line);
        let written = Written::all_of(&past, last);
        Ok(Restored { session, past, decoder: whole.decoder, written })
    }
}

/// The line that a piece continues, if it does.
pub(super) fn previous_of(body: &str) -> Result<Option<Head>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Link {
        previous: Option<Head>,
    }
    #[derive(Deserialize)]
    struct WholeLink {
        rows: Link,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum PieceLink {
        SnapshotPart(Link),
        Snapshot(WholeLink),
    }
    Ok(match serde_json::from_str(body)? {
        PieceLink::SnapshotPart(rows) => rows.previous,
        PieceLink::Snapshot(whole) => whole.rows.previous,
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

/// Settings have no fingerprint only where they are no JSON.
pub(super) fn fingerprint(settings: &SessionSettings) -> Result<String, RuntimeError> {
    let unreadable =
        |error: serde_json::Error| RuntimeError::UnreadableEntry { seq: 0, problem: error.to_string() };
    settings.fingerprint().map_err(unreadable)
}

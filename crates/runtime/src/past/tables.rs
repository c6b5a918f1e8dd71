//! The tables of a journal against the fold of its entries, entry by entry up to the one that they stand at.

use super::Past;
use super::rows::names_of;
use crate::RuntimeError;
use candlewick_journal::{IntentRecord, IntentRows as _, LineKind, RunNames, StoredLine, Tables, figures_of};
use std::collections::BTreeMap;

/// What came of the tables of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TablesCheck {
    /// There are none, or they are being made.
    Absent,
    /// They are what the entries up to this number come to, with so many intents.
    Sound {
        /// The number of the entry up to which they are made.
        seq: u64,
        /// How many intents they hold.
        intents: u64,
    },
}

/// The tables as they stood when a check began, until their entry has come.
pub(super) struct TablesToCheck {
    tables: Option<Tables>,
    /// The last entry about each intent.
    last: BTreeMap<u64, u64>,
    names: BTreeMap<u64, RunNames>,
    pub(super) found: TablesCheck,
}

impl TablesToCheck {
    pub(super) fn new(tables: Option<Tables>) -> Self {
        let tables = tables.filter(|tables| tables.up_to.seq > 0);
        Self { tables, last: BTreeMap::new(), names: BTreeMap::new(), found: TablesCheck::Absent }
    }

    /// Takes the next line, which this fold has taken too.
    ///
    /// # Errors
    /// It is the one that the tables stand at, and they are not what the lines so far come to.
    pub(super) fn take(&mut self, stored: &StoredLine, past: &Past) -> Result<(), RuntimeError> {
        let Some(tables) = &self.tables else { return Ok(()) };
        match (stored.line.kind, stored.line.intent) {
            (LineKind::Event | LineKind::Action, Some(intent)) => {
                self.last.insert(intent, stored.seq);
            }
            (LineKind::Run, _) => {
                self.names.extend(names_of(stored).map(|names| (stored.line.run, names)));
            }
            _ => {}
        }
        if stored.seq < tables.up_to.seq {
            return Ok(());
        }
        let wrong = |row: String| Err(RuntimeError::WrongRow { row });
        if stored.head() != tables.up_to {
            return wrong(format!("of the table projection, which names entry {}", tables.up_to.seq));
        }
        let expected: Vec<IntentRecord> =
            self.last.iter().filter_map(|last| self.record(last, past)).collect();
        let different = |(expected, found): (&IntentRecord, &IntentRecord)| expected != found;
        if let Some(place) = expected.iter().zip(&tables.intents).position(different) {
            return wrong(format!(
                "{} of the table intents",
                expected[place].intent.min(tables.intents[place].intent)
            ));
        }
        if expected.len() != tables.intents.len() {
            let place = expected.len().min(tables.intents.len());
            let row = expected.get(place).or_else(|| tables.intents.get(place)).map_or(0, |row| row.intent);
            return wrong(format!("{row} of the table intents"));
        }
        let figures = figures_of(&expected);
        let all = figures.keys().chain(tables.figures.keys());
        let mut all = all.filter(|key| figures.get(key) != tables.figures.get(key));
        if let Some((day, bot)) = all.next() {
            return wrong(format!("{} {bot} of the table figures", day.get()));
        }
        self.found = TablesCheck::Sound { seq: stored.seq, intents: expected.len() as u64 };
        self.tables = None;
        Ok(())
    }

    fn record(&self, (intent, seq): (&u64, &u64), past: &Past) -> Option<IntentRecord> {
        past.record(*intent, *seq, self.names.get(&past.run_of(*intent)?)?)
    }

    /// After the last line: what they stand at has come.
    ///
    /// # Errors
    /// It has not.
    pub(super) fn end(self) -> Result<TablesCheck, RuntimeError> {
        match self.tables {
            Some(tables) => Err(RuntimeError::WrongRow {
                row: format!("of the table projection, which names entry {}", tables.up_to.seq),
            }),
            None => Ok(self.found),
        }
    }
}

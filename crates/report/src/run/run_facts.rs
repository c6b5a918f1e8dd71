//! What the verdict takes of a run beside its trades: a file that stands beside a CSV of them.

use super::Caveats;
use super::trades::{is_trade, lines_of};
use candlewick_engine::{BotSettings, EventSequence, IntentRow, TradeBook};
use candlewick_sdk::{Millis, MoneyScale};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The hash of a line.
type LineHash = [u8; 32];

/// What is not the trades' own: it may differ between two runs that made the same trades.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFacts {
    /// The names of all bots: those without a trade have a share of alpha too.
    pub bots: Vec<String>,
    /// How many variants were tried, this one included; 0 where they are not counted.
    pub variants: u64,
    /// Why *edge shown* is not said.
    pub withheld: Vec<String>,
    /// What is assumed.
    pub labels: Vec<String>,
    /// Over the lines of the CSV, in whatever order they stand: SHA-256, in hexadecimal digits.
    pub lines: String,
    /// Of each line, in the order of the lines' hashes: the numbers of its decision, its answer, its end as no trade and its
    /// settlement among all that the Session was handed, 0 for what did not happen.
    pub order: Vec<[u32; 4]>,
    /// What was decided and never became a trade.
    pub not_opened: Vec<NotOpened>,
}

/// An intent that never became a trade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotOpened {
    /// Whose it was.
    pub bot: String,
    /// What was to be traded.
    pub symbol: String,
    /// When it was decided.
    pub decided: Millis,
    /// The numbers of its decision and of its end; 0 where it has none.
    pub order: [u32; 2],
}

impl RunFacts {
    /// Of a run, as [`write_trades_to`](super::write_trades_to) writes its trades.
    pub fn of(book: &TradeBook, bots: &[BotSettings], (scale, caveats): (MoneyScale, &Caveats)) -> Self {
        let mut withheld = caveats.withholding.clone();
        if book.rows().first().is_some_and(|row| row.approved.intent().number() > 1) {
            withheld.push("trades of earlier runs are in the journal and not here".to_owned());
        }
        let lines = lines_of(book, bots, scale);
        let mut hashed: Vec<(LineHash, [u32; 4])> =
            lines.map(|(row, cells)| (hash_of_line(cells.iter()), row.sequence.numbers())).collect();
        hashed.sort_unstable();
        let of_bot = |row: &IntentRow| {
            let bot = bots.get(row.approved.bot().index())?;
            let [decided, _, left_out, _] = row.sequence.numbers();
            Some(NotOpened {
                bot: bot.name.clone(),
                symbol: bot.symbol.to_string(),
                decided: row.approved.decision_time(),
                order: [decided, left_out],
            })
        };
        Self {
            bots: bots.iter().map(|bot| bot.name.clone()).collect(),
            variants: caveats.variants,
            withheld,
            labels: caveats.labels.iter().map(|label| (*label).to_owned()).collect(),
            lines: hash_of_lines(hashed.iter().map(|(hash, _)| hash)),
            order: hashed.iter().map(|(_, order)| *order).collect(),
            not_opened: book.rows().iter().filter(|row| !is_trade(row)).filter_map(of_bot).collect(),
        }
    }

    /// The file beside a CSV of trades.
    pub fn path_of(trades: &Path) -> PathBuf {
        let mut name = OsString::from(trades);
        name.push(".run.json");
        PathBuf::from(name)
    }

    /// The order of each of these lines, if they are the run's, in whatever order they stand.
    pub(crate) fn order_of<'a>(
        &self,
        lines: impl Iterator<Item = impl Iterator<Item = &'a str>>,
    ) -> Option<Vec<EventSequence>> {
        let mut hashed: Vec<(LineHash, usize)> =
            lines.enumerate().map(|(place, cells)| (hash_of_line(cells), place)).collect();
        hashed.sort_unstable();
        if hash_of_lines(hashed.iter().map(|(hash, _)| hash)) != self.lines
            || hashed.len() != self.order.len()
        {
            return None;
        }
        let mut orders = vec![EventSequence::default(); hashed.len()];
        for ((_, place), order) in hashed.into_iter().zip(&self.order) {
            orders[place] = EventSequence::recorded(*order, [None; 2]);
        }
        Some(orders)
    }
}

/// Over the cells, without the blanks around them.
fn hash_of_line(cells: impl Iterator<Item = impl AsRef<str>>) -> LineHash {
    let mut hash = Sha256::new();
    for cell in cells {
        let cell = cell.as_ref().trim();
        hash.update((cell.len() as u64).to_le_bytes());
        hash.update(cell);
    }
    hash.finalize().into()
}

fn hash_of_lines<'a>(sorted: impl Iterator<Item = &'a LineHash>) -> String {
    let mut hash = Sha256::new();
    sorted.for_each(|line| hash.update(line));
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

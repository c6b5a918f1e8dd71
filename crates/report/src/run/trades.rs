//! CSV file of a run's trades, and a second file next to it with facts about the run.

use super::Caveats;
use candlewick_engine::{BotSettings, IntentRow, IntentState, TradeBook, UpdateNumbers};
use candlewick_records::format_utc;
use candlewick_sdk::{Millis, MoneyScale, to_csv_cell};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const HEADER: &str = "bot,symbol,direction,amount,close_type,expiration_type,decision_time,open_time,open_price,\
                      close_time,close_price,payout,result,pnl,reason,payout_known,result_known,answered_payout,\
                      decision_utc,open_utc,close_utc";
const COLUMN_COUNT: usize = 21;

/// Writes a CSV line for each trade that the venue accepted or may have accepted. [`RunFacts`] has the other data.
pub fn write_trades_to(
    writer: impl Write,
    book: &TradeBook,
    bots: &[BotSettings],
    scale: MoneyScale,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(writer);
    csv.write_record(HEADER.split(','))?;
    for (_, cells) in trade_lines(book, bots, scale) {
        csv.write_record(cells)?;
    }
    csv.flush()
}

fn trade_lines<'a>(
    book: &'a TradeBook,
    bots: &'a [BotSettings],
    scale: MoneyScale,
) -> impl Iterator<Item = (&'a IntentRow, [String; COLUMN_COUNT])> {
    rows_by_decision(book).into_iter().filter_map(move |row| {
        let bot = bots.get(row.approved.bot().index())?;
        Some((row, trade_cells(book, row, (bot, scale)).map(|cell| to_csv_cell(&cell).into_owned())))
    })
}

/// Returns all trades that the venue accepted or may have accepted, ordered by decision time and bot.
pub fn rows_by_decision(book: &TradeBook) -> Vec<&IntentRow> {
    let mut rows: Vec<&IntentRow> = book.rows().iter().filter(|row| is_trade(row)).collect();
    rows.sort_by_key(|row| (row.approved.decision_time(), row.approved.bot(), row.approved.intent()));
    rows
}

const fn is_trade(row: &IntentRow) -> bool {
    match row.state {
        IntentState::InFlight | IntentState::InDoubt | IntentState::Open | IntentState::Settled => true,
        IntentState::Rejected | IntentState::NotSent | IntentState::NotOpened => false,
    }
}

fn trade_cells(
    book: &TradeBook,
    row: &IntentRow,
    (bot, scale): (&BotSettings, MoneyScale),
) -> [String; COLUMN_COUNT] {
    let trade = &row.approved;
    let settled = row.state == IntentState::Settled;
    let [_, answered, ..] = row.sequence.update_numbers();
    [
        bot.name.clone(),
        bot.symbol.to_string(),
        trade.direction().to_string(),
        scale.to_decimal(trade.stake()).to_string(),
        trade.expiry().close_type.to_string(),
        trade.expiry().expiration_type.to_string(),
        trade.decision_time().to_string(),
        text_or_empty(row.open_time),
        text_or_empty(row.open_price),
        text_or_empty(row.close_time.filter(|_| settled)),
        text_or_empty(row.close_price.filter(|_| settled)),
        text_or_empty(row.payout),
        text_or_empty(row.outcome),
        text_or_empty(settled.then(|| scale.to_decimal(row.profit))),
        book.reason(row).to_string(),
        text_or_empty(row.answered_at.filter(|_| answered > 0)),
        text_or_empty(row.settled_at),
        text_or_empty(row.sequence.answered_payout()),
        format_utc(trade.decision_time()),
        text_or_empty(row.open_time.map(format_utc)),
        text_or_empty(row.close_time.filter(|_| settled).map(format_utc)),
    ]
}

fn text_or_empty(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

type LineHash = [u8; 32];

/// Facts about a run that the CSV file of its trades does not contain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Names of all bots. Bots without trades are included, because each bot gets a part of the error rate (alpha).
    pub bots: Vec<String>,
    pub withheld: Vec<String>,
    pub labels: Vec<String>,
    /// SHA-256 hash of the CSV lines as hexadecimal digits. The order of the lines does not affect the hash.
    pub lines: String,
    /// Sequence numbers of each trade's decision, reply, exclusion from the evidence, and settlement; 0 if missing.
    /// The trades are sorted by the hashes of their CSV lines.
    pub order: Vec<[u32; 4]>,
    pub not_opened: Vec<UnopenedTrade>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnopenedTrade {
    pub bot: String,
    pub symbol: String,
    pub decided: Millis,
    /// Sequence numbers of the decision and of the update that ended the order without a trade; 0 if missing.
    pub order: [u32; 2],
}

impl RunFacts {
    pub fn new(book: &TradeBook, bots: &[BotSettings], (scale, caveats): (MoneyScale, &Caveats)) -> Self {
        let mut withheld = caveats.withholding_reasons.clone();
        if book.rows().first().is_some_and(|row| row.approved.intent().number() > 1) {
            withheld.push("trades of earlier runs are in the journal but not in this file".to_owned());
        }
        let lines = trade_lines(book, bots, scale);
        let mut hashed: Vec<(LineHash, [u32; 4])> =
            lines.map(|(row, cells)| (hash_line(cells.iter()), row.sequence.update_numbers())).collect();
        hashed.sort_unstable();
        let of_bot = |row: &IntentRow| {
            let bot = bots.get(row.approved.bot().index())?;
            let [decided, _, left_out, _] = row.sequence.update_numbers();
            Some(UnopenedTrade {
                bot: bot.name.clone(),
                symbol: bot.symbol.to_string(),
                decided: row.approved.decision_time(),
                order: [decided, left_out],
            })
        };
        Self {
            bots: bots.iter().map(|bot| bot.name.clone()).collect(),
            withheld,
            labels: caveats.labels.iter().map(|label| (*label).to_owned()).collect(),
            lines: hash_lines(hashed.iter().map(|(hash, _)| hash)),
            order: hashed.iter().map(|(_, order)| *order).collect(),
            not_opened: book.rows().iter().filter(|row| !is_trade(row)).filter_map(of_bot).collect(),
        }
    }

    pub fn facts_path(trades: &Path) -> PathBuf {
        let mut name = OsString::from(trades);
        name.push(".run.json");
        PathBuf::from(name)
    }

    /// Returns the sequence numbers of `lines`, which may be in any order; `None` if they are from a different run.
    pub(crate) fn recorded_sequences<'a>(
        &self,
        lines: impl Iterator<Item = impl Iterator<Item = &'a str>>,
    ) -> Option<Vec<UpdateNumbers>> {
        let mut hashed: Vec<_> = lines.enumerate().map(|(place, cells)| (hash_line(cells), place)).collect();
        hashed.sort_unstable();
        if hash_lines(hashed.iter().map(|(hash, _)| hash)) != self.lines || hashed.len() != self.order.len() {
            return None;
        }
        let mut orders = vec![UpdateNumbers::default(); hashed.len()];
        for ((_, place), order) in hashed.into_iter().zip(&self.order) {
            orders[place] = UpdateNumbers::from_recorded(*order, [None; 2]);
        }
        Some(orders)
    }
}

fn hash_line(cells: impl Iterator<Item = impl AsRef<str>>) -> LineHash {
    let mut hash = Sha256::new();
    for cell in cells {
        let cell = cell.as_ref().trim();
        hash.update((cell.len() as u64).to_le_bytes());
        hash.update(cell);
    }
    hash.finalize().into()
}

fn hash_lines<'a>(sorted: impl Iterator<Item = &'a LineHash>) -> String {
    let mut hash = Sha256::new();
    sorted.for_each(|line| hash.update(line));
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

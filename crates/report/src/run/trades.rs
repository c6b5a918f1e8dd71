//! The trades of a run as CSV: one line each, ordered by decision time, then bot.

use candlewick_engine::{BotSettings, IntentRow, IntentState, TradeBook};
use candlewick_records::utc;
use candlewick_sdk::{MoneyScale, visible_cell};
use std::io::{self, Write};

/// Its columns.
pub(crate) const HEADER: [&str; COLUMNS] = [
    "bot",
    "symbol",
    "direction",
    "amount",
    "close_type",
    "expiration_type",
    "decision_time",
    "open_time",
    "open_price",
    "close_time",
    "close_price",
    "payout",
    "result",
    "pnl",
    "reason",
    "payout_known",
    "result_known",
    "answered_payout",
    "decision_utc",
    "open_utc",
    "close_utc",
];
const COLUMNS: usize = 21;

/// Writes all trades that the venue accepted, or might have. What is not known stays empty; so do the close and
/// the result of a trade that has not settled.
///
/// Behind what a trade was stands when its payout and its result became known, and what its answer said that a win pays: `payout`
/// is what its settlement said, where that said it again. The last columns are the times once more, as dates for people. What else a verdict takes of the run stands beside it ([`RunFacts`](super::RunFacts)).
///
/// # Errors
/// Those of the writer.
pub fn write_trades_to(
    writer: impl Write,
    book: &TradeBook,
    bots: &[BotSettings],
    scale: MoneyScale,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(writer);
    csv.write_record(HEADER)?;
    for (_, cells) in lines_of(book, bots, scale) {
        csv.write_record(cells)?;
    }
    csv.flush()
}

/// The lines of the file, each with its row.
pub(super) fn lines_of<'a>(
    book: &'a TradeBook,
    bots: &'a [BotSettings],
    scale: MoneyScale,
) -> impl Iterator<Item = (&'a IntentRow, [String; COLUMNS])> {
    rows_of(book).into_iter().filter_map(move |row| {
        let bot = bots.get(row.approved.bot().index())?;
        Some((row, line(book, row, (bot, scale)).map(|cell| visible_cell(&cell).into_owned())))
    })
}

/// All trades that the venue accepted, or might have, ordered by decision time, then bot.
pub fn rows_of(book: &TradeBook) -> Vec<&IntentRow> {
    let mut rows: Vec<&IntentRow> = book.rows().iter().filter(|row| is_trade(row)).collect();
    rows.sort_by_key(|row| (row.approved.decision_time(), row.approved.bot(), row.approved.intent()));
    rows
}

/// Whether the venue accepted it, or might have.
pub(super) const fn is_trade(row: &IntentRow) -> bool {
    match row.state {
        IntentState::InFlight | IntentState::InDoubt | IntentState::Open | IntentState::Settled => true,
        IntentState::Rejected | IntentState::NotSent | IntentState::NotOpened => false,
    }
}

fn line(book: &TradeBook, row: &IntentRow, (bot, scale): (&BotSettings, MoneyScale)) -> [String; COLUMNS] {
    let trade = &row.approved;
    let settled = row.state == IntentState::Settled;
    let [_, answered, ..] = row.sequence.numbers();
    [
        bot.name.clone(),
        bot.symbol.to_string(),
        trade.direction().to_string(),
        scale.format(trade.stake()),
        trade.expiry().close_type.to_string(),
        trade.expiry().expiration_type.to_string(),
        trade.decision_time().to_string(),
        text(row.open_time),
        text(row.open_price),
        text(row.close_time.filter(|_| settled)),
        text(row.close_price.filter(|_| settled)),
        text(row.payout),
        text(row.outcome),
        if settled { scale.format(row.profit) } else { String::new() },
        book.reason(row).to_string(),
        text(row.answered_at.filter(|_| answered > 0)),
        text(row.settled_at),
        text(row.sequence.answered_payout()),
        utc(trade.decision_time()),
        text(row.open_time.map(utc)),
        text(row.close_time.filter(|_| settled).map(utc)),
    ]
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

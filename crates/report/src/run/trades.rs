//! The trades of a run as CSV: one line each, ordered by decision time, then bot.

use candlewick_engine::{BotSettings, IntentRow, IntentState, TradeBook};
use candlewick_records::utc;
use candlewick_sdk::{MoneyScale, visible_cell};
use std::io::{self, Write};

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

/// Writes all trades that the venue accepted, or may have. Unknown cells are empty, such as close
/// and result of an unsettled trade.
///
/// After the trade itself come the times at which payout and result became known, and the payout of
/// the venue's answer. `payout` is that of the settlement, if it reported one. The last columns
/// repeat the times as dates. The rest of what a verdict needs is in [`RunFacts`](super::RunFacts).
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

/// Returns all trades that the venue accepted, or may have, ordered by decision time, then bot.
pub fn rows_of(book: &TradeBook) -> Vec<&IntentRow> {
    let mut rows: Vec<&IntentRow> = book.rows().iter().filter(|row| is_trade(row)).collect();
    rows.sort_by_key(|row| (row.approved.decision_time(), row.approved.bot(), row.approved.intent()));
    rows
}

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

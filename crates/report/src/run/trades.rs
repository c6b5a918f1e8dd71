//! The trades of a run as CSV: one line each, ordered by decision time, then bot.

use candlewick_engine::{BotSettings, IntentRow, IntentState, TradeBook};
use candlewick_sdk::{MoneyScale, visible_cell};
use std::io::{self, Write};

const HEADER: [&str; 15] = [
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
];

/// Writes all trades that the venue accepted, or might have. What is not known stays empty; so do the close and
/// the result of a trade that has not settled.
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
    for row in rows_of(book) {
        if let Some(bot) = bots.get(row.approved.bot().index()) {
            let cells = line(book, row, (bot, scale));
            csv.write_record(cells.iter().map(|cell| visible_cell(cell).into_owned()))?;
        }
    }
    csv.flush()
}

/// All trades that the venue accepted, or might have, ordered by decision time, then bot.
pub fn rows_of(book: &TradeBook) -> Vec<&IntentRow> {
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

fn line(book: &TradeBook, row: &IntentRow, (bot, scale): (&BotSettings, MoneyScale)) -> [String; 15] {
    let trade = &row.approved;
    let settled = row.state == IntentState::Settled;
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
    ]
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

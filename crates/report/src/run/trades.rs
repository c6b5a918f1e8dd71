//! The trades of a run as CSV: one line each, ordered by decision time, then bot.

use super::Caveats;
use candlewick_engine::{BotSettings, IntentRow, IntentState, TradeBook};
use candlewick_sdk::{MoneyScale, visible_cell};
use std::io::{self, Write};

const HEADER: [&str; 25] = [
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
    "decision_no",
    "payout_no",
    "left_out_no",
    "result_no",
    "not_opened",
    "bots",
    "variants",
    "caveats",
];

/// Writes all trades that the venue accepted, or might have. What is not known stays empty; so do the close and
/// the result of a trade that has not settled.
///
/// Behind what a trade was stands what its verdict takes: when its payout and its result became known, in which order among
/// all that the Session was handed (the numbers), what was decided before it and never became a trade, of how many bots
/// and variants the run was, and its caveats.
///
/// # Errors
/// Those of the writer.
pub fn write_trades_to(
    writer: impl Write,
    book: &TradeBook,
    bots: &[BotSettings],
    (scale, caveats): (MoneyScale, &Caveats),
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(writer);
    csv.write_record(HEADER)?;
    let run = [bots.len().to_string(), caveats.variants.to_string(), cell_of(book, caveats)];
    let rows: Vec<(&IntentRow, &BotSettings)> = (rows_of(book).into_iter())
        .filter_map(|row| Some((row, bots.get(row.approved.bot().index())?)))
        .collect();
    let mut not_opened = book.rows().iter().filter(|row| !is_trade(row)).peekable();
    for (place, (row, bot)) in rows.iter().enumerate() {
        let is_last = place + 1 == rows.len();
        let here = |other: &&IntentRow| is_last || other.sequence.numbers()[0] < row.sequence.numbers()[0];
        let mut left_out = Vec::new();
        while let Some(other) = not_opened.next_if(here) {
            left_out.extend(bots.get(other.approved.bot().index()).map(|bot| left_out_cell(other, bot)));
        }
        let cells = line(book, row, (bot, scale));
        let known = known_cells(row);
        let cells = cells.iter().chain(&known).map(|cell| visible_cell(cell).into_owned());
        csv.write_record(cells.chain([left_out.join(",")]).chain(run.clone()))?;
    }
    csv.flush()
}

/// All trades that the venue accepted, or might have, ordered by decision time, then bot.
pub fn rows_of(book: &TradeBook) -> Vec<&IntentRow> {
    let mut rows: Vec<&IntentRow> = book.rows().iter().filter(|row| is_trade(row)).collect();
    rows.sort_by_key(|row| (row.approved.decision_time(), row.approved.bot(), row.approved.intent()));
    rows
}

/// When payout and result became known, and the numbers of what was handed in; empty for what did not happen.
fn known_cells(row: &IntentRow) -> [String; 6] {
    let [decided, answered, left_out, settled] = row.sequence.numbers();
    let number = |number: u32| text(Some(number).filter(|number| *number > 0));
    let is_answered = answered > 0;
    [
        text(row.answered_at.filter(|_| is_answered)),
        text(row.settled_at),
        number(decided),
        number(answered),
        number(left_out),
        number(settled),
    ]
}

/// An intent that never became a trade: numbers of its decision and of its end, symbol, bot.
fn left_out_cell(row: &IntentRow, bot: &BotSettings) -> String {
    let [decided, _, left_out, _] = row.sequence.numbers();
    format!("{decided}-{left_out}:{}:{}", bot.symbol, bot.name)
}

/// The caveats, and that trades of earlier runs are missing where they are.
fn cell_of(book: &TradeBook, caveats: &Caveats) -> String {
    let mut caveats = caveats.clone();
    if book.rows().first().is_some_and(|row| row.approved.intent().number() > 1) {
        caveats.withholding.push("trades of earlier runs are in the journal and not here".to_owned());
    }
    caveats.to_cell()
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

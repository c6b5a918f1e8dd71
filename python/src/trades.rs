//! Arrow table of trades with the columns of a `--trades` file, but with typed times and exact amounts.

use arrow_array::builder::StringBuilder;
use arrow_array::types::{Decimal128Type, TimestampMillisecondType};
use arrow_array::{ArrayRef, Float64Array, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::ArrowError;
use candlewick_engine::{BotSettings, IntentRow, IntentState, TradeBook};
use candlewick_report::run::rows_by_decision;
use candlewick_sdk::{Millis, Money, MoneyScale, Outcome, Payout};
use std::sync::Arc;

const AMOUNT_DIGITS: u8 = 18;

type Row<'a> = (&'a IntentRow, &'a BotSettings);

/// Builds the table of all trades, sorted by decision time and then by bot.
pub(crate) fn build_trades_table(
    book: &TradeBook,
    bots: &[BotSettings],
    scale: MoneyScale,
) -> Result<RecordBatch, ArrowError> {
    let rows: Vec<Row<'_>> = rows_by_decision(book)
        .into_iter()
        .filter_map(|row| Some((row, bots.get(row.approved.bot().index())?)))
        .collect();
    let text = |of: &dyn Fn(&Row<'_>) -> String| -> ArrayRef {
        let mut texts = StringBuilder::new();
        for row in &rows {
            texts.append_value(of(row));
        }
        Arc::new(texts.finish())
    };
    let time = |of: &dyn Fn(&IntentRow) -> Option<Millis>| times_array(rows.iter().map(|(row, _)| of(row)));
    let number = |of: &dyn Fn(&IntentRow) -> Option<f64>| -> ArrayRef {
        Arc::new(rows.iter().map(|(row, _)| of(row)).collect::<Float64Array>())
    };
    let money =
        |of: &dyn Fn(&IntentRow) -> Option<Money>| amounts_array(rows.iter().map(|(row, _)| of(row)), scale);
    let outcomes: StringArray = rows.iter().map(|(row, _)| row.outcome.map(Outcome::as_str)).collect();
    RecordBatch::try_from_iter_with_nullable([
        ("bot", text(&|(_, bot)| bot.name.clone()), false),
        ("symbol", text(&|(_, bot)| bot.symbol.to_string()), false),
        ("direction", text(&|(row, _)| row.approved.direction().to_string()), false),
        ("amount", money(&|row| Some(row.approved.stake()))?, false),
        ("close_type", text(&|(row, _)| row.approved.expiry().close_type.to_string()), false),
        ("expiration_type", text(&|(row, _)| row.approved.expiry().expiration_type.to_string()), false),
        ("decision_time", time(&|row| Some(row.approved.decision_time())), false),
        ("open_time", time(&|row| row.open_time), true),
        ("open_price", number(&|row| row.open_price), true),
        ("close_time", time(&|row| row.close_time.filter(|_| is_settled(row))), true),
        ("close_price", number(&|row| row.close_price.filter(|_| is_settled(row))), true),
        ("payout", number(&|row| row.payout.map(Payout::to_percent)), true),
        ("result", Arc::new(outcomes), true),
        ("pnl", money(&|row| is_settled(row).then_some(row.profit))?, true),
        ("reason", text(&|(row, _)| book.reason(row).to_string()), false),
        ("payout_known", time(&|row| row.answered_at.filter(|_| row.sequence.update_numbers()[1] > 0)), true),
        ("result_known", time(&|row| row.settled_at), true),
        ("answered_payout", number(&|row| row.sequence.answered_payout().map(Payout::to_percent)), true),
    ])
}

fn is_settled(row: &IntentRow) -> bool {
    row.state == IntentState::Settled
}

fn times_array(times: impl Iterator<Item = Option<Millis>>) -> ArrayRef {
    let times: PrimitiveArray<TimestampMillisecondType> = times.map(|time| time.map(Millis::get)).collect();
    Arc::new(times.with_timezone("UTC"))
}

fn amounts_array(
    amounts: impl Iterator<Item = Option<Money>>,
    scale: MoneyScale,
) -> Result<ArrayRef, ArrowError> {
    let amounts: PrimitiveArray<Decimal128Type> =
        amounts.map(|amount| amount.map(|amount| i128::from(amount.minor()))).collect();
    let decimals = i8::try_from(scale.decimals()).unwrap_or(i8::MAX);
    Ok(Arc::new(amounts.with_precision_and_scale(AMOUNT_DIGITS, decimals)?))
}

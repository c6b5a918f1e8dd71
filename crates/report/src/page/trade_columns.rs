//! The trades of a run as columns of JSON, for the page's script and for page comparison.

use crate::analysis::Trades;
use candlewick_engine::{IntentRow, IntentState};
use candlewick_sdk::Direction;
use serde_json::{Value, json};

/// Returns one array per column, with one entry per trade. Times are in milliseconds: decisions
/// relative to the previous decision, opens to the decision, closes to the open. Unknown values are
/// null.
pub(super) fn columns_of(rows: &[&IntentRow], trades: &Trades<'_>) -> Value {
    let scale = trades.scale;
    let column =
        |read: &dyn Fn(&IntentRow) -> Value| rows.iter().map(|row| read(row)).collect::<Vec<Value>>();
    let mut before = 0;
    let decided: Vec<i64> = rows
        .iter()
        .map(|row| {
            let at = row.approved.decision_time().get();
            let step = at - before;
            before = at;
            step
        })
        .collect();
    let close = |row: &IntentRow| row.close_time.filter(|_| row.state == IntentState::Settled);
    json!({
        "bot": column(&|row| json!(row.approved.bot().index())),
        "buy": column(&|row| json!(u8::from(row.approved.direction() == Direction::Buy))),
        "amount": column(&|row| json!(scale.to_f64(row.approved.stake()))),
        "decided": decided,
        "opened": column(&|row| json!(row.open_time.map(|at| at - row.approved.decision_time()))),
        "open": column(&|row| json!(row.open_price)),
        "closed": column(&|row| json!(close(row).zip(row.open_time).map(|(close, open)| close - open))),
        "close": column(&|row| json!(row.close_price.filter(|_| row.state == IntentState::Settled))),
        "payout": column(&|row| json!(row.payout)),
        "result": column(&|row| json!(row.outcome)),
        "pnl": column(&|row| json!((row.state == IntentState::Settled).then(|| scale.to_f64(row.profit)))),
        "reason": column(&|row| json!(trades.book.reason(row).to_string())),
    })
}

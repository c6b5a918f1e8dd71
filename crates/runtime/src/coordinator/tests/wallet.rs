//! Tests with another program's money on the account while list and wallet lag behind our own trade.

use super::reports::{OPENED, over, running};
use super::*;

/// Close of our trade, in ms after the start of the run.
const CLOSED: i64 = 120_999;
/// First time at which the list shows our trade. The list at 120 s lacks it, so the lag may be two minutes.
const LISTED: i64 = 121_000;
/// Lag of the wallet: more than a minute plus the list lag, and less than a minute plus twice the list lag.
const WALLET_LAG: i64 = 200_000;
/// Time and amount of a deposit, which the wallet shows immediately.
const STRANGER: (i64, i64) = (130_000, 3_333);

fn shown(ms: i64) -> i64 {
    let (came_at, amount) = STRANGER;
    let shown_from = |at: i64, amount: i64| if ms >= at { amount } else { 0 };
    100_000
        + shown_from(OPENED + WALLET_LAG, -1_000)
        + shown_from(CLOSED + 4_000 + WALLET_LAG, 1_800)
        + shown_from(came_at, amount)
}

fn answer(ask: ReadRequest, ms: i64, now: Millis) -> Answer {
    match ask {
        ReadRequest::Candles(..) => candles_at(&[OPENED], ms, now),
        ReadRequest::Trade(..) => record_answer(over(), now),
        ReadRequest::Trades => list_answer(if ms < LISTED { Vec::new() } else { vec![running()] }, now),
        ReadRequest::BalancesAfterTrades => no_balances_after_trades(),
        ReadRequest::Balances => balances_answer(Decimal::new(shown(ms), 2), now),
        ReadRequest::User => Answer::User(Err(no_answer())),
        other => panic!("unexpected request {other:?}"),
    }
}

#[test]
fn books_a_deposit_once_wallet_and_list_have_caught_up() {
    let mut parts = parts();
    parts.settings = RuntimeSettings {
        wallet_every_s: 10,
        list_every_s: 30,
        list_lag_ms: 10_000,
        audit_settlement_prices: false,
        ..parts.settings
    };
    let mut bench = Bench::new(parts);
    let mut deposits = Vec::new();
    bench.drive(0..600_000, |command, ms, now| match command {
        Command::Ask(ask) => Some(answer(ask, ms, now)),
        Command::Send(_) => Some(open_answer(report_of_tests("01JT", now), now)),
        Command::Record(JournalEntry::Event(Event { kind: EventKind::Deposit { amount }, .. })) => {
            deposits.push(amount.minor());
            None
        }
        _ => None,
    });
    assert_eq!(deposits, [STRANGER.1], "neither sooner, in parts, nor twice");
}

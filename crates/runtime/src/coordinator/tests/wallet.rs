//! Money of others on the account, beside a list and a wallet that lag behind our own trade.

use super::*;
use candlewick_broker::Progress;
use candlewick_sdk::Outcome;

/// When our trade opened and closed, in ms after the start of the run.
const OPENED: i64 = 60_000;
const CLOSED: i64 = 120_999;
/// From when on the list shows our trade: a listing at 120 s lacks it, so the list may lag by two minutes from then on.
const LISTED: i64 = 121_000;
/// How far the wallet lags: longer than a minute and the list's lag, and shorter than a minute and twice that.
const WALLET_LAG: i64 = 200_000;
/// When a stranger's money comes, which the wallet shows at once.
const STRANGER: (i64, i64) = (130_000, 3_333);

fn shown(ms: i64) -> i64 {
    let (came_at, amount) = STRANGER;
    let shown_from = |at: i64, amount: i64| if ms >= at { amount } else { 0 };
    100_000
        + shown_from(OPENED + WALLET_LAG, -1_000)
        + shown_from(CLOSED + 4_000 + WALLET_LAG, 1_800)
        + shown_from(came_at, amount)
}

fn answer(ask: Ask, ms: i64, now: Millis) -> Answer {
    let trade = TradeReport {
        close_time: Some(START + Millis::new(CLOSED)),
        ..report_of_tests("01JT", START + Millis::new(OPENED))
    };
    match ask {
        // No past, then one candle, and with it one signal.
        Ask::Candles(..) if ms == 0 => candles_of(Vec::new(), now),
        Ask::Candles(..) if ms == OPENED => candles_of(vec![candle(now)], now),
        Ask::Candles(series, _) => Answer::Candles(series, Err(no_answer())),
        Ask::Trade(..) => {
            let progress = Progress::Over(Outcome::Won);
            record_of(TradeReport { progress, profit: Some(Decimal::from(8)), ..trade }, now)
        }
        Ask::Trades => list_of(if ms < LISTED { Vec::new() } else { vec![trade] }, now),
        Ask::BalancesAfterTrades => Answer::BalancesAfterTrades(Err(no_answer())),
        Ask::Balances => balances_of(Decimal::new(shown(ms), 2), now),
        Ask::User => Answer::User(Err(no_answer())),
        other => panic!("nobody asks {other:?}"),
    }
}

#[test]
fn money_is_booked_as_a_deposit_once_a_wallet_that_lags_behind_a_list_that_lags_has_caught_up() {
    let mut parts = parts();
    parts.settings = RuntimeSettings {
        wallet_every_s: 10,
        list_every_s: 30,
        list_lag_ms: 10_000,
        audit_settlement_prices: false,
        ..parts.settings
    };
    let mut bench = Bench::of(parts);
    let mut deposits = Vec::new();
    bench.drive(0..600_000, |command, ms, now| match command {
        Command::Ask(ask) => Some(answer(ask, ms, now)),
        Command::Send(_) => Some(open_of(report_of_tests("01JT", now), now)),
        Command::Record(JournalEntry::Event(Event { kind: EventKind::Deposit { amount }, .. })) => {
            deposits.push(amount.minor());
            None
        }
        _ => None,
    });
    assert_eq!(deposits, [STRANGER.1], "neither sooner, in parts, nor twice");
}

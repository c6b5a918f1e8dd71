//! Money of others on the account, beside a list and a wallet that lag behind our own trade.

use super::*;
use crate::resolver::report_of_tests;
use candlewick_broker::{Balances, Progress};
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

/// What the wallet shows at a moment, in minor units: 10.00 are staked, and 18.00 come back.
fn shown(ms: i64) -> i64 {
    let (came_at, amount) = STRANGER;
    let shown_from = |at: i64, amount: i64| if ms >= at { amount } else { 0 };
    100_000
        + shown_from(OPENED + WALLET_LAG, -1_000)
        + shown_from(CLOSED + 4_000 + WALLET_LAG, 1_800)
        + shown_from(came_at, amount)
}

/// Answers of the venue to all that is asked at a moment.
fn answer(ask: Ask, ms: i64, now: Millis) -> Answer {
    let failed = || BrokerError::Unavailable { text: "no".to_owned() };
    let trade = TradeReport {
        close_time: Some(START + Millis::new(CLOSED)),
        ..report_of_tests("01JT", START + Millis::new(OPENED))
    };
    match ask {
        // No past, then one candle, and with it one signal.
        Ask::Candles(series, _) if ms == 0 => Answer::Candles(series, Ok(Reply::at(Candles::default(), now))),
        Ask::Candles(series, _) if ms == OPENED => {
            let candles = Candles { candles: vec![candle(now)], ..Candles::default() };
            Answer::Candles(series, Ok(Reply::at(candles, now)))
        }
        Ask::Candles(series, _) => Answer::Candles(series, Err(failed())),
        Ask::Trade(intent, _) => {
            let progress = Progress::Over(Outcome::Won);
            let over = TradeReport { progress, profit: Some(Decimal::from(8)), ..trade };
            Answer::Trade(intent, Ok(Box::new(Reply::at(over, now))))
        }
        Ask::Trades => Answer::Trades(TradeListing {
            began: now,
            ended: now,
            is_complete: true,
            trades: if ms < LISTED { Vec::new() } else { vec![trade] },
            ..TradeListing::default()
        }),
        Ask::BalancesAfterTrades => Answer::BalancesAfterTrades(Err(failed())),
        Ask::Balances => {
            let balances =
                Balances { demo: Some(Decimal::new(shown(ms), 2)), real: None, ..Balances::default() };
            Answer::Balances(Ok(Reply::at(balances, now)))
        }
        Ask::User => Answer::User(Err(failed())),
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
    for ms in (0..600_000).step_by(500) {
        let mut inputs = vec![Input::Time, if ms == 0 { Input::Start } else { Input::Durable(Ok(())) }];
        while let Some(input) = inputs.pop() {
            let now = bench.at(ms).now;
            for command in bench.step(input) {
                match command {
                    Command::Ask(ask) => inputs.push(Input::Answer(answer(ask, ms, now))),
                    Command::Send(open) => {
                        let report = Box::new(report_of_tests("01JT", now));
                        let opened = OpenOutcome::Opened(Reply::at(report, now));
                        inputs.push(Input::Answer(Answer::Open(open.intent(), opened)));
                    }
                    Command::Record(JournalEntry::Event(Event {
                        kind: EventKind::Deposit { amount },
                        ..
                    })) => deposits.push(amount.minor()),
                    _ => {}
                }
            }
        }
    }
    assert_eq!(deposits, [STRANGER.1], "neither sooner, in parts, nor twice");
}

//! Wallet evidence for an intent in doubt while the result of another trade is unknown.

use super::reports::running;
use super::*;
use candlewick_broker::TradeProgress;
use candlewick_engine::IntentState;
use candlewick_sdk::Outcome;

/// The first open is answered, and the second is not. Complete lists at 211 s and 221 s prove it opened no trade.
const FIRST: IntentId = IntentId::new(1);
const SECOND: IntentId = IntentId::new(2);
const SECOND_CLOSES: i64 = 180_999;
const ENDS: i64 = 500_000;

#[derive(Clone, Copy)]
struct Venue {
    told: i64,
    /// Amounts returned for the first trade from 125 s on, and for the second from 185 s on.
    back: [i64; 2],
    lists_second: Option<i64>,
}

impl Venue {
    fn wallet(self, ms: i64) -> i64 {
        let from = |moment: i64, amount: i64| if ms >= moment { amount } else { 0 };
        let first = from(60_000, -1_000) + from(125_000, self.back[0]);
        let second = from(120_000, -1_000) + from(185_000, self.back[1]);
        100_000 + first + if self.lists_second.is_some() { second } else { 0 }
    }

    fn first(self, ms: i64) -> TradeReport {
        let running = TradeReport { id: "first".to_owned(), ..running() };
        if ms < self.told {
            return running;
        }
        let profit = Some(Decimal::new(self.back[0] - 1_000, 2));
        TradeReport { progress: TradeProgress::Over(Outcome::Lost), profit, ..running }
    }

    fn rows(self, ms: i64) -> Vec<TradeReport> {
        let second = TradeReport {
            close_time: Some(START + Millis::new(SECOND_CLOSES)),
            ..report_of_tests("second", START + Millis::new(120_000))
        };
        let is_listed = self.lists_second.is_some_and(|at| ms >= at);
        [Some(self.first(ms)), is_listed.then_some(second)].into_iter().flatten().collect()
    }

    fn answer(self, ask: ReadRequest, ms: i64, now: Millis) -> Answer {
        match ask {
            ReadRequest::Candles(..) => candles_at(&[60_000, 120_000], ms, now),
            ReadRequest::Trade(FIRST, _) => record_answer(self.first(ms), now),
            ReadRequest::Trade(intent, _) => Answer::Trade(intent, Err(no_answer())),
            ReadRequest::Trades => list_answer(self.rows(ms), now),
            ReadRequest::BalancesAfterTrades => {
                let demo = Decimal::new(self.wallet(ms), 2);
                Answer::BalancesAfterTrades(Ok(Reply::without_latency(demo_balances(demo), now)))
            }
            other => panic!("unexpected request {other:?}"),
        }
    }

    fn play(self) -> (Vec<(i64, &'static str)>, IntentState) {
        let mut parts = parts();
        parts.settings.list_lag_ms = 60_000;
        parts.settings.audit_settlement_prices = false;
        parts.session = session(RiskSettings {
            max_open_trades_per_symbol: 2,
            allow_duplicate: true,
            ..RiskSettings::default()
        });
        let (mut bench, mut seen) = (Bench::new(parts), Vec::new());
        bench.drive(0..ENDS, |command, ms, now| {
            match command {
                Command::Ask(ask) => return Some(self.answer(ask, ms, now)),
                Command::Send(open) if open.intent() == FIRST => {
                    return Some(open_answer(self.first(ms), now));
                }
                Command::Send(open) => return Some(lost_open(open.intent())),
                Command::Record(JournalEntry::Event(event)) => match event.kind {
                    EventKind::NotOpened { .. } => seen.push((ms, "not opened")),
                    EventKind::Adopted(_) => seen.push((ms, "adopted")),
                    _ => {}
                },
                _ => {}
            }
            None
        });
        let row = bench.coordinator.session.row(SECOND).expect("there are two intents");
        (seen, row.state)
    }
}

/// A trade that is LOST but returns 20.00 hides the stake that the second order has taken.
#[test]
fn wrong_payments_do_not_pass_for_an_untaken_stake() {
    for back in [[2_000, 0], [0, 2_000]] {
        let (seen, state) = Venue { told: 280_000, back, lists_second: Some(350_000) }.play();
        assert!(matches!(seen[..], [(350_000.., "adopted")]), "{back:?}: {seen:?}");
        assert_eq!(state, IntentState::Open);
    }
}

#[test]
fn concludes_not_opened_once_other_results_are_known() {
    for (told, expected) in [(130_000, 221_000..230_000), (280_000, 280_000..330_000)] {
        for back in [0, 1_000, 2_000] {
            let (seen, state) = Venue { told, back: [back, 0], lists_second: None }.play();
            let is_expected = matches!(seen[..], [(at, "not opened")] if expected.contains(&at));
            assert!(is_expected, "told at {told}, {back} back: {seen:?}");
            assert_eq!(state, IntentState::NotOpened);
        }
    }
}

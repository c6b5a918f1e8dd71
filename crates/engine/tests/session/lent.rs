//! Which strategies are lent for a run over stored candles, and who answers for them.

use crate::event::{START, minute};
use crate::script::Script;
use candlewick_engine::{
    Action, AnswersAhead, IfRefused, LadderEntry, LentStrategy, RiskSettings, Session, SessionSettings,
    StakeSettings, StoredCandles, StretchEnd,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Candle, CandleAnswers, Interval, Millis, MoneyScale, Ohlcv, Signal, Strategy};

/// Buys at every candle.
struct Buys {
    wants_settlements: bool,
    longer: Vec<Interval>,
}

impl Strategy for Buys {
    fn warmup(&self) -> usize {
        3
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        Some(Signal::buy("always").with("minute", ((candle.time().get() - START) / 60_000) as f64))
    }

    fn wants_settlements(&self) -> bool {
        self.wants_settlements
    }

    fn longer_intervals(&self) -> &[Interval] {
        &self.longer
    }
}

fn session(scripts: &[Script], strategies: Vec<Box<dyn Strategy>>) -> Session {
    let settings = SessionSettings {
        money_scale: MoneyScale::default(),
        balance: Decimal::from(1_000),
        risk: RiskSettings { max_open_trades: 0, allow_duplicate: true, ..RiskSettings::default() },
        bots: scripts.iter().map(|script| script.bot.clone()).collect(),
        longer_share_percent: None,
    };
    Session::new(&settings, strategies).unwrap()
}

fn candles(count: i64) -> Vec<Candle> {
    let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
    (0..count).map(|at| Candle::new(minute(at), Interval::MINUTE, numbers).unwrap()).collect()
}

#[test]
fn those_are_lent_that_are_shown_nothing_but_candles_of_their_series() {
    let ladder = StakeSettings::Martingale {
        amount: Decimal::TEN,
        factor: 2.0,
        levels: 2,
        entry: LadderEntry::NextCandle,
        if_refused: IfRefused::Wait,
    };
    let buys = |wants_settlements, longer: &[&str]| -> Box<dyn Strategy> {
        let longer = longer.iter().map(|name| name.parse().unwrap()).collect();
        Box::new(Buys { wants_settlements, longer })
    };
    let scripts = [
        Script::new("settlements"),
        Script::new("first"),
        Script::new("longer"),
        Script::new("ladder").staking(ladder),
        Script::new("priced").on("ETHUSDT"),
        Script::new("second"),
    ];
    let strategies = vec![
        buys(true, &[]),
        buys(false, &[]),
        buys(false, &["1h"]),
        buys(false, &[]),
        buys(false, &[]),
        buys(false, &[]),
    ];
    let mut session = session(&scripts, strategies);
    let eth = session.symbol_id("ETHUSDT".parse().unwrap()).unwrap();
    let own = candles(10);
    let mut stored = StoredCandles::new(&session, vec![&own, &own], &[eth]);
    let lent = session.lend_strategies(&mut stored);
    // The two on BTCUSDT that are named by their numbers.
    assert_eq!(lent.iter().map(|strategy| strategy.series().index()).collect::<Vec<_>>(), [0, 0]);
    assert!(session.lend_strategies(&mut stored).is_empty(), "what is lent is not there to be lent again");
}

/// Shows a lent strategy so many candles at a time.
struct Shows<'a> {
    strategy: LentStrategy,
    rest: &'a [Candle],
    at_once: usize,
}

impl AnswersAhead for Shows<'_> {
    fn next_answers(&mut self, strategy: usize, answers: &mut CandleAnswers) -> usize {
        assert_eq!(strategy, 0);
        let (now, rest) = self.rest.split_at(self.at_once.min(self.rest.len()));
        self.strategy.show(now, answers);
        self.rest = rest;
        now.len()
    }
}

#[test]
fn what_a_lent_strategy_answers_is_decided_at_its_moment() {
    let own = candles(40);
    let expected: Vec<i64> = (2..40).collect();
    for at_once in [1, 2, 3, 7, 40, 100] {
        let strategies: Vec<Box<dyn Strategy>> =
            vec![Box::new(Buys { wants_settlements: false, longer: Vec::new() })];
        let mut session = session(&[Script::new("bot")], strategies);
        let mut stored = StoredCandles::new(&session, vec![&own], &[]);
        let mut lent = session.lend_strategies(&mut stored);
        let mut shows = Shows { strategy: lent.pop().unwrap(), rest: &own, at_once };
        let mut stored = stored.answered_by(&mut shows);
        let (mut moments, mut actions) = (Vec::new(), Vec::new());
        loop {
            let end = session.handle_candles(&mut stored, Millis::MAX, &mut actions);
            for action in actions.drain(..) {
                let (at, reason) = match &action {
                    Action::Open(approved) => (approved.decision_time(), approved.reason()),
                    Action::Refuse(refused) => (refused.decision_time, &refused.reason),
                    _ => continue,
                };
                let opened = (at - Millis::MINUTE - minute(0)).get() / 60_000;
                assert_eq!(reason.to_string(), format!("always minute={opened}"));
                moments.push(opened);
            }
            if end == StretchEnd::Reached {
                break;
            }
        }
        // The third candle is the first whose signal counts.
        assert_eq!(moments, expected, "{at_once} at once");
        assert_eq!(stored.shown(), 40);
    }
}

//! Trades with precomputed outcomes are booked like trades whose events are handled one by one.

use crate::event::{bare, flat_candle, minute, payout};
use crate::script::{Script, session_settings};
use candlewick_engine::{
    Action, BookedTrade, BotId, Event, EventKind, OpenedTrade, OrderTerms, Origin, PrecomputedOutcome,
    RiskSettings, Rule, SeriesId, Session, StakeSettings, TradeSettlement, TrialSession,
};
use candlewick_sdk::serde_json::{Value, from_value, json};
use candlewick_sdk::{Direction, Interval, Millis, Money, Outcome, Signal};
use proptest::prelude::*;

/// A signal, its distance from the previous signal, and the outcome of its trade.
#[derive(Clone, Debug)]
struct Bet {
    after: i64,
    direction: Direction,
    outcome: Outcome,
    percent: u32,
    answer_ms: i64,
    end_s: i64,
}

fn bets() -> impl Strategy<Value = Vec<Bet>> {
    let direction = prop::sample::select(vec![Direction::Buy, Direction::Sell]);
    let outcome = prop::sample::select(vec![Outcome::Won, Outcome::Lost, Outcome::Draw, Outcome::Cancelled]);
    let bet = (10_i64..700, direction, outcome, 55_u32..95, 0_i64..3_000, 10_i64..590);
    let bet = bet.prop_map(|(after, direction, outcome, percent, answer_ms, end_s)| Bet {
        after,
        direction,
        outcome,
        percent,
        answer_ms,
        end_s,
    });
    prop::collection::vec(bet, 1..60)
}

fn rules() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!({}),
        json!({ "max_trades_per_hour": 2, "max_trades_per_day": 4, "max_drawdown_percent": 3.0 }),
        json!({ "cooldown_after_loss_s": 2_000, "max_loss_streak": 6, "min_payout_percent": 70.0 }),
        json!({ "cooldown_after_losses": 2, "cooldown_after_losses_s": 9_000, "cooldown_scope": "symbol" }),
        json!({ "daily_loss_limit": 40, "daily_profit_target": 30, "payout_max_age_s": 3_600 }),
        json!({ "pauses": [{ "after": 2, "of": "wins", "for_s": 4_000 }, { "after": 3, "of": "trades", "scope": "bot" }] }),
        json!({ "daily_loss_limit_percent": 0.3, "pauses": [{ "after": 2, "of": "losses", "for_s": 9_000, "scope": "symbol" }] }),
        json!({ "session": { "loss_limit": 45, "profit_target_percent": 0.4 } }),
        json!({ "hours": [{ "from": "00:00", "to": "23:00" }], "session": { "of": "hours", "loss_limit_percent": 0.2 } }),
        json!({ "min_payout_percent": 60.0, "payout_max_age_s": 7_200, "enforce_verdict": true }),
    ])
}

fn stakes() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!({ "kind": "fixed", "amount": 10 }),
        json!({ "kind": "martingale", "amount": 1, "factor": 2.2, "levels": 5 }),
        json!({ "kind": "kelly", "fraction": 0.5, "kelly_floor_trades": 5 }),
    ])
}

fn session(risk: &Value, stake: &Value, signals: &[(i64, Signal)]) -> Session {
    let stake: StakeSettings = from_value(stake.clone()).unwrap();
    let script =
        signals.iter().fold(Script::new("bot").staking(stake), |script, (at, s)| script.says(*at, s.clone()));
    let risk: RiskSettings = from_value(risk.clone()).unwrap();
    Session::new(&session_settings(1_000, risk, vec![script.bot.clone()]), vec![script.strategy()]).unwrap()
}

fn profit(bet: &Bet, stake: Money) -> Money {
    match bet.outcome {
        Outcome::Won => stake.profit_at(payout(bet.percent).unwrap()),
        Outcome::Lost => -stake,
        Outcome::Draw | Outcome::Cancelled => Money::ZERO,
    }
}

fn handle(session: &mut Session, close: Millis, bet: &Bet) -> Result<Money, Rule> {
    let candle = flat_candle(close - Millis::MINUTE, Interval::MINUTE);
    let mut actions = Vec::new();
    let kind = EventKind::Candle { series: SeriesId::FIRST, candle, origin: Origin::Live };
    session.handle(&Event { at: close, received: close, kind }, &mut actions);
    let approved = match actions.last().unwrap() {
        Action::Open(approved) => approved.clone(),
        Action::Refuse(refused) => return Err(refused.rule),
        other => panic!("{other:?}"),
    };
    let (intent, payout) = (approved.intent(), payout(bet.percent));
    let opened = OpenedTrade { payout, ..bare(intent.number()) };
    let result = profit(bet, approved.stake());
    let settled = TradeSettlement { payout, ..TradeSettlement::from_operator(intent, bet.outcome, result) };
    let ends = [(bet.answer_ms, EventKind::Opened(opened)), (bet.end_s * 1_000, EventKind::Settled(settled))];
    for (after, kind) in ends {
        let at = close + Millis::new(after);
        session.handle(&Event { at, received: at, kind }, &mut actions);
    }
    Ok(approved.stake())
}

fn book(session: &mut TrialSession, close: Millis, (bet, signal): (&Bet, &Signal)) -> Result<Money, Rule> {
    let mut stake = Money::ZERO;
    let outcome = |terms: &OrderTerms| {
        stake = terms.stake();
        Some(PrecomputedOutcome {
            answered_at: close + Millis::new(bet.answer_ms),
            payout: payout(bet.percent).unwrap(),
            settled_at: close + Millis::SECOND * bet.end_s,
            outcome: bet.outcome,
            profit: profit(bet, stake),
        })
    };
    let traded = session.handle_signal(close, signal, outcome)?;
    let BookedTrade::Settled { settlement: s, .. } = traded else { panic!("{traded:?}") };
    let expected = (bet.direction, close, bet.outcome, profit(bet, stake));
    assert_eq!((s.direction, s.decision_time, s.outcome, s.profit), expected);
    Ok(stake)
}

fn state(session: &Session) -> String {
    let verdicts: Vec<_> = session.verdicts().map(|v| (v.edge(), v.edge_test().clone())).collect();
    let next = (session.next_intent(), session.last_payout(BotId::FIRST), session.reserved_intents().count());
    format!("{:?} {next:?} {verdicts:?}", session.ledger())
}

#[test]
fn trials_stake_by_a_lost_edge_like_sessions() {
    let risk = json!({
        "verdict": { "alpha": 0.3, "delta": 0.5, "watch_trades": 100 },
        "max_drawdown_percent": 0.0, "daily_loss_limit": 0, "max_trades_per_day": 0,
    });
    let stake = json!({ "kind": "kelly", "fraction": 0.5, "kelly_floor_trades": 3 });
    let bet = |number: i64| Bet {
        after: 10,
        direction: Direction::Buy,
        outcome: if number <= 30 { Outcome::Won } else { Outcome::Lost },
        percent: 80,
        answer_ms: 500,
        end_s: 300,
    };
    let signals: Vec<(i64, Signal)> =
        (1..=60).map(|number| (number * 10, Signal::new(Direction::Buy, "scripted"))).collect();
    let mut handled = session(&risk, &stake, &signals);
    let mut trial = TrialSession::new(session(&risk, &stake, &[])).unwrap();
    trial.disable_verdicts();
    let mut stakes = Vec::new();
    for (number, (at, signal)) in (1..).zip(&signals) {
        let (bet, close) = (bet(number), minute(*at));
        let booked = book(&mut trial, close, (&bet, signal));
        assert_eq!(booked, handle(&mut handled, close, &bet), "trade {number}");
        stakes.push(booked.unwrap().minor());
    }
    assert!(stakes[30] > 1_000, "{stakes:?}");
    assert_eq!(stakes[59], 100, "{stakes:?}");
}

proptest! {
    #[test]
    fn precomputed_trade_leaves_the_state_of_its_events(
        bets in bets(),
        risk in rules(),
        stake in stakes(),
    ) {
        let mut signals = Vec::new();
        let mut at = 0;
        for bet in &bets {
            at += bet.after;
            signals.push((at, Signal::new(bet.direction, "scripted")));
        }
        let mut handled = session(&risk, &stake, &signals);
        let mut trial = TrialSession::new(session(&risk, &stake, &[])).unwrap();
        for (bet, (at, signal)) in bets.iter().zip(&signals) {
            let close = minute(*at);
            prop_assert_eq!(book(&mut trial, close, (bet, signal)), handle(&mut handled, close, bet));
            prop_assert_eq!(state(trial.session()), state(&handled));
        }
    }
}

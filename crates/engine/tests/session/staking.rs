//! Stakes of consecutive trades.

use crate::event::{
    at, cancelled, candle, drew, lost, not_sent, opened_paying, payout, price, rejected, second, settled, won,
};
use crate::script::{Script, ladder, ladder_of};
use crate::test_session::TestSession;
use candlewick_engine::{
    EventKind, IfRefused, IntentId, KellyBound, LadderEntry, RiskSettings, StakeBound, StakeSettings,
    TradeSettlement,
};
use candlewick_sdk::Outcome;
use candlewick_sdk::rust_decimal::Decimal;

type Ending = fn(u64) -> EventKind;

fn check(stake: StakeSettings, endings: &[Ending], stakes: &[&str]) {
    let minutes: Vec<i64> = (1..=stakes.len() as i64).collect();
    let mut session = TestSession::new(&[Script::new("a").buys(&minutes).staking(stake)], |_| {});
    for (number, stake) in (1_i64..).zip(stakes) {
        let ending = endings.get(number as usize - 1).map(|ending| ending(number.cast_unsigned()));
        let opened = if matches!(ending, Some(EventKind::Settled(_))) { " opened" } else { "" };
        session.check(&[(candle(0, number), &format!("#{number} a BUY {stake}{opened}"))]);
        if let Some(ending) = ending {
            session.check(&[(at(number * 60 + 59, ending), "")]);
        }
    }
}

#[test]
fn martingale_climbs_only_after_losses() {
    let ladder = ladder(LadderEntry::NextSignal, IfRefused::Wait);
    let win: Ending = |intent| won(intent, 800);
    let lose: Ending = |intent| lost(intent, 1_000);
    check(
        ladder.clone(),
        &[lose, drew, cancelled, rejected, not_sent, lose, win, lose],
        &["10.00", "20.00", "20.00", "20.00", "20.00", "20.00", "40.00", "10.00", "20.00"],
    );
    check(ladder, &[lose, lose, lose], &["10.00", "20.00", "40.00", "10.00"]);
}

/// Creates a Session with a ladder of 10, 20 and 40 that continues with the next candle.
fn with_next_candle(script: Script) -> TestSession {
    TestSession::new(&[script.staking(ladder(LadderEntry::NextCandle, IfRefused::Wait))], |_| {})
}

#[test]
fn ladder_enters_on_first_candle_after_settlement_up_to_its_top() {
    let mut session = with_next_candle(Script::new("a").sells(&[1, 9]));
    session.check(&[
        (candle(0, 1), "#1 a SELL 10.00 opened"),
        (candle(0, 2), ""),
        (at(126, lost(1, 1_000)), ""),
        (candle(0, 3), "#2 a SELL 20.00 opened"),
        (candle(0, 4), ""),
        (at(300, lost(2, 2_000)), ""),
        (candle(0, 5), "#3 a SELL 40.00 opened"),
        (candle(0, 6), ""),
        (at(366, lost(3, 4_000)), ""),
        (candle(0, 7), ""),
        (candle(0, 8), ""),
        (candle(0, 9), "#4 a SELL 10.00"),
    ]);
    let reason = session.book.reason(session.book.row(IntentId::new(3)).unwrap());
    assert_eq!(reason.to_string(), "ladder: again with the next candle level=3");
}

#[test]
fn win_ends_the_ladder_and_draw_above_first_level_repeats() {
    let mut session = with_next_candle(Script::new("a").buys(&[1, 8]));
    session.check(&[
        (candle(0, 1), "#1 a BUY 10.00 opened"),
        // A draw on the first level does not continue the ladder.
        (at(119, drew(1)), ""),
        (candle(0, 2), ""),
        (candle(0, 8), "#2 a BUY 10.00 opened"),
        (at(539, lost(2, 1_000)), ""),
        (candle(0, 9), "#3 a BUY 20.00 opened"),
        (at(599, drew(3)), ""),
        (candle(0, 10), "#4 a BUY 20.00 opened"),
        (at(659, won(4, 1_600)), ""),
        (candle(0, 11), ""),
    ]);
}

#[test]
fn ladder_ignores_strategy_on_its_candle_but_not_before() {
    let mut session = with_next_candle(Script::new("a").buys(&[1]).sells(&[2, 3]));
    session.check(&[
        (candle(0, 1), "#1 a BUY 10.00 opened"),
        (at(119, lost(1, 1_000)), ""),
        (candle(0, 2), "#2 a BUY 20.00 opened"),
        (at(170, lost(2, 2_000)), ""),
        (price(0, 180), "#3 a SELL 40.00"),
        (candle(0, 3), "a InFlight"),
    ]);
}

#[test]
fn soros_adds_the_profit_paid_by_the_venue() {
    let soros = soros(2, IfRefused::Wait);
    check(
        soros,
        // 10.00 wins 8.00, 18.00 wins 14.39, 32.39 wins and restarts, 10.00 is lost.
        &[|n| won(n, 800), drew, |n| won(n, 1_439), rejected, |n| won(n, 2_591), |n| lost(n, 1_000)],
        &["10.00", "18.00", "18.00", "32.39", "32.39", "10.00", "10.00"],
    );
}

fn soros(wins: u32, if_refused: IfRefused) -> StakeSettings {
    StakeSettings::Soros { amount: Decimal::TEN, wins, if_refused }
}

/// Checks the stakes of one trade per minute, all won at 80 %. A rejected signal has no trade.
fn won_stakes(stake: StakeSettings, limits: impl Fn(&mut RiskSettings), expected: &[&str]) {
    let minutes: Vec<i64> = (1..=expected.len() as i64).collect();
    let mut session = TestSession::new(&[Script::new("a").buys(&minutes).staking(stake)], limits);
    let mut number = 0;
    for (minute, expected) in minutes.into_iter().zip(expected) {
        let Ok(staked) = expected.parse::<Decimal>() else {
            session.check(&[(candle(0, minute), expected)]);
            continue;
        };
        number += 1;
        // In cents: 80 % of the stake.
        let profit = (staked * Decimal::from(80)).round().to_string().parse().unwrap();
        session.check(&[
            (candle(0, minute), &format!("#{number} a BUY {expected} opened")),
            (at(minute * 60 + 59, won(number, profit)), ""),
        ]);
    }
}

#[test]
fn soros_adds_profit_to_the_rounded_stake() {
    let stake = StakeSettings::Soros { amount: Decimal::new(107, 2), wins: 2, if_refused: IfRefused::Wait };
    // 1.00 wins 0.80; 1.80 wins 1.44, and 3.24 is staked as 3.20.
    won_stakes(stake, |risk| risk.stake_step = Decimal::new(10, 2), &["1.00", "1.80", "3.20", "1.00"]);
}

#[test]
fn soros_above_max_stake_waits_restarts_or_is_capped() {
    // 10.00, 18.00, 32.40.
    let limited = |risk: &mut RiskSettings| risk.max_stake = Decimal::from(20);
    won_stakes(soros(3, IfRefused::Wait), limited, &["10.00", "18.00", "a StakeBounds", "a StakeBounds"]);
    won_stakes(soros(3, IfRefused::Reset), limited, &["10.00", "18.00", "10.00", "18.00", "10.00"]);
    let capped = |risk: &mut RiskSettings| (risk.max_stake, risk.cap_stakes) = (Decimal::from(20), true);
    won_stakes(soros(3, IfRefused::Wait), capped, &["10.00", "18.00", "20.00", "20.00", "10.00"]);
    // 0.2 % of 10,022.40, in whole cents.
    let share = |risk: &mut RiskSettings| (risk.max_stake_percent, risk.cap_stakes) = (0.2, true);
    won_stakes(soros(3, IfRefused::Wait), share, &["10.00", "18.00", "20.04"]);
}

#[test]
fn reports_stake_outside_its_bounds_with_both_figures() {
    let limited = |risk: &mut RiskSettings| risk.max_stake = Decimal::from(15);
    let script = || Script::new("a").buys(&[1, 3]).staking(soros(2, IfRefused::Wait));
    let mut session = TestSession::new(&[script()], limited);
    let troubles = |session: &TestSession| {
        let troubles = session.session.stake_violations(second(150));
        troubles
            .into_iter()
            .map(|trouble| (trouble.stake.minor(), trouble.bound, trouble.value.minor()))
            .collect::<Vec<_>>()
    };
    assert_eq!(troubles(&session), []);
    session.check(&[(candle(0, 1), "#1 a BUY 10.00 opened")]);
    assert_eq!(troubles(&session), [], "its end may change the stake");
    session.check(&[(at(119, won(1, 800)), "")]);
    assert_eq!(troubles(&session), [(1_800, StakeBound::MaxStake, 1_500)]);
    session.check(&[(candle(0, 3), "a StakeBounds")]);
    for (balance, stake, change, expected) in [
        (100, StakeSettings::Share { percent: 0.5 }, None, (50, StakeBound::MinStake, 100)),
        (5, StakeSettings::default(), None, (1_000, StakeBound::FreeBalance, 500)),
        (10_000, StakeSettings::default(), Some(9), (1_000, StakeBound::DailyLossLimit, 900)),
    ] {
        let script = Script::new("a").buys(&[1]).staking(stake);
        let change = |risk: &mut RiskSettings| {
            if let Some(most) = change {
                risk.daily_loss_limit = Decimal::from(most);
            }
        };
        assert_eq!(troubles(&TestSession::with_balance(balance, &[script], change)), [expected]);
    }
}

#[test]
fn share_above_max_stake_is_capped_to_a_multiple_of_the_step() {
    let limits = |cap_stakes| {
        move |risk: &mut RiskSettings| {
            (risk.max_stake, risk.stake_step, risk.cap_stakes) =
                (Decimal::new(1_575, 2), Decimal::new(50, 2), cap_stakes);
        }
    };
    let share = || StakeSettings::Share { percent: 0.2 };
    won_stakes(share(), limits(false), &["a StakeBounds"]);
    won_stakes(share(), limits(true), &["15.50", "15.50"]);
}

#[test]
fn ladder_restarts_after_a_declined_level_if_configured() {
    for (if_refused, third) in [(IfRefused::Wait, "#3 a BUY 20.00"), (IfRefused::Reset, "#3 a BUY 10.00")] {
        let ladder = ladder(LadderEntry::NextSignal, if_refused);
        let mut session = TestSession::new(&[Script::new("a").buys(&[1, 3, 5]).staking(ladder)], |_| {});
        session.check(&[
            (candle(0, 1), "#1 a BUY 10.00 opened"),
            (at(119, lost(1, 1_000)), ""),
            (candle(0, 3), "#2 a BUY 20.00"),
            (at(182, rejected(2)), ""),
            (candle(0, 5), third),
        ]);
    }
    let mut session =
        TestSession::new(&[Script::new("a").buys(&[1, 3, 5]).staking(soros(2, IfRefused::Reset))], |_| {});
    session.check(&[
        (candle(0, 1), "#1 a BUY 10.00 opened"),
        (at(119, won(1, 800)), ""),
        (candle(0, 3), "#2 a BUY 18.00"),
        (at(182, rejected(2)), ""),
        (candle(0, 5), "#3 a BUY 10.00"),
    ]);
}

#[test]
fn each_bot_climbs_its_own_ladder() {
    let ladder = ladder(LadderEntry::NextSignal, IfRefused::Wait);
    let scripts = [
        Script::new("a").buys(&[1, 3]).staking(ladder.clone()),
        Script::new("b").buys(&[2]).staking(ladder.clone()),
        Script::new("e").on("ETHUSDT").buys(&[3]).staking(ladder),
    ];
    let mut session = TestSession::new(&scripts, |_| {});
    session.check(&[
        (candle(0, 1), "#1 a BUY 10.00 opened"),
        (at(119, lost(1, 1_000)), ""),
        (candle(0, 2), "#2 b BUY 10.00 opened"),
        (at(179, won(2, 800)), ""),
        (candle(0, 3), "#3 a BUY 20.00"),
        (candle(1, 3), "#4 e BUY 10.00"),
    ]);
}

#[test]
fn stake_is_rounded_down_to_the_step_and_rejected_below_the_minimum() {
    // 0.1 % of the free balance is 10.00, rounded down to 9.90. 0.1 % of 100.00 rounds down to zero.
    for (balance, expected) in [(10_000, "#1 a BUY 9.90"), (100, "a StakeBounds")] {
        let script = Script::new("a").buys(&[1]).staking(StakeSettings::Share { percent: 0.1 });
        let mut session =
            TestSession::with_balance(balance, &[script], |risk| risk.stake_step = Decimal::new(30, 2));
        session.check(&[(candle(0, 1), expected)]);
    }
}

fn probing(risk: &mut RiskSettings) {
    risk.min_payout_percent = 80.0;
    risk.max_open_trades_per_symbol = 0;
    risk.max_open_trades = 0;
}

fn patient(minutes: &[i64]) -> Script {
    Script::new("a").buys(minutes)
}

#[test]
fn one_trade_at_minimum_stake_probes_an_unknown_payout() {
    let scripts = [patient(&[1, 2, 3, 4]), Script::new("e").on("ETHUSDT").buys(&[2])];
    let mut session = TestSession::new(&scripts, probing);
    session.check(&[
        (candle(0, 1), "#1 a BUY 1.00 opened"),
        (candle(0, 2), "a MinPayout"),
        (candle(1, 2), "#2 e BUY 1.00"),
        (at(150, opened_paying(1, 80)), ""),
        (candle(0, 3), "#3 a BUY 10.00 opened at 79"),
        (candle(0, 4), "a MinPayout"),
    ]);
}

#[test]
fn payout_probe_does_not_move_the_ladder() {
    let ladder = ladder(LadderEntry::NextSignal, IfRefused::Wait);
    let mut session = TestSession::new(&[patient(&[1, 3, 70, 72, 74]).staking(ladder)], probing);
    session.check(&[
        (candle(0, 1), "#1 a BUY 1.00 opened at 80"),
        (at(122, lost(1, 100)), ""),
        (candle(0, 3), "#2 a BUY 10.00 opened at 80"),
        (at(242, lost(2, 1_000)), ""),
        // The payout is more than an hour old. A win of 0.80 does not recover the loss of 10.00.
        (candle(0, 70), "#3 a BUY 1.00 opened at 80"),
        (at(4_262, won(3, 80)), ""),
        (candle(0, 72), "#4 a BUY 20.00 opened at 80"),
        (at(4_382, won(4, 1_600)), ""),
        (candle(0, 74), "#5 a BUY 10.00"),
    ]);
}

#[test]
fn first_stake_rounded_to_the_minimum_moves_the_ladder() {
    let ladder = ladder_of(Decimal::new(105, 2), 3, (LadderEntry::NextSignal, IfRefused::Wait));
    let mut session = TestSession::new(&[patient(&[1, 3]).staking(ladder)], |risk| {
        probing(risk);
        risk.stake_step = Decimal::new(50, 2);
    });
    session.check(&[
        (candle(0, 1), "#1 a BUY 1.00 opened at 80"),
        (at(122, lost(1, 100)), ""),
        (candle(0, 3), "#2 a BUY 2.00"),
    ]);
}

#[test]
fn only_symbol_with_best_payout_is_traded() {
    let scripts = [
        patient(&[1, 3, 5]),
        Script::new("e").on("ETHUSDT").buys(&[1, 2, 3, 4, 5, 70]),
        Script::new("x").on("XRPUSDT").buys(&[2]),
    ];
    let mut session = TestSession::new(&scripts, |risk| {
        risk.best_payout_of = ["ETHUSDT", "BTCUSDT"].map(str::to_owned).into();
        (risk.max_open_trades, risk.max_open_trades_per_symbol) = (0, 0);
    });
    session.check(&[
        (candle(0, 1), "#1 a BUY 1.00"),
        (candle(1, 1), "#2 e BUY 1.00"),
        (at(62, opened_paying(1, 85)), ""),
        (at(62, opened_paying(2, 80)), ""),
        (candle(1, 2), "e BestPayout"),
        (candle(2, 2), "#3 x BUY 10.00"),
        (candle(0, 3), "#4 a BUY 10.00"),
        (candle(1, 3), "e BestPayout"),
        (at(182, opened_paying(4, 80)), ""),
        (candle(1, 4), "#5 e BUY 10.00 opened at 80"),
        (candle(0, 5), "#6 a BUY 10.00"),
        (candle(1, 5), "e BestPayout"),
        (at(302, opened_paying(6, 85)), ""),
        (candle(1, 70), "#7 e BUY 1.00"),
    ]);
}

#[test]
fn unopened_probe_allows_another() {
    for answer in [rejected(1), not_sent(1)] {
        let mut test = TestSession::new(&[patient(&[1, 2])], probing);
        test.check(&[(candle(0, 1), "#1 a BUY 1.00"), (at(62, answer), ""), (candle(0, 2), "#2 a BUY 1.00")]);
    }
}

#[test]
fn settlement_states_a_payout_missing_at_the_open() {
    // Some deployments answer an open without details (`observed: opening a trade`).
    for (percent, expected) in
        [(Some(85), "#2 a BUY 10.00"), (Some(79), "a MinPayout"), (None, "#2 a BUY 1.00")]
    {
        let mut session = TestSession::new(&[patient(&[1, 2])], probing);
        let ended = TradeSettlement { payout: percent.and_then(payout), ..settled(1, Outcome::Won, 80) };
        session.check(&[
            (candle(0, 1), "#1 a BUY 1.00 opened"),
            (at(119, EventKind::Settled(ended)), ""),
            (candle(0, 2), expected),
        ]);
    }
}

#[test]
fn payout_of_a_settlement_is_older_than_that_of_a_later_open() {
    let mut session = TestSession::new(&[patient(&[1, 2, 3])], probing);
    let ended = TradeSettlement { payout: payout(70), ..settled(1, Outcome::Won, 80) };
    session.check(&[
        (candle(0, 1), "#1 a BUY 1.00 opened at 85"),
        (candle(0, 2), "#2 a BUY 10.00 opened at 90"),
        (at(125, EventKind::Settled(ended)), ""),
        (candle(0, 3), "#3 a BUY 10.00"),
    ]);
}

#[test]
fn minimum_stake_is_a_multiple_of_the_step() {
    // The smallest multiple of 0.40 that is at least 1.00.
    let kelly = StakeSettings::Kelly { fraction: 0.5, kelly_floor_trades: 200, bound: KellyBound::default() };
    for (script, change) in [
        (patient(&[1]), probing as fn(&mut RiskSettings)),
        (patient(&[1]).staking(kelly), |_: &mut RiskSettings| {}),
    ] {
        let mut session = TestSession::new(&[script], |risk| {
            change(risk);
            risk.stake_step = Decimal::new(40, 2);
        });
        session.check(&[(candle(0, 1), "#1 a BUY 1.20")]);
    }
}

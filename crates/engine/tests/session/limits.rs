//! Days, halts and resumes.

use crate::event::{NO_SKEW, adopted, at, candle, control, in_doubt, lost, not_opened, opened, won};
use crate::fold::{Fold, Journalled, journalled};
use crate::script::{Script, header_of, session_settings};
use crate::test_session::TestSession;
use candlewick_engine::{
    Action, BotId, BotLimitSettings, Control, CooldownScope, IntentState, RiskSettings, Session, SessionSpan,
    StakeSettings,
};
use candlewick_sdk::Millis;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::serde_json::from_str;

const DAY: i64 = 24 * 60;

fn bot(minutes: &[i64]) -> Script {
    Script::new("a").buys(minutes)
}

/// Loses the intent's stake of 10.00 before the next minute.
fn loses(session: &mut TestSession, intent: u64, minute: i64) {
    session.check(&[
        (candle(0, minute), &format!("#{intent} a BUY 10.00 opened")),
        (at(minute * 60 + 59, lost(intent, 1_000)), ""),
    ]);
}

#[test]
fn new_day_records_its_equity_and_resets_the_loss_limit() {
    let mut session =
        TestSession::new(&[bot(&[1, 2, 3, DAY + 1])], |risk| risk.daily_loss_limit = Decimal::from(25));
    loses(&mut session, 1, 1);
    loses(&mut session, 2, 2);
    session.check(&[
        // 20.00 is lost. This stake could raise the loss to 30.00.
        (candle(0, 3), "a DailyLossLimit"),
        (at(DAY * 60 - 1, NO_SKEW), ""),
        (at(DAY * 60, NO_SKEW), "day 9980.00"),
        (candle(0, DAY + 1), "#3 a BUY 10.00"),
    ]);
}

#[test]
fn open_stakes_count_in_the_equity_and_trades_on_their_settlement_day() {
    let mut session = TestSession::new(&[bot(&[DAY - 1, DAY + 1, DAY + 2])], |risk| {
        risk.daily_loss_limit = Decimal::from(15);
    });
    session.check(&[
        (candle(0, DAY - 1), "#1 a BUY 10.00"),
        (at(DAY * 60 - 58, opened(1)), ""),
        (at(DAY * 60 + 4, lost(1, 1_000)), "day 10000.00"),
        (candle(0, DAY + 1), "a DailyLossLimit"),
    ]);
    let ledger = session.session.ledger();
    assert_eq!((ledger.day_equity().minor(), ledger.day_profit().minor()), (1_000_000, -1_000));
}

#[test]
fn daily_trade_count_resets_on_the_next_day() {
    let mut session = TestSession::new(&[bot(&[1, 2, DAY, DAY + 1])], |risk| risk.max_trades_per_day = 1);
    loses(&mut session, 1, 1);
    session.check(&[
        (candle(0, 2), "a MaxTradesPerDay"),
        (candle(0, DAY), "day 9990.00, #2 a BUY 10.00"),
        (at(DAY * 60 + 2, opened(2)), ""),
        (at(DAY * 60 + 59, won(2, 800)), ""),
        (candle(0, DAY + 1), "a MaxTradesPerDay"),
    ]);
}

#[test]
fn trade_found_late_counts_in_its_own_day_and_hour() {
    for (per_day, per_hour, refusal) in [(2, 0, "a MaxTradesPerDay"), (0, 2, "a MaxTradesPerHour")] {
        let mut session = TestSession::new(&[bot(&[1, 2, 4])], |risk| {
            (risk.max_trades_per_day, risk.max_trades_per_hour) = (per_day, per_hour);
        });
        session.check(&[
            (candle(0, 1), "#1 a BUY 10.00"),
            (at(70, in_doubt(1)), ""),
            (at(100, not_opened(1, 300)), ""),
            (candle(0, 2), "#2 a BUY 10.00 opened"),
            (at(179, won(2, 800)), ""),
            (at(180, adopted(1)), ""),
            (at(185, won(1, 800)), ""),
            (candle(0, 4), refusal),
        ]);
    }
}

#[test]
fn session_limit_of_a_bot_does_not_stop_other_bots() {
    let scripts = [Script::new("a").buys(&[1, 2, 3, 6]), Script::new("b").on("ETHUSDT").buys(&[3, 4])];
    let mut session = TestSession::new(&scripts, |risk| {
        let own = BotLimitSettings { session_loss_limit_percent: 0.25, ..BotLimitSettings::default() };
        risk.bots.insert("a".to_owned(), own);
    });
    loses(&mut session, 1, 1);
    loses(&mut session, 2, 2);
    session.check(&[
        // 20.00 is lost. This stake could raise the loss to 30.00.
        (candle(0, 3), "a BotSessionLossLimit"),
        (candle(1, 3), "#3 b BUY 10.00 opened"),
        (at(239, lost(3, 1_000)), ""),
        (candle(1, 4), "#4 b BUY 10.00"),
        (at(250, control(Control::Resume)), ""),
        // Resuming restarts the session.
        (candle(0, 6), "#5 a BUY 10.00"),
    ]);
}

#[test]
fn session_of_hours_starts_with_each_window_and_outlasts_the_day() {
    let mut session = TestSession::new(&[bot(&[1, 2, DAY + 1, DAY + 9 * 60 + 1])], |risk| {
        risk.session.of = SessionSpan::Hours;
        risk.hours = from_str(r#"[{"from":"09:00","to":"08:59"}]"#).unwrap();
        let own = BotLimitSettings { session_profit_target: Decimal::from(8), ..BotLimitSettings::default() };
        risk.bots.insert("a".to_owned(), own);
    });
    session.check(&[
        (candle(0, 1), "#1 a BUY 10.00 opened"),
        (at(119, won(1, 800)), ""),
        (candle(0, 2), "a BotSessionProfitTarget"),
    ]);
    let is_met = |session: &TestSession| session.session.stopped_by(BotId::FIRST);
    assert_eq!(is_met(&session), None, "time lifts it");
    session.check(&[(candle(0, 9 * 60), ""), (candle(0, DAY + 9 * 60), "day 10008.00")]);
    session.check(&[(candle(0, DAY + 9 * 60 + 1), "#2 a BUY 10.00")]);
}

#[test]
fn days_without_events_are_not_reported() {
    let mut session = TestSession::new(&[bot(&[])], |_| {});
    session.check(&[(at(DAY * 60 * 5 + 7, NO_SKEW), "day 10000.00"), (at(DAY * 60 * 6 - 1, NO_SKEW), "")]);
}

#[test]
fn journal_without_day_records_restores_the_same_ledger() {
    let script = bot(&[1, DAY + 4]);
    let settings = session_settings(10_000, RiskSettings::default(), vec![script.bot.clone()]);
    let mut session = Session::new(&settings, vec![script.strategy()]).unwrap();
    let header = header_of(&settings, "1");
    session.begin_run(&header);
    let mut entries = vec![Journalled::Run(header)];
    for event in [candle(0, 1), at(DAY * 60 + 180, lost(1, 1_000)), candle(0, DAY + 4)] {
        let mut actions = Vec::new();
        session.handle(&event, &mut actions);
        actions.retain(|action| !matches!(action, Action::DayOpened { .. }));
        entries.extend(journalled(&event, &actions));
    }
    let fold = Fold::from_entries(&settings, &entries);
    assert_eq!(fold.session.ledger(), session.ledger());
    assert_eq!(session.ledger().day_profit().minor(), -1_000);
    let rows = fold.book.rows();
    assert_eq!((rows[0].state, rows[1].state), (IntentState::Settled, IntentState::InFlight));
    assert_eq!(fold.book.reason(&rows[1]).to_string(), "scripted");
}

#[test]
fn halt_stops_only_opens() {
    let mut session = TestSession::new(&[bot(&[1, 2, 3])], |_| {});
    session.check_money(&[
        (candle(0, 1), "#1 a BUY 10.00", [999_000, 1_000]),
        (at(61, control(Control::Halt)), "", [999_000, 1_000]),
        (at(62, opened(1)), "", [999_000, 1_000]),
        (at(119, won(1, 800)), "", [1_000_800, 0]),
        (candle(0, 2), "a Halted", [1_000_800, 0]),
        (at(130, control(Control::Resume)), "", [1_000_800, 0]),
        (candle(0, 3), "#2 a BUY 10.00", [999_800, 1_000]),
    ]);
}

#[test]
fn resume_resets_drawdown_and_loss_streak() {
    // 80.00 of 100.00 is left. This stake could reduce it to 70.00.
    for (drawdown, streak, refusal) in [(20.0, 0, "a MaxDrawdown"), (0.0, 2, "a LossStreak")] {
        let mut session = TestSession::with_balance(100, &[bot(&[1, 2, 3, 4])], |risk| {
            (risk.max_drawdown_percent, risk.max_loss_streak) = (drawdown, streak);
        });
        loses(&mut session, 1, 1);
        loses(&mut session, 2, 2);
        session.check(&[
            (candle(0, 3), refusal),
            (at(190, control(Control::Resume)), ""),
            (candle(0, 4), "#3 a BUY 10.00"),
        ]);
        assert_eq!(session.session.ledger().peak_equity().minor(), 8_000);
    }
}

#[test]
fn resume_resets_loss_counts_of_all_pauses() {
    for cooldown_scope in [CooldownScope::All, CooldownScope::Symbol] {
        let mut session = TestSession::new(&[bot(&[1, 2, 3, 4])], |risk| {
            risk.cooldown_scope = cooldown_scope;
            risk.cooldown_after_losses = 2;
            risk.cooldown_after_losses_s = 3_600;
        });
        loses(&mut session, 1, 1);
        session.check(&[(at(119, control(Control::Resume)), "")]);
        loses(&mut session, 2, 2);
        loses(&mut session, 3, 3);
        session.check(&[(candle(0, 4), "a Cooldown")]);
    }
}

#[test]
fn largest_limits_never_refuse() {
    let mut session = TestSession::new(&[bot(&[1])], |risk| {
        let most = u32::MAX;
        (risk.max_open_trades, risk.max_open_trades_per_symbol) = (most, most);
        (risk.max_trades_per_hour, risk.max_trades_per_day) = (most, most);
        (risk.max_loss_streak, risk.stale_after_intervals) = (most, most);
        (risk.cooldown_after_loss_s, risk.cooldown_after_losses_s) = (most, most);
        (risk.max_signal_delay_ms, risk.max_clock_skew_ms, risk.payout_max_age_s) = (most, most, most);
    });
    session.check(&[(candle(0, 1), "#1 a BUY 10.00")]);
}

#[test]
fn handles_events_at_the_limits_of_time() {
    let mut session = TestSession::new(&[bot(&[1]).staking(StakeSettings::Share { percent: 1.0 })], |_| {});
    for moment in [i64::MIN, i64::MAX, 0, -1] {
        let moment = Millis::new(moment);
        for kind in [NO_SKEW, opened(1), won(1, 800), control(Control::Resume)] {
            session.handle(&candlewick_engine::Event { at: moment, received: moment, kind });
        }
    }
    assert_eq!(session.session.ledger().equity().minor(), 1_000_000);
}

#[test]
fn reloaded_limits_apply_from_their_event_and_change_nothing_else() {
    let base = |risk: &mut RiskSettings| {
        risk.max_open_trades = 2;
        risk.max_open_trades_per_symbol = 2;
        risk.allow_duplicate = true;
        risk.daily_loss_limit = Decimal::from(100);
    };
    let mut session = TestSession::new(&[bot(&[1, 2, 3, 4, 5])], base);
    session.check(&[(candle(0, 1), "#1 a BUY 10.00 opened")]);
    let mut risk = RiskSettings::default();
    base(&mut risk);
    risk.max_open_trades = 1;
    session.session.prepare_reload(&risk).unwrap();
    session.check(&[
        (candle(0, 2), "#2 a BUY 10.00 opened"),
        (at(123, control(Control::Reload)), ""),
        (candle(0, 3), "a MaxOpenTrades"),
        (at(182, lost(1, 1_000)), ""),
        (candle(0, 4), "a MaxOpenTrades"),
        (at(242, lost(2, 1_000)), ""),
        (at(243, control(Control::Halt)), ""),
    ]);
    let ledger = session.session.ledger();
    assert_eq!((ledger.free_balance().minor(), ledger.day_profit().minor()), (998_000, -2_000));
    session.session.prepare_reload(&risk).unwrap();
    session.check(&[(at(244, control(Control::Reload)), ""), (candle(0, 5), "a Halted")]);
}

#[test]
fn rejects_limits_that_cannot_change_during_a_run() {
    for (change, key) in [
        (RiskSettings { day_start: "01:00".to_owned(), ..RiskSettings::default() }, "risk.day_start"),
        (RiskSettings { max_trades_per_hour: 5, ..RiskSettings::default() }, "risk.max_trades_per_hour"),
        (
            RiskSettings { max_drawdown_percent: 200.0, ..RiskSettings::default() },
            "risk.max_drawdown_percent",
        ),
    ] {
        let mut session = TestSession::new(&[bot(&[1])], |_| {});
        let refused = session.session.prepare_reload(&change).unwrap_err().to_string();
        assert!(refused.starts_with(key), "{refused}");
        session.check(&[(at(1, control(Control::Reload)), ""), (candle(0, 1), "#1 a BUY 10.00")]);
    }
}

#[test]
fn stakes_respect_reloaded_limits() {
    let share = || StakeSettings::Share { percent: 0.4 };
    let mut early =
        TestSession::new(&[bot(&[3]).staking(share())], |risk| risk.stake_step = Decimal::from(25));
    let mut late = TestSession::new(&[bot(&[3]).staking(share())], |_| {});
    let risk = RiskSettings { stake_step: Decimal::from(25), ..RiskSettings::default() };
    late.session.prepare_reload(&risk).unwrap();
    late.check(&[(at(1, control(Control::Reload)), "")]);
    early.check(&[(candle(0, 3), "#1 a BUY 25.00")]);
    late.check(&[(candle(0, 3), "#1 a BUY 25.00")]);
}

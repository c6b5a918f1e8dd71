//! Gates compared with hand-computed results and with the gate statistics.
#![allow(clippy::unwrap_used, reason = "what cannot be read or built fails its test")]

mod parts;

use candlewick_rules::combine;
use candlewick_sdk::testkit::{bot, random_walk};
use candlewick_sdk::{
    BotContext, Candle, Direction, GateTransition, Interval, Millis, Ohlcv, Registry, SettledSignal, Signal,
    Strategy, StrategyEntry,
};
use candlewick_statistics::{GatedTrade, TradeOutcome, gate_worth};
use parts::{check_refused, extended, part};
use serde_json::{Value, json};

struct Always;

impl Strategy for Always {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _: &Candle) -> Option<Signal> {
        Some(Signal::buy("always"))
    }

    fn wants_settlements(&self) -> bool {
        false
    }
}

fn registry() -> Registry {
    let always = StrategyEntry::new("always", "1.0.0", |_, _| Ok(Box::new(Always)));
    parts::registry([always, parts::script()])
}

fn minute_bot(close_type: &str) -> BotContext {
    let mut bot = bot("BTCUSDT");
    bot.expiry.close_type = close_type.parse().unwrap();
    bot
}

fn gated(gate: &Value, part: &Value, close_type: &str) -> Box<dyn Strategy> {
    let params = json!({ "first_of": [part], "gate": gate });
    combine::entry(registry()).build(&params, &minute_bot(close_type)).unwrap()
}

fn candle(time: Millis, interval: Interval, open: f64, close: f64) -> Candle {
    let numbers = Ohlcv { open, high: open.max(close), low: open.min(close), close, volume: 1.0 };
    Candle::new(time, interval, numbers).unwrap()
}

/// Returns one candle per letter: `u` rises, `d` falls, `-` closes at its open, ` ` is missing.
fn candles(moves: &str) -> Vec<Candle> {
    let candle = |(minute, letter): (i64, char)| {
        let close = match letter {
            'u' => 101.0,
            'd' => 99.0,
            '-' => 100.0,
            _ => return None,
        };
        Some(candle(Millis::MINUTE * minute, Interval::MINUTE, 100.0, close))
    };
    (0..).zip(moves.chars()).filter_map(candle).collect()
}

/// Returns one letter per candle: `v` for a virtual signal, `T` for a traded signal, `.` for none.
fn answered(mut strategy: Box<dyn Strategy>, candles: &[Candle]) -> String {
    let letter = |candle| match strategy.on_candle(candle) {
        Some(signal) if signal.is_virtual => 'v',
        Some(_) => 'T',
        None => '.',
    };
    candles.iter().map(letter).collect()
}

#[test]
fn gates_open_and_close_as_computed_by_hand() {
    // A signal at a candle's close trades the next candle, whose letter is the result. Candles are numbered from 0.
    let hook = |losses: u32| json!({ "after_virtual_losses": losses, "history": 0 });
    let always = json!({ "strategy": "always" });
    for (gate, moves, expected) in [
        // Losses on 1 and 2 open the gate for the signal at 2. Its loss does not count. Losses on 4 and 5 reopen it at 5.
        (hook(2), "udddddd", "vvTvvTv"),
        // A draw does not affect the streak.
        (hook(2), "ud-duu", "vvvTvv"),
        // One win in two trades is a win rate of one half.
        (json!({ "virtual_win_rate": 0.5, "over": 2, "history": 0 }), "uuddduu", "vvTvvTT"),
    ] {
        let answered = answered(gated(&gate, &always, "01:00"), &candles(moves));
        assert_eq!(answered, expected, "{gate} over {moves}");
    }
    let verdict = json!({ "verdict": "shown", "payout": 80.0, "history": 0 });
    let answered = answered(gated(&verdict, &always, "01:00"), &candles(&"u".repeat(200)));
    assert!(answered.starts_with("vvvvvvv") && answered.ends_with('T'), "{answered}");
}

#[test]
fn virtual_trades_use_the_prices_at_open_and_close() {
    // A trade of 90 seconds ends in the middle of the second candle, whose price moves linearly from open to close.
    let candle = |minute: i64, open, close| candle(Millis::MINUTE * minute, Interval::MINUTE, open, close);
    let gate = json!({ "after_virtual_losses": 1, "history": 0 });
    // Enters at 100, the open of minute 1. Minute 2 moves from 104 to 94, 98 or 96: 99 is a loss, 101 a win, 100 a draw.
    for (last, expected) in [(94.0, "v.T"), (98.0, "v.v"), (96.0, "v.v")] {
        let shown = [candle(0, 100.0, 100.0), candle(1, 100.0, 104.0), candle(2, 104.0, last)];
        assert_eq!(answered(gated(&gate, &part("b.b"), "01:30"), &shown), expected, "{last}");
    }
    // A missing candle at the entry or exit cancels the trade.
    for (moves, expected) in [("u du", "v.v"), ("ud u", "v.v")] {
        let close_type = if moves.starts_with("u ") { "01:00" } else { "02:00" };
        assert_eq!(answered(gated(&gate, &part("b.b"), close_type), &candles(moves)), expected, "{moves}");
    }
}

#[test]
fn strategy_reports_whether_its_gate_is_closed() {
    let open = json!({ "after_virtual_losses": 1, "close_after_losses": 2, "history": 0 });
    let mut strategy = gated(&open, &json!({ "strategy": "always" }), "01:00");
    let open: Vec<bool> = candles("uddddu")
        .iter()
        .map(|candle| {
            strategy.on_candle(candle);
            !strategy.is_gate_closed()
        })
        .collect();
    assert_eq!(open, [false, true, true, false, true, true]);
}

#[test]
fn gate_agrees_with_the_gate_statistics() {
    let moves = random_walk(3, 600);
    let moves = moves.iter().map(|candle| if candle.close() > candle.open() { 'u' } else { 'd' });
    let moves: String = moves.collect();
    let shown = candles(&moves);
    let entry = combine::entry(registry());
    for (gate, close_type) in [
        (json!({ "after_virtual_losses": 2 }), "01:00"),
        (json!({ "after_virtual_losses": 2, "close_after_losses": 2 }), "03:00"),
        (json!({ "virtual_win_rate": 0.6, "over": 5, "close_after_trades": 3 }), "02:00"),
        (json!({ "after_virtual_losses": 1, "close_after_wins": 2 }), "01:30"),
    ] {
        let params = json!({ "first_of": [{ "strategy": "always" }], "gate": gate });
        let bot = minute_bot(close_type);
        let followed = combine::replay_gate(&entry, &params, &bot, &shown).unwrap().unwrap();
        let gated: Vec<GatedTrade> = (followed.signals.iter())
            .map(|signal| GatedTrade {
                decided_at: signal.decided_at.get(),
                known_at: signal.settled_at.get(),
                day: signal.day,
                unit_return: match signal.outcome {
                    TradeOutcome::Won => 0.8,
                    TradeOutcome::Lost => -1.0,
                    TradeOutcome::Draw | TradeOutcome::Cancelled => 0.0,
                },
            })
            .collect();
        let real = followed.signals.iter().filter(|signal| signal.is_real).count() as u64;
        let worth = gate_worth(&gated, followed.rule, 9, 1).unwrap();
        assert!(real > 20, "{gate}: {real}");
        assert_eq!((worth.trades, worth.real_trades), (followed.signals.len() as u64, real), "{gate}");
    }
    // The first signals by hand: one at each close, which trades the next candle.
    let params = json!({ "first_of": [{ "strategy": "always" }], "gate": { "after_virtual_losses": 2 } });
    let followed = combine::replay_gate(&entry, &params, &minute_bot("01:00"), &candles("udddu u")).unwrap();
    let rows: Vec<String> = (followed.unwrap().signals.iter())
        .map(|signal| format!("{} {} {:?}", signal.decided_at.get() / 60_000, signal.is_real, signal.outcome))
        .collect();
    assert_eq!(rows, ["1 false Lost", "2 false Lost", "3 true Lost", "4 false Won", "5 false Cancelled"]);
    let bare = json!({ "first_of": [{ "strategy": "always" }] });
    assert!(combine::replay_gate(&entry, &bare, &minute_bot("01:00"), &shown).unwrap().is_none());
}

fn falling_hours(first_close: Millis, count: i64) -> Vec<Candle> {
    let interval = "1h".parse().unwrap();
    (0..count).map(|hour| candle(first_close + Millis::HOUR * (hour - 1), interval, 100.0, 99.0)).collect()
}

/// Every trade is lost, and one virtual loss opens a gate, so gates open at the second signal of a day.
/// The first candle closes at 00:00 on 2026-03-28, London and UTC. London's clocks go forward the following night.
#[test]
fn daily_gate_resets_with_each_day_of_its_zone() {
    let midnight = Millis::new(1_774_656_000_000);
    let candles = falling_hours(midnight, 75);
    let london = json!({ "after_virtual_losses": 1, "resets": "day", "day_timezone": "Europe/London" });
    let with = |more: Value| extended(london.clone(), &more);
    // Hours of each day's first signal: one day has 23 hours, the others have 24.
    let of_london: Vec<usize> = vec![0, 24, 47, 71];
    for (gate, begins, is_once) in [
        (london.clone(), of_london.clone(), false),
        (json!({ "after_virtual_losses": 1, "resets": "day" }), vec![0, 24, 48, 72], false),
        // For days from 00:30, the first candle of the day closes at 01:00. The first day began before the first candle.
        (with(json!({ "day_start": "00:30" })), vec![0, 1, 25, 48, 72], false),
        (with(json!({ "day_start": "08:00" })), vec![0, 8, 31, 55], false),
        (with(json!({ "close_after_trades": 1, "openings": 1 })), of_london, true),
    ] {
        let bot = BotContext { interval: "1h".parse().unwrap(), ..minute_bot("1:00:00") };
        let params = json!({ "first_of": [{ "strategy": "always" }], "gate": gate });
        let mut strategy = combine::entry(registry()).build(&params, &bot).unwrap();
        assert_eq!(strategy.warmup(), 25, "the candles of a day");
        let traded = |candle| strategy.on_candle(candle).is_some_and(|signal| !signal.is_virtual);
        let traded: Vec<bool> = candles.iter().map(traded).collect();
        let second = |hour: usize| hour > 0 && begins.contains(&(hour - 1)) && !begins.contains(&hour);
        let expected = |hour: usize| if is_once { second(hour) } else { !begins.contains(&hour) };
        let expected: Vec<bool> = (0..candles.len()).map(expected).collect();
        assert_eq!(traded, expected, "{gate}");
    }
}

#[test]
fn gate_view_has_the_state_before_and_after_a_signal() {
    let mut strategy = gated(&json!({ "after_virtual_losses": 2, "history": 0 }), &part("bbb.b"), "01:00");
    let rule = "opens after 2 virtual losses in a row, closes after 1 passed signal";
    let shown = candles("udddd");
    let said = shown.iter().map(|candle| {
        strategy.on_candle(candle);
        let view = strategy.gate().unwrap();
        assert_eq!(view.rule, rule);
        (view.before, view.now)
    });
    let closed = |losses: u32| format!("closed: {losses} of 2 virtual losses in a row");
    let open = "open: 0 of 1 passed signal".to_owned();
    let expected = [
        (closed(0), closed(0)),
        (closed(1), closed(1)),
        // The loss that this candle settled opened the gate, which passed the signal and closed.
        (open, closed(0)),
        // The loss of the real trade does not count, and there was no signal.
        (closed(0), closed(0)),
        (closed(0), closed(0)),
    ];
    assert_eq!(said.collect::<Vec<_>>(), expected);
    let bare = json!({ "first_of": [{ "strategy": "always" }] });
    assert!(combine::entry(registry()).build(&bare, &minute_bot("01:00")).unwrap().gate().is_none());
}

#[test]
fn gate_view_names_the_signal_that_moved_it() {
    let gate = json!({ "after_virtual_losses": 1, "close_after_wins": 1, "history": 0 });
    let mut strategy = gated(&gate, &json!({ "strategy": "always" }), "01:00");
    let minute = |minutes: i64| Millis::MINUTE * minutes;
    let said: Vec<_> = candles("udu")
        .iter()
        .map(|candle| {
            strategy.on_candle(candle);
            strategy.gate().unwrap().moved
        })
        .collect();
    let moved = |at, is_open, decided, won| {
        let by = Some(SettledSignal { decided: minute(decided), direction: Direction::Buy, won });
        Some(GateTransition { at: minute(at), is_open, by })
    };
    // The loss of the first signal opens the gate, and the win of the passed signal closes it.
    assert_eq!(said, [None, moved(2, true, 1, false), moved(3, false, 2, true)]);
}

#[test]
fn rejects_invalid_days_of_a_gate() {
    let daily = |more: Value| extended(json!({ "after_virtual_losses": 2, "resets": "day" }), &more);
    for (gate, expected) in [
        (daily(json!({ "resets": "week" })), "resets can only be \"day\", not \"week\""),
        (json!({ "after_virtual_losses": 2, "openings": 1 }), "openings need resets = \"day\""),
        (json!({ "after_virtual_losses": 2, "day_start": "08:00" }), "day_timezone and openings need"),
        (daily(json!({ "day_start": "8" })), "gate.day_start: \"8\" is not a time of day; use HH:MM"),
        (daily(json!({ "day_timezone": "London" })), "gate.day_timezone: \"London\" is not a time zone"),
        (json!({ "verdict": "shown", "payout": 80.0, "resets": "day" }), "a verdict takes longer than a day"),
        (json!({ "verdict": "shown", "payout": 0.85 }), "payout is in percent: did you mean 85?"),
        (daily(json!({ "openings": 0 })), "must be from 1 to 10000"),
    ] {
        check_refused(registry(), &json!({ "first_of": [{ "strategy": "always" }], "gate": gate }), expected);
    }
}

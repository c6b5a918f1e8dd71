//! Tests of the model that is built from journal lines.

use super::*;
use crate::view::{build_limits, build_trades};
use candlewick_engine::{Header, OpenedTrade, Rejection, ReloadNote, ReloadTrigger, TradeSettlement};
use candlewick_journal::{ChainHash, Line};
use candlewick_records::EdgeIntervals;
use candlewick_sdk::{Money, Outcome};
use serde_json::{Value, json};

struct Written {
    model: Model,
    seq: u64,
    at: Millis,
}

fn settings() -> Value {
    let bot = json!({"name": "a", "symbol": "BTCUSDT", "interval": "1m", "strategy": "probe", "close_type": "01:00"});
    let risk = json!({"max_open_trades": 3, "max_trades_per_hour": 5, "max_trades_per_day": 50, "daily_loss_limit": "50",
        "daily_profit_target": "0", "max_drawdown_percent": 20.0, "max_loss_streak": 4,
        "bots": {"a": {"max_open_trades": 2, "max_trades_per_day": 9, "daily_loss_limit": "20", "max_loss_streak": 3}}});
    json!({"money_scale": 2, "balance": "100", "risk": risk, "bots": [bot]})
}

fn header((number, seq): (u64, u64), at: Millis, session: &Value) -> StoredLine {
    let settings = json!({"session": session, "simulation": {}, "trading": null});
    let bots = session["bots"].as_array().unwrap().len();
    let strategies = vec![("probe".to_owned(), "1.0.0".to_owned()); bots];
    let header = Header { format: Header::FORMAT, settings, strategies, data_hash: None };
    line((number, seq), LineKind::Run, at, &json!(header))
}

fn line((run, seq): (u64, u64), kind: LineKind, at: Millis, body: &Value) -> StoredLine {
    let line = Line { run, kind, intent: None, at, received: at, body: body.to_string() };
    StoredLine { seq, line, hash: ChainHash::GENESIS }
}

impl Written {
    fn new() -> Self {
        let first = header((1, 1), Millis::ZERO, &settings());
        let mut model = Model::new(RecordedRun::from_stored(&first).unwrap()).unwrap();
        model.apply_line(first).unwrap();
        Self { model, seq: 1, at: Millis::ZERO }
    }

    fn take(&mut self, kind: LineKind, body: &Value) {
        self.seq += 1;
        self.model.apply_line(line((1, self.seq), kind, self.at, body)).unwrap();
    }

    fn open(&mut self, intent: u64, stake: i64) {
        self.at += Millis::MINUTE;
        let expiry = json!({"close_type": "01:00", "expiration_type": "UNSTATED"});
        let open = json!({"action": "open", "intent": intent, "bot": 0, "symbol": 0, "direction": "BUY", "expiry": expiry,
            "stake": stake, "decision_time": self.at, "reason": {"text": "because"}});
        self.take(LineKind::Action, &open);
    }

    fn event(&mut self, kind: EventKind) {
        let event = Event { at: self.at, received: self.at, kind };
        self.take(LineKind::Event, &json!(event));
    }

    fn lose(&mut self, intent: u64, stake: i64) {
        self.settle(intent, (Outcome::Lost, Money::from_minor(-stake)));
    }

    fn settle(&mut self, intent: u64, (outcome, profit): (Outcome, Money)) {
        self.event(EventKind::Settled(TradeSettlement::from_operator(
            IntentId::new(intent),
            outcome,
            profit,
        )));
    }

    fn shown(&self) -> Vec<u64> {
        self.model.trades.unfinished_trades().map(|row| row.approved.intent().number()).collect()
    }

    fn limits(&self) -> Value {
        let limits = build_limits(self.model.session(), self.at);
        limits.into_iter().map(|limit| json!([limit.bot, limit.name, limit.value, limit.most])).collect()
    }
}

#[test]
fn hides_order_found_not_opened_until_its_trade_is_found() {
    let mut written = Written::new();
    written.open(1, 1_000);
    written.open(2, 1_000);
    let intent = IntentId::new(1);
    written.event(EventKind::InDoubt { intent });
    assert_eq!(written.shown(), [1, 2]);
    let listed = |bot| build_trades(&written.model, 9, 9, Some(bot)).map(|(told, _)| told.trades.len());
    assert_eq!((listed("a"), listed("b")), (Some(2), None));
    written.event(EventKind::NotOpened { intent, reserved_until: Millis::HOUR });
    assert_eq!(written.shown(), [2]);
    let (venue_id, open_time, close_time) = (None, None, None);
    let (open_price, payout, taken) = (None, None, None);
    let opened = OpenedTrade { intent, venue_id, open_time, open_price, close_time, payout, taken };
    written.event(EventKind::Adopted(opened));
    assert_eq!(written.shown(), [1, 2]);
    written.lose(1, 1_000);
    written.lose(2, 1_000);
    assert_eq!((written.shown(), written.model.bots[0].lost), (vec![], 2));
}

#[test]
fn correction_updates_profit_and_intervals() {
    let after = |first: Outcome, corrected: Option<Outcome>| {
        let mut written = Written::new();
        let profit = |outcome| Money::from_minor(if outcome == Outcome::Lost { -1_000 } else { 800 });
        for number in 1..=150 {
            written.open(number, 1_000);
            let outcome = if number == 3 { first } else { Outcome::Won };
            written.settle(number, (outcome, profit(outcome)));
        }
        if let Some(outcome) = corrected {
            let (intent, profit) = (IntentId::new(3), profit(outcome));
            written.event(EventKind::Correction { intent, outcome, profit });
        }
        let bot = &written.model.bots[0];
        if corrected.is_some() {
            let intervals = EdgeIntervals::from_sequence(bot.running_edge.sequence());
            let last = bot.edge_points.last().map(|point| (point.trades, point.intervals));
            assert_eq!(last, Some((150, intervals)));
        }
        (bot.profit, (bot.won, bot.lost), bot.running_edge.sequence().edge(0.95))
    };
    let right = after(Outcome::Lost, None);
    assert_eq!((right.0, right.1), (Money::from_minor(149 * 800 - 1_000), (149, 1)));
    assert_ne!(after(Outcome::Won, None).2, right.2);
    assert_eq!(after(Outcome::Won, Some(Outcome::Lost)), right);
}

#[test]
fn assigns_candles_to_their_series_if_bots_are_reordered() {
    let of_symbols = |number: u64, symbols: &[&str]| {
        let bot = |symbol: &&str| json!({"name": symbol, "symbol": symbol, "interval": "1m", "strategy": "probe", "close_type": "01:00"});
        let bots: Vec<Value> = symbols.iter().map(bot).collect();
        let session = json!({"money_scale": 2, "balance": "100", "risk": {}, "bots": bots});
        header((number, number * 10), Millis::ZERO, &session)
    };
    let last = of_symbols(2, &["AAA", "BBB"]);
    let mut model = Model::new(RecordedRun::from_stored(&last).unwrap()).unwrap();
    let candle = |model: &mut Model, at: (u64, u64), series: usize| {
        let candle = json!({"time": 0, "open": 1.0, "high": 1.0, "low": 1.0, "close": 1.0, "volume": 0.0});
        let event = json!({"at": 60_000, "received": 60_000, "event": "candle", "series": series, "candle": candle, "origin": "live"});
        model.apply_line(line(at, LineKind::Event, Millis::MINUTE, &event)).unwrap();
        model.feeds.iter().map(|feed| (feed.series.symbol.to_string(), feed.live_candles)).collect::<Vec<_>>()
    };
    let counts = |aaa, bbb| [("AAA".to_owned(), aaa), ("BBB".to_owned(), bbb)];
    assert_eq!(candle(&mut model, (2, 21), 1), counts(0, 1));
    model.apply_line(of_symbols(1, &["BBB", "CCC", "AAA"])).unwrap();
    for (seq, series, expected) in [(11, 0, counts(0, 2)), (12, 1, counts(0, 2)), (13, 2, counts(1, 2))] {
        assert_eq!(candle(&mut model, (1, seq), series), expected);
    }
}

#[test]
fn limit_usage_matches_the_rules() {
    let mut written = Written::new();
    written.open(1, 1_000);
    let (intent, rejection) = (IntentId::new(1), Rejection::NoPrice);
    written.event(EventKind::Rejected { intent, rejection });
    written.open(2, 1_000);
    written.event(EventKind::NotSent { intent: IntentId::new(2) });
    written.open(3, 1_000);
    written.lose(3, 1_000);
    written.open(4, 500);
    // The balance of 100.00 lost 10.00, and 5.00 are at stake.
    let expected = |loss: f64| {
        json!([
            [null, "max_open_trades", 1.0, 3.0],
            [null, "max_open_trades_per_symbol", 1.0, 1.0],
            [null, "max_trades_per_hour", 2.0, 5.0],
            [null, "max_trades_per_day", 2.0, 50.0],
            [null, "daily_loss_limit", 15.0, loss],
            [null, "max_drawdown_percent", 15.0, 20.0],
            [null, "max_loss_streak", 1.0, 4.0],
            ["a", "max_open_trades", 1.0, 2.0],
            ["a", "max_trades_per_day", 2.0, 9.0],
            ["a", "daily_loss_limit", 15.0, 20.0],
            ["a", "max_loss_streak", 1.0, 3.0],
        ])
    };
    assert_eq!(written.limits(), expected(50.0));
    let [bot, other] = [0, 1].map(|place| BotId::new(place).unwrap());
    let after = |bot, minutes: i64| written.model.count_trades_after(bot, Millis::MINUTE * minutes);
    assert_eq!([after(bot, -56), after(bot, 3), after(bot, 4), after(other, 0)], [2, 1, 0, 0]);
    assert_eq!(written.model.bots[0].drawdown(), Money::from_minor(1_000));

    let mut risk = written.model.run.settings.risk.clone();
    risk.daily_loss_limit = 40.into();
    let note = ReloadNote::new((written.at, ReloadTrigger::Command), risk, json!({}), &json!({})).unwrap();
    written.take(LineKind::Note, &json!(note));
    written.event(EventKind::Control { control: Control::Reload });
    assert_eq!(written.limits(), expected(40.0));
    let next = header((2, written.seq + 1), written.at, &settings());
    assert_eq!(written.model.apply_line(next).unwrap(), LineEffect::OtherRun);
}

#[test]
fn stops_at_unreadable_line() {
    let mut written = Written::new();
    let (seq, alarm) = (written.seq + 1, json!({"alarm": "look"}));
    let broken = || line((1, seq), LineKind::Event, Millis::ZERO, &json!({"event": "none such"}));
    let problem = |model: &mut Model, line| model.apply_line(line).unwrap_err().to_string();
    let first = problem(&mut written.model, broken());
    assert!(first.contains(&seq.to_string()), "{first}");
    for next in [broken(), line((1, seq + 1), LineKind::Note, Millis::ZERO, &alarm)] {
        assert_eq!(problem(&mut written.model, next), first);
    }
    assert_eq!((written.model.seq(), written.model.notes.alarm_count), (seq - 1, 0));
}

#[test]
fn computes_no_verdict_while_reading_an_old_journal() {
    let mut written = Written::new();
    let trades = |written: &mut Written, is_reading| {
        let verdicts = written.model.verdict_lines(is_reading);
        verdicts.into_iter().map(|verdict| verdict.map(|line| line.trades)).collect::<Vec<_>>()
    };
    for (number, formed) in [(1, None), (2, Some(1))] {
        written.open(number, 1_000);
        written.lose(number, 1_000);
        assert_eq!(trades(&mut written, true), [formed], "the last one that was formed");
        assert_eq!(trades(&mut written, false), [Some(number)]);
    }
}

//! Coverage of the journal hash: all kinds of entries and all their fields.

use crate::event::{
    NO_SKEW, at, backfilled, bare, by_person, candle, control, corrected, deposit, difference, in_doubt,
    minute, not_opened, not_sent, outside_signal, rejected, second_trade, second_trade_settled, settled,
    symbol_id,
};
use crate::script::Script;
use crate::test_session::TestSession;
use candlewick_engine::{
    Action, BotId, Control, EdgeVerdict, Entry, Event, EventKind, Header, IntentId, JournalDecoder,
    JournalHash, Judgement, OpenedTrade, OrderTerms, OutsideSignal, RecordedEntry, Recorder, RefusalReason,
    RefusedSignal, Rejection, Rule, StakeSettings, TradeSettlement, VenueId, VenueSymbol, VenueTerms,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::serde_json::{Value, from_str, json, to_string};
use candlewick_sdk::{
    CloseType, Direction, ExpirationType, Expiry, Millis, Money, Outcome, Payout, Price, Reason, Signal, Text,
};
use std::collections::{BTreeMap, HashSet};

fn hash_of(entry: Entry<'_>) -> String {
    let mut hash = JournalHash::new();
    hash.record(entry).unwrap();
    hash.finish()
}

fn check<T: std::fmt::Debug>(all: &[T], entry: impl Fn(&T) -> Entry<'_>) {
    let mut seen: BTreeMap<String, &T> = BTreeMap::new();
    for one in all {
        if let Some(other) = seen.insert(hash_of(entry(one)), one) {
            panic!("hash alike:\n{one:?}\n{other:?}");
        }
    }
}

fn bot_id(position: u16) -> BotId {
    from_str(&position.to_string()).unwrap()
}

/// Returns an acceptance, and one variation for each of its fields.
fn openings() -> Vec<OpenedTrade> {
    let base = bare(1);
    let time = Some(Millis::new(1));
    let other = VenueTerms { symbol: None, direction: Direction::Buy, stake: Money::from_minor(1) };
    let taken = |taken| OpenedTrade { taken: Some(taken), ..base };
    vec![
        base,
        OpenedTrade { intent: IntentId::new(2), ..base },
        OpenedTrade { venue_id: VenueId::new("a"), ..base },
        OpenedTrade { venue_id: VenueId::new(""), ..base },
        OpenedTrade { open_time: time, ..base },
        OpenedTrade { open_price: Some(0.1 + 0.2), ..base },
        OpenedTrade { open_price: Some(0.0), ..base },
        OpenedTrade { close_time: time, ..base },
        OpenedTrade { payout: Payout::from_parts(1), ..base },
        OpenedTrade { payout: Payout::from_parts(2), ..base },
        taken(other),
        taken(VenueTerms { symbol: VenueSymbol::new("a"), ..other }),
        taken(VenueTerms { symbol: VenueSymbol::new(""), ..other }),
        taken(VenueTerms { direction: Direction::Sell, ..other }),
        taken(VenueTerms { stake: Money::from_minor(2), ..other }),
    ]
}

fn settlements() -> Vec<TradeSettlement> {
    let base = settled(1, Outcome::Won, 0);
    let time = Some(Millis::new(1));
    let outcomes = [Outcome::Lost, Outcome::Draw, Outcome::Cancelled];
    let mut all = vec![
        base,
        TradeSettlement { intent: IntentId::new(2), ..base },
        TradeSettlement { profit: Money::from_minor(1), ..base },
        TradeSettlement { profit: Money::from_minor(-1), ..base },
        TradeSettlement { open_time: time, ..base },
        TradeSettlement { open_price: Some(1.0), ..base },
        TradeSettlement { close_time: time, ..base },
        TradeSettlement { close_price: Some(1.0 / 3.0), ..base },
        TradeSettlement { payout: Payout::from_parts(1), ..base },
    ];
    all.extend(outcomes.map(|outcome| TradeSettlement { outcome, ..base }));
    all
}

fn outside_signals() -> Vec<OutsideSignal> {
    let base = outside_signal("a");
    let expiry = |close_type: &str, expiration_type| {
        Some(Expiry { close_type: close_type.parse().unwrap(), expiration_type })
    };
    vec![
        base,
        OutsideSignal { bot: bot_id(1), ..base },
        OutsideSignal { direction: Direction::Sell, ..base },
        OutsideSignal { source: Text::truncated("list"), ..base },
        OutsideSignal { expires: Some(Millis::ZERO), ..base },
        OutsideSignal { expires: Some(Millis::new(1)), ..base },
        OutsideSignal { expiry: expiry("01:00", ExpirationType::TimeFixed), ..base },
        OutsideSignal { expiry: expiry("05:00", ExpirationType::TimeFixed), ..base },
        OutsideSignal { expiry: expiry("01:00", ExpirationType::CandleClose), ..base },
        OutsideSignal { reason: Text::truncated("news"), ..base },
        outside_signal("b"),
    ]
}

fn order_terms() -> Vec<OrderTerms> {
    let terms = |field: &str, value: Value| {
        let mut terms = json!({
            "intent": 1, "bot": 0, "symbol": 0, "direction": "BUY", "stake": 100, "decision_time": 0,
            "expiry": { "close_type": "01:00", "expiration_type": "TIME_FIXED" },
        });
        terms[field] = value;
        from_str(&terms.to_string()).unwrap()
    };
    let numbers =
        [("intent", 1), ("intent", 2), ("bot", 1), ("symbol", 1), ("stake", 101), ("decision_time", 1)];
    let mut all: Vec<OrderTerms> = numbers.map(|(field, value)| terms(field, value.into())).into();
    all.extend([
        terms("direction", "SELL".into()),
        terms("expiry", json!({ "close_type": "02:00", "expiration_type": "TIME_FIXED" })),
        terms("expiry", json!({ "close_type": "01:00", "expiration_type": "NEXT_CANDLE" })),
    ]);
    all
}

fn kinds() -> Vec<EventKind> {
    let intent = IntentId::new(1);
    let price = |symbol, time, value| EventKind::Price {
        symbol: symbol_id(symbol),
        price: Price { time: Millis::new(time), value },
    };
    let other = |text| Rejection::Other(Text::truncated(text));
    let refused = |reason, text| Rejection::Refused { reason, text: Text::truncated(text) };
    let rejections = [
        Rejection::NoPrice,
        Rejection::InsufficientBalance,
        other(""),
        other("a"),
        refused(RefusalReason::Other, "a"),
        refused(RefusalReason::Other, "b"),
        refused(RefusalReason::SymbolInactive, "a"),
    ];
    let mut kinds = vec![
        price(0, 1, 1.0),
        price(1, 1, 1.0),
        price(0, 2, 1.0),
        price(0, 1, 2.0),
        rejected(2),
        not_sent(1),
        not_sent(2),
        in_doubt(1),
        in_doubt(2),
        EventKind::Balance { amount: Money::ZERO },
        EventKind::Balance { amount: Money::from_minor(1) },
        EventKind::Skew { offset: Millis::ZERO },
        EventKind::Skew { offset: Millis::new(-1) },
        not_opened(1, 1),
        not_opened(2, 1),
        not_opened(1, 2),
        deposit(0),
        deposit(-1),
        difference(0),
        difference(-1),
    ];
    let controls =
        [Control::Halt, Control::Resume, Control::Suspend, Control::Continue, Control::Reload].map(control);
    kinds.extend(controls);
    kinds.extend(openings().into_iter().map(EventKind::Opened));
    kinds.extend(openings().into_iter().map(EventKind::Adopted));
    kinds.extend(settlements().into_iter().map(EventKind::Settled));
    for result in [by_person, corrected] {
        kinds.extend([result(1, Outcome::Won, 0), result(2, Outcome::Won, 0), result(1, Outcome::Won, 1)]);
        kinds.extend([Outcome::Lost, Outcome::Draw, Outcome::Cancelled].map(|other| result(1, other, 0)));
    }
    for second in [second_trade, second_trade_settled] {
        kinds.extend([second(1, "a", 1), second(2, "a", 1), second(1, "b", 1), second(1, "a", 2)]);
    }
    kinds.extend(rejections.map(|rejection| EventKind::Rejected { intent, rejection }));
    kinds.extend(outside_signals().into_iter().map(EventKind::OutsideSignal));
    kinds.extend(order_terms().into_iter().map(EventKind::Reinstated));
    kinds
}

#[test]
fn every_event_field_except_candles_affects_the_hash_and_is_decoded() {
    let event = |kind| Event { at: Millis::ZERO, received: Millis::ZERO, kind };
    let mut events: Vec<Event> = kinds().into_iter().map(event).collect();
    let kinds: HashSet<_> = events.iter().map(|event| std::mem::discriminant(&event.kind)).collect();
    assert_eq!(kinds.len(), 19, "a kind is missing from the table");
    events.push(Event { at: Millis::new(1), ..event(NO_SKEW) });
    events.push(Event { received: Millis::new(1), ..event(NO_SKEW) });
    check(&events, |event| Entry::Event(event));
    let candles = [candle(0, 1), backfilled(0, 1)];
    for candle in &candles {
        assert_eq!(hash_of(Entry::Event(candle)), JournalHash::new().finish(), "the data has its own hash");
    }
    let scripts = [Script::new("a"), Script::new("b").on("ETHUSDT")];
    let decoder = JournalDecoder::for_replay(&TestSession::new(&scripts, |_| {}).session);
    for event in events.iter().chain(&candles) {
        assert_eq!(decoder.read_event(&to_string(event).unwrap()).unwrap(), RecordedEntry::Event(*event));
    }
}

fn refused(rule: Rule) -> RefusedSignal {
    let (bot, decision_time, reason) = (bot_id(0), Millis::ZERO, Reason::new("a"));
    RefusedSignal { bot, decision_time, direction: Direction::Buy, rule, reason }
}

#[test]
fn every_field_of_refusal_day_and_verdict_affects_the_hash() {
    let base = refused(Rule::Cooldown);
    let changed = |change: fn(&mut RefusedSignal)| {
        let mut refused = base.clone();
        change(&mut refused);
        Action::Refuse(refused)
    };
    let day =
        |start, equity| Action::DayOpened { start: Millis::new(start), equity: Money::from_minor(equity) };
    let mut actions = vec![
        day(0, 0),
        day(1, 0),
        day(0, 1),
        changed(|_| {}),
        changed(|refused| refused.bot = bot_id(1)),
        changed(|refused| refused.decision_time = Millis::new(1)),
        changed(|refused| refused.direction = Direction::Sell),
        changed(|refused| refused.reason = Reason::new("b")),
        changed(|refused| refused.reason = Reason::new("a").with("n", 1.0)),
        changed(|refused| refused.reason = Reason::new("a").with("m", 1.0)),
        changed(|refused| refused.reason = Reason::new("a").with("n", 2.0)),
        changed(|refused| refused.reason = Reason::new("a").with("n", 1.0).with("n", 1.0)),
    ];
    let fell = Judgement {
        bot: bot_id(0),
        at: Millis::ZERO,
        edge: EdgeVerdict::Shown,
        trades: 1,
        account_for: 1.0,
        account_against: 1.0,
        weight: 1.0,
        since: None,
    };
    actions.extend(
        [
            fell,
            Judgement { bot: bot_id(1), ..fell },
            Judgement { at: Millis::new(1), ..fell },
            Judgement { edge: EdgeVerdict::Rejected, ..fell },
            Judgement { trades: 2, ..fell },
            Judgement { account_for: 2.0, ..fell },
            Judgement { account_against: 2.0, ..fell },
            Judgement { weight: 0.5, ..fell },
            Judgement { edge: EdgeVerdict::NoLongerHeld, since: Some(Millis::ZERO), ..fell },
            Judgement { edge: EdgeVerdict::NoLongerHeld, since: Some(Millis::new(1)), ..fell },
        ]
        .map(Action::Verdict),
    );
    let rules = Rule::ALL.into_iter().filter(|r| ![Rule::Cooldown, Rule::MaxOpenTradesPerSymbol].contains(r));
    actions.extend(rules.map(|rule| Action::Refuse(RefusedSignal { rule, ..base.clone() })));
    check(&actions, |action| Entry::Action(action));
}

#[test]
fn refusal_by_limit_per_symbol_keeps_its_earlier_hash() {
    let hash = |rule| hash_of(Entry::Action(&Action::Refuse(refused(rule))));
    assert_eq!(hash(Rule::MaxOpenTradesPerSymbol), hash(Rule::MaxOpenTrades));
    assert_ne!(hash(Rule::MaxOpenTradesPerSymbol), hash(Rule::BotMaxOpenTrades));
}

fn approved(scripts: &[Script], at_minute: i64) -> Action {
    let mut session = TestSession::new(scripts, |_| {});
    let actions = (0..2).flat_map(|series| session.actions(&candle(series, at_minute)));
    actions.into_iter().find(|action| matches!(action, Action::Open(_))).unwrap()
}

/// Returns the same trade as intent 2, after the first was rejected.
fn approved_again(script: &Script) -> Action {
    let mut session = TestSession::new(std::slice::from_ref(script), |_| {});
    session.handle(&candle(0, 1));
    session.handle(&at(60, rejected(1)));
    session.actions(&candle(0, 1)).swap_remove(0)
}

#[test]
fn every_field_of_an_approved_trade_affects_the_hash() {
    let signal = || Signal::buy("scripted");
    let says = |signal| Script::new("a").says(1, signal);
    let expiring = |code: &str, expiration_type| {
        let close_type: CloseType = code.parse().unwrap();
        says(signal().with_expiry(Expiry { close_type, expiration_type }))
    };
    let (base, silent) = (says(signal()), Script::new("silent"));
    let stake = StakeSettings::Fixed { amount: Decimal::ONE };
    let alone = |script: Script| approved(&[script], 1);
    let actions = [
        alone(base.clone()),
        approved_again(&base),
        approved(&[silent.clone(), base.clone()], 1),
        approved(&[silent, base.clone().on("ETHUSDT")], 1),
        alone(says(Signal::sell("scripted"))),
        alone(expiring("02:00", ExpirationType::TimeFixed)),
        alone(expiring("01:00", ExpirationType::Unstated)),
        alone(expiring("01:00", ExpirationType::CandleClose)),
        alone(expiring("01:00", ExpirationType::NextCandle)),
        alone(base.staking(stake)),
        approved(&[Script::new("a").buys(&[2])], 2),
        alone(says(Signal::buy("otherwise"))),
        alone(says(signal().with("n", 1.0))),
    ];
    check(&actions, |action| Entry::Action(action));
}

#[test]
fn expiry_of_a_signal_overrides_that_of_the_bot() {
    let expiry = |code: &str, expiration_type| Expiry { close_type: code.parse().unwrap(), expiration_type };
    let (bots, own) =
        (expiry("05:00", ExpirationType::CandleClose), expiry("00:30", ExpirationType::NextCandle));
    for (signal, expected) in [(Signal::buy("a"), bots), (Signal::buy("a").with_expiry(own), own)] {
        let Action::Open(approved) = approved(&[Script::new("a").expiring(bots).says(1, signal)], 1) else {
            unreachable!("it was looked for")
        };
        assert_eq!((approved.expiry(), approved.decision_time()), (expected, minute(1)));
    }
}

#[test]
fn every_header_field_affects_the_hash_but_not_the_key_order() {
    let base = Header {
        format: 1,
        settings: json!({ "a": 1, "b": 2 }),
        strategies: vec![("x".to_owned(), "1.0.0".to_owned())],
        data_hash: None,
    };
    let header = |change: fn(&mut Header)| {
        let mut header = base.clone();
        change(&mut header);
        header
    };
    let headers = [
        base.clone(),
        header(|header| header.format = 2),
        header(|header| header.settings = json!({ "a": 1, "b": 3 })),
        header(|header| header.strategies[0].0 = "y".to_owned()),
        header(|header| header.strategies[0].1 = "1.0.1".to_owned()),
        header(|header| header.strategies.clear()),
        header(|header| header.data_hash = Some("00".to_owned())),
    ];
    check(&headers, |header| Entry::Header(header));
    let turned = header(|header| header.settings = json!({ "b": 2, "a": 1 }));
    assert_eq!(hash_of(Entry::Header(&turned)), hash_of(Entry::Header(&base)));
}

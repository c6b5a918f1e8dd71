//! A Session restored from a snapshot behaves like one that was never interrupted.

use crate::event::{
    adopted, bare, by_person, candle_kind, deposit, difference, in_doubt, minute, not_opened, not_sent,
    opened, opened_paying, payout, refused, rejected, second_trade, second_trade_settled, settled,
};
use crate::fold::{Fold, Journalled, RELOAD};
use crate::script::{Script, header_of, ladder_of, session_settings};
use candlewick_engine::{
    Action, BotLimitSettings, Control, EdgeVerdict, Entry, Event, EventKind, Header, IfRefused, IntentId,
    JournalHash, KellyBound, LadderEntry, OpenedTrade, Origin, PauseCause, PauseScope, PauseSettings,
    Recorder, RefusalReason, RestoreError, RiskSettings, Session, SessionLimitSettings, SessionSettings,
    SessionSnapshot, StakeSettings, TradeSettlement, VenueSymbol, VenueTerms, VerdictSettings,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::serde_json::{Value, from_str, from_value, json, to_string, to_value};
use candlewick_sdk::{Candle, Direction, Interval, Millis, Money, Outcome, Signal, Strategy};
use proptest::prelude::{Strategy as _, *};
use std::collections::BTreeSet;

const SYMBOLS: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

/// Signals depend only on the current candle, so a fresh strategy equals one that has seen all candles.
struct Forgetful(i64);

impl Strategy for Forgetful {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let number = candle.time().get() / 60_000 + self.0;
        let direction = if number % 5 == 0 { Direction::Sell } else { Direction::Buy };
        (number % 3 != 0).then(|| Signal::new(direction, "forgetful"))
    }
}

pub(crate) fn settings(max_open_trades: u32) -> SessionSettings {
    let amount = Decimal::ONE;
    let kelly = |bound| StakeSettings::Kelly { fraction: 0.5, kelly_floor_trades: 3, bound };
    let stakes = [
        StakeSettings::Fixed { amount },
        StakeSettings::Share { percent: 1.0 },
        ladder_of(amount, 4, (LadderEntry::NextCandle, IfRefused::Reset)),
        StakeSettings::Soros { amount, wins: 2, if_refused: IfRefused::Wait },
        kelly(KellyBound::ConfidenceSequence),
        kelly(KellyBound::Wilson),
    ];
    let bots = stakes
        .into_iter()
        .enumerate()
        .map(|(index, stake)| Script::new(&format!("bot-{index}")).on(SYMBOLS[index]).staking(stake).bot);
    let verdict =
        VerdictSettings { alpha: 0.4, beta: 0.4, delta: 0.5, watch_trades: 12, ..VerdictSettings::default() };
    let own = BotLimitSettings { session_loss_limit_percent: 2.0, ..BotLimitSettings::default() };
    let risk = RiskSettings {
        max_open_trades,
        max_open_trades_per_symbol: max_open_trades,
        max_trades_per_hour: 200,
        max_trades_per_day: 0,
        allow_opposite: true,
        allow_duplicate: true,
        cooldown_after_losses: 5,
        cooldown_after_losses_s: 60,
        session: SessionLimitSettings { loss_limit: Decimal::from(400), ..SessionLimitSettings::default() },
        pauses: vec![
            PauseSettings { after: 4, of: PauseCause::Losses, for_s: 30, scope: PauseScope::Bot },
            PauseSettings { after: 9, of: PauseCause::Trades, for_s: 0, scope: PauseScope::Symbol },
        ],
        refused_by_venue_pause_s: 2,
        min_payout_percent: 60.0,
        max_drawdown_percent: 0.0,
        daily_loss_limit: Decimal::ZERO,
        max_loss_streak: 0,
        verdict,
        bots: [("bot-1".to_owned(), own)].into(),
        ..RiskSettings::default()
    };
    session_settings(1_000, risk, bots.collect())
}

pub(crate) fn session(settings: &SessionSettings) -> Session {
    let seeds = (0..).take(settings.bots.len());
    Session::new(settings, seeds.map(|seed| Box::new(Forgetful(seed)) as Box<dyn Strategy>).collect())
        .unwrap()
}

pub(crate) fn header(settings: &SessionSettings, period: u64) -> Header {
    let mut settings = settings.clone();
    settings.bots.iter_mut().step_by(2).for_each(|bot| bot.params = json!({ "period": period }));
    header_of(&settings, "1")
}

pub(crate) enum Step {
    Event(Event),
    Reload(u32),
    Run(u64),
}

#[derive(Default)]
pub(crate) struct World {
    now: Millis,
    minutes: i64,
    in_flight: Vec<u64>,
    in_doubt: Vec<u64>,
    not_opened: Vec<u64>,
    open: Vec<u64>,
    seconds: Vec<(u64, String)>,
    limit: u32,
    is_lucky: bool,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { now: minute(22 * 60), minutes: 22 * 60, limit: 9, ..Self::default() }
    }

    pub(crate) fn step(&mut self, byte: u8, detail: u8) -> Step {
        self.now += Millis::new(i64::from(detail) * 10);
        let pick =
            |list: &mut Vec<u64>| (!list.is_empty()).then(|| list.remove(usize::from(detail) % list.len()));
        let kind = match byte {
            0..110 => self.answer_or_candle(detail),
            110..190 => match pick(&mut self.open) {
                Some(intent) => self.end(intent, detail),
                None => self.candle(detail),
            },
            190..200 => match pick(&mut self.in_doubt) {
                Some(intent) if detail.is_multiple_of(2) => {
                    self.open.push(intent);
                    adopted(intent)
                }
                Some(intent) => {
                    self.not_opened.push(intent);
                    not_opened(intent, self.minutes * 60 + i64::from(detail))
                }
                None => deposit(i64::from(detail)),
            },
            200..206 => match pick(&mut self.not_opened) {
                Some(intent) => self.end(intent, detail),
                None if detail.is_multiple_of(2) => difference(-i64::from(detail)),
                None => EventKind::Balance { amount: Money::from_minor(i64::from(detail)) },
            },
            206..214 => match self.open.first().copied() {
                Some(intent) => {
                    let id = format!("second-{intent}-{detail}");
                    self.seconds.push((intent, id.clone()));
                    second_trade(intent, &id, 100)
                }
                None => self.candle(detail),
            },
            214..222 => match self.seconds.pop() {
                Some((intent, id)) => second_trade_settled(intent, &id, i64::from(detail) - 100),
                None => self.candle(detail),
            },
            222..228 => match pick(&mut self.open) {
                Some(intent) => by_person(intent, Outcome::Lost, -100),
                None => self.candle(detail),
            },
            228..232 => EventKind::Skew { offset: Millis::new(i64::from(detail)) },
            232..233 => EventKind::Control { control: Control::Suspend },
            233..242 => EventKind::Control { control: Control::Continue },
            242..243 => EventKind::Control { control: Control::Halt },
            243..252 => EventKind::Control { control: Control::Resume },
            252..254 => {
                self.limit = 4 + u32::from(detail) % 8;
                return Step::Reload(self.limit);
            }
            254.. => return Step::Run(u64::from(detail) % 3),
        };
        Step::Event(Event { at: self.now, received: self.now, kind })
    }

    pub(crate) const fn now(&self) -> Millis {
        self.now
    }

    fn candle(&mut self, detail: u8) -> EventKind {
        self.minutes += 1 + i64::from(detail) / 250 * 60;
        self.now = self.now.max(minute(self.minutes));
        candle_kind(u16::from(detail % 6), Interval::MINUTE, self.minutes, Origin::Live)
    }

    fn answer_or_candle(&mut self, detail: u8) -> EventKind {
        if detail < 100 || self.in_flight.is_empty() {
            return self.candle(detail);
        }
        let intent = self.in_flight.remove(0);
        match detail % 16 {
            0 if detail >= 224 => refused(intent, RefusalReason::PendingLimit),
            0 if detail >= 192 => refused(intent, RefusalReason::OutdatedPrice),
            0 => rejected(intent),
            1 => not_sent(intent),
            2 | 3 => {
                self.in_doubt.push(intent);
                in_doubt(intent)
            }
            4 => {
                self.open.push(intent);
                let symbol = (detail > 200).then(|| VenueSymbol::truncated("X"));
                let taken = VenueTerms { symbol, direction: Direction::Sell, stake: Money::from_minor(77) };
                EventKind::Opened(OpenedTrade { payout: payout(80), taken: Some(taken), ..bare(intent) })
            }
            5 => {
                self.open.push(intent);
                opened(intent)
            }
            _ => {
                self.open.push(intent);
                opened_paying(intent, 60 + u32::from(detail) % 40)
            }
        }
    }

    fn end(&self, intent: u64, detail: u8) -> EventKind {
        let (outcome, profit) = match detail % 10 {
            0 => (Outcome::Draw, 0),
            1 => (Outcome::Cancelled, 0),
            number if (number > 2) == self.is_lucky => (Outcome::Won, 80),
            _ => (Outcome::Lost, -100),
        };
        let payout = if detail.is_multiple_of(3) { payout(61 + u32::from(detail) % 39) } else { None };
        EventKind::Settled(TradeSettlement { payout, ..settled(intent, outcome, profit) })
    }

    pub(crate) fn see(&mut self, actions: &[Action]) {
        for action in actions {
            if let Action::Open(approved) = action {
                self.in_flight.push(approved.intent().number());
            }
        }
    }
}

pub(crate) fn carry_out(session: &mut Session, step: &Step) -> Vec<Action> {
    let mut actions = Vec::new();
    match step {
        Step::Event(event) => session.handle(event, &mut actions),
        Step::Reload(limit) => {
            session.prepare_reload(&settings(*limit).risk).unwrap();
            session.handle(&RELOAD, &mut actions);
        }
        Step::Run(period) => session.begin_run(&header(&settings(9), *period)),
    }
    actions
}

fn restored(kept: &Session, limit: u32) -> Session {
    let text = to_string(&kept.snapshot()).unwrap();
    let snapshot: SessionSnapshot = from_str(&text).unwrap();
    let mut session = session(&settings(limit));
    session.restore(snapshot).unwrap();
    assert_eq!(to_string(&session.snapshot()).unwrap(), text, "what is put back is what was taken out");
    session
}

type Seen = BTreeSet<String>;

fn check(lucky: usize, drawn: &[(u8, u8)], places: &[usize]) -> Seen {
    let (mut world, mut limit, mut seen) = (World::new(), 9, Seen::new());
    let mut sessions = vec![session(&settings(limit))];
    sessions[0].begin_run(&header(&settings(limit), 0));
    let mut hashes = vec![JournalHash::new()];
    for (place, (byte, detail)) in drawn.iter().enumerate() {
        if places.contains(&place) {
            note(&sessions[0], &world, &mut seen);
            let again = restored(&sessions[0], limit);
            sessions.push(again);
            hashes = sessions.iter().map(|_| JournalHash::new()).collect();
        }
        world.is_lucky = place < lucky;
        let step = world.step(*byte, *detail);
        if let Step::Reload(new) = step {
            limit = new;
        }
        let mut answers = Vec::new();
        for (session, hash) in sessions.iter_mut().zip(&mut hashes) {
            let actions = carry_out(session, &step);
            if let Step::Event(event) = &step {
                hash.record(Entry::Event(event)).unwrap();
            }
            for action in &actions {
                hash.record(Entry::Action(action)).unwrap();
            }
            answers.push(to_string(&actions).unwrap());
            if answers.len() == 1 {
                world.see(&actions);
            }
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "at {place}, stopped at {places:?}: {answers:#?}");
    }
    let mut ends: Vec<String> = hashes.into_iter().map(JournalHash::finish).collect();
    ends.dedup();
    assert_eq!(ends.len(), 1, "the hashes are the same");
    let mut states: Vec<String> = sessions.iter().map(|s| to_string(&s.snapshot()).unwrap()).collect();
    states.dedup();
    assert_eq!(states.len(), 1, "the states are the same");
    seen
}

fn note(session: &Session, world: &World, seen: &mut Seen) {
    for verdict in session.verdicts() {
        seen.insert(format!("{:?}", verdict.edge()));
        if verdict.first_intent() > IntentId::new(1) {
            seen.insert("restarted".to_owned());
        }
    }
    for (is_there, what) in [
        (!world.in_doubt.is_empty(), "in doubt"),
        (!world.not_opened.is_empty(), "not opened"),
        (!session.second_trades().is_empty(), "second trade"),
        (world.limit != 9, "reloaded"),
        (!world.in_flight.is_empty(), "in flight"),
        (session.ledger().loss_streak() > 1, "losses in a row"),
    ] {
        if is_there {
            seen.insert(what.to_owned());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn restored_session_answers_like_an_uninterrupted_one(
        lucky in 0_usize..900,
        drawn in prop::collection::vec(any::<(u8, u8)>(), 2..900),
        place in any::<prop::sample::Index>(),
    ) {
        let first = place.index(drawn.len());
        check(lucky, &drawn, &[first, first / 2, usize::midpoint(first, drawn.len())]);
    }
}

#[test]
fn random_runs_reach_every_snapshot_state() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = Seen::new();
    for (lucky, count) in [(1_500, 3_000), (0, 1_500), (1_500, 1_500)] {
        let tree = prop::collection::vec(any::<(u8, u8)>(), count).new_tree(&mut runner).unwrap();
        let mut drawn = proptest::strategy::ValueTree::current(&tree);
        let last = drawn.len() - 500;
        drawn[..last].iter_mut().for_each(|(byte, _)| *byte = (*byte).min(251));
        let places: Vec<usize> = (0..drawn.len()).step_by(59).collect();
        seen.extend(check(lucky, &drawn, &places));
    }
    let expected =
        ["Open", "Shown", "Rejected", "restarted", "in doubt", "not opened", "second trade", "reloaded"];
    for state in expected.into_iter().chain(["in flight", "losses in a row"]) {
        assert!(seen.contains(state), "{state} is not among {seen:?}");
    }
    assert!(seen.contains(&format!("{:?}", EdgeVerdict::NoLongerHeld)), "{seen:?}");
}

/// Returns a Session after random steps, its journal and its world.
pub(crate) fn recorded(drawn: &[(u8, u8)]) -> (Session, Vec<Journalled>, World) {
    let (mut world, mut session) = (World::new(), session(&settings(9)));
    let begun = header(&settings(9), 0);
    session.begin_run(&begun);
    let mut entries = vec![Journalled::Run(begun)];
    for (place, (byte, detail)) in drawn.iter().enumerate() {
        world.is_lucky = place < drawn.len() / 2;
        let mut actions = Vec::new();
        match world.step(*byte, *detail) {
            Step::Event(event) => {
                session.handle_recorded(&event, &mut actions);
                entries.push(Journalled::Event(event));
            }
            Step::Reload(limit) => {
                let risk = settings(limit).risk;
                session.prepare_reload(&risk).unwrap();
                session.handle_recorded(&RELOAD, &mut actions);
                entries.push(Journalled::Reload(Box::new(risk)));
            }
            Step::Run(period) => {
                let begun = header(&settings(9), period);
                session.begin_run(&begun);
                entries.push(Journalled::Run(begun));
            }
        }
        world.see(&actions);
        entries.extend(actions.iter().map(|action| Journalled::Action(to_string(action).unwrap())));
    }
    (session, entries, world)
}

#[test]
fn settings_with_equal_fingerprints_fold_alike() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let tree = prop::collection::vec(any::<(u8, u8)>(), 2_500).new_tree(&mut runner).unwrap();
    let (_, mut entries, _) = recorded(&proptest::strategy::ValueTree::current(&tree));
    entries.retain(|entry| !matches!(entry, Journalled::Reload(_)));
    let own = settings(9);
    let (state, fingerprint) = (Fold::from_entries(&own, &entries).state(), own.fingerprint().unwrap());
    let with = |change: fn(&mut SessionSettings)| {
        let mut other = own.clone();
        change(&mut other);
        assert_ne!(other, own);
        let is_of_bots = other.bots != own.bots;
        assert!(!is_of_bots || other.legacy_fingerprint().unwrap() != own.legacy_fingerprint().unwrap());
        (Fold::from_entries(&other, &entries).state() == state, other.fingerprint().unwrap() == fingerprint)
    };
    let no_matter: [fn(&mut SessionSettings); 29] = [
        |own| own.risk.max_open_trades = 1,
        |own| own.risk.max_open_trades_per_symbol = 1,
        |own| own.risk.max_trades_per_hour = 1,
        |own| own.risk.max_trades_per_day = 1,
        |own| own.risk.daily_loss_limit = Decimal::ONE,
        |own| own.risk.daily_profit_target = Decimal::ONE,
        |own| own.risk.daily_loss_limit_percent = 1.0,
        |own| (own.risk.session.loss_limit, own.risk.session.profit_target_percent) = (Decimal::TEN, 3.0),
        |own| own.risk.daily_profit_target_percent = 1.0,
        |own| own.risk.max_drawdown_percent = 1.0,
        |own| own.risk.max_loss_streak = 1,
        |own| own.risk.min_payout_percent = 90.0,
        |own| own.risk.stale_after_intervals += 1,
        |own| own.risk.max_signal_delay_ms += 1,
        |own| own.risk.allow_opposite = false,
        |own| own.risk.allow_duplicate = false,
        |own| own.risk.max_clock_skew_ms += 1,
        |own| own.risk.hours = from_str(r#"[{"days":["mon"],"from":"08:00","to":"09:00"}]"#).unwrap(),
        |own| own.risk.min_stake += Decimal::ONE,
        |own| own.risk.max_stake += Decimal::ONE,
        |own| own.risk.max_stake_percent += 1.0,
        |own| own.risk.enforce_verdict = !own.risk.enforce_verdict,
        |own| own.risk.max_ruin_probability += 0.01,
        |own| own.risk.ruin_horizon_trades += 1,
        |own| (own.risk.max_open_trades, own.risk.max_trades_per_hour) = (2, 3),
        |own| {
            let limits = BotLimitSettings { session_loss_limit: Decimal::TEN, ..BotLimitSettings::default() };
            own.risk.bots.insert("bot-1".to_owned(), limits);
        },
        |own| own.bots[2].params = json!({ "period": 77 }),
        |own| own.bots[2].strategy = "another".to_owned(),
        |own| drop(own.bots[2].venue.insert("asset_type".to_owned(), json!("forex"))),
    ];
    for (place, change) in no_matter.into_iter().enumerate() {
        assert_eq!(with(change), (true, true), "change {place}");
    }
    let matter: [fn(&mut SessionSettings); 16] = [
        |own| own.risk.stake_step += Decimal::TEN,
        |own| own.risk.max_trades_per_hour = 0,
        |own| own.risk.min_payout_percent = 0.0,
        |own| own.risk.payout_max_age_s = 1,
        |own| own.risk.cooldown_after_loss_s += 1,
        |own| own.risk.cooldown_after_losses = 1,
        |own| own.risk.pauses.clear(),
        |own| {
            own.risk.session = SessionLimitSettings::default();
            own.risk.bots.clear();
        },
        |own| own.risk.min_payout_percent_by_symbol.extend([("A".to_owned(), 0.0)]),
        |own| own.risk.best_payout_of = ["A", "B"].map(str::to_owned).into(),
        |own| own.risk.day_start = "07:30".to_owned(),
        |own| own.risk.verdict.watch_trades += 1,
        |own| own.bots[2].entry_delay_s += 1,
        |own| own.bots[2].name = "another".to_owned(),
        |own| own.bots[2].symbol = "X".parse().unwrap(),
        |own| own.bots[2].stake = StakeSettings::Fixed { amount: Decimal::ONE },
    ];
    for (place, change) in matter.into_iter().enumerate() {
        assert!(!with(change).1, "change {place}");
    }
}

#[test]
fn rejects_snapshots_of_other_settings_or_programs() {
    let state = || to_value(session(&settings(9)).snapshot()).unwrap();
    let check = |snapshot: Value, mut own: Session, expected: RestoreError| {
        let snapshot: SessionSnapshot = from_value(snapshot).unwrap();
        assert_eq!(own.restore(snapshot), Err(expected));
    };
    let mut newer = state();
    newer["format"] = json!(SessionSnapshot::FORMAT + 1);
    check(newer, session(&settings(9)), RestoreError::Format { found: SessionSnapshot::FORMAT + 1 });
    let other = |change: fn(&mut SessionSettings), what| {
        let mut own = settings(9);
        change(&mut own);
        check(state(), session(&own), RestoreError::OtherSettings { what });
    };
    other(|own| own.bots[1].name = "another".to_owned(), "bots");
    other(|own| drop(own.bots.pop()), "bots");
    other(|own| own.bots[0].symbol = "X".parse().unwrap(), "symbols");
    other(|own| own.money_scale = from_value(json!(3)).unwrap(), "money decimals");
    let martingale = ladder_of(Decimal::ONE, 5, (LadderEntry::NextSignal, IfRefused::Wait));
    for stake in [StakeSettings::Fixed { amount: Decimal::TWO }, martingale] {
        let mut own = settings(9);
        own.bots[2].stake = stake;
        check(state(), session(&own), RestoreError::OtherSettings { what: "stakes" });
    }
}

//! Properties that hold for random events in any order.

use crate::event::{
    adopted, candle_kind, deposit, flat_candle, in_doubt, minute, not_opened, not_sent, opened_paying, price,
    rejected, settled,
};
use crate::script::{Restless, Script, ladder_of, session_settings};
use candlewick_engine::{
    Action, Control, Event, EventKind, IfRefused, IntentId, IntentState, KellyBound, LadderEntry, Origin,
    RiskSettings, Session, StakeSettings, TradeBook, judge,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Interval, Millis, Money, Outcome, Price, Strategy};
use candlewick_statistics::EdgeTest;
use proptest::prelude::{Strategy as Draw, *};
use std::collections::BTreeMap;

const BALANCE: i64 = 200;

/// A kind of event and its offset from the previous one in milliseconds, which may be negative.
type Drawn = (i64, i64, EventKind);

fn intents() -> impl Draw<Value = u64> {
    prop_oneof![9 => 0_u64..40, 1 => Just(u64::MAX)]
}

fn drawn() -> impl Draw<Value = Drawn> {
    let outcome = prop::sample::select(vec![Outcome::Won, Outcome::Lost, Outcome::Draw, Outcome::Cancelled]);
    let origin = prop_oneof![5 => Just(Origin::Live), 1 => Just(Origin::Backfill)];
    let control = prop_oneof![1 => Just(Control::Halt), 4 => Just(Control::Resume)];
    let kind = prop_oneof![
        8 => (0_u16..4, origin)
            .prop_map(|(series, origin)| candle_kind(series, Interval::MINUTE, 0, origin)),
        1 => (0_u16..3).prop_map(|symbol| price(symbol, 0).kind),
        6 => (intents(), 60_u32..95).prop_map(|(intent, percent)| opened_paying(intent, percent)),
        2 => intents().prop_map(rejected),
        1 => intents().prop_map(not_sent),
        2 => intents().prop_map(in_doubt),
        1 => intents().prop_map(adopted),
        2 => (intents(), 0_i64..20_000).prop_map(|(intent, until)| not_opened(intent, 22 * 3_600 + until)),
        1 => (-500_i64..500).prop_map(deposit),
        6 => (intents(), outcome, -3_000_i64..3_000)
            .prop_map(|(intent, outcome, profit)| EventKind::Settled(settled(intent, outcome, profit))),
        1 => any::<i64>().prop_map(|amount| EventKind::Balance { amount: Money::from_minor(amount) }),
        1 => (-2_200_i64..2_200).prop_map(|offset| EventKind::Skew { offset: Millis::new(offset) }),
        1 => control.prop_map(|control| EventKind::Control { control }),
    ];
    let step = prop_oneof![20 => 0_i64..90_000, 1 => -100_000_i64..0];
    let delay = prop_oneof![9 => Just(0_i64), 1 => -10_000_i64..10_000];
    (step, delay, kind)
}

fn events(drawn: &[Drawn]) -> Vec<Event> {
    let mut now = minute(22 * 60);
    let event = |(step, delay, kind): &Drawn| {
        now += Millis::new(*step);
        let close = (now - minute(0)).get().div_euclid(60_000);
        let kind = match *kind {
            EventKind::Candle { series, origin, .. } => {
                let candle = flat_candle(minute(close) - Millis::MINUTE, Interval::MINUTE);
                EventKind::Candle { series, candle, origin }
            }
            EventKind::Price { symbol, .. } => {
                EventKind::Price { symbol, price: Price { time: minute(close), value: 1.0 } }
            }
            other => other,
        };
        Event { at: now, received: now + Millis::new(*delay), kind }
    };
    drawn.iter().map(event).collect()
}

fn session(min_payout_percent: f64) -> Session {
    let amount = Decimal::ONE;
    let stakes = [
        StakeSettings::Fixed { amount },
        StakeSettings::Share { percent: 1.0 },
        ladder_of(amount, 4, (LadderEntry::NextSignal, IfRefused::Wait)),
        StakeSettings::Soros { amount, wins: 2, if_refused: IfRefused::Wait },
        StakeSettings::Kelly { fraction: 0.5, kelly_floor_trades: 3, bound: KellyBound::default() },
    ];
    let script = |(index, stake): (usize, StakeSettings)| {
        let (symbol, interval) = [("A", "1m"), ("B", "1m"), ("A", "5m")][index % 3];
        Script::new(&format!("bot-{index}")).on(symbol).every(interval).staking(stake)
    };
    let bots = stakes.into_iter().enumerate().map(|row| script(row).bot).collect();
    let risk = RiskSettings {
        max_open_trades: 4,
        max_open_trades_per_symbol: 3,
        max_trades_per_hour: 20,
        allow_opposite: true,
        cooldown_after_losses: 3,
        cooldown_after_losses_s: 60,
        min_payout_percent,
        ..RiskSettings::default()
    };
    let settings = session_settings(BALANCE, risk, bots);
    let seeds = (0..).take(settings.bots.len());
    let strategies = seeds.map(|seed| Box::new(Restless(seed)) as Box<dyn Strategy>).collect();
    Session::new(&settings, strategies).unwrap()
}

/// An independent ledger: the stakes of unfinished trades and the profits of finished ones.
#[derive(Default)]
struct Clerk {
    unfinished: BTreeMap<u64, (Money, Stage)>,
    earned: Money,
    deposited: Money,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    InFlight,
    InDoubt,
    Open,
    Reserved(Millis),
    Released,
}

impl Clerk {
    fn see(&mut self, event: &Event, actions: &[Action]) {
        use Stage::{InDoubt, InFlight, Open, Released, Reserved};
        for (_, stage) in self.unfinished.values_mut() {
            if matches!(stage, Reserved(until) if *until <= event.at) {
                *stage = Released;
            }
        }
        match event.kind {
            EventKind::Opened(opened) => self.turn(opened.intent, &[InFlight, InDoubt], Open),
            EventKind::InDoubt { intent } => self.turn(intent, &[InFlight], InDoubt),
            EventKind::NotOpened { intent, reserved_until } => {
                self.turn(intent, &[InDoubt], Reserved(reserved_until));
            }
            EventKind::Adopted(opened) => {
                if let Some((_, stage)) = self.unfinished.get_mut(&opened.intent.number()) {
                    *stage = Open;
                }
            }
            EventKind::Rejected { intent, .. } | EventKind::NotSent { intent } => {
                let stage = self.unfinished.get(&intent.number()).map(|(_, stage)| *stage);
                if matches!(stage, Some(InFlight | InDoubt)) {
                    self.unfinished.remove(&intent.number());
                }
            }
            EventKind::Settled(settled) => {
                let row = self.unfinished.remove(&settled.intent.number());
                self.earned += row.map_or(Money::ZERO, |_| settled.profit);
            }
            EventKind::Deposit { amount } => self.deposited += amount,
            _ => {}
        }
        for action in actions {
            if let Action::Open(approved) = action {
                let row = (approved.stake(), InFlight);
                let known = self.unfinished.insert(approved.intent().number(), row);
                assert!(known.is_none() && approved.stake().is_positive());
            }
        }
    }

    fn turn(&mut self, intent: IntentId, from: &[Stage], to: Stage) {
        if let Some((_, stage)) = self.unfinished.get_mut(&intent.number())
            && from.contains(stage)
        {
            *stage = to;
        }
    }

    fn staked(&self) -> Money {
        self.unfinished.values().filter(|(_, stage)| *stage != Stage::Released).map(|(stake, _)| *stake).sum()
    }

    fn count(&self, is_it: impl Fn(Stage) -> bool) -> usize {
        self.unfinished.values().filter(|(_, stage)| is_it(*stage)).count()
    }
}

fn run(events: &[Event], min_payout: f64) -> Vec<Action> {
    let mut session = session(min_payout);
    let (mut book, mut clerk) = (TradeBook::default(), Clerk::default());
    let mut all = Vec::new();
    for event in events {
        let mut actions = Vec::new();
        session.handle(event, &mut actions);
        book.record_event(event);
        for action in &actions {
            book.record_action(action);
        }
        clerk.see(event, &actions);
        let ledger = session.ledger();
        assert_eq!(ledger.open_stakes(), clerk.staked(), "{event:?}");
        let equity = Money::from_minor(BALANCE * 100) + clerk.earned + clerk.deposited;
        assert_eq!(ledger.equity(), equity, "{event:?}");
        all.extend(actions);
    }
    let profits: Money = book.rows().iter().map(|row| row.profit).sum();
    assert_eq!(profits, clerk.earned, "the book agrees with the ledger");
    let rows = |wanted: IntentState| book.rows().iter().filter(|row| row.state == wanted).count();
    assert_eq!(rows(IntentState::InFlight), clerk.count(|stage| stage == Stage::InFlight));
    assert_eq!(rows(IntentState::InDoubt), clerk.count(|stage| stage == Stage::InDoubt));
    assert_eq!(rows(IntentState::Open), clerk.count(|stage| stage == Stage::Open));
    let is_unopened = |stage| matches!(stage, Stage::Reserved(_) | Stage::Released);
    assert_eq!(rows(IntentState::NotOpened), clerk.count(is_unopened));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn running_verdict_equals_verdict_of_the_rows(drawn in prop::collection::vec(drawn(), 1..400)) {
        let mut session = session(0.0);
        let (mut book, mut actions) = (TradeBook::default(), Vec::new());
        for event in events(&drawn) {
            session.handle(&event, &mut actions);
            book.record_event(&event);
            actions.drain(..).for_each(|action| book.record_action(&action));
        }
        for (place, verdict) in session.verdicts().enumerate() {
            let own = book.rows().iter().filter(|row| row.approved.bot().index() == place);
            let judged = judge(own, verdict.edge_test().plan());
            let accounts = |test: &EdgeTest| [test.edge_account(), test.mirror_account()].map(f64::to_bits);
            prop_assert_eq!(accounts(&judged), accounts(verdict.edge_test()));
        }
    }

    #[test]
    fn money_changes_only_by_settlements(drawn in prop::collection::vec(drawn(), 1..250)) {
        for min_payout in [0.0, 80.0] {
            run(&events(&drawn), min_payout);
        }
    }
}

#[test]
fn random_events_lead_to_trades() {
    // The properties would be vacuous for sessions that never trade.
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let tree = prop::collection::vec(drawn(), 2_000).new_tree(&mut runner).unwrap();
    let drawn = proptest::strategy::ValueTree::current(&tree);
    let actions = run(&events(&drawn), 0.0);
    let opens = actions.iter().filter(|action| matches!(action, Action::Open(_))).count();
    assert!(opens > 20, "{opens}");
}

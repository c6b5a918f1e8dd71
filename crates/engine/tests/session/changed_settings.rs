//! A Session restored from a snapshot with other settings equals a fold of all entries.

use crate::event;
use crate::fold::{Fold, Journalled, journalled};
use crate::script::Script;
use crate::snapshots::{Step, World, header, session, settings};
use candlewick_engine::{
    Action, BotId, BotLimitSettings, Event, EventKind, Header, JournalDecoder, OutsideSignal, RestoreError,
    Session, SessionLimitSettings, SessionSettings, SnapshotOrigin, StakeSettings, TradeBook,
};
use candlewick_sdk::Millis;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::serde_json::{Value, from_str, from_value, json, to_value};
use proptest::prelude::{Strategy as _, *};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

impl Fold {
    /// Restores the Session under other settings from its serialized snapshot.
    fn under(
        &self,
        own: &SessionSettings,
        (before, headers): (&SessionSettings, &[Header]),
    ) -> Result<Self, RestoreError> {
        let mut session = Session::without_strategies(own).unwrap();
        let snapshot = from_str(&self.state()).unwrap();
        let numbers =
            session.restore_with_changes(own, snapshot, SnapshotOrigin { settings: before, headers })?;
        let mut book = TradeBook::default();
        let mut reasons = JournalDecoder::default();
        for row in self.book.rows() {
            let kept = self.book.stored_row(row.approved.intent()).unwrap().renumbered(&numbers);
            session.allocate_trade_counts(kept.row().approved.symbol());
            assert!(book.restore_row(kept, &mut reasons));
        }
        assert!(book.restore_counts(self.book.stored_counts()));
        let decoder = self.decoder.as_ref().map(|decoder| decoder.renumbered(&numbers));
        Ok(Self { session, decoder, book })
    }
}

fn changes() -> Vec<&'static str> {
    let all = "add,remove,rename,symbol,amount,order,hour,no cooldown,fewer pauses,no session,no payouts,parameters,\
               fixed stake,interval,verdict,comes back,cooldown,delay,levels,limits,payouts,payout age,stake step";
    all.split(',').collect()
}

fn name(kind: u8) -> &'static str {
    let all = changes();
    all[usize::from(kind) % all.len()]
}

fn change(settings: &SessionSettings, (kind, detail): (u8, u8)) -> SessionSettings {
    let mut own = settings.clone();
    let (count, number) = (own.bots.len(), usize::from(detail));
    let place = number % count;
    let symbol = ["A", "B", "C", "D", "E", "F", "G", "H"][number % 8];
    match name(kind) {
        "add" => own.bots.insert(number % (count + 1), Script::new(&format!("new-{detail}")).on(symbol).bot),
        "remove" if count > 1 => drop(own.bots.remove(place)),
        "rename" => own.bots[place].name = format!("renamed-{detail}"),
        "symbol" => own.bots[place].symbol = symbol.parse().unwrap(),
        "amount" => match &mut own.bots[place].stake {
            StakeSettings::Fixed { amount }
            | StakeSettings::Martingale { amount, .. }
            | StakeSettings::Soros { amount, .. } => *amount += Decimal::ONE,
            StakeSettings::Share { percent } => *percent += 1.0,
            StakeSettings::Kelly { fraction, .. } => *fraction /= 2.0,
        },
        "order" => own.bots.swap(place, (place + 1) % count),
        "hour" => own.risk.max_trades_per_hour = 0,
        "no cooldown" => own.risk.cooldown_after_losses = 0,
        "fewer pauses" => own.risk.pauses.truncate(1),
        "no session" => {
            own.risk.session = SessionLimitSettings::default();
            own.risk.bots.clear();
        }
        "no payouts" => own.risk.min_payout_percent = 0.0,
        "payouts" => own.risk.min_payout_percent = 60.0,
        "payout age" => own.risk.payout_max_age_s = 90,
        "stake step" => own.risk.stake_step = Decimal::TWO,
        "parameters" => own.bots[place].params = json!({ "period": detail }),
        "fixed stake" => own.bots[place].stake = StakeSettings::Fixed { amount: Decimal::TWO },
        "interval" => own.bots[place].interval = "5m".parse().unwrap(),
        "verdict" => own.risk.verdict.delta += 0.01,
        "comes back" => {
            let name = format!("bot-{}", detail % 6);
            if own.bots.iter().all(|bot| bot.name != name) {
                own.bots.push(Script::new(&name).on(symbol).bot);
            }
        }
        "cooldown" => own.risk.cooldown_after_losses += 1,
        "delay" => own.bots[place].entry_delay_s = 5,
        "levels" => {
            if let StakeSettings::Martingale { levels, .. } = &mut own.bots[place].stake {
                *levels += 1;
            }
        }
        "limits" => {
            (own.risk.max_open_trades, own.risk.max_drawdown_percent) = (5, 40.0);
            let limits = BotLimitSettings { max_open_trades: 2, ..BotLimitSettings::default() };
            own.risk.bots.insert(own.bots[place].name.clone(), limits);
        }
        _ => {}
    }
    own
}

fn run(
    world: &mut World,
    entries: &mut Vec<Journalled>,
    headers: &mut Vec<Header>,
    own: &SessionSettings,
    drawn: &[(u8, u8)],
) {
    let mut session = session(own);
    session.restore(Fold::from_entries(own, entries).session.snapshot()).unwrap();
    let mut begin = |session: &mut Session, entries: &mut Vec<Journalled>, period| {
        let header = header(own, period);
        session.begin_run(&header);
        headers.push(header.clone());
        entries.push(Journalled::Run(header));
    };
    begin(&mut session, entries, 0);
    for (byte, detail) in drawn {
        match world.step(*byte, *detail) {
            Step::Run(period) => begin(&mut session, entries, period),
            Step::Reload(_) => {}
            Step::Event(event) => {
                let outside = (byte % 16 == 0).then(|| outside_signal(own, *detail, event.at));
                for event in iter::once(event).chain(outside) {
                    let actions = handle(&mut session, &event);
                    entries.extend(journalled(&event, &actions));
                    world.see(&actions);
                }
            }
        }
    }
}

fn outside_signal(own: &SessionSettings, detail: u8, at: Millis) -> Event {
    let bot = BotId::new(usize::from(detail) % own.bots.len()).unwrap();
    let signal = OutsideSignal { bot, ..event::outside_signal(&format!("{} {at}", detail % 7)) };
    Event { at, received: at, kind: EventKind::OutsideSignal(signal) }
}

fn handle(session: &mut Session, event: &Event) -> Vec<Action> {
    let mut actions = Vec::new();
    session.handle(event, &mut actions);
    actions
}

fn check(base: &SessionSettings, edits: [(u8, u8); 2], drawn: &[(u8, u8)], cut: usize) -> Result<(), String> {
    let (mut world, mut entries, mut headers) = (World::new(), Vec::new(), Vec::new());
    let (first, second) = drawn.split_at(drawn.len() / 2);
    run(&mut world, &mut entries, &mut headers, base, first);
    let (begun, before) = (entries.len() + 1, change(base, edits[0]));
    run(&mut world, &mut entries, &mut headers, &before, second);
    let cut = begun + cut % (entries.len() + 1 - begun);
    let own = change(&before, edits[1]);
    let is_header = |entry: &&Journalled| matches!(entry, Journalled::Run(_));
    let known = entries[..cut].iter().filter(is_header).count();
    let kept = Fold::from_entries(&before, &entries[..cut]);
    let mut found = match kept.under(&own, (&before, &headers[..known])) {
        Ok(found) => found,
        Err(RestoreError::NeedsFullFold { why }) => return Err(why),
        Err(other) => panic!("{other}"),
    };
    found.take(&entries[cut..]);
    let mut expected = Fold::from_entries(&own, &entries);
    for fold in [&mut found, &mut expected] {
        fold.take(&[Journalled::Run(header(&own, 1))]);
    }
    let names = edits.map(|(kind, _)| name(kind));
    assert_eq!(found.state(), expected.state(), "{names:?} at {cut} of {}", entries.len());
    assert_eq!(found.book.rows(), expected.book.rows(), "{names:?}");
    let mut sessions = [&found, &expected].map(|fold| {
        let mut session = session(&own);
        session.restore(fold.session.snapshot()).unwrap();
        session
    });
    for (byte, detail) in first {
        if let Step::Event(event) = world.step(*byte, *detail) {
            let [found, expected] = sessions.each_mut().map(|session| handle(session, &event));
            assert_eq!(found, expected, "{names:?}");
            world.see(&found);
        }
    }
    Ok(())
}

fn base(finds_out: bool) -> SessionSettings {
    let mut own = settings(9);
    (own.risk.min_payout_percent, own.risk.payout_max_age_s) = (if finds_out { 60.0 } else { 0.0 }, 60);
    for bot in &mut own.bots {
        if let StakeSettings::Martingale { amount, .. } | StakeSettings::Soros { amount, .. } = &mut bot.stake
        {
            *amount = Decimal::from(3);
        }
    }
    own
}

#[derive(Default)]
struct Outcomes {
    went_on: Cell<u32>,
    needed_all: Cell<u32>,
}

impl Outcomes {
    fn count(&self, outcome: &Result<(), String>) {
        let counted = if outcome.is_ok() { &self.went_on } else { &self.needed_all };
        counted.set(counted.get() + 1);
    }

    /// Asserts that both results occurred, because otherwise one of them would be untested.
    fn assert_both(&self, of: &str) {
        let (went_on, needed_all) = (self.went_on.get(), self.needed_all.get());
        assert!(went_on > 0 && needed_all > 0, "{of}: {went_on} continued, {needed_all} needed all trades");
    }
}

#[test]
fn snapshot_of_other_settings_restores_the_state_of_a_full_fold() {
    let config = ProptestConfig { source_file: Some(file!()), ..ProptestConfig::with_cases(256) };
    let changes = any::<[(u8, u8); 2]>();
    let drawn = prop::collection::vec(any::<(u8, u8)>(), 2..500);
    let (outcomes, all) = (Outcomes::default(), (any::<bool>(), changes, drawn, any::<usize>()));
    let came_to = TestRunner::new(config).run(&all, |(finds_out, changes, drawn, place)| {
        outcomes.count(&check(&base(finds_out), changes, &drawn, place));
        Ok(())
    });
    came_to.unwrap();
    outcomes.assert_both("changes of chance");
}

fn number(name: &str) -> u8 {
    changes().iter().position(|known| *known == name).unwrap() as u8
}

fn drawn(runner: &mut TestRunner, steps: usize) -> Vec<(u8, u8)> {
    prop::collection::vec(any::<(u8, u8)>(), steps).new_tree(runner).unwrap().current()
}

#[test]
fn unknown_ladder_level_is_not_guessed() {
    let mut runner = TestRunner::deterministic();
    let [ladders, flat] = [Outcomes::default(), Outcomes::default()];
    for _ in 0..40 {
        let drawn = drawn(&mut runner, 500);
        for (finds_out, name, detail) in [
            (false, "interval", 2),
            (false, "payouts", 0),
            (true, "no payouts", 0),
            (true, "payout age", 0),
            (true, "stake step", 0),
            (true, "amount", 2),
            (true, "amount", 3),
            (true, "amount", 0),
        ] {
            let changes = [(number("limits"), 0), (number(name), detail)];
            let base = base(finds_out);
            let place = usize::from(drawn[0].1) * 7;
            let came_to = check(&base, changes, &drawn, place);
            assert_eq!(came_to.is_ok(), (name, detail) == ("amount", 0), "{name}: {came_to:?}");
            ladders.count(&came_to);
            let mut without = base;
            without.bots.retain(|bot| !bot.stake.climbs_after_losses());
            without.bots.retain(|bot| !matches!(bot.stake, StakeSettings::Soros { .. }));
            flat.count(&check(&without, changes, &drawn, place));
        }
    }
    ladders.assert_both("ladders");
    flat.assert_both("no ladders");
}

#[test]
fn names_the_setting_that_requires_all_trades() {
    let mut runner = TestRunner::deterministic();
    let drawn = drawn(&mut runner, 400);
    let why = |finds_out, first: (&str, u8), second: (&str, u8)| -> BTreeSet<String> {
        let changes = [first, second].map(|(name, detail)| (number(name), detail));
        let found = (0..40).map(|place| check(&base(finds_out), changes, &drawn, place * 5));
        found.filter_map(Result::err).collect()
    };
    let same = ("limits", 0);
    for (finds_out, first, second, expected) in [
        (false, same, ("interval", 2), "bot \"bot-2\" has a changed interval"),
        (true, same, ("amount", 2), "bot \"bot-2\" has a changed stake"),
        (false, same, ("levels", 2), "bot \"bot-2\" has a changed stake"),
        (false, same, ("delay", 4), "entry_delay_s of bot \"bot-4\" changed"),
        (false, ("delay", 4), ("remove", 4), "bot \"bot-4\" was removed, but its pending trades"),
    ] {
        let why = why(finds_out, first, second);
        assert!(why.len() == 1 && why.iter().all(|why| why.starts_with(expected)), "{second:?}: {why:?}");
    }
}

#[test]
fn rejects_snapshot_that_does_not_match_the_previous_settings() {
    let before = base(true);
    let (own, headers) = (change(&before, (number("order"), 0)), [header(&before, 0)]);
    let come_to = |change: &dyn Fn(&mut Value)| {
        let mut snapshot = to_value(session(&before).snapshot()).unwrap();
        change(&mut snapshot);
        let before = SnapshotOrigin { settings: &before, headers: &headers };
        let mut session = Session::without_strategies(&own).unwrap();
        session.restore_with_changes(&own, from_value(snapshot).unwrap(), before).map(drop)
    };
    assert_eq!(come_to(&|_| {}), Ok(()));
    for list in ["/bots", "/symbols", "/state/bots", "/state/symbols"] {
        let what = list.rsplit('/').next().unwrap();
        let is_named = !list.starts_with("/state");
        let of = |snapshot: &mut Value, is_swapped: bool| {
            let items = snapshot.pointer_mut(list).unwrap().as_array_mut().unwrap();
            if is_swapped { items.swap(0, 1) } else { drop(items.pop().unwrap()) }
        };
        let expected = Err(RestoreError::OtherSettings { what });
        assert_eq!(come_to(&|snapshot| of(snapshot, false)), expected, "{list} is shorter");
        if is_named {
            assert_eq!(come_to(&|snapshot| of(snapshot, true)), expected, "{list} is in another order");
        }
    }
}

/// Checks which changes never need all trades and which may need them.
#[test]
fn usual_changes_do_not_need_earlier_trades() {
    let mut runner = TestRunner::deterministic();
    let mut found: BTreeMap<&str, BTreeSet<Result<(), String>>> = BTreeMap::new();
    for round in 0..6_u8 {
        let drawn = drawn(&mut runner, 400);
        for (kind, name) in (0..).zip(changes()) {
            let changes = [(19, 0), (kind, round)];
            let came_to = check(&base(false), changes, &drawn, 31 * usize::from(round));
            found.entry(name).or_default().insert(came_to);
        }
    }
    let went_on = |name: &str| found[name] == BTreeSet::from([Ok(())]);
    let usual =
        ["add", "remove", "rename", "symbol", "amount", "order", "hour", "no cooldown", "fewer pauses"];
    let usual = usual.into_iter().chain(["no session", "parameters", "fixed stake", "verdict", "limits"]);
    for name in usual {
        assert!(went_on(name), "{name}: {:?}", found[name]);
    }
    for name in ["cooldown", "levels"] {
        assert!(!went_on(name), "{name}: {:?}", found[name]);
    }
}

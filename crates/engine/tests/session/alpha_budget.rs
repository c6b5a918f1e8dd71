//! The alpha budget shared by all bots of a journal, within a run and across restarts.

use crate::event::{at, candle, lost, opened_paying, won};
use crate::fold::{Fold, Journalled, journalled};
use crate::script::{Restless, Script, header_of, session_settings};
use candlewick_engine::{
    Action, BotSettings, BotVerdict, EdgeVerdict, Event, EventKind, RiskSettings, Session, SessionSettings,
    TradeBook, VerdictSettings, judge,
};
use candlewick_sdk::Strategy;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::serde_json::json;
use candlewick_statistics::Verdict;

fn without_limits() -> RiskSettings {
    RiskSettings {
        max_open_trades: 0,
        max_trades_per_day: 0,
        daily_loss_limit: Decimal::ZERO,
        max_drawdown_percent: 0.0,
        verdict: VerdictSettings { delta: 0.2, ..VerdictSettings::default() },
        ..RiskSettings::default()
    }
}

fn settings(bots: Vec<BotSettings>) -> SessionSettings {
    session_settings(1_000_000, without_limits(), bots)
}

/// Creates a bot with its own symbol, so that all bots can trade at once.
fn bot(name: &str) -> BotSettings {
    Script::new(name).on(&format!("{}USDT", name.to_uppercase())).bot
}

fn changed(name: &str, period: u32) -> BotSettings {
    BotSettings { params: json!({ "period": period }), ..bot(name) }
}

fn new_session(settings: &SessionSettings) -> Session {
    let strategies = settings.bots.iter().map(|_| Box::new(Restless(0)) as Box<dyn Strategy>);
    Session::new(settings, strategies.collect()).unwrap()
}

/// Handles a minute in which each bot trades at a payout of 80 %. `wins` says which bots win.
fn minute(
    session: &mut Session,
    minute: i64,
    mut wins: impl FnMut(usize) -> bool,
    mut record: impl FnMut(&Event, &[Action]),
) {
    let bots = session.bot_names().len();
    let first = session.next_intent().number();
    let mut actions = Vec::new();
    let mut hand = |event: Event| {
        session.handle(&event, &mut actions);
        record(&event, &actions);
        actions.clear();
    };
    (0..bots).for_each(|place| hand(candle(u16::try_from(place).unwrap(), minute)));
    let intents = || (first..).take(bots).enumerate();
    intents().for_each(|(_, intent)| hand(at(minute * 60 + 1, opened_paying(intent, 80))));
    for (place, intent) in intents() {
        hand(at(minute * 60 + 50, if wins(place) { won(intent, 800) } else { lost(intent, 1_000) }));
    }
}

/// Coins that win five times in nine, which is break-even at a payout of 80 %.
struct Coins(u64);

impl Coins {
    fn wins(&mut self) -> bool {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % 9 < 5
    }
}

fn shown_of_fifty(seed: u64) -> [usize; 2] {
    let names: Vec<String> = (0..50).map(|place| format!("b{place}")).collect();
    let settings = settings(names.iter().map(|name| bot(name)).collect());
    let mut session = new_session(&settings);
    let (mut book, mut coins) = (TradeBook::default(), Coins(seed));
    for moment in 1..=400 {
        minute(
            &mut session,
            moment,
            |_| coins.wins(),
            |event, actions| {
                book.record_event(event);
                for action in actions {
                    book.record_action(action);
                }
            },
        );
    }
    assert!(session.verdicts().all(|verdict| (verdict.edge_test().goal() - 51.0 * 20.0).abs() < 1e-9));
    assert_eq!(session.joint_verdict_weight(), 1.0 / 51.0);
    let plan = settings.risk.verdict.to_plan().unwrap();
    let alone = (0..50).filter(|place| {
        let own = book.rows().iter().filter(|row| row.approved.bot().index() == *place);
        judge(own, plan).verdict() == Verdict::EdgeShown
    });
    [alone.count(), session.verdicts().filter(|verdict| verdict.edge() == EdgeVerdict::Shown).count()]
}

#[test]
fn fifty_coin_tossing_bots_show_no_edge_together_although_some_would_alone() {
    let [alone, together] =
        [6, 9, 12].map(shown_of_fifty).into_iter().fold([0, 0], |[a, b], [c, d]| [a + c, b + d]);
    assert!(alone >= 6, "by themselves {alone}: too few to tell");
    assert_eq!(together, 0);
}

#[derive(Default)]
struct Journal {
    entries: Vec<Journalled>,
    minutes: i64,
}

impl Journal {
    fn folded(&self, settings: &SessionSettings) -> Session {
        let mut fold = Fold::new(new_session(settings));
        fold.take(&self.entries);
        fold.session
    }

    fn run(&mut self, bots: Vec<BotSettings>, trades: i64, wins: impl Fn(usize) -> bool) -> Session {
        let settings = settings(bots);
        let header = header_of(&settings, "1");
        let mut session = self.folded(&settings);
        session.begin_run(&header);
        self.entries.push(Journalled::Run(header));
        for _ in 0..trades {
            self.minutes += 1;
            minute(&mut session, self.minutes, &wins, |event, actions| {
                let is_candle = matches!(event.kind, EventKind::Candle { .. });
                self.entries.extend(journalled(event, actions).skip(usize::from(is_candle)));
            });
        }
        let again = self.folded(&settings);
        assert!(session.verdicts().map(figures).eq(again.verdicts().map(figures)), "folded as it was live");
        assert_eq!(session.joint_verdict_weight(), again.joint_verdict_weight());
        session
    }
}

fn figures(verdict: &BotVerdict) -> [u64; 3] {
    let test = verdict.edge_test();
    [test.edge_account(), test.mirror_account(), test.goal()].map(f64::to_bits)
}

fn weights(session: &Session) -> Vec<f64> {
    session.verdicts().map(|verdict| verdict.edge_test().weight()).collect()
}

fn account(session: &Session, place: usize) -> f64 {
    session.verdicts().nth(place).unwrap().edge_test().edge_account()
}

#[test]
fn returning_to_earlier_parameters_keeps_the_losses() {
    let mut journal = Journal::default();
    let first = journal.run(vec![changed("a", 1)], 5, |_| false);
    let left = account(&first, 0);
    assert!(weights(&first) == [1.0] && left < 0.6, "{left}");
    let second = journal.run(vec![changed("a", 2)], 3, |_| true);
    assert_eq!(weights(&second), [left]);
    assert!(account(&second, 0) > 1.2);
    // The losses with the first parameters carry over, the wins with the second do not. The account restarts at 1.
    let third = journal.run(vec![changed("a", 1)], 0, |_| true);
    assert_eq!((weights(&third), account(&third, 0)), (vec![left], 1.0));
    assert!((third.verdicts().next().unwrap().edge_test().goal() - 20.0 / left).abs() < 1e-9);
    assert_eq!(weights(&journal.run(vec![changed("a", 1)], 2, |_| false)), [left]);
    assert_eq!(weights(&journal.run(vec![changed("a", 1)], 2, |_| false)), [left]);
}

#[test]
fn recovered_losses_are_carried_to_the_next_start() {
    let mut journal = Journal::default();
    let first = journal.run(vec![changed("a", 1)], 4, |_| false);
    let left = account(&first, 0);
    let again = journal.run(vec![changed("a", 1)], 12, |_| true);
    assert!(left < 0.6 && account(&again, 0) > 1.0 && weights(&again) == [1.0], "{left}");
    assert_eq!(weights(&journal.run(vec![changed("a", 2)], 0, |_| true)), [left]);
}

#[test]
fn absent_bot_resumes_and_new_bot_gets_its_share() {
    let mut journal = Journal::default();
    let first = journal.run(vec![bot("a"), bot("b")], 4, |place| place == 0);
    let (won, left) = (account(&first, 0), account(&first, 1));
    assert_eq!((weights(&first), first.joint_verdict_weight()), (vec![1.0 / 3.0; 2], 1.0 / 3.0));
    journal.run(vec![bot("a")], 0, |_| true);
    let back = journal.run(vec![bot("b"), bot("a")], 0, |_| true);
    assert_eq!((account(&back, 0), account(&back, 1)), (left, won));
    assert_eq!(back.joint_verdict_weight(), 1.0 / 3.0);
    let other = journal.run(vec![bot("c"), bot("a")], 1, |_| true);
    let near = |found: &[f64], expected: [f64; 2]| {
        assert!(found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-15), "{found:?}");
    };
    near(&weights(&other), [left / 3.0, 1.0 / 3.0]);
    assert_eq!(other.joint_verdict_weight(), 0.0, "all together are others than they were");
    let more = journal.run(vec![bot("c"), bot("a"), bot("d")], 0, |_| true);
    near(&weights(&more)[..2], [left / 3.0, 1.0 / 3.0].map(|weight| weight * 2.0 / 3.0));
    assert!((weights(&more)[2] - (left / 3.0 + 1.0 / 3.0) / 3.0).abs() < 1e-15);
}

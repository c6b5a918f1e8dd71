//! Journal tables, projected incrementally and in one go, compared with each other and with the recorded events.

use crate::prelude::*;
use crate::snapshots::{bot, candle, feed, header, new_session, opened, settings_of, settled};
use candlewick_engine::{Recorder as _, SecondTrade, VenueTerms};
use candlewick_journal::{Journal as _, Projector, Tables};
use candlewick_runtime::{JournalCheck, Projection, project_journal};
use candlewick_sdk::Direction;
use chacha20::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const SEEDS: u64 = 12;
const HOURS_OF_A_RUN: i64 = 30;

/// Bots on two pairs; their order differs between runs, and so does the first bot of an entry.
fn settings(is_swapped: bool) -> SessionSettings {
    let bots = [("bitcoin", "BTCUSDT"), ("ether", "ETHUSDT")];
    let mut bots = bots.map(|(name, pair)| bot(name, pair, StakeSettings::Fixed { amount: Decimal::TEN }));
    if is_swapped {
        bots.reverse();
    }
    let mut settings = settings_of(1_000_000, bots.to_vec());
    (settings.risk.max_open_trades, settings.risk.max_open_trades_per_symbol) = (0, 0);
    (settings.risk.allow_duplicate, settings.risk.allow_opposite) = (true, true);
    settings
}

#[derive(Clone, Debug, Default, PartialEq)]
struct ExpectedRow {
    run: u64,
    bot: String,
    symbol: String,
    direction: &'static str,
    state: &'static str,
    result: Option<&'static str>,
    stake: i64,
    profit: Option<i64>,
    settled: Option<Millis>,
    close_price: Option<f64>,
    by_person: bool,
}

struct Script {
    folder: Folder,
    random: ChaCha8Rng,
    known: BTreeMap<u64, ExpectedRow>,
    runs: u64,
}

impl Script {
    fn new(seed: u64) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        Self { folder: Folder::new(), random, known: BTreeMap::new(), runs: 0 }
    }

    async fn run(&mut self) {
        self.runs += 1;
        let settings = settings(self.random.random_bool(0.5));
        let every = if self.random.random_bool(0.3) { 0 } else { 40 };
        let store = self.folder.store().await;
        let fold = JournalFold::read(&mut self.folder.reader().await, &settings, every).await.unwrap();
        let mut session = new_session(&settings, &Signal::buy("a \0 reason").with("half", 0.5));
        let past = fold.restore_into(&mut session).unwrap();
        let began = Millis::DAY * i64::try_from(self.runs * 10).unwrap();
        let elapsed = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&elapsed);
        let clock = move || Duration::from_secs(clock.load(Ordering::Relaxed));
        let journal = RunJournal::new(store, past.runs + 1, began, clock);
        let mut journal = journal.with_follower(Box::new(fold.with_part_size(5)));
        let header = header(&settings);
        journal.record(Entry::Header(&header)).unwrap();
        session.begin_run(&header);
        for hour in 0..HOURS_OF_A_RUN {
            let at = began + Millis::HOUR * hour;
            for place in 0..2 {
                self.candle((&mut session, &mut journal), &settings, (at, place));
            }
            self.settle_some(&mut session, &mut journal, at + Millis::MINUTE);
            self.find_second(&mut session, &mut journal, at + Millis::MINUTE);
            journal.make_durable().await.unwrap();
            elapsed.fetch_add(self.random.random_range(0..10), Ordering::Relaxed);
            if self.random.random_bool(0.7) {
                journal.write_background_chunk().await;
            }
        }
        if self.random.random_bool(0.5) {
            journal.close().await.unwrap();
        }
    }

    fn candle(
        &mut self,
        (session, journal): (&mut Session, &mut RunJournal),
        settings: &SessionSettings,
        (at, place): (Millis, usize),
    ) {
        for action in feed(session, journal, at, candle(SeriesId::new(place).unwrap(), at)) {
            let Action::Open(approved) = action else { continue };
            let bot = &settings.bots[place];
            let known = ExpectedRow {
                run: self.runs,
                bot: bot.name.clone(),
                symbol: bot.symbol.to_string(),
                direction: "BUY",
                state: "in_doubt",
                stake: 1_000,
                ..ExpectedRow::default()
            };
            self.known.insert(approved.intent().number(), known);
            self.answer((session, journal), approved.intent(), at + Millis::SECOND);
        }
    }

    fn answer(&mut self, (session, journal): (&mut Session, &mut RunJournal), intent: IntentId, at: Millis) {
        let known = self.known.get_mut(&intent.number()).unwrap();
        let (doubt, open) = (EventKind::InDoubt { intent }, opened(intent));
        let (state, kinds) = match self.random.random_range(0..8) {
            0 => ("rejected", vec![EventKind::Rejected { intent, rejection: Rejection::NoPrice }]),
            1 => ("not_sent", vec![EventKind::NotSent { intent }]),
            2 => ("in_doubt", vec![doubt]),
            3 => {
                let reserved_until = at + Millis::HOUR;
                ("not_opened", vec![doubt, EventKind::NotOpened { intent, reserved_until }])
            }
            4 => {
                (known.symbol, known.direction, known.stake) = ("SOLUSDT".to_owned(), "SELL", 777);
                let symbol = Some(candlewick_sdk::Text::truncated("SOLUSDT"));
                let taken = VenueTerms { symbol, direction: Direction::Sell, stake: Money::from_minor(777) };
                ("open", vec![EventKind::Opened(OpenedTrade { taken: Some(taken), ..open })])
            }
            5 => ("open", vec![doubt, EventKind::Adopted(open)]),
            _ => ("open", vec![EventKind::Opened(open)]),
        };
        known.state = state;
        for kind in kinds {
            feed(session, journal, at, kind);
        }
    }

    fn settle_some(&mut self, session: &mut Session, journal: &mut RunJournal, at: Millis) {
        for (number, known) in self.known.iter_mut().filter(|(_, known)| known.state == "in_doubt") {
            let intent = IntentId::new(*number);
            let (state, kind) = match self.random.random_range(0..10) {
                0..5 => ("open", EventKind::Adopted(opened(intent))),
                5..9 => ("not_opened", EventKind::NotOpened { intent, reserved_until: at + Millis::MINUTE }),
                _ => continue,
            };
            known.state = state;
            feed(session, journal, at, kind);
        }
        let open: Vec<u64> =
            self.known.iter().filter(|(_, known)| known.state == "open").map(|(intent, _)| *intent).collect();
        for number in open {
            if self.random.random_bool(0.6) {
                continue;
            }
            let (intent, known) = (IntentId::new(number), self.known.get_mut(&number).unwrap());
            let outcome = Outcome::ALL[self.random.random_range(0..4)];
            let profit = match outcome {
                Outcome::Won => known.stake * 7 / 8,
                Outcome::Lost => -known.stake,
                Outcome::Draw | Outcome::Cancelled => 0,
            };
            (known.state, known.result, known.profit) = ("settled", Some(outcome.as_str()), Some(profit));
            (known.settled, known.by_person) = (Some(at), self.random.random_bool(0.1));
            let profit = Money::from_minor(profit);
            let kind = if known.by_person {
                EventKind::SettledByPerson { intent, outcome, profit }
            } else {
                known.close_price = Some(1.0 / 7.0);
                EventKind::Settled(settled(intent, outcome, profit))
            };
            feed(session, journal, at, kind);
        }
    }

    fn find_second(&mut self, session: &mut Session, journal: &mut RunJournal, at: Millis) {
        let last = self.known.len() as u64;
        if last == 0 || self.random.random_bool(0.8) {
            return;
        }
        let intent = IntentId::new(self.random.random_range(1..=last));
        let venue_id = VenueId::truncated(&format!("second-{intent}-{at}"));
        let stake = Money::from_minor(1_000);
        feed(session, journal, at, EventKind::SecondTrade(SecondTrade { intent, venue_id, stake }));
        if self.random.random_bool(0.7) {
            let profit = Money::from_minor(-1_000);
            feed(session, journal, at, EventKind::SecondTradeSettled { intent, venue_id, profit });
        }
    }

    async fn project_some(&mut self) {
        let pieces = self.random.random_range(0..3);
        let mut store = self.folder.store().await;
        let fold = JournalFold::read(&mut self.folder.reader().await, &settings(false), 0).await.unwrap();
        let (_, past, _) = fold.into_parts();
        let is_from_start = self.random.random_bool(0.2);
        let head = store.head();
        let mut projector =
            if is_from_start { Projector::for_rebuild(head) } else { Projector::from_head(head) };
        for _ in 0..pieces {
            projector.write_batch(&mut store, &past).await.unwrap();
        }
    }

    async fn project(&self, projection: Projection) -> Tables {
        drop(self.folder.store().await.close().await);
        let holder = Holder::current_process("test");
        let projected = project_journal(&self.folder.url, &holder, projection).await.unwrap();
        let tables = self.folder.reader().await.tables().await.unwrap().unwrap();
        assert_eq!(
            (projected.last_entry, projected.intents),
            (tables.last_entry, tables.intents.len() as u64)
        );
        assert_eq!(tables.last_entry, self.folder.reader().await.head().await.unwrap());
        tables
    }

    async fn checked(&self) -> Result<JournalCheck, RuntimeError> {
        check_journal(&mut self.folder.reader().await).await
    }
}

fn expected_row(tables: &Tables) -> BTreeMap<u64, ExpectedRow> {
    let known = tables.intents.iter().map(|row| {
        let state = ["in_doubt", "rejected", "not_sent", "not_opened", "open", "settled"];
        let result = ["WON", "LOST", "DRAW", "CANCELLED"];
        let known = ExpectedRow {
            run: row.run,
            bot: row.bot.clone(),
            symbol: row.symbol.clone(),
            direction: if row.direction == "BUY" { "BUY" } else { "SELL" },
            state: state.into_iter().find(|state| *state == row.state).unwrap(),
            result: row.result.as_ref().and_then(|found| result.into_iter().find(|result| result == found)),
            stake: row.stake_minor,
            profit: row.profit_minor,
            settled: row.settled_time,
            close_price: row.close_price,
            by_person: row.settled_by_person,
        };
        (row.intent, known)
    });
    known.collect()
}

fn days_of(known: &BTreeMap<u64, ExpectedRow>) -> BTreeMap<(Millis, String), (u64, i64)> {
    let mut days = BTreeMap::<_, (u64, i64)>::new();
    for one in known.values() {
        let (Some(at), Some(profit)) = (one.settled, one.profit) else { continue };
        let day = days.entry((Millis::new(at.get() / 86_400_000 * 86_400_000), one.bot.clone())).or_default();
        *day = (day.0 + 1, day.1 + profit);
    }
    days
}

#[tokio::test]
async fn incremental_tables_match_a_single_projection_and_each_outcome() {
    let (mut in_doubt, mut departed) = (0, 0);
    for seed in 0..SEEDS {
        let mut script = Script::new(seed);
        for _ in 0..3 {
            script.run().await;
            if script.random.random_bool(0.6) {
                script.project_some().await;
            }
            let check = script.checked().await.unwrap();
            let head = script.folder.reader().await.head().await.unwrap();
            assert!(!matches!(check.tables, TablesCheck::Sound { seq, .. } if seq > head.seq), "seed {seed}");
        }
        let in_pieces = script.project(Projection::CatchUp).await;
        let check = script.checked().await.unwrap();
        let (seq, intents) = (in_pieces.last_entry.seq, in_pieces.intents.len() as u64);
        assert_eq!(check.tables, TablesCheck::Sound { seq, intents }, "seed {seed}");
        let in_one = script.project(Projection::Rebuild).await;
        assert_eq!(in_pieces, in_one, "seed {seed}");
        assert_eq!(expected_row(&in_one), script.known, "seed {seed}");
        let days = in_one.figures.iter().filter(|(_, day)| day.settled > 0);
        let days: BTreeMap<_, _> =
            days.map(|(key, day)| (key.clone(), (day.settled, day.profit_minor))).collect();
        assert_eq!(days, days_of(&script.known), "seed {seed}");
        assert_eq!(in_one.figures.values().map(|day| day.decided).sum::<u64>(), intents, "seed {seed}");
        assert!(intents > 60, "seed {seed}: few of its candles were traded");
        assert!(in_one.intents.iter().all(|row| row.reason == "a \u{fffd} reason half=0.5"), "{in_one:?}");
        in_doubt += script.known.values().filter(|known| known.state == "in_doubt").count();
        departed += in_one.intents.iter().filter(|row| row.ordered_stake_minor == Some(1_000)).count();
    }
    assert!(in_doubt > 0 && departed > 50, "{in_doubt} {departed}");
}

#[tokio::test]
async fn detects_and_rebuilds_a_manually_changed_row() {
    for (statement, named) in [
        (
            "UPDATE intents SET profit_minor = profit_minor + 1 WHERE intent = (SELECT MIN(intent) FROM intents WHERE state = 'settled')",
            "`intents` table",
        ),
        ("UPDATE intents SET seq = seq - 1 WHERE intent = 3", "3 of the `intents` table"),
        ("DELETE FROM intents WHERE intent = (SELECT MAX(intent) FROM intents)", "`intents` table"),
        ("UPDATE figures SET won = won + 1 WHERE day = (SELECT MIN(day) FROM figures)", "`figures` table"),
        ("DELETE FROM figures WHERE day = (SELECT MIN(day) FROM figures)", "`figures` table"),
        ("UPDATE projection SET seq = seq + 100", "`projection` table"),
        ("UPDATE projection SET seq = seq - 1", "`projection` table"),
    ] {
        let mut script = Script::new(7);
        script.run().await;
        let sound = script.project(Projection::CatchUp).await;
        script.folder.change(statement).await;
        match script.checked().await {
            Err(RuntimeError::WrongRow { row }) => assert!(row.contains(named), "{statement}: {row}"),
            other => panic!("{statement}: {other:?}"),
        }
        assert_eq!(script.project(Projection::Rebuild).await, sound, "{statement}");
        script.checked().await.unwrap();
    }
}

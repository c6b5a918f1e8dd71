//! Runs on a file journal with snapshots: what the next start reads, and how invalid snapshots are handled.

use crate::prelude::*;
use candlewick_engine::{Control, Header, IntentState, OrderTerms, Recorder as _, TradeSettlement};
use candlewick_journal::{ChainHash, Journal as _, JournalError, Line, LineKind, StoredLine};
use candlewick_runtime::{JournalCheck, RecoveredState, SnapshotCheck};
use candlewick_sdk::{ExpirationType, MoneyScale, Payout};
use sqlx::Connection as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) const EVERY: u32 = 40;
const TRADES_OF_A_RUN: i64 = 30;
/// Intents per snapshot part: fewer than usual, so that there are several parts.
pub(crate) const PART: u64 = 7;

struct Always(Signal);

impl Strategy for Always {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _candle: &Candle) -> Option<Signal> {
        Some(self.0.clone())
    }
}

pub(crate) fn settings() -> SessionSettings {
    let stake = StakeSettings::Martingale {
        amount: Decimal::TEN,
        factor: 2.0,
        levels: 3,
        entry: candlewick_engine::LadderEntry::NextSignal,
        if_refused: candlewick_engine::IfRefused::Wait,
    };
    settings_of(100_000, vec![bot("bot", "BTCUSDT", stake)])
}

pub(crate) fn bot(name: &str, symbol: &str, stake: StakeSettings) -> BotSettings {
    BotSettings {
        name: name.to_owned(),
        symbol: symbol.parse().unwrap(),
        entry_delay_s: 0,
        venue: std::collections::BTreeMap::new(),
        interval: Interval::MINUTE,
        strategy: "always".to_owned(),
        close_type: "01:00".parse().unwrap(),
        expiration_type: ExpirationType::TimeFixed,
        params: serde_json::json!({}),
        stake,
    }
}

pub(crate) fn settings_of(balance: i64, bots: Vec<BotSettings>) -> SessionSettings {
    let mut risk = candlewick_engine::RiskSettings::default();
    (risk.max_drawdown_percent, risk.daily_loss_limit, risk.max_loss_streak) = (0.0, Decimal::ZERO, 0);
    (risk.max_trades_per_hour, risk.max_trades_per_day) = (0, 0);
    (risk.cooldown_after_loss_s, risk.cooldown_after_losses) = (0, 0);
    let (money_scale, balance) = (MoneyScale::default(), Decimal::from(balance));
    SessionSettings { money_scale, balance, risk, bots, longer_share_percent: None }
}

pub(crate) fn header(settings: &SessionSettings) -> Header {
    Header {
        format: Header::FORMAT,
        settings: serde_json::json!({ "session": settings }),
        strategies: settings.bots.iter().map(|_| ("always".to_owned(), "1".to_owned())).collect(),
        data_hash: None,
    }
}

fn other_settings() -> SessionSettings {
    let mut settings = settings();
    settings.risk.cooldown_after_losses += 1;
    settings
}

pub(crate) fn new_session(settings: &SessionSettings, signal: &Signal) -> Session {
    let strategies = settings.bots.iter().map(|_| Box::new(Always(signal.clone())) as Box<dyn Strategy>);
    Session::new(settings, strategies.collect()).unwrap()
}

pub(crate) struct Folder {
    place: PathBuf,
    pub(crate) url: JournalUrl,
    /// Real time between two checks of the clock.
    pub(crate) pace: Duration,
    pub(crate) ends_in_doubt: bool,
    /// Retention of closed trades at the next start, which leaves older ones in the journal; `None` keeps all.
    pub(crate) remember: Option<Millis>,
    pub(crate) part: u64,
    pub(crate) corrections: Vec<(u64, i64, u64)>,
    _removed: Option<tempfile::TempDir>,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = Self::at(folder.path());
        Self { _removed: Some(folder), ..at }
    }

    pub(crate) fn at(folder: &Path) -> Self {
        let url = JournalUrl::from_path(&folder.join("journal.db"));
        Self {
            place: folder.to_owned(),
            url,
            pace: Duration::ZERO,
            ends_in_doubt: true,
            remember: None,
            part: PART,
            corrections: Vec::new(),
            _removed: None,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.join(name)
    }

    pub(crate) async fn reader(&self) -> Reader {
        Reader::open(&self.url).await.unwrap()
    }

    pub(crate) async fn read(&self) -> Result<JournalFold, RuntimeError> {
        self.read_under(&settings()).await
    }

    pub(crate) async fn read_under(&self, settings: &SessionSettings) -> Result<JournalFold, RuntimeError> {
        let (every, remember) = (u64::from(EVERY), self.remember);
        let mut reader = self.reader().await;
        Box::pin(JournalFold::read_with_progress(&mut reader, settings, every, remember, &mut |_| {})).await
    }

    pub(crate) async fn read_whole(&self) -> JournalFold {
        self.read_whole_under(&settings()).await
    }

    pub(crate) async fn read_whole_under(&self, settings: &SessionSettings) -> JournalFold {
        let (kept, aside) = (self.path("journal.db.verified"), self.path("aside"));
        std::fs::rename(&kept, &aside).unwrap();
        let fold = self.read_under(settings).await.unwrap();
        std::fs::rename(aside, kept).unwrap();
        fold
    }

    pub(crate) async fn change(&self, statement: &'static str) {
        let address = format!("sqlite://{}", self.path("journal.db").display());
        let mut connection = sqlx::SqliteConnection::connect(&address).await.unwrap();
        sqlx::query(statement).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    pub(crate) async fn store(&self) -> Store {
        let terms = LeaseTerms { duration: Millis::MINUTE, is_alive: |_| false };
        Store::open_with_terms(&self.url, &Holder::current_process("test"), &terms).await.unwrap()
    }

    pub(crate) async fn lines(&self) -> Vec<StoredLine> {
        self.reader().await.lines(1, 1_000_000).await.unwrap()
    }

    pub(crate) async fn check(&self) -> JournalCheck {
        let checked = check_journal(&mut self.reader().await).await.unwrap();
        let SnapshotCheck { verified: sound, unverified: not_checked } = &checked.snapshots;
        assert_eq!((*sound, not_checked.len()), (self.snapshots().await.1, 0), "{checked:?}");
        checked
    }

    /// The same journal with changed text in some entries and a recomputed chain, with or without verification record.
    pub(crate) async fn rewritten(
        &self,
        is_verified: bool,
        mut change: impl FnMut(&StoredLine) -> String,
    ) -> Self {
        let other = Self::new();
        let mut store = other.store().await;
        for stored in self.lines().await {
            store.record(Line { body: change(&stored), ..stored.line });
        }
        if is_verified {
            store.commit().await.unwrap();
            store.store_verified_head(Duration::ZERO);
        }
        store.close().await.unwrap();
        other
    }

    pub(crate) async fn snapshots(&self) -> (usize, u64) {
        let lines = self.lines().await;
        let bodies = || lines.iter().map(|stored| stored.line.body.as_str());
        let whole = bodies().filter(|body| body.starts_with("{\"snapshot\":")).count();
        (bodies().filter(|body| is_snapshot(body)).count(), whole as u64)
    }

    pub(crate) async fn run(&self, is_killed: bool) {
        self.run_under(is_killed, &settings()).await;
    }

    pub(crate) async fn start_under(
        &self,
        settings: &SessionSettings,
    ) -> (Session, RecoveredState, Millis, RunJournal) {
        let (store, fold) = (self.store().await, self.read_under(settings).await.unwrap());
        let signal = Signal::buy("always").with("nothing", f64::NAN).with("half", 0.5);
        let mut session = new_session(settings, &signal);
        let past = fold.restore_into(&mut session).unwrap();
        let now = Millis::DAY * i64::try_from(past.runs + 1).unwrap();
        let (pace, looks) = (self.pace, AtomicU32::new(0));
        let elapsed = move || pace * looks.fetch_add(1, Ordering::Relaxed);
        let journal = RunJournal::new(store, past.runs + 1, now, elapsed);
        (session, past, now, journal.with_follower(Box::new(fold.with_part_size(self.part))))
    }

    pub(crate) async fn run_under(&self, is_killed: bool, settings: &SessionSettings) {
        let (mut session, past, now, mut journal) = self.start_under(settings).await;
        let header = header(settings);
        journal.record(Entry::Header(&header)).unwrap();
        session.begin_run(&header);
        if !self.ends_in_doubt {
            feed(&mut session, &mut journal, now, EventKind::Control { control: Control::Continue });
            for row in past.book().rows().iter().filter(|row| row.state == IntentState::InDoubt) {
                let intent = row.approved.intent();
                feed(&mut session, &mut journal, now, EventKind::NotOpened { intent, reserved_until: now });
            }
        }
        let mut rejected: Option<OrderTerms> = None;
        for minute in 0..TRADES_OF_A_RUN {
            let at = now + Millis::MINUTE * minute;
            if let Some(terms) = rejected.take_if(|_| minute % 10 == 0) {
                let found = trade_events(terms.intent(), 8, false);
                for kind in std::iter::once(EventKind::Reinstated(terms)).chain(found) {
                    feed(&mut session, &mut journal, at, kind);
                }
            }
            let series = (0..session.series().len()).filter_map(SeriesId::new);
            let actions = series.flat_map(|series| feed(&mut session, &mut journal, at, candle(series, at)));
            let terms_of = |action: Action| match action {
                Action::Open(approved) => Some(*approved.terms()),
                _ => None,
            };
            for terms in actions.filter_map(terms_of).collect::<Vec<_>>() {
                let intent = terms.intent();
                let mut trade_events = trade_events(intent, minute, self.ends_in_doubt);
                if minute % 10 == 2 && minute < 20 {
                    trade_events = vec![EventKind::Rejected { intent, rejection: Rejection::NoPrice }];
                    rejected = Some(terms);
                }
                for kind in trade_events {
                    feed(&mut session, &mut journal, at + Millis::SECOND, kind);
                }
            }
            for (run, _, intent) in self.corrections.iter().filter(|(_, when, _)| *when == minute) {
                if *run == past.runs + 1 {
                    let (outcome, profit) = (Outcome::Draw, Money::ZERO);
                    let kind = EventKind::Correction { intent: IntentId::new(*intent), outcome, profit };
                    feed(&mut session, &mut journal, at + Millis::SECOND, kind);
                }
            }
            journal.note(at, format!("{{\"alarm\":\"{now} {}\"}}", minute / 10));
            journal.make_durable().await.unwrap();
            journal.write_background_chunk().await;
        }
        if is_killed {
            drop(journal);
        } else {
            let suspended = EventKind::Control { control: Control::Suspend };
            feed(&mut session, &mut journal, now + Millis::HOUR, suspended);
            journal.close().await.unwrap();
        }
    }
}

pub(crate) fn candle(series: SeriesId, close: Millis) -> EventKind {
    let numbers = Ohlcv { open: 1.0, high: 2.0, low: 1.0, close: 1.0 / 3.0 + 1.0, volume: 0.0 };
    let candle = Candle::new(close - Millis::MINUTE, Interval::MINUTE, numbers).unwrap();
    EventKind::Candle { series, candle, origin: Origin::Live }
}

pub(crate) fn opened(intent: IntentId) -> OpenedTrade {
    OpenedTrade {
        intent,
        venue_id: Some(VenueId::truncated(&format!("trade-{intent}"))),
        open_time: None,
        open_price: Some(0.1 + 0.2),
        close_time: None,
        payout: Payout::from_parts(875_000),
        taken: None,
    }
}

pub(crate) fn settled(intent: IntentId, outcome: Outcome, profit: Money) -> TradeSettlement {
    let (open_time, open_price, close_time, payout) = (None, None, None, None);
    let close_price = Some(1.0 / 7.0);
    TradeSettlement { intent, outcome, profit, open_time, open_price, close_time, close_price, payout }
}

fn trade_events(intent: IntentId, minute: i64, ends_in_doubt: bool) -> Vec<EventKind> {
    let outcome = if minute % 3 == 0 { Outcome::Lost } else { Outcome::Won };
    let profit = Money::from_minor(if minute % 3 == 0 { -1_000 } else { 875 });
    let (opened, settled) = (opened(intent), settled(intent, outcome, profit));
    match minute % 10 {
        8 => vec![EventKind::InDoubt { intent }, EventKind::Adopted(opened), EventKind::Settled(settled)],
        9 if ends_in_doubt && minute > TRADES_OF_A_RUN - 5 => vec![EventKind::InDoubt { intent }],
        _ => vec![EventKind::Opened(opened), EventKind::Settled(settled)],
    }
}

pub(crate) fn feed(session: &mut Session, log: &mut RunJournal, at: Millis, kind: EventKind) -> Vec<Action> {
    let event = Event { at, received: at, kind };
    let mut actions = Vec::new();
    session.handle_recorded(&event, &mut actions);
    log.record(Entry::Event(&event)).unwrap();
    for action in &actions {
        log.record(Entry::Action(action)).unwrap();
    }
    actions
}

/// State of a start in comparable form: the session exactly, everything else as displayed.
pub(crate) fn state(fold: &JournalFold) -> (String, String) {
    state_under(fold, &settings())
}

pub(crate) fn state_under(fold: &JournalFold, settings: &SessionSettings) -> (String, String) {
    let mut session = Session::without_strategies(settings).unwrap();
    let past = fold.restore_into(&mut session).unwrap();
    (serde_json::to_string(&session.snapshot()).unwrap(), rows(&past))
}

fn rows(past: &RecoveredState) -> String {
    let book = past.book();
    let all = book.rows().iter().map(|row| {
        let (reason, venue_id) = (book.reason(row), book.venue_id(row));
        // The order of reasons in their list is irrelevant.
        let row = serde_json::to_string(row).unwrap();
        let by_person = book.is_settled_by_operator(book.rows()[0].approved.intent());
        format!("{row} {reason} {venue_id:?} {by_person:?}")
    });
    let details = format!(
        "{:?} {:?} {:?} {:?}",
        past.unexplained_trades(),
        past.runs,
        past.displayed_lines(),
        past.decisions()
    );
    all.collect::<Vec<_>>().join("\n") + &details
}

#[tokio::test]
async fn start_from_a_snapshot_matches_start_from_the_first_line() {
    let folder = Folder::new();
    for is_killed in [false, true, false, true, true] {
        folder.run(is_killed).await;
        let (whole, from_snapshot) = (folder.read_whole().await, folder.read().await.unwrap());
        assert_eq!(state(&from_snapshot), state(&whole));
        assert_eq!((from_snapshot.notice(), whole.notice()), (None, None));
        assert!(from_snapshot.lines_read() < whole.lines_read(), "the fold must start at a snapshot");
    }
    let checked = folder.check().await;
    let (lines, whole) = folder.snapshots().await;
    assert!(whole > 10 && lines as u64 > whole + 3, "{whole} of {lines}");
    assert_eq!(checked.journal, folder.reader().await.verify().await.unwrap());
}

#[tokio::test]
async fn start_with_unusable_snapshot_reads_the_whole_journal_and_says_why() {
    let folder = Folder::new();
    folder.run(false).await;
    let expected = state(&folder.read_whole().await);
    let other = other_settings();
    let fold = JournalFold::read(&mut folder.reader().await, &other, 0).await.unwrap();
    let notice = fold.notice().unwrap();
    assert!(notice.contains("written with other settings"), "{notice}");
    let (mut reasons, total) = (Vec::new(), folder.reader().await.head().await.unwrap().seq);
    let mut reader = folder.reader().await;
    let mut watch = |read: FullReadProgress<'_>| reasons.push((read.reason.map(str::to_owned), read.done));
    JournalFold::read_with_progress(&mut reader, &other, 0, None, &mut watch).await.unwrap();
    let (first, last) = (reasons.first().unwrap(), reasons.last().unwrap());
    assert_eq!((first, last), (&(Some(notice.clone()), 0), &(Some(notice.clone()), total)));
    let mut count = 0;
    let mut watch = |_: FullReadProgress<'_>| count += 1;
    JournalFold::read_with_progress(&mut reader, &settings(), 0, None, &mut watch).await.unwrap();
    assert_eq!(count, 0);
    let mut other = settings();
    other.risk.max_open_trades += 1;
    let fold = JournalFold::read(&mut folder.reader().await, &other, 0).await.unwrap();
    assert_eq!((fold.notice(), fold.lines_read() < 100), (None, true));
    let mut other = settings();
    (other.bots[0].strategy, other.bots[0].params) =
        ("another".to_owned(), serde_json::json!({ "period": 7 }));
    let fold = JournalFold::read(&mut folder.reader().await, &other, 0).await.unwrap();
    assert_eq!((fold.notice(), fold.lines_read() < 100, state(&fold)), (None, true, expected.clone()));
    std::fs::remove_file(folder.path("journal.db.verified")).unwrap();
    let fold = folder.read().await.unwrap();
    assert_eq!((fold.notice(), state(&fold)), (None, expected));
}

#[tokio::test]
async fn every_reader_detects_a_changed_snapshot() {
    for change in [
        "UPDATE entries SET body = replace(body, '\"loss', '\"lass') WHERE body LIKE '{\"snapshot\"%'",
        "UPDATE entries SET body = replace(body, '\"free\":', '\"free\":1') WHERE body LIKE '{\"snapshot\"%'",
        "UPDATE entries SET hash = (SELECT hash FROM entries WHERE seq = 1) WHERE body LIKE '{\"snapshot\"%'",
        "DELETE FROM entries WHERE body LIKE '{\"snapshot\"%'",
        "UPDATE entries SET body = body || ' ' WHERE seq = (SELECT max(seq) FROM entries)",
    ] {
        let folder = Folder::new();
        folder.run(false).await;
        folder.change(change).await;
        let found = folder.read().await.err();
        let is_broken = matches!(found, Some(RuntimeError::Journal(JournalError::BrokenChain { .. })));
        assert!(is_broken, "{change}: {found:?}");
        assert!(folder.reader().await.verify().await.is_err(), "{change}");
    }
}

#[tokio::test]
async fn reports_a_snapshot_that_contradicts_its_entries() {
    let folder = Folder::new();
    folder.run(false).await;
    for (from, to) in [("\"peak\":", "\"peak\":1"), ("\"sent\":", "\"sent\":1"), ("trade-1\"", "trade-9\"")] {
        // A false part is reported at the first complete snapshot that builds on it.
        let (mut is_forged, mut seq) = (false, 0);
        let forge = |stored: &StoredLine| {
            let body = &stored.line.body;
            let is_next = stored.line.kind == LineKind::Note && is_snapshot(body) && body.contains(from);
            let is_first = is_next && !is_forged;
            is_forged |= is_first;
            if is_forged && seq == 0 && body.starts_with("{\"snapshot\":") {
                seq = stored.seq;
            }
            if is_first { body.replacen(from, to, 1) } else { body.clone() }
        };
        let forged = folder.rewritten(false, forge).await;
        assert!(seq > 0, "{from}");
        match check_journal(&mut forged.reader().await).await {
            Err(RuntimeError::WrongSnapshot { seq: found }) => assert_eq!(found, seq, "{to}"),
            other => panic!("{to}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn skips_snapshots_of_another_format_or_settings_with_a_notice() {
    let folder = Folder::new();
    folder.run(false).await;
    let (own, new) = ("{\"snapshot\":{\"format\":4,", "{\"snapshot\":{\"form\":\"new\",\"format\":7,");
    let newer = folder.rewritten(true, |stored| stored.line.body.replace(own, new)).await;
    let fold = newer.read().await.unwrap();
    assert!(fold.notice().unwrap().contains("format is 7"), "{:?}", fold.notice());
    assert_eq!(state(&fold), state(&folder.read().await.unwrap()));
    let check = check_journal(&mut newer.reader().await).await.unwrap();
    check_not_checked(&folder, &check, "format is 7").await;
    let own = format!("\"settings\":\"{}\"", settings().fingerprint().unwrap());
    let another = own.replace(|digit: char| digit.is_ascii_digit(), "0");
    let other = folder.rewritten(false, |stored| stored.line.body.replace(&own, &another)).await;
    let check = check_journal(&mut other.reader().await).await.unwrap();
    check_not_checked(&folder, &check, "another version").await;
}

async fn check_not_checked(folder: &Folder, check: &JournalCheck, reason: &str) {
    let (why, count) = check.snapshots.unverified.first_key_value().unwrap();
    assert_eq!((check.snapshots.verified, *count), (0, folder.snapshots().await.1));
    assert!(why.contains(reason), "{why}");
}

#[tokio::test]
async fn resumes_from_and_checks_a_snapshot_of_an_earlier_version() {
    let folder = Folder::new();
    for is_killed in [false, true] {
        folder.run(is_killed).await;
    }
    let (own, earlier) = (settings().fingerprint().unwrap(), settings().legacy_fingerprint().unwrap());
    let (mut last, mut changed) = (ChainHash::GENESIS, Vec::<(String, String)>::new());
    let other = folder.rewritten(true, |stored| {
        let mut line = stored.line.clone();
        line.body = line.body.replace(&own, &earlier);
        for (before, after) in &changed {
            line.body = line.body.replace(before, after);
        }
        last = last.next(stored.seq, &line);
        if is_snapshot(&line.body) {
            changed.push((stored.hash.to_string(), last.to_string()));
        }
        line.body
    });
    let other = other.await;
    let (expected, found) = (folder.read().await.unwrap(), other.read().await.unwrap());
    assert!(found.notice().is_none() && found.lines_read() < 100, "{}", found.lines_read());
    assert_eq!(state(&found), state(&expected));
    other.run(false).await;
    other.check().await;
}

#[tokio::test]
async fn checks_snapshots_of_different_settings_in_one_pass() {
    let folder = Folder::new();
    folder.run(false).await;
    folder.run_under(true, &other_settings()).await;
    folder.run(true).await;
    let check = folder.check().await;
    assert!(check.snapshots.verified > 3, "{check:?}");
}

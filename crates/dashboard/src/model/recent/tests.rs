//! Compares models built from a snapshot with models built from all lines.

use super::*;
use crate::view::{build_run, build_trades};
use candlewick_engine::{
    Action, Control, Entry, Header, IntentId, OpenedTrade, Origin, Recorder as _, SeriesId, TradeSettlement,
    VenueId,
};
use candlewick_journal::{Holder, Journal as _, JournalUrl, RunJournal, Store};
use candlewick_records::{JournalContents, TradeFilter, TradeLine, TradePage, VerdictLine};
use candlewick_sdk::{Candle, Interval, Millis, Money, Ohlcv, Outcome, Payout, Signal, Strategy};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const EVERY: u64 = 60;
/// Number of intents per part of a snapshot. The number is smaller than usual, so that snapshots have several parts.
const PART: u64 = 20;

struct Always;

impl Strategy for Always {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _candle: &Candle) -> Option<Signal> {
        Some(Signal::buy("always"))
    }
}

fn settings() -> SessionSettings {
    let bot = |name: &str, symbol: &str| {
        json!({ "name": name, "symbol": symbol, "interval": "1m", "strategy": "always", "close_type": "01:00",
            "expiration_type": "TIME_FIXED", "stake": { "kind": "fixed", "amount": 10 } })
    };
    let risk = json!({ "max_drawdown_percent": 0.0, "daily_loss_limit": 0, "max_trades_per_day": 0 });
    let bots = [bot("one", "BTCUSDT"), bot("other", "ETHUSDT")];
    let session = json!({ "money_scale": 2, "balance": 10_000, "risk": risk, "bots": bots });
    serde_json::from_value(session).unwrap()
}

struct Written {
    folder: tempfile::TempDir,
    journal: RunJournal,
    session: Session,
    minute: i64,
}

impl Written {
    fn url(&self) -> JournalUrl {
        JournalUrl::from_path(&self.folder.path().join("run.db"))
    }

    async fn begin() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = JournalUrl::from_path(&folder.path().join("run.db"));
        let strategies = settings().bots.iter().map(|_| Box::new(Always) as Box<dyn Strategy>).collect();
        let session = Session::new(&settings(), strategies).unwrap();
        let journal = open(&url, 1, JournalFold::new(&settings(), EVERY).unwrap()).await;
        let mut written = Self { folder, journal, session, minute: 0 };
        written.header();
        written
    }

    async fn restart(&mut self) {
        self.journal.close().await.unwrap();
        let mut reader = Reader::open(&self.url()).await.unwrap();
        let fold = JournalFold::read(&mut reader, &settings(), EVERY).await.unwrap();
        self.journal = open(&self.url(), 2, fold).await;
        self.header();
    }

    fn header(&mut self) {
        let header = Header {
            format: Header::FORMAT,
            settings: json!({ "session": settings(), "trading": "demo", "simulation": {} }),
            strategies: vec![("always".to_owned(), "1".to_owned()); 2],
            data_hash: None,
        };
        self.journal.record(Entry::Header(&header)).unwrap();
        self.session.begin_run(&header);
    }

    fn event(&mut self, kind: EventKind) -> Vec<IntentId> {
        let at = Millis::MINUTE * self.minute;
        let event = Event { at, received: at + Millis::new(80), kind };
        let mut actions = Vec::new();
        self.session.handle(&event, &mut actions);
        self.journal.record(Entry::Event(&event)).unwrap();
        for action in &actions {
            self.journal.record(Entry::Action(action)).unwrap();
        }
        let opened = |action: &Action| match action {
            Action::Open(approved) => Some(approved.intent()),
            _ => None,
        };
        actions.iter().filter_map(opened).collect()
    }

    async fn minute(&mut self) {
        self.trade();
        self.keep().await;
    }

    fn trade(&mut self) {
        self.minute += 1;
        let mut opened = Vec::new();
        for place in 0..2_usize {
            let price = 100.0 + (self.minute % 7) as f64;
            let numbers =
                Ohlcv { open: price, high: price + 1.0, low: price - 1.0, close: price, volume: 1.0 };
            let candle = Candle::new(Millis::MINUTE * (self.minute - 1), Interval::MINUTE, numbers).unwrap();
            let series: SeriesId = serde_json::from_value(place.into()).unwrap();
            opened.extend(self.event(EventKind::Candle { series, candle, origin: Origin::Live }));
        }
        for intent in opened {
            if intent.number() == 11 {
                self.event(EventKind::InDoubt { intent });
                continue;
            }
            let (open_time, close_time, close_price, taken) = (None, None, None, None);
            let (payout, open_price) = (Payout::from_parts(875_000), Some(100.0));
            let venue_id = Some(VenueId::truncated(&format!("trade-{intent}")));
            let opened = OpenedTrade { intent, venue_id, open_time, open_price, close_time, payout, taken };
            self.event(EventKind::Opened(opened));
            let (outcome, profit) = match intent.number() % 3 {
                0 => (Outcome::Won, Money::from_minor(875)),
                1 => (Outcome::Lost, Money::from_minor(-1_000)),
                _ => (Outcome::Draw, Money::ZERO),
            };
            let settled = TradeSettlement {
                intent,
                outcome,
                profit,
                open_time,
                open_price,
                close_time,
                close_price,
                payout,
            };
            self.event(EventKind::Settled(settled));
        }
    }

    async fn keep(&mut self) {
        self.journal.make_durable().await.unwrap();
        while self.journal.is_snapshot_due() {
            self.journal.write_background_chunk().await;
        }
    }
}

async fn open(url: &JournalUrl, run: u64, fold: JournalFold) -> RunJournal {
    let store = Store::open(url, &Holder::current_process("test")).await.unwrap();
    // The test clock advances by one hour with each reading, so that every verification is stored.
    let hours = AtomicU64::new(0);
    let elapsed = move || Duration::from_secs(3_600 * hours.fetch_add(1, Ordering::Relaxed));
    RunJournal::new(store, run, Millis::ZERO, elapsed).with_follower(Box::new(fold.with_part_size(PART)))
}

async fn whole(written: &Written) -> Model {
    let mut reader = Reader::open(&written.url()).await.unwrap();
    let lines = reader.lines(1, 100_000).await.unwrap();
    let mut model = Model::new(RecordedRun::read_all(&lines).unwrap().pop().unwrap()).unwrap();
    for line in lines {
        assert_eq!(model.apply_line(line).unwrap(), LineEffect::Applied);
    }
    model
}

async fn read_recent(reader: &mut Reader) -> Option<(SnapshotFold, Model)> {
    let header = reader.lines(1, 1).await.unwrap();
    SnapshotFold::read(reader, RecordedRun::from_stored(&header[0]).unwrap()).await.unwrap()
}

async fn catch_up(reader: &mut Reader, recent: &mut SnapshotFold, model: &mut Model) {
    for line in reader.lines(model.seq() + 1, 100_000).await.unwrap() {
        assert_eq!(recent.fold(model, line).unwrap(), LineEffect::Applied);
    }
    recent.update_model(model).unwrap();
}

fn shown(model: &mut Model) -> Value {
    let mut run = json!(build_run(model, None, false));
    for unknown in ["refusals", "feeds"] {
        run.as_object_mut().unwrap().remove(unknown).unwrap();
    }
    let profits =
        model.bots.iter().map(|bot| bot.curve.points.iter().map(|point| point.last.minor()).collect());
    let profits: Vec<Vec<i64>> = profits.collect();
    json!({ "run": run, "profits": profits, "halted": model.is_halted })
}

#[tokio::test]
async fn model_from_snapshot_equals_model_from_all_lines() {
    let mut written = Written::begin().await;
    written.minute().await;
    let mut reader = Reader::open(&written.url()).await.unwrap();
    assert!(read_recent(&mut reader).await.is_none(), "there is no snapshot yet");
    for _ in 1..60 {
        written.minute().await;
    }
    written.journal.note(Millis::MINUTE * written.minute, json!({ "alarm": "look here" }).to_string());
    written.event(EventKind::Balance { amount: Money::from_minor(990_000) });
    written.event(EventKind::Control { control: Control::Halt });
    written.minute().await;
    let run = |model: &Model| RecordedRun::read_all(std::slice::from_ref(model.last_line.as_ref().unwrap()));
    assert!(run(&whole(&written).await).unwrap().is_empty(), "the last line is not a header");

    let (mut recent, mut model) = read_recent(&mut reader).await.unwrap();
    let mut all = whole(&written).await;
    assert!(recent.fold.lines_read() < EVERY * 2, "{} of {}", recent.fold.lines_read(), all.seq());
    assert!(all.session().ledger().equity() != Money::from_minor(1_000_000) && all.is_halted);
    assert!(all.trades.unfinished_trades().count() > 0 && all.trades.trade_count > 30);
    assert_eq!(shown(&mut model), shown(&mut all));

    written.event(EventKind::Control { control: Control::Resume });
    for _ in 0..30 {
        written.minute().await;
    }
    written.restart().await;
    written.minute().await;
    catch_up(&mut reader, &mut recent, &mut model).await;
    let mut all = whole(&written).await;
    assert!(!all.is_halted);
    assert_eq!(shown(&mut model), shown(&mut all));
}

#[tokio::test]
async fn model_without_old_trades_has_the_figures_of_all() {
    let mut written = Written::begin().await;
    for day in 0..4 {
        written.minute += if day > 0 { 3 * 1_440 } else { 0 };
        for _ in 0..60 {
            written.minute().await;
        }
    }
    let mut reader = Reader::open(&written.url()).await.unwrap();
    let (mut recent, mut model) = read_recent(&mut reader).await.unwrap();
    let mut all = whole(&written).await;
    let (left, kept) = (recent.old.count, model.trades.book.rows().len());
    assert!(left > 100 && left + kept == all.trades.trade_count, "{left} left, {kept} kept");
    assert!(model.trades.first_intent > 100 && model.trades.bot_names.contains("other"));
    assert_eq!(shown(&mut model), shown(&mut all));
    let points = |model: &Model| {
        let points = model.curve.points.iter();
        points.map(|point| (point.last, point.low, point.high)).collect::<Vec<_>>()
    };
    assert_eq!(points(&model), points(&all)[1..], "but for where all began");
    let (page, earlier) = build_trades(&model, u64::MAX, 1_000, None).unwrap();
    assert_eq!((page.before, earlier), (None, Some(model.trades.first_intent)));
    assert!(page.trades.iter().all(|trade| trade.intent_id >= model.trades.first_intent));

    for _ in 0..30 {
        written.minute().await;
    }
    catch_up(&mut reader, &mut recent, &mut model).await;
    let mut all = whole(&written).await;
    assert_eq!((shown(&mut model), points(&model)), (shown(&mut all), points(&all)[1..].to_vec()));
}

#[tokio::test]
async fn reads_evicted_trades_from_the_journal() {
    let mut written = Written::begin().await;
    for minute in 1..=2_600 {
        written.trade();
        if minute % 100 == 0 {
            written.keep().await;
        }
    }
    let mut model = whole(&written).await;
    let mut reader = Reader::open(&written.url()).await.unwrap();
    let contents = JournalContents::read(&mut reader).await.unwrap();
    let all = TradeFilter::default().apply(&contents).unwrap();
    assert_eq!((all.lines().len(), model.trades.trade_count), (2_606, 2_606));
    let kept = model.trades.book.rows().len();
    assert!((1_001..2_000).contains(&kept), "{kept} rows");
    assert_eq!(
        model.trades.unfinished_trades().map(|row| row.approved.intent().number()).collect::<Vec<_>>(),
        [11]
    );

    let verdicts: Vec<Option<VerdictLine>> =
        (contents.session.bot_names().iter().zip(contents.session.verdicts()))
            .enumerate()
            .map(|(place, (bot, verdict))| Some(VerdictLine::new((bot, place), verdict, &contents.book)))
            .collect();
    assert_eq!(model.verdict_lines(false), verdicts);
    assert_eq!(model.bots.iter().map(|bot| bot.settled).sum::<u64>(), 2_605);

    let (_, mut recent) = read_recent(&mut reader).await.unwrap();
    assert!((1_001..2_000).contains(&recent.trades.book.rows().len()));
    assert_eq!(shown(&mut recent), shown(&mut model));

    let json_of = |trades: &[TradeLine]| trades.iter().map(|trade| json!(trade)).collect::<Vec<_>>();
    let lines = all.lines();
    let since = Some(lines[lines.len() - 30].decision_time);
    for (last, since, expected) in [(3, None, 3), (100, None, 100), (100, since, 30)] {
        let filter = TradeFilter { last: Some(last), since, ..TradeFilter::default() };
        let read = filter.read_last(&mut reader).await.unwrap().unwrap();
        assert_eq!(json_of(read.lines()), json_of(&lines[lines.len() - expected..]));
    }
    for (last, state) in [(Some(101), None), (None, None), (Some(1), Some("rejected"))] {
        let filter = TradeFilter { last, state: state.map(str::to_owned), ..TradeFilter::default() };
        assert!(filter.read_last(&mut reader).await.unwrap().is_none(), "too many would be looked through");
    }

    for (most, bot) in [(170, None), (200, Some("other"))] {
        let (mut told, mut before) = (Vec::new(), Some(u64::MAX));
        while let Some(asked) = before {
            let (mut page, earlier) = build_trades(&model, asked, most, bot).unwrap();
            before = page.before;
            if let Some(earlier) = earlier {
                let rest = (most - page.trades.len(), bot);
                let read = TradePage::read(&mut reader, earlier, rest).await.unwrap();
                page.trades.extend(read.trades);
                before = read.next_cursor;
            }
            assert!(page.trades.len() <= most && before < Some(asked));
            told.extend(page.trades.into_iter().map(|trade| json!(trade)));
        }
        let expected = all.lines().iter().rev().filter(|trade| bot.is_none_or(|bot| trade.bot == bot));
        assert_eq!(told, expected.map(|trade| json!(trade)).collect::<Vec<_>>());
    }
}

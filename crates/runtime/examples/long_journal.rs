//! Creates a long journal to measure the cost of its length, with a hundred symbols at 1m.
//! `long_journal FILE LINES` opens a trade about every thousand lines, with snapshots as in a run.
//! `long_journal FILE LINES MINUTES` opens a trade every MINUTES, for many trades in few lines.
//! `long_journal FILE` starts from it with the same bots, then with others. `candlewick live` can continue it, too, with
//! bots `bot-0` on `SYM0` and so on, the strategy `coin`, the keys of `settings` and an explicit `expiration_type`.

#![allow(clippy::print_stdout, reason = "figures are printed")]

use candlewick_broker::clock::BootClock;
use candlewick_engine::{
    Action, BotSettings, Entry, Event, EventKind, Header, IntentId, OpenedTrade, Origin, Recorder as _,
    RiskSettings, SeriesId, Session, SessionSettings, StakeSettings, TradeSettlement, VenueId,
};
use candlewick_journal::{Holder, Journal as _, JournalUrl, Reader, RunJournal, Store};
use candlewick_runtime::{FullReadProgress, JournalFold};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{
    Candle, ExpirationType, Interval, Millis, Money, MoneyScale, Ohlcv, Outcome, Payout, Signal, Strategy,
};
use std::error::Error;
use std::path::Path;

const SYMBOLS: usize = 100;
/// Lines of one commit.
const COMMIT: u64 = 20_000;
/// Minutes from one trade to the next.
const TRADE_EVERY: i64 = 10;
/// `runtime.snapshot_every` as it is by default.
const SNAPSHOT_EVERY: u64 = 100_000;

struct Always;

impl Strategy for Always {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _candle: &Candle) -> Option<Signal> {
        Some(Signal::buy("always"))
    }
}

fn settings() -> Result<SessionSettings, Box<dyn Error>> {
    let mut bots = Vec::new();
    for number in 0..SYMBOLS {
        bots.push(BotSettings {
            name: format!("bot-{number}"),
            symbol: format!("SYM{number}").parse()?,
            entry_delay_s: 0,
            venue: [("asset_type".to_owned(), "crypto".into())].into(),
            interval: Interval::MINUTE,
            strategy: "coin".to_owned(),
            close_type: "01:00".parse()?,
            expiration_type: ExpirationType::TimeFixed,
            params: serde_json::json!({ "seed": 1, "share": 0.1 }),
            stake: StakeSettings::Fixed { amount: Decimal::TEN },
        });
    }
    let mut risk = RiskSettings::default();
    (risk.max_drawdown_percent, risk.daily_loss_limit, risk.max_loss_streak) = (0.0, Decimal::ZERO, 0);
    (risk.max_trades_per_hour, risk.max_trades_per_day) = (0, 0);
    (risk.cooldown_after_loss_s, risk.cooldown_after_losses) = (0, 0);
    Ok(SessionSettings {
        money_scale: MoneyScale::default(),
        balance: Decimal::new(100_000_000, 2),
        risk,
        bots,
        longer_share_percent: None,
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, lines, trade_every) = match arguments.as_slice() {
        [file] => {
            start(file, &settings()?).await?;
            return start(file, &other_settings()?).await;
        }
        [file, lines] => (file, lines, TRADE_EVERY),
        [file, lines, minutes] => (file, lines, minutes.parse()?),
        _ => return Err("long_journal FILE [LINES [MINUTES]]".into()),
    };
    let (lines, settings): (u64, _) = (lines.parse()?, settings()?);
    let url = JournalUrl::from_path(Path::new(file));
    let store = Store::open(&url, &Holder::current_process("long_journal")).await?;
    let strategies = settings.bots.iter().map(|_| Box::new(Always) as Box<dyn Strategy>);
    let mut session = Session::new(&settings, strategies.collect())?;
    let fold = JournalFold::new(&settings, SNAPSHOT_EVERY)?;
    let start = Millis::DAY * 20_000;
    let clock = BootClock::start();
    let journal = RunJournal::new(store, 1, start, move || clock.elapsed());
    let mut journal = journal.with_follower(Box::new(fold));
    let header = Header {
        format: Header::FORMAT,
        settings: serde_json::json!({ "session": settings, "trading": "demo", "simulation": {} }),
        strategies: settings.bots.iter().map(|_| ("coin".to_owned(), "1.0.0".to_owned())).collect(),
        data_hash: None,
    };
    journal.record(Entry::Header(&header))?;
    session.begin_run(&header);
    let (mut written, mut minute) = (1, 0);
    while written < lines {
        let at = start + Millis::MINUTE * minute;
        for place in 0..SYMBOLS {
            let price = 100.0 + (minute % 97) as f64 / 7.0;
            let numbers =
                Ohlcv { open: price, high: price + 1.0, low: price - 1.0, close: price, volume: 3.5 };
            let candle = Candle::new(at - Millis::MINUTE, Interval::MINUTE, numbers)?;
            let series: SeriesId = serde_json::from_value(place.into())?;
            let kind = EventKind::Candle { series, candle, origin: Origin::Live };
            let event = Event { at, received: at + Millis::new(120), kind };
            journal.record(Entry::Event(&event))?;
            written += 1;
            if place == 0 && minute % trade_every == 0 {
                written += trade(&mut session, &mut journal, &event)?;
            }
        }
        minute += 1;
        if journal.pending_count() as u64 >= COMMIT {
            journal.make_durable().await?;
            while journal.is_snapshot_due() {
                journal.write_background_chunk().await;
            }
        }
    }
    journal.close().await?;
    Ok(())
}

/// The same with a bot less, a new one before the others, and another amount.
fn other_settings() -> Result<SessionSettings, Box<dyn Error>> {
    let mut settings = settings()?;
    let new = BotSettings { name: "new".to_owned(), symbol: "NEW".parse()?, ..settings.bots.remove(1) };
    settings.bots.insert(0, new);
    settings.bots[1].stake = StakeSettings::Fixed { amount: Decimal::TWO };
    Ok(settings)
}

/// Measures the start of these bots from the journal.
async fn start(file: &str, settings: &SessionSettings) -> Result<(), Box<dyn Error>> {
    let clock = BootClock::start();
    let url = JournalUrl::from_path(Path::new(file));
    let store = Store::open(&url, &Holder::current_process("long_journal")).await?;
    let mut reader = Reader::open(&url).await?;
    let strategies = settings.bots.iter().map(|_| Box::new(Always) as Box<dyn Strategy>);
    let mut session = Session::new(settings, strategies.collect())?;
    let remember = Some(Millis::HOUR);
    let mut watch = |_: FullReadProgress<'_>| ();
    let fold = JournalFold::read_with_progress(&mut reader, settings, SNAPSHOT_EVERY, remember, &mut watch);
    let fold = Box::pin(fold).await?;
    let past = fold.restore_into(&mut session)?;
    let (read, intents, took) = (fold.lines_read(), past.book().rows().len(), clock.elapsed());
    println!("{} ms: {read} lines behind the snapshot, {intents} intents", took.as_millis());
    reader.close().await;
    store.close().await?;
    Ok(())
}

fn trade(session: &mut Session, journal: &mut RunJournal, event: &Event) -> Result<u64, Box<dyn Error>> {
    let (mut actions, mut written) = (Vec::new(), 0);
    session.handle(event, &mut actions);
    let mut opened = Vec::new();
    for action in &actions {
        journal.record(Entry::Action(action))?;
        written += 1;
        if let Action::Open(approved) = action {
            opened.push(approved.intent());
        }
    }
    for intent in opened {
        for kind in life(intent) {
            let at = event.at + Millis::MINUTE;
            let event = Event { at, received: at, kind };
            actions.clear();
            session.handle(&event, &mut actions);
            journal.record(Entry::Event(&event))?;
            for action in &actions {
                journal.record(Entry::Action(action))?;
            }
            written += 1 + actions.len() as u64;
        }
    }
    Ok(written)
}

fn life(intent: IntentId) -> [EventKind; 2] {
    let is_won = intent.number() % 5 < 3;
    let opened = OpenedTrade {
        intent,
        venue_id: Some(VenueId::truncated(&format!("trade-{intent}"))),
        open_time: None,
        open_price: Some(100.0),
        close_time: None,
        payout: Payout::from_parts(875_000),
        taken: None,
    };
    let settled = TradeSettlement {
        intent,
        outcome: if is_won { Outcome::Won } else { Outcome::Lost },
        profit: Money::from_minor(if is_won { 875 } else { -1_000 }),
        open_time: None,
        open_price: None,
        close_time: None,
        close_price: Some(101.0),
        payout: None,
    };
    [EventKind::Opened(opened), EventKind::Settled(settled)]
}

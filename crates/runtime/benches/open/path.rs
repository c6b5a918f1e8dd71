//! The way of an open through the program: candle, signal, risk, durable intent, client, network.

use crate::floor::Times;
use crate::server::Server as FarEnd;
use crate::stage::{BenchVenue, FastClock, Moments, Signaller};
use crate::{Pace, WARM_UP};
use candlewick_api::{Credentials, HttpBroker, HttpExchange, HttpObserver, Secret, Settings};
use candlewick_broker::Account as Kind;
use candlewick_broker::clock::Clock;
use candlewick_engine::{BotSettings, Header, RiskSettings, Session, SessionSettings, StakeSettings};
use candlewick_journal::{Holder, Journal, JournalUrl, LoggedExchange, RunJournal, Store};
use candlewick_runtime::{
    ConnectedAccount, JournalFold, RecoveredState, Runner, RunnerParts, RuntimeSettings,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{ExpirationType, Interval, Millis, MoneyScale, Symbol};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;

const EVERY: u64 = 100_000;

#[derive(Default)]
pub(crate) struct Opens {
    pub(crate) handed: Times,
    pub(crate) first_byte: Times,
    pub(crate) signals: usize,
}

struct ToJournal(mpsc::Sender<LoggedExchange>);

impl HttpObserver for ToJournal {
    fn observe(&self, exchange: HttpExchange) {
        let HttpExchange { intent, sent, received, request_line: what, request, status, response } = exchange;
        let exchange = LoggedExchange {
            intent,
            sent,
            received,
            request_line: what,
            request,
            response: Some(response),
            status,
        };
        self.0.try_send(exchange).unwrap();
    }
}

pub(crate) async fn run(far_end: &FarEnd, (file, has_tables): (&Path, bool), pace: Pace, into: &mut Opens) {
    let start = Millis::DAY * 20_000;
    let (signalled, handed) = (Moments::default(), Moments::default());
    let clock: Arc<dyn Clock> = Arc::new(FastClock { began: pace.began, start, minute: pace.minute });
    let (sender, exchanges) = mpsc::channel(4_096);
    let client = client_of(far_end, Arc::clone(&clock)).with_observer(Arc::new(ToJournal(sender)));
    let unrecognised = client.unrecognised_data();
    let venue = Arc::new(BenchVenue { clock: Arc::clone(&clock), client, handed: Arc::clone(&handed) });
    let settings = session_settings();
    let balance = settings.balance;
    let fold = has_tables.then(|| JournalFold::new(&settings, EVERY).unwrap());
    let until = start + Millis::MINUTE * ((pace.count + WARM_UP) as i64);
    let mut runtime = RuntimeSettings { watch_prices: false, hold_ms: 0, ..RuntimeSettings::default() };
    (runtime.wallet_every_s, runtime.list_every_s) = (0, 0);
    let runner = Runner::new(RunnerParts {
        settings: runtime,
        header: Header {
            format: 1,
            settings: serde_json::json!({ "session": settings }),
            strategies: vec![("signaller".to_owned(), "1".to_owned())],
            data_hash: None,
        },
        market: Arc::clone(&venue) as _,
        broker: venue,
        clock,
        account: ConnectedAccount { user: "user".to_owned(), kind: Kind::Demo, balance, balances: None },
        session: Session::new(&settings, vec![Box::new(Signaller(Arc::clone(&signalled)))]).unwrap(),
        bots: settings.bots,
        wants_prices: vec![false],
        journal: open_journal(file, start, fold).await,
        recovered: RecoveredState::default(),
        exchanges,
        unrecognised,
        token: Arc::default(),
        watchers: Vec::new(),
        until: Some(until),
    });
    let ((_nobody, stop), (_none, orders)) = (mpsc::channel(1), mpsc::channel(1));
    Box::pin(runner.run(stop, orders)).await.unwrap();
    into.take(&signalled, &handed, &far_end.take_arrivals());
}

fn client_of(far_end: &FarEnd, clock: Arc<dyn Clock>) -> HttpBroker {
    let (base_url, price_url) = (far_end.address.clone(), far_end.address.clone());
    let settings = Settings { base_url, price_url, requests_per_second: 0.0, ..Settings::default() };
    let secret = |text| Some(Secret::new(text).unwrap());
    let credentials = Credentials { api_token: secret("token"), api_key: secret("key") };
    HttpBroker::new(settings, credentials, clock).unwrap()
}

async fn open_journal(file: &Path, now: Millis, fold: Option<JournalFold>) -> Box<dyn Journal> {
    let (url, holder) = (JournalUrl::from_path(file), Holder::current_process("bench"));
    let store = Store::open(&url, &holder).await.unwrap();
    let began = Instant::now();
    let journal = RunJournal::new(store, 1, now, move || began.elapsed());
    match fold {
        Some(fold) => Box::new(journal.with_follower(Box::new(fold))),
        None => Box::new(journal),
    }
}

impl Opens {
    fn take(&mut self, signalled: &Moments, handed: &Moments, arrivals: &[Instant]) {
        let signalled = signalled.lock().unwrap();
        let after_signal = |moment: &Instant| {
            let place = signalled.partition_point(|signal| signal <= moment);
            *moment - signalled[place - 1]
        };
        self.signals += signalled.len() - WARM_UP;
        self.handed.0.extend(handed.lock().unwrap().iter().skip(WARM_UP).map(after_signal));
        self.first_byte.0.extend(arrivals.iter().skip(WARM_UP).map(after_signal));
    }
}

fn session_settings() -> SessionSettings {
    let risk = RiskSettings {
        max_trades_per_day: 0,
        daily_loss_limit: Decimal::ZERO,
        max_drawdown_percent: 0.0,
        max_signal_delay_ms: u32::MAX,
        ..RiskSettings::default()
    };
    let bot = BotSettings {
        name: "bot".to_owned(),
        symbol: Symbol::new("BTCUSDT").unwrap(),
        entry_delay_s: 0,
        venue: std::collections::BTreeMap::new(),
        interval: Interval::MINUTE,
        strategy: "signaller".to_owned(),
        close_type: "01:00".parse().unwrap(),
        expiration_type: ExpirationType::TimeFixed,
        params: serde_json::json!({}),
        stake: StakeSettings::Fixed { amount: Decimal::TEN },
    };
    let (money_scale, balance, bots) = (MoneyScale::default(), Decimal::from(10_000), vec![bot]);
    SessionSettings { money_scale, balance, risk, bots, longer_share_percent: None }
}

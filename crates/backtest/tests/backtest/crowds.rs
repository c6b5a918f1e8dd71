//! Many bots on few series behave the same with batches of candles as with single events.

use crate::stage::{bot, markets, minute, series, settings};
use candlewick_backtest::{Backtest, BacktestSettings};
use candlewick_engine::{Entry, IfRefused, LadderEntry, Recorder, RecorderInterest, StakeSettings};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{
    Candle, CandleSeries, Millis, Ohlcv, Outcome, Price, Settlement, Signal, Strategy, serde_json,
};
use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use std::io;

struct OrderDependent {
    state: u64,
    rarity: u64,
}

impl OrderDependent {
    fn mix(&mut self, number: u64) {
        self.state = (self.state ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }

    fn answer(&self) -> Option<Signal> {
        let direction = if self.state >> 40 & 1 == 0 { Signal::buy } else { Signal::sell };
        (self.state >> 8)
            .is_multiple_of(self.rarity)
            .then(|| direction("order-dependent").with("state", (self.state >> 20) as f64))
    }
}

impl Strategy for OrderDependent {
    fn warmup(&self) -> usize {
        (self.rarity % 5) as usize
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.mix(candle.time().get() as u64);
        self.answer()
    }

    fn on_price(&mut self, price: &Price) -> Option<Signal> {
        self.mix(price.time.get() as u64 + 1);
        self.answer()
    }

    fn wants_settlements(&self) -> bool {
        !self.rarity.is_multiple_of(3)
    }

    fn on_settled(&mut self, settlement: &Settlement) {
        self.mix(settlement.profit.minor() as u64 ^ settlement.decision_time.get() as u64);
        self.mix(u64::from(settlement.outcome == Outcome::Won));
    }
}

struct Lines {
    interest: RecorderInterest,
    lines: Vec<String>,
}

impl Recorder for Lines {
    fn interest(&self) -> RecorderInterest {
        self.interest
    }

    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        let line = serde_json::to_string(&entry)?;
        if !line.contains(r#""event":"candle""#) {
            self.lines.push(line);
        }
        Ok(())
    }
}

fn candles(symbol: &str, interval: &str, minutes: &[i64]) -> CandleSeries {
    let series = series(symbol, interval);
    let length = series.interval.length();
    let halves = minutes.iter().flat_map(|at| [minute(*at), minute(*at) + Millis::from_seconds(30)]);
    let mut price = 100.0;
    let mut candle = |(place, time): (usize, Millis)| {
        let open = price;
        price += ((place * 7 + symbol.len() * 3) % 11) as f64 - 5.0;
        let (low, high) = (f64::min(open, price), f64::max(open, price));
        Candle::new(time, series.interval, Ohlcv { open, high, low, close: price, volume: 0.0 }).unwrap()
    };
    let opens = halves.filter(|time| time.is_aligned_to(length)).enumerate();
    CandleSeries::new(series, opens.map(&mut candle).collect::<Vec<_>>()).unwrap()
}

#[derive(Clone, Debug)]
struct Crowd {
    bots: Vec<(usize, usize, u64, u64, usize)>,
    minutes: Vec<i64>,
    latency_ms: i64,
    settle_delay_ms: i64,
    per_symbol: u32,
    martingale: bool,
    has_prices: bool,
}

const SYMBOLS: [&str; 3] = ["BTCUSDT", "AAA", "ZZUSDT"];
const INTERVALS: [&str; 2] = ["1m", "5m"];
const EXPIRIES: [&str; 3] = ["01:00", "02:30", "07:00"];

fn crowd() -> impl proptest::strategy::Strategy<Value = Crowd> {
    let bots = prop::collection::vec((0_usize..3, 0_usize..2, any::<u64>(), 1_u64..30, 0_usize..3), 1..7);
    let minutes = prop_oneof![
        7 => prop::collection::btree_set(1_300_i64..1_700, 100..380),
        1 => prop::collection::btree_set(1_300_i64..3_600, 10..60)
            .prop_map(|missing| (1_300..3_600).filter(|minute| !missing.contains(minute)).collect()),
    ];
    let ms = (prop::sample::select(vec![0, 1, 1_500, 61_000]), prop::sample::select(vec![0, 4_000, 90_000]));
    (bots, minutes, ms, 0_u32..4, any::<bool>(), any::<bool>()).prop_map(
        |(bots, minutes, (latency_ms, settle_delay_ms), per_symbol, martingale, has_prices)| Crowd {
            bots,
            minutes: minutes.into_iter().collect(),
            latency_ms,
            settle_delay_ms,
            per_symbol,
            martingale,
            has_prices,
        },
    )
}

impl Crowd {
    fn settings(&self) -> BacktestSettings {
        let bots = self.bots.iter().enumerate().map(|(place, (symbol, interval, _, _, expiry))| {
            let mut bot = bot(&format!("bot-{place}"), series(SYMBOLS[*symbol], INTERVALS[*interval]));
            bot.close_type = EXPIRIES[*expiry].parse().unwrap();
            if self.martingale {
                let (entry, if_refused) = [
                    (LadderEntry::NextSignal, IfRefused::Wait),
                    (LadderEntry::NextCandle, IfRefused::Wait),
                    (LadderEntry::NextCandle, IfRefused::Reset),
                ][place % 3];
                let amount = Decimal::ONE;
                bot.stake = StakeSettings::Martingale { amount, factor: 2.5, levels: 3, entry, if_refused };
            }
            bot
        });
        let mut settings = settings(bots.collect());
        settings.simulation.latency_ms = Millis::new(self.latency_ms);
        settings.simulation.settle_delay_ms = Millis::new(self.settle_delay_ms);
        settings.price_every_ms = Millis::from_seconds(30);
        let risk = &mut settings.session.risk;
        risk.max_open_trades = 0;
        risk.max_open_trades_per_symbol = self.per_symbol;
        (risk.allow_duplicate, risk.allow_opposite) = (true, true);
        risk.max_trades_per_day = 40;
        risk.cooldown_after_loss_s = 200;
        (risk.daily_loss_limit, risk.max_ruin_probability) = (Decimal::ZERO, 0.0);
        settings
    }

    fn run(&self, interest: RecorderInterest) -> (Vec<String>, String) {
        let settings = self.settings();
        let strategies = self.bots.iter();
        let strategies = strategies.map(|(_, _, seed, rarity, _)| {
            Box::new(OrderDependent { state: *seed, rarity: *rarity }) as Box<dyn Strategy>
        });
        let mut wanted: Vec<_> = settings
            .session
            .bots
            .iter()
            .map(|bot| (bot.symbol.to_string(), bot.interval.to_string()))
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        let of = |(symbol, interval): &(String, String)| candles(symbol, interval, &self.minutes);
        let own: Vec<CandleSeries> = wanted.iter().map(of).collect();
        // Symbols with a price-driven bot have 30 s candles.
        let detail = |symbol: &str| candles(symbol, "30s", &self.minutes);
        let first = settings.session.bots[0].symbol.to_string();
        let details: Vec<CandleSeries> = if self.has_prices { vec![detail(&first)] } else { Vec::new() };
        let wants_prices: Vec<bool> = (settings.session.bots.iter())
            .map(|bot| self.has_prices && bot.symbol.to_string() == first)
            .collect();
        let markets = markets(&own, &details);
        let backtest = Backtest::new(&settings, strategies.collect(), &wants_prices, &own, markets).unwrap();
        let names = self.bots.iter().map(|_| ("order-dependent".to_owned(), "1.0.0".to_owned())).collect();
        let mut lines = Lines { interest, lines: Vec::new() };
        let finished = backtest.run(&settings.header(names, None), &mut lines, &mut |_, _| {}).unwrap();
        let rows = format!("{:?} {}", finished.book.rows(), finished.final_balance.minor());
        (lines.lines, rows)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn batched_candles_give_the_same_journal_as_single_events(crowd in crowd()) {
        let (expected, expected_rows) = crowd.run(RecorderInterest::Everything);
        let (found, found_rows) = crowd.run(RecorderInterest::AllButCandles);
        for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
            prop_assert_eq!(found, expected, "entry {}", place);
        }
        prop_assert_eq!(found.len(), expected.len());
        prop_assert_eq!(found_rows, expected_rows);
    }
}

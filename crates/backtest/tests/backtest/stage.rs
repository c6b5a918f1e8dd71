//! Candles, scripted bots and settings for tests. Minutes are counted from 2026-01-05 00:00 UTC.

use candlewick_backtest::{Backtest, BacktestError, BacktestResult, BacktestSettings};
use candlewick_engine::{BotSettings, Recorder, RiskSettings, SessionSettings};
use candlewick_sdk::indicator::Rsi;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::serde_json::{from_value, json};
use candlewick_sdk::{
    Candle, CandleSeries, Interval, Millis, MoneyScale, Ohlcv, Price, Series, Signal, Strategy,
};
use candlewick_simulator::{Market, OpenRounding, SimulationSettings};
use std::sync::{Arc, Mutex};

pub(crate) const START: Millis = Millis::new(1_767_571_200_000);

pub(crate) fn minute(minute: i64) -> Millis {
    START + Millis::MINUTE * minute
}

pub(crate) fn series(symbol: &str, interval: &str) -> Series {
    Series { symbol: symbol.parse().unwrap(), interval: interval.parse().unwrap() }
}

/// Creates consecutive candles that close at these prices. Each opens at the previous close.
pub(crate) fn closing(symbol: &str, interval: &str, closes: &[f64]) -> CandleSeries {
    let series = series(symbol, interval);
    let opens = closes.iter().take(1).chain(closes);
    let candle = |(index, (open, close)): (usize, (&f64, &f64))| {
        let numbers =
            Ohlcv { open: *open, high: open.max(*close), low: open.min(*close), close: *close, volume: 0.0 };
        let time = START + series.interval.length() * index as i64;
        Candle::new(time, series.interval, numbers).unwrap()
    };
    CandleSeries::new(series, opens.zip(closes).enumerate().map(candle).collect::<Vec<_>>()).unwrap()
}

/// Creates a bot on a series that stakes 10.00 per trade for a minute.
pub(crate) fn bot(name: &str, series: Series) -> BotSettings {
    let bot = json!({
        "name": name, "symbol": series.symbol, "interval": series.interval, "strategy": "test",
        "close_type": "01:00", "expiration_type": "TIME_FIXED",
    });
    from_value(bot).unwrap()
}

/// Returns settings with a balance of 1,000.00, default limits, and no latency or settle delay.
pub(crate) fn settings(bots: Vec<BotSettings>) -> BacktestSettings {
    BacktestSettings {
        session: SessionSettings {
            money_scale: MoneyScale::default(),
            balance: Decimal::from(1_000),
            risk: RiskSettings::default(),
            bots,
            longer_share_percent: None,
        },
        simulation: SimulationSettings {
            latency_ms: Millis::ZERO,
            settle_delay_ms: Millis::ZERO,
            open_rounding: OpenRounding::None,
            ..SimulationSettings::default()
        },
        price_every_ms: Millis::from_seconds(5),
    }
}

/// Prices passed to a scripted strategy, with their time in seconds since the start.
pub(crate) type SeenPrices = Arc<Mutex<Vec<(i64, f64)>>>;

/// Buys on candle closes and prices at these minutes.
pub(crate) struct Scripted {
    pub(crate) interval: Interval,
    pub(crate) buys: Vec<Millis>,
    pub(crate) seen: SeenPrices,
}

impl Scripted {
    pub(crate) fn on(series: Series, minutes: &[i64]) -> Self {
        let buys = minutes.iter().map(|at| minute(*at)).collect();
        Self { interval: series.interval, buys, seen: SeenPrices::default() }
    }

    fn buys_at(&self, at: Millis) -> Option<Signal> {
        self.buys.contains(&at).then(|| Signal::buy("scripted"))
    }
}

impl Strategy for Scripted {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.buys_at(candle.close_time(self.interval))
    }

    fn on_price(&mut self, price: &Price) -> Option<Signal> {
        self.seen.lock().unwrap().push(((price.time - START).get() / 1_000, price.value));
        self.buys_at(price.time)
    }
}

/// Bets on a reversal whenever a short RSI leaves its middle range: many signals and long-lived state.
pub(crate) struct Extremes(Rsi);

impl Extremes {
    pub(crate) fn new() -> Self {
        Self::over(4)
    }

    pub(crate) fn over(period: usize) -> Self {
        Self(Rsi::new(period).unwrap())
    }
}

impl Strategy for Extremes {
    fn warmup(&self) -> usize {
        self.0.warmup()
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let rsi = self.0.update(candle.close())?;
        match rsi {
            ..30.0 => Some(Signal::buy("low").with("rsi", rsi)),
            70.0.. => Some(Signal::sell("high").with("rsi", rsi)),
            _ => None,
        }
    }
}

/// Runs with the finest series of each symbol as the venue's prices, unless `details` has finer ones.
pub(crate) fn run(
    settings: &BacktestSettings,
    strategies: Vec<Box<dyn Strategy>>,
    candles: &[CandleSeries],
    details: &[CandleSeries],
    recorder: &mut dyn Recorder,
) -> Result<BacktestResult, BacktestError> {
    let wants_prices = vec![!details.is_empty(); strategies.len()];
    let backtest = Backtest::new(settings, strategies, &wants_prices, candles, markets(candles, details))?;
    let header = settings.header(vec![("test".to_owned(), "1.0.0".to_owned())], None);
    backtest.run(&header, recorder, &mut |_, _| {})
}

pub(crate) fn markets(candles: &[CandleSeries], details: &[CandleSeries]) -> Vec<Market> {
    let mut finest: Vec<&CandleSeries> = Vec::new();
    for series in candles {
        match finest.iter_mut().find(|known| known.symbol() == series.symbol()) {
            Some(known) if series.interval() < known.interval() => *known = series,
            Some(_) => {}
            None => finest.push(series),
        }
    }
    let detail = |series: &CandleSeries| {
        details.iter().filter(|detail| detail.symbol() == series.symbol()).cloned().collect()
    };
    finest.into_iter().map(|prices| Market { prices: prices.clone(), detail: detail(prices) }).collect()
}

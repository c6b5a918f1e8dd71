//! The same again, and no look ahead.

use crate::lines::Lines;
use crate::stage::{Extremes, bot, run, series, settings};
use candlewick_backtest::BacktestSettings;
use candlewick_history::{GenerateSettings, generate, known_market, resample};
use candlewick_sdk::{CandleSeries, ExpirationType, Millis, Strategy};
use candlewick_simulator::OpenRounding;
use proptest::prelude::{Strategy as _, any, prop, prop_assert, prop_assert_eq, proptest};
use std::sync::LazyLock;

pub(crate) fn candles() -> [CandleSeries; 3] {
    static CANDLES: LazyLock<[CandleSeries; 3]> = LazyLock::new(make_candles);
    CANDLES.clone()
}

fn make_candles() -> [CandleSeries; 3] {
    let minutes = |name: &str, seed| {
        let symbol = name.parse().unwrap();
        let market = known_market(symbol).unwrap();
        let start = Millis::new(1_767_571_200_000);
        generate(&GenerateSettings { seed, ..GenerateSettings::of_market(symbol, market, start, 2) }).unwrap()
    };
    let one = minutes("BTCUSDT", 7);
    let five = resample(&one, "5m".parse().unwrap()).unwrap();
    [one, five, minutes("ETHUSDT", 7)]
}

pub(crate) fn busy() -> BacktestSettings {
    let kinds = [
        ExpirationType::TimeFixed,
        ExpirationType::CandleClose,
        ExpirationType::NextCandle,
        ExpirationType::Unstated,
    ];
    let places = [("BTCUSDT", "5m"), ("BTCUSDT", "1m"), ("ETHUSDT", "1m"), ("BTCUSDT", "1m")];
    let bots = kinds.into_iter().zip(places).zip(["01:00", "05:00", "02:00", "03:00"]);
    let bot = |((expiration_type, (symbol, interval)), code): ((_, (&str, &str)), &str)| {
        let mut bot = bot(&format!("{symbol}-{interval}-{code}"), series(symbol, interval));
        bot.expiration_type = expiration_type;
        bot.close_type = code.parse().unwrap();
        bot
    };
    let mut settings = settings(bots.map(bot).collect());
    settings.session.risk.max_open_trades_per_symbol = 2;
    settings.session.risk.allow_opposite = true;
    settings.session.risk.daily_loss_limit = 200.into();
    settings.simulation.latency_ms = Millis::new(2_000);
    settings.simulation.settle_delay_ms = Millis::new(4_000);
    settings.simulation.open_rounding = OpenRounding::SecondEnd;
    settings
}

fn journal(settings: &BacktestSettings, candles: &[CandleSeries]) -> Lines {
    let strategies =
        settings.session.bots.iter().map(|_| -> Box<dyn Strategy> { Box::new(Extremes::new()) }).collect();
    let mut lines = Lines::default();
    run(settings, strategies, candles, &[], &mut lines).unwrap();
    lines
}

pub(crate) fn opens(lines: &Lines) -> usize {
    lines.entries.iter().filter(|(_, line)| line.contains(r#""action":"open""#)).count()
}

#[test]
fn two_runs_write_the_same_journal_to_the_byte() {
    let (settings, candles) = (busy(), candles());
    let (one, other) = (journal(&settings, &candles), journal(&settings, &candles));
    assert!(opens(&one) > 200, "{} trades", opens(&one));
    assert_eq!(one.entries, other.entries);
    assert_eq!(one.hash(), other.hash());
}

#[test]
fn the_order_in_which_files_are_given_does_not_matter() {
    let (settings, mut candles) = (busy(), candles());
    let one = journal(&settings, &candles);
    candles.reverse();
    assert_eq!(one.entries, journal(&settings, &candles).entries);
}

#[test]
fn other_candles_or_settings_give_another_hash() {
    let (settings, candles) = (busy(), candles());
    let hash = journal(&settings, &candles).hash();
    let mut later = settings.clone();
    later.simulation.latency_ms = Millis::new(2_001);
    assert_ne!(journal(&later, &candles).hash(), hash);
    let [one, five, other] = candles;
    let shorter = CandleSeries::new(other.series(), other.candles()[1..].to_vec()).unwrap();
    assert_ne!(journal(&settings, &[one, five, shorter]).hash(), hash);
}

fn cut(series: &CandleSeries, end: Millis) -> CandleSeries {
    let known = series.candles().partition_point(|candle| candle.close_time(series.interval()) <= end);
    CandleSeries::new(series.series(), series.candles()[..known].to_vec()).unwrap()
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    #[test]
    fn a_run_over_a_prefix_is_a_prefix_of_the_run(
        minutes in 60_i64..2_800,
        rounding in any::<bool>().prop_map(|round| if round { OpenRounding::SecondEnd } else { OpenRounding::None }),
        latency in prop::sample::select(vec![0_i64, 1_500, 2_000, 61_000]),
    ) {
        let mut settings = busy();
        settings.simulation.open_rounding = rounding;
        settings.simulation.latency_ms = Millis::new(latency);
        let candles = candles();
        let end = candles[0].start() + Millis::MINUTE * minutes;
        let whole = journal(&settings, &candles);
        let prefix = journal(&settings, &candles.map(|series| cut(&series, end)));
        // Where prices are those of whole seconds, an order of the last second enters at the end of it.
        let decided = end - Millis::SECOND;
        prop_assert!(prefix.until(decided).len() > 60);
        prop_assert_eq!(prefix.until(decided), whole.until(decided));
    }
}

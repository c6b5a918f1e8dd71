//! Findings about the data and the venue: payouts, gaps, prices and draws.

use super::{Finding, FindingKind, Severity, StaleLongerCandle};
use crate::figure::format_span;
use candlewick_engine::{BotSettings, IntentRow, TradeBook};
use candlewick_records::count_text;
use candlewick_sdk::{CandleSeries, Outcome, Payout, Symbol};
use candlewick_simulator::SimulationSettings;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Payout difference in percentage points above which a finding is serious. Break-even then moves about half a point.
const SERIOUS_PAYOUT_POINTS: f64 = 2.0;

/// Returns the median assumed payout of the trades in percent, or the default payout if there are no trades.
pub fn assumed_payout_percent(settings: &SimulationSettings, bots: &[BotSettings], book: &TradeBook) -> f64 {
    let traded = book.rows().iter().filter_map(|row| bots.get(row.approved.bot().index()));
    let mut assumed: Vec<Payout> = traded.map(|bot| settings.payout_of(bot.symbol)).collect();
    assumed.sort_unstable();
    assumed.get(assumed.len() / 2).copied().unwrap_or(settings.payout_percent).to_percent()
}

pub(super) fn check_assumed_payout(
    assumed_percent: Option<f64>,
    seen_percent: Option<f64>,
) -> Option<Finding> {
    let (assumed, seen) = (assumed_percent?, seen_percent?);
    let above = assumed - seen;
    let severity = if above > SERIOUS_PAYOUT_POINTS { Severity::Serious } else { Severity::Warning };
    let text = format!(
        "The assumed payout is {assumed:.1} %, but the venue paid {seen:.1} % (median). Live results will be lower."
    );
    // The tolerance is safe, because payouts have only four decimals.
    (above > 1e-4).then(|| FindingKind::AssumedPayout.to_finding(severity, text))
}

/// Lowest plausible payout in percent. Known venues pay 60 to 92 %; a payout of 0.8 is probably a fraction.
const MIN_PAYOUT_PERCENT: f64 = 20.0;
/// Highest plausible payout in percent. Above 100 %, even a coin toss would be profitable.
const MAX_PAYOUT_PERCENT: f64 = 100.0;

pub(crate) fn check_payout_range(assumed_percent: Option<f64>) -> Option<Finding> {
    let assumed = assumed_percent.filter(|one| !(MIN_PAYOUT_PERCENT..=MAX_PAYOUT_PERCENT).contains(one))?;
    let why = if assumed > MAX_PAYOUT_PERCENT {
        "a coin toss would be profitable, but venues pay only 60 to 92 %"
    } else {
        "venues pay 60 to 92 %, and payout_percent must be in percent (80, not 0.8)"
    };
    Some(FindingKind::UnusualPayout.serious(format!("A payout of {assumed:.1} % is implausible: {why}.")))
}

const SERIOUS_GAP_SHARE: f64 = 0.01;

/// Reports missing candles, and the number of trades without a price (`unpriced` out of `attempted` trades).
pub(super) fn check_gaps(missing: u64, unpriced: u64, attempted: u64) -> Option<Finding> {
    if missing == 0 && unpriced == 0 {
        return None;
    }
    let share = unpriced as f64 / attempted.max(1) as f64;
    let severity = match share {
        0.0 => Severity::Info,
        few if few <= SERIOUS_GAP_SHARE => Severity::Warning,
        _ => Severity::Serious,
    };
    let trades = format!("{unpriced} of {attempted} trades ({:.1} %)", share * 100.0);
    let text = if missing == 0 {
        format!(
            "{trades} had no price, because the open or close would have been outside market hours or after the last \
             candle. No candle is missing during market hours."
        )
    } else {
        let candles = count_text(missing, "candle is", "candles are");
        format!("The data has gaps: {candles} missing during market hours, and {trades} had no price.")
    };
    Some(FindingKind::Gaps.to_finding(severity, text))
}

/// Minimum share of reversals. At this share, trading against the last move breaks even if the payout is 85 %.
const MIN_REVERSAL_SHARE: f64 = 0.54;
/// Minimum distance of the share from one half, in standard errors. A random walk exceeds it in 3.4 of 1,000,000 cases.
const MIN_STANDARD_ERRORS: f64 = 4.5;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reversals {
    pub series: String,
    pub reversed: u64,
    pub moves: u64,
}

impl Reversals {
    /// Counts moves, and how many reverse the previous move: about half in a random walk. Skips gaps.
    pub fn from_candles(candles: &CandleSeries) -> Self {
        let interval = candles.interval().length();
        let (mut reversed, mut moves, mut last) = (0, 0, None);
        for pair in candles.candles().windows(2) {
            if pair[0].time() + interval != pair[1].time() {
                last = None;
                continue;
            }
            if pair[1].close() == pair[0].close() {
                continue;
            }
            let rose = pair[1].close() > pair[0].close();
            moves += u64::from(last.is_some());
            reversed += u64::from(last == Some(!rose));
            last = Some(rose);
        }
        Self { series: format!("{}@{}", candles.symbol(), candles.interval()), reversed, moves }
    }

    fn share(&self) -> f64 {
        self.reversed as f64 / self.moves.max(1) as f64
    }

    fn is_significant(&self) -> bool {
        let errors = (self.share() - 0.5) * 2.0 * (self.moves as f64).sqrt();
        self.share() >= MIN_REVERSAL_SHARE && errors >= MIN_STANDARD_ERRORS
    }
}

pub(super) fn check_bid_ask_bounce(reversals: &[Reversals]) -> Option<Finding> {
    let clear = reversals.iter().filter(|one| one.is_significant());
    let most = clear.max_by(|one, other| one.share().total_cmp(&other.share()))?;
    Some(FindingKind::BidAskBounce.warning(format!(
        "Consecutive candles of {} move in opposite directions in {:.1} % of {} cases. Trades that alternate between bid \
         and ask cause the same pattern, so the spread may explain all profit. Test on bid or mid prices.",
        most.series,
        most.share() * 100.0,
        most.moves
    )))
}

pub(super) fn check_data_revisions(revised: u64) -> Option<Finding> {
    let text = format!(
        "{revised} values of these candles were revised later. The run uses the original values, as a live bot would. \
         Run `candlewick data check` to list the revisions."
    );
    (revised > 0).then(|| FindingKind::DataRevised.warning(text))
}

const MIN_HIDDEN_DRAW_SHARE: f64 = 0.01;

pub(super) fn check_tick_sizes(
    settled: &[&IntentRow],
    bots: &[BotSettings],
    steps: &BTreeMap<Symbol, f64>,
) -> Option<Finding> {
    let is_unrounded = |row: &&&IntentRow| {
        let step = bots.get(row.approved.bot().index()).and_then(|bot| steps.get(&bot.symbol));
        let prices = row.open_price.zip(row.close_price);
        step.zip(prices)
            .is_some_and(|(step, (open, close))| count_steps(open, *step) == count_steps(close, *step))
    };
    let drawn = settled.iter().filter(|row| row.outcome == Some(Outcome::Draw)).count();
    let is_decided = |row: &&&IntentRow| matches!(row.outcome, Some(Outcome::Won | Outcome::Lost));
    let missed = settled.iter().filter(is_decided).filter(is_unrounded).count();
    let all = settled.len().max(1) as f64;
    (missed as f64 / all > MIN_HIDDEN_DRAW_SHARE).then(|| {
        let percent = |count: usize| count as f64 / all * 100.0;
        FindingKind::NoPriceStep.warning(format!(
            "{:.1} % of the trades were draws. With prices rounded to the candles' tick size, {:.1} % would be draws. \
             Set this size in [simulation.ticks]; without it, some trades are won or lost by less than a tick.",
            percent(drawn),
            percent(drawn + missed)
        ))
    })
}

/// Returns the price as a rounded number of ticks. `step` is the tick size: 1 or 1/n for an integer n.
fn count_steps(price: f64, step: f64) -> f64 {
    (price * (1.0 / step).round()).round()
}

const SERIOUS_STALE_SHARE: f64 = 0.01;

pub(super) fn check_staleness(stale: &[StaleLongerCandle]) -> Option<Finding> {
    let share =
        |one: &StaleLongerCandle| one.staleness.stale_candles as f64 / one.staleness.candles.max(1) as f64;
    let worst = stale.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let severity = if share(worst) > SERIOUS_STALE_SHARE { Severity::Serious } else { Severity::Info };
    let mut text = String::new();
    for one in stale {
        let StaleLongerCandle { bot, interval, staleness } = one;
        let _ = write!(
            text,
            "On {:.1} % of its candles, {bot} used an outdated {interval} candle, up to {} after that candle's close. ",
            share(one) * 100.0,
            format_span(staleness.max_age)
        );
    }
    text.push_str(
        "Newer candles were not built, because too many shorter candles are missing (see data.longer_share_percent).",
    );
    Some(FindingKind::StaleLongerCandles.to_finding(severity, text))
}

const SERIOUS_DRAW_SHARE: f64 = 0.20;
const MIN_DRAW_SHARE: f64 = 0.05;

pub(super) fn check_draws(drawn: u64, trades: u64) -> Option<Finding> {
    let share = drawn as f64 / trades.max(1) as f64;
    let severity = match share {
        large if large > SERIOUS_DRAW_SHARE => Severity::Serious,
        large if large > MIN_DRAW_SHARE => Severity::Warning,
        _ => return None,
    };
    let step = " A tick size in [simulation.ticks] that is too coarse causes many draws.";
    let step = if severity == Severity::Serious { step } else { "" };
    let text = format!(
        "{:.1} % of the trades were draws. Some venues count draws as losses; set draw = \"loss\" to test this case.{step}",
        share * 100.0
    );
    Some(FindingKind::DrawShare.to_finding(severity, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Candle, Interval, Millis, Ohlcv, Series, Staleness};

    #[test]
    fn reports_assumed_payout_above_the_paid_one() {
        for (assumed, seen, expected) in [
            (Some(85.0), Some(80.0), Some(Severity::Serious)),
            (Some(81.0), Some(80.0), Some(Severity::Warning)),
            (Some(80.0), Some(80.0), None),
            (Some(80.0), Some(88.0), None),
            (Some(80.0), None, None),
            (None, Some(80.0), None),
        ] {
            let found = check_assumed_payout(assumed, seen).map(|finding| finding.severity);
            assert_eq!(found, expected, "{assumed:?} {seen:?}");
        }
    }

    #[test]
    fn reports_unusual_payout() {
        for (assumed, expected) in
            [(0.8, true), (19.9, true), (20.0, false), (80.0, false), (100.0, false), (100.1, true)]
        {
            assert_eq!(check_payout_range(Some(assumed)).is_some(), expected, "{assumed}");
        }
        assert_eq!(check_payout_range(None), None);
    }

    #[test]
    fn rates_gaps_by_the_share_of_affected_trades() {
        for (missing, unpriced, attempted, expected) in [
            (0, 0, 500, None),
            (12, 0, 500, Some(Severity::Info)),
            (12, 5, 500, Some(Severity::Warning)),
            (12, 6, 500, Some(Severity::Serious)),
            (0, 1, 1, Some(Severity::Serious)),
            (3, 0, 0, Some(Severity::Info)),
        ] {
            let found = check_gaps(missing, unpriced, attempted).map(|finding| finding.severity);
            assert_eq!(found, expected, "{missing} {unpriced} {attempted}");
        }
        let text = |missing| check_gaps(missing, 1, 703).unwrap().text;
        assert!(text(0).starts_with("1 of 703 trades (0.1 %)"), "{}", text(0));
        assert!(["1 candle", "1 of 703 trades"].iter().all(|part| text(1).contains(part)), "{}", text(1));
    }

    fn count_reversals(closes: impl IntoIterator<Item = (i64, f64)>) -> Reversals {
        let candle = |(minute, close): (i64, f64)| {
            let numbers = Ohlcv { open: close, high: close, low: close, close, volume: 0.0 };
            Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
        };
        let rows: Vec<Candle> = closes.into_iter().map(candle).collect();
        let series = Series { symbol: "BTCUSDT".parse().unwrap(), interval: Interval::MINUTE };
        Reversals::from_candles(&CandleSeries::new(series, rows).unwrap())
    }

    /// Generates a random walk with changing volatility. Each price is the bid or the ask, at random.
    fn reversals(seed: u64, candles: i64, spread: f64) -> Reversals {
        let mut state = seed;
        // A 64-bit SplitMix generator (Steele, Lea and Flood).
        let mut unit = || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        };
        let (mut mid, mut volatility) = (1_000.0, 1.0_f64);
        count_reversals((0..candles).map(|minute| {
            let mut normal = || (0..12).map(|_| unit()).sum::<f64>() - 6.0;
            volatility = (volatility * (0.1 * normal()).exp()).clamp(0.25, 4.0);
            mid += volatility * normal();
            (minute, mid + if unit() < 0.5 { spread } else { -spread } / 2.0)
        }))
    }

    #[test]
    fn reports_bounce_of_a_spread_but_no_random_walk() {
        let count = |spread: f64| {
            (0..400).filter(|seed| check_bid_ask_bounce(&[reversals(*seed, 3_000, spread)]).is_some()).count()
        };
        assert_eq!(count(0.0), 0);
        assert!(count(3.0) >= 396, "{}", count(3.0));
    }

    #[test]
    fn counts_reversals_without_unchanged_closes_and_gaps() {
        let minutes = [(0, 1.0), (1, 2.0), (2, 2.0), (3, 1.5), (4, 1.7), (6, 1.6), (7, 1.9), (8, 2.1)];
        let found = count_reversals(minutes);
        // The moves are up, down and up, then a gap, then up and up.
        assert_eq!((found.reversed, found.moves), (2, 3));
    }

    fn stale(stale: u64, candles: u64) -> StaleLongerCandle {
        StaleLongerCandle {
            bot: "a".to_owned(),
            interval: "1h".parse().unwrap(),
            staleness: Staleness { candles, stale_candles: stale, max_age: Millis::HOUR * 7 },
        }
    }

    #[test]
    fn stale_share_above_one_percent_is_serious() {
        for (count, expected) in [(10, Severity::Info), (11, Severity::Serious), (900, Severity::Serious)] {
            let found = check_staleness(&[stale(count, 1_000), stale(1, 1_000)]).unwrap();
            assert_eq!(found.severity, expected, "{count}");
        }
        assert_eq!(check_staleness(&[]), None);
        let text = check_staleness(&[stale(580, 1_000)]).unwrap().text;
        assert!(["1h", "58.0 %", "7.0 h"].iter().all(|part| text.contains(part)), "{text}");
    }

    #[test]
    fn reports_many_draws() {
        for (drawn, trades, expected) in [
            (21, 100, Some(Severity::Serious)),
            (6, 100, Some(Severity::Warning)),
            (5, 100, None),
            (0, 0, None),
        ] {
            let found = check_draws(drawn, trades);
            assert_eq!(found.as_ref().map(|finding| finding.severity), expected, "{drawn} of {trades}");
            let names_step = found.is_some_and(|finding| finding.text.contains("[simulation.ticks]"));
            assert_eq!(names_step, expected == Some(Severity::Serious));
        }
    }
}

//! Compares two series of a symbol. The candles of the finer series must add up to the candles of the coarser one.
//!
//! If closes differ, a sample of the finer series is shifted by each of the [`candidate_lags`] to find the best fit.

use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Symbol};
use std::fmt;
use std::ops::Range;

const MAX_STRETCHES: usize = 128;
const CANDLES_PER_STRETCH: usize = 64;
const MIN_CLOSES: usize = 30;
const MAX_DIFFERING_SHARE: f64 = 0.02;
const MAX_STRETCH_DIFF_SHARE: f64 = 0.25;
const PRICE_TOLERANCE: f64 = 1e-9;
const MAX_SEARCHED_CLOSES: usize = 512;
/// Maximum number of short lags to try. Consecutive short lags are one candle of the finer series apart.
const MAX_SHORT_LAGS: i64 = 1_200;
/// Step between longer lags, up to [`MAX_CLOCK_LAG`]. Wrong time zones cause longer lags.
const CLOCK_LAG_STEP: Millis = Millis::new(15 * Millis::MINUTE.get());
const MAX_CLOCK_LAG: Millis = Millis::new(26 * Millis::HOUR.get());
/// Maximum deviation at the best lag, as a fraction of the deviation at lag zero.
const MAX_LAG_DEVIATION: f64 = 0.9;
const MIN_LAG_STANDARD_ERRORS: f64 = 5.0;
/// Largest negligible price difference, as a fraction of the usual move of a coarser candle.
const NEGLIGIBLE_MOVE_SHARE: f64 = 0.02;

#[derive(Clone, Debug, PartialEq)]
pub struct SeriesMismatch {
    pub symbol: Symbol,
    pub fine_interval: Interval,
    pub coarse_interval: Interval,
    pub span: Range<Millis>,
    pub covers_all_closes: bool,
    pub differing_share: f64,
    pub kind: MismatchKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MismatchKind {
    /// The finer series matches after a shift by this lag. The lag is positive if the finer series is late.
    Shifted(Millis),
    /// The series are in step, but prices differ by this amount on average, like bid and mid prices.
    OtherPrices(f64),
    Unrelated(f64),
}

#[derive(Clone, Copy)]
struct CommonClose {
    moment: Millis,
    coarse: f64,
    fine: f64,
    usual_move: Option<f64>,
}

struct CloseLookup<'a> {
    candles: &'a [Candle],
    interval: Millis,
    last: usize,
}

impl SeriesMismatch {
    pub const fn is_fatal(&self) -> bool {
        !matches!(self.kind, MismatchKind::OtherPrices(_))
    }
}

/// Compares all pairs of series of the same symbol. Pairs with fewer than 30 common closes are skipped.
pub fn series_mismatches(all: &[&CandleSeries]) -> Vec<SeriesMismatch> {
    let finer_than = |coarse: &CandleSeries, fine: &CandleSeries| {
        fine.symbol() == coarse.symbol() && fine.interval() < coarse.interval()
    };
    let pairs = all.iter().flat_map(|coarse| {
        let finer = all.iter().filter(|fine| finer_than(coarse, fine));
        finer.map(|fine| (*fine, *coarse))
    });
    pairs.filter_map(|(fine, coarse)| find_mismatch(fine, coarse)).collect()
}

fn find_mismatch(fine: &CandleSeries, coarse: &CandleSeries) -> Option<SeriesMismatch> {
    let stretches = common_closes(fine, coarse);
    let all: Vec<CommonClose> = stretches.concat();
    if all.len() < MIN_CLOSES {
        return None;
    }
    let broken = stretches.into_iter().filter(|stretch| differing_share(stretch) > MAX_STRETCH_DIFF_SHARE);
    let broken: Vec<CommonClose> = broken.flatten().collect();
    let is_rare = differing_share(&all) <= MAX_DIFFERING_SHARE;
    let suspects = match broken.len() {
        MIN_CLOSES.. => broken,
        _ if is_rare => return None,
        _ => all.clone(),
    };
    let kind = classify_mismatch(&suspects, fine, coarse.interval())?;
    if is_rare && !matches!(kind, MismatchKind::Shifted(_)) {
        return None;
    }
    Some(SeriesMismatch {
        symbol: fine.symbol(),
        fine_interval: fine.interval(),
        coarse_interval: coarse.interval(),
        span: suspects.first()?.moment..suspects.last()?.moment,
        covers_all_closes: suspects.len() == all.len(),
        differing_share: differing_share(&suspects),
        kind,
    })
}

fn classify_mismatch(closes: &[CommonClose], fine: &CandleSeries, coarse: Interval) -> Option<MismatchKind> {
    if let Some(lag) = best_lag(closes, fine, coarse) {
        return Some(MismatchKind::Shifted(lag));
    }
    let differences = || closes.iter().map(|close| (close.fine - close.coarse).abs());
    let tick = coarser_tick(closes);
    let within_tick = differences().filter(|difference| *difference <= tick * (1.0 + 1e-6)).count();
    let size = mean(differences());
    let usual_move = mean(closes.iter().filter_map(|close| close.usual_move));
    if within_tick as f64 >= closes.len() as f64 * (1.0 - MAX_DIFFERING_SHARE)
        || size <= usual_move * NEGLIGIBLE_MOVE_SHARE
    {
        return None;
    }
    Some(if size <= usual_move { MismatchKind::OtherPrices(size) } else { MismatchKind::Unrelated(size) })
}

fn common_closes(fine: &CandleSeries, coarse: &CandleSeries) -> Vec<Vec<CommonClose>> {
    let length = coarse.interval().length();
    let candles = coarse.candles();
    let from = candles.partition_point(|candle| candle.time() + length <= fine.start());
    let until = candles.partition_point(|candle| candle.time() + length <= fine.end());
    let count = until.saturating_sub(from);
    let stretches = count.div_ceil(CANDLES_PER_STRETCH).min(MAX_STRETCHES);
    let mut closes = CloseLookup::new(fine);
    let mut stretch_from = |index: usize| -> Vec<CommonClose> {
        let begin = from + index * count / stretches;
        let end = (begin + CANDLES_PER_STRETCH).min(from + (index + 1) * count / stretches);
        let common = (begin..end).filter_map(|place| {
            let (moment, coarse) = (candles[place].time() + length, candles[place].close());
            let before = place.checked_sub(1).map(|before| candles[before].close());
            let usual_move = before.map(|before| (coarse - before).abs());
            Some(CommonClose { moment, coarse, fine: closes.at(moment)?, usual_move })
        });
        common.collect()
    };
    (0..stretches).map(&mut stretch_from).collect()
}

fn best_lag(suspects: &[CommonClose], fine: &CandleSeries, coarse: Interval) -> Option<Millis> {
    let step = suspects.len().div_ceil(MAX_SEARCHED_CLOSES);
    let searched: Vec<CommonClose> = suspects.iter().copied().step_by(step).collect();
    let mut closes = CloseLookup::new(fine);
    let mut best: Option<(f64, Millis)> = None;
    for lag in candidate_lags(fine.interval().length(), coarse.length()) {
        let difference = |close: &CommonClose| Some(closes.at(close.moment + lag)? - close.coarse);
        let differences: Vec<f64> = searched.iter().filter_map(difference).collect();
        if differences.len() * 2 < searched.len() {
            continue;
        }
        let shifted = mean(deviations(&differences).iter().copied());
        if best.is_none_or(|(least, _)| shifted < least) {
            best = Some((shifted, lag));
        }
    }
    best.map(|(_, lag)| lag).filter(|lag| is_better_fit(suspects, &mut closes, *lag))
}

fn is_better_fit(suspects: &[CommonClose], closes: &mut CloseLookup<'_>, lag: Millis) -> bool {
    let both = suspects
        .iter()
        .filter_map(|close| Some((close.fine - close.coarse, closes.at(close.moment + lag)? - close.coarse)));
    let (unshifted, shifted): (Vec<f64>, Vec<f64>) = both.unzip();
    if shifted.len() < MIN_CLOSES / 2 {
        return false;
    }
    let (unshifted, shifted) = (deviations(&unshifted), deviations(&shifted));
    let gains: Vec<f64> = unshifted.iter().zip(&shifted).map(|(before, after)| before - after).collect();
    let gain = mean(gains.iter().copied());
    let variance = mean(gains.iter().map(|one| (one - gain).powi(2)));
    let standard_error = (variance / gains.len() as f64).sqrt();
    let is_clear = gain > standard_error * MIN_LAG_STANDARD_ERRORS;
    is_clear && mean(shifted.into_iter()) < mean(unshifted.into_iter()) * MAX_LAG_DEVIATION
}

fn candidate_lags(fine: Millis, coarse: Millis) -> impl Iterator<Item = Millis> {
    let near = (coarse.get() * 2 / fine.get()).min(MAX_SHORT_LAGS);
    let clock = (1..=MAX_CLOCK_LAG.get() / CLOCK_LAG_STEP.get()).map(|steps| CLOCK_LAG_STEP * steps);
    let far = clock.filter(move |lag| *lag > fine * near && lag.is_aligned_to(fine));
    (1..=near).map(move |steps| fine * steps).chain(far).flat_map(|lag| [lag, Millis::ZERO - lag])
}

/// Returns the absolute deviations from the median. A constant offset therefore has no effect.
fn deviations(differences: &[f64]) -> Vec<f64> {
    let mut sorted = differences.to_vec();
    let middle = sorted.len() / 2;
    let median = *sorted.select_nth_unstable_by(middle, f64::total_cmp).1;
    differences.iter().map(|difference| (difference - median).abs()).collect()
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0_u32), |(sum, count), number| (sum + number, count + 1));
    sum / f64::from(count.max(1))
}

fn differing_share(closes: &[CommonClose]) -> f64 {
    let differs = |close: &&CommonClose| (close.fine - close.coarse).abs() > close.coarse * PRICE_TOLERANCE;
    closes.iter().filter(differs).count() as f64 / closes.len().max(1) as f64
}

fn coarser_tick(closes: &[CommonClose]) -> f64 {
    let has_decimals = |prices: fn(&CommonClose) -> f64, decimals: i32| {
        let scale = 10_f64.powi(decimals);
        let is_on_step = |close: &CommonClose| {
            let scaled = prices(close) * scale;
            (scaled - scaled.round()).abs() <= scaled * PRICE_TOLERANCE
        };
        closes.iter().all(is_on_step)
    };
    let is_step = |decimals: &i32| {
        has_decimals(|close| close.fine, *decimals) || has_decimals(|close| close.coarse, *decimals)
    };
    (0..=8).find(is_step).map_or(0.0, |decimals| 10_f64.powi(-decimals))
}

impl<'a> CloseLookup<'a> {
    fn new(series: &'a CandleSeries) -> Self {
        Self { candles: series.candles(), interval: series.interval().length(), last: 0 }
    }

    fn at(&mut self, moment: Millis) -> Option<f64> {
        let open = moment - self.interval;
        // Without gaps, the index can be computed from the time.
        let steps = (open - self.candles[self.last].time()).get() / self.interval.get();
        let guess = self.last.checked_add_signed(isize::try_from(steps).ok()?);
        let is_there = |place: &usize| self.candles.get(*place).is_some_and(|candle| candle.time() == open);
        let place = match guess.filter(is_there) {
            Some(place) => place,
            None => self.candles.binary_search_by_key(&open, Candle::time).ok()?,
        };
        self.last = place;
        Some(self.candles[place].close())
    }
}

impl fmt::Display for SeriesMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { symbol, fine_interval: fine, coarse_interval: coarse, .. } = self;
        let (what, mean) = match self.kind {
            MismatchKind::Shifted(lag) => {
                let (side, amount) = if lag < Millis::ZERO {
                    ("ahead of", describe_lag(Millis::ZERO - lag))
                } else {
                    ("behind", describe_lag(lag))
                };
                return write!(
                    f,
                    "{symbol} {fine} runs {amount} {side} {coarse}: the series match if shifted by {amount}"
                );
            }
            MismatchKind::OtherPrices(mean) => (format!("has different prices from {coarse}"), mean),
            MismatchKind::Unrelated(mean) => (format!("does not fit {coarse} at any lag"), mean),
        };
        let (percent, mean) = ((self.differing_share * 100.0).round(), round_to_two_digits(mean));
        write!(f, "{symbol} {fine} {what}: {percent} % of the closes differ, by {mean} on average")
    }
}

fn describe_lag(lag: Millis) -> String {
    let units = [(Millis::DAY, "d"), (Millis::HOUR, "h"), (Millis::MINUTE, "min")];
    let unit = units.into_iter().find(|(unit, _)| lag.is_aligned_to(*unit));
    let (unit, name) = unit.unwrap_or((Millis::from_seconds(1), "s"));
    format!("{} {name}", lag.get() / unit.get())
}

fn round_to_two_digits(number: f64) -> String {
    format!("{number:.1e}").parse::<f64>().unwrap_or(number).to_string()
}

#[cfg(test)]
mod tests;

//! Difference between our clock and the venue's clock, estimated from the venue's answers.
//! Every answer gives a [`ClockSample`] with bounds on the venue's lead. Faster answers give narrower bounds.
//! [`find_majority`] finds the difference on which most recent samples agree. Contradicting samples are ignored.
//! If the newest samples contradict all earlier ones, a clock was changed, and the earlier samples are dropped.

use candlewick_broker::{ClockSkew, PriceAnswer, Reply, TradeReport};
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const MIN_REPORTED_CHANGE: Millis = Millis::new(250);
const MAX_SAMPLES: usize = 16;
const MAX_SAMPLE_AGE: Millis = Millis::from_seconds(600);
/// Clock drift widens the bounds by 1 ms per this many ms. This is twice the drift of a cheap quartz clock.
const DRIFT_DIVISOR: i64 = 5_000;
const MIN_JUMP_SAMPLES: usize = 2;

#[derive(Debug, Default)]
pub(crate) struct SkewWatch {
    samples: VecDeque<TimedSample>,
    reported: Millis,
    estimate: Option<ClockEstimate>,
    outvoted: u64,
    pub(crate) jumps: JumpLog,
}

/// Describes how far this machine's clock is ahead or behind. `offset` is our time minus the venue's time. `limit` is
/// `risk.max_clock_skew_ms`, or `None` if this limit is unknown or disabled.
pub fn describe_skew(offset: Millis, limit: Option<Millis>) -> String {
    let seconds = |span: Millis| format!("{:.1} s", span.get() as f64 / 1_000.0);
    let side = match offset.get() {
        0 => return "this machine's clock agrees with the venue's again".to_owned(),
        ..0 => "behind",
        1.. => "ahead of",
    };
    let by = seconds(offset.abs_diff(Millis::ZERO));
    let limit = limit.map(|limit| format!(" (limit for trading: {})", seconds(limit))).unwrap_or_default();
    format!("this machine's clock is {by} {side} the venue's{limit}")
}

#[derive(Clone, Copy, Debug)]
struct TimedSample {
    at: Millis,
    sample: ClockSample,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SkewChange {
    /// Proven clock difference: our time minus the venue's time. `None` if it has changed too little to report.
    pub(crate) offset: Option<Millis>,
    pub(crate) jump: Option<Millis>,
}

impl SkewWatch {
    pub(crate) fn add_sample(&mut self, sample: ClockSample, now: Millis) -> SkewChange {
        if sample.bounds.low > sample.bounds.high {
            // Our clock was set back during the request, so the sample is useless.
            return SkewChange::default();
        }
        self.prune_samples(sample.source, now);
        self.samples.push_back(TimedSample { at: now, sample });
        let jumped = self.find_jump(now);
        self.estimate = self.find_estimate(now);
        let is_outvoted = self.estimate.is_some_and(|found| !found.allows(sample.bounds));
        self.outvoted += u64::from(is_outvoted);
        SkewChange { offset: self.offset_to_report(), jump: jumped }
    }

    pub(crate) fn estimate(&self) -> Option<ClockEstimate> {
        self.estimate.map(|estimate| ClockEstimate { outvoted: self.outvoted, ..estimate })
    }

    /// Returns the maximum error of our clock. `None` if it is unknown or unbounded in one direction.
    pub(crate) fn uncertainty(&self) -> Option<Millis> {
        let ClockEstimate { low, high, .. } = self.estimate?;
        Some(high?.abs_diff(Millis::ZERO).max(low.abs_diff(Millis::ZERO)))
    }

    pub(crate) fn on_local_clock_moved(&mut self, by: Millis, now: Millis) -> SkewChange {
        for dated in &mut self.samples {
            let ClockSkew { low, high } = dated.sample.bounds;
            let high = if high == Millis::MAX { high } else { high - by };
            dated.sample.bounds = ClockSkew { low: low - by, high };
            dated.at += by;
        }
        self.estimate = self.find_estimate(now);
        SkewChange { offset: self.offset_to_report(), jump: None }
    }

    fn offset_to_report(&mut self) -> Option<Millis> {
        let bounds = self.effective_bounds()?;
        let known = Millis::ZERO - self.reported;
        if bounds.low <= known && known <= bounds.high {
            return None;
        }
        let offset = Millis::ZERO - bounds.min_abs_skew();
        let is_worthwhile = offset.abs_diff(self.reported) >= MIN_REPORTED_CHANGE || offset == Millis::ZERO;
        if is_worthwhile {
            self.reported = offset;
        }
        is_worthwhile.then_some(offset)
    }

    /// Returns the bounds on which the samples agree, or those of the newest `Date` header if it proves a larger skew.
    fn effective_bounds(&self) -> Option<ClockSkew> {
        let ClockEstimate { low, high, .. } = self.estimate?;
        let agreed = ClockSkew { low, high: high.unwrap_or(Millis::MAX) };
        let newest = self.samples.back().map(|dated| dated.sample);
        let header = newest.filter(|newest| newest.source == ClockSource::Date).map(|newest| newest.bounds);
        let distance = |bounds: &ClockSkew| bounds.min_abs_skew().abs_diff(Millis::ZERO);
        Some(header.filter(|header| distance(header) > distance(&agreed)).unwrap_or(agreed))
    }

    fn find_estimate(&self, now: Millis) -> Option<ClockEstimate> {
        find_majority(self.samples.iter().map(|dated| dated.bounds_at(now)))
    }

    fn find_jump(&mut self, now: Millis) -> Option<Millis> {
        let earlier = self.samples.len().checked_sub(MIN_JUMP_SAMPLES).filter(|earlier| *earlier > 0)?;
        let bounds = |samples: std::ops::Range<usize>| {
            self.samples.range(samples).map(move |dated| dated.bounds_at(now))
        };
        let newest = bounds(earlier..self.samples.len());
        let after = find_majority(newest.clone()).filter(|after| after.agreeing == MIN_JUMP_SAMPLES)?;
        let before = find_majority(bounds(0..earlier))?;
        let is_jump = newest.into_iter().all(|bounds| !before.allows(bounds));
        if !is_jump {
            return None;
        }
        self.samples.drain(..earlier);
        Some(after.middle() - before.middle())
    }

    fn prune_samples(&mut self, source: ClockSource, now: Millis) {
        self.samples.retain(|dated| now - dated.at <= MAX_SAMPLE_AGE);
        let has_source = |dated: &TimedSample| dated.sample.source == source;
        if self.samples.iter().filter(|dated| has_source(dated)).count() >= MAX_SAMPLES
            && let Some(oldest) = self.samples.iter().position(has_source)
        {
            self.samples.remove(oldest);
        }
    }
}

impl TimedSample {
    fn bounds_at(&self, now: Millis) -> ClockSkew {
        let drift = Millis::new((now - self.at).get().max(0) / DRIFT_DIVISOR);
        let ClockSkew { low, high } = self.sample.bounds;
        ClockSkew { low: low - drift, high: if high == Millis::MAX { high } else { high + drift } }
    }
}

/// Venue time minus our time, in ms. Negative if the venue's clock is behind ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockEstimate {
    #[serde(rename = "low_ms")]
    pub low: Millis,
    #[serde(rename = "high_ms")]
    pub high: Option<Millis>,
    pub agreeing: usize,
    pub outvoted: u64,
}

impl ClockEstimate {
    pub(crate) fn allows(&self, bounds: ClockSkew) -> bool {
        bounds.low <= self.high.unwrap_or(Millis::MAX) && self.low <= bounds.high
    }

    pub(crate) fn middle(&self) -> Millis {
        self.high.map_or(self.low, |high| Millis::new(i64::midpoint(self.low.get(), high.get())))
    }
}

/// Returns the bounds on which most samples agree. Equally good bounds are merged into one range.
/// The algorithm is Marzullo's ("Maintaining the Time in a Distributed System", 1984), which NTP also uses.
pub(super) fn find_majority(
    bounds: impl ExactSizeIterator<Item = ClockSkew> + Clone,
) -> Option<ClockEstimate> {
    let count = bounds.len();
    if count == 0 {
        return None;
    }
    // Usually all bounds overlap, and this check is fast.
    let common = bounds.clone().reduce(|a, b| ClockSkew { low: a.low.max(b.low), high: a.high.min(b.high) });
    if let Some(ClockSkew { low, high }) = common.filter(|common| common.low <= common.high) {
        let high = (high != Millis::MAX).then_some(high);
        return Some(ClockEstimate { low, high, agreeing: count, outvoted: 0 });
    }
    let mut edges: Vec<(Millis, BoundEdge)> =
        bounds.flat_map(|skew| [(skew.low, BoundEdge::Begins), (skew.high, BoundEdge::Ends)]).collect();
    // Starts are sorted before ends, so that bounds which only touch agree.
    edges.sort_unstable();
    let (mut depth, mut best) = (0, 0);
    let mut found: Option<(Millis, Millis)> = None;
    for (place, (at, edge)) in edges.iter().enumerate() {
        match edge {
            BoundEdge::Ends => depth -= 1,
            BoundEdge::Begins => {
                depth += 1;
                let end = edges.get(place + 1).map_or(*at, |(next, _)| *next);
                if depth > best {
                    best = depth;
                    found = Some((*at, end));
                } else if depth == best {
                    found = found.map(|(low, _)| (low, end));
                }
            }
        }
    }
    let (low, high) = found?;
    let high = (high != Millis::MAX).then_some(high);
    Some(ClockEstimate { low, high, agreeing: best, outvoted: 0 })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum BoundEdge {
    Begins,
    Ends,
}

const MAX_RECORDING_LEAD: Millis = Millis::HOUR;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockSource {
    /// `Date` header of an answer, in whole seconds. The venue creates the header during the request.
    Date,
    /// Request time of a trade. The venue records this time during the open request.
    Open,
    /// Time of a price record. This time cannot be later than the venue's current time.
    PriceRecord,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockSample {
    pub(crate) source: ClockSource,
    bounds: ClockSkew,
}

impl ClockSample {
    pub(crate) fn from_date<T>(reply: &Reply<T>) -> Option<Self> {
        reply.skew().map(|bounds| Self { source: ClockSource::Date, bounds })
    }

    pub(crate) fn from_open(reply: &Reply<Box<TradeReport>>) -> Option<Self> {
        let taken = reply.value.request_time?;
        let bounds = ClockSkew { low: taken - reply.received, high: taken - reply.sent };
        Some(Self { source: ClockSource::Open, bounds })
    }

    /// Builds a sample from a price answer: the venue's clock cannot be earlier than the times in the price record.
    /// Returns `None` if the record is later than the requested time. Ignores an implausible creation time.
    pub(crate) fn from_price(reply: &Reply<PriceAnswer>, asked: Millis) -> Option<Self> {
        let record = reply.value.record().filter(|record| record.time <= asked)?;
        let recorded = record.created_time.filter(|at| *at <= reply.received + MAX_RECORDING_LEAD);
        let recorded = recorded.unwrap_or(record.time).max(record.time);
        let bounds = ClockSkew { low: recorded - reply.received, high: Millis::MAX };
        Some(Self { source: ClockSource::PriceRecord, bounds })
    }
}

const REPORT_INTERVAL: Millis = Millis::from_seconds(600);

#[derive(Debug, Default)]
pub(super) struct JumpLog {
    reported: Option<Millis>,
    omitted: u32,
    largest: Millis,
}

impl JumpLog {
    pub(super) fn report_jump(&mut self, by: Millis, now: Millis) -> Option<String> {
        if self.reported.is_some_and(|reported| now - reported < REPORT_INTERVAL) {
            self.omitted += 1;
            self.largest = self.largest.max(by.abs_diff(Millis::ZERO));
            return None;
        }
        let Self { omitted, largest, .. } =
            std::mem::replace(self, Self { reported: Some(now), ..Self::default() });
        let earlier = match omitted {
            0 => String::new(),
            1 => format!("; 1 more jump since the last report, {largest} ms"),
            more => format!("; {more} more jumps since the last report, up to {largest} ms"),
        };
        Some(format!("the venue's clock jumped by {by} ms relative to this machine's{earlier}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_broker::PriceRecord;
    use candlewick_sdk::Ohlcv;
    use proptest::prelude::*;

    #[test]
    fn ignores_answers_received_before_their_request() {
        let (watch, change) =
            watched(&[says(ClockSource::Date, -100, 100), says(ClockSource::Date, 500, -500)]);
        assert_eq!(change, SkewChange::default());
        let estimate = watch.estimate().unwrap();
        assert_eq!((estimate.low.get(), estimate.high.map(Millis::get)), (-100, Some(100)));
    }

    fn says(source: ClockSource, low: i64, high: i64) -> ClockSample {
        ClockSample { source, bounds: ClockSkew { low: Millis::new(low), high: Millis::new(high) } }
    }

    fn watched(samples: &[ClockSample]) -> (SkewWatch, SkewChange) {
        let mut watch = SkewWatch::default();
        let mut change = SkewChange::default();
        for (second, sample) in samples.iter().enumerate() {
            change = watch.add_sample(*sample, Millis::from_seconds(second as i64));
        }
        (watch, change)
    }

    #[test]
    fn reports_only_certain_and_changed_skew() {
        let mut watch = SkewWatch::default();
        let mut take = |low, high| watch.add_sample(says(ClockSource::Date, low, high), Millis::ZERO).offset;
        assert_eq!(take(-300, 900), None);
        assert_eq!(take(-400, 800), None, "they may agree");
        let (mut watch, change) = watched(&[says(ClockSource::Date, 3_000, 4_000)]);
        assert_eq!(change.offset, Some(Millis::new(-3_000)));
        let change = watch.add_sample(says(ClockSource::Date, 3_100, 4_000), Millis::SECOND);
        assert_eq!(change.offset, None);
        let change = watch.add_sample(says(ClockSource::Date, -1_000, 9_000), Millis::SECOND);
        assert_eq!(change.offset, None, "nothing speaks against 3,000");
    }

    #[test]
    fn sources_narrow_the_skew_and_outliers_are_outvoted() {
        let (watch, _) = watched(&[
            says(ClockSource::Date, -300, 899),
            says(ClockSource::Date, 100, 1_299),
            says(ClockSource::Open, 150, 190),
            says(ClockSource::PriceRecord, -1_200, i64::MAX),
            says(ClockSource::Open, 2_150, 2_190),
        ]);
        let estimate = watch.estimate().unwrap();
        assert_eq!((estimate.low.get(), estimate.high.map(Millis::get)), (150, Some(190)));
        assert_eq!((estimate.agreeing, estimate.outvoted), (4, 1));
        assert_eq!(watch.uncertainty(), Some(Millis::new(190)));
    }

    #[test]
    fn clock_jump_takes_effect_at_once_and_is_confirmed_by_a_second_answer() {
        for jump in [60_000, -60_000] {
            let calm = says(ClockSource::Date, -100, 900);
            let jumped = says(ClockSource::Date, jump - 100, jump + 900);
            let (mut watch, change) = watched(&[calm, calm, calm, calm, jumped]);
            let certain = if jump > 0 { jump - 100 } else { jump + 900 };
            assert_eq!(change, SkewChange { offset: Some(Millis::new(-certain)), jump: None });
            assert_eq!(watch.add_sample(calm, Millis::from_seconds(5)).offset, Some(Millis::ZERO));
            let (mut watch, _) = watched(&[calm, calm, calm, calm, jumped]);
            let change = watch.add_sample(jumped, Millis::from_seconds(5));
            assert_eq!(change, SkewChange { offset: None, jump: Some(Millis::new(jump)) });
            if jump > 0 {
                // Our clock had stopped, and now continues with the correct time.
                let change = watch.on_local_clock_moved(Millis::new(jump), Millis::from_seconds(6 + 60));
                assert_eq!(change, SkewChange { offset: Some(Millis::ZERO), jump: None });
            }
        }
    }

    proptest! {
        /// The bounds contain the true offset for any duration, and whenever the venue reads its clock.
        #[test]
        fn estimate_contains_the_true_skew(
            truth in -100_000_i64..100_000,
            requests in prop::collection::vec((0_i64..3_000, 0.0_f64..1.0, 0..3_u8, 0_i64..5_000), 1..60),
        ) {
            let mut watch = SkewWatch::default();
            let mut sent = 1_795_000_000_000_i64;
            for (takes, share, kind, pause) in requests {
                let received = sent + takes;
                let venue = sent + (takes as f64 * share) as i64 + truth;
                let (source, low, high) = match kind {
                    0 => {
                        let date = venue.div_euclid(1_000) * 1_000;
                        (ClockSource::Date, date - received, date + 999 - sent)
                    }
                    1 => (ClockSource::Open, venue - received, venue - sent),
                    _ => (ClockSource::PriceRecord, venue - pause - received, i64::MAX),
                };
                let change = watch.add_sample(says(source, low, high), Millis::new(received));
                prop_assert_eq!(change.jump, None);
                let estimate = watch.estimate().unwrap();
                prop_assert!(estimate.low.get() <= truth, "{:?}", estimate);
                prop_assert!(estimate.high.is_none_or(|high| truth <= high.get()), "{:?}", estimate);
                prop_assert_eq!(estimate.outvoted, 0);
                sent = received + pause;
            }
        }
    }

    #[test]
    fn describes_skew_with_its_side() {
        let describe = |offset| describe_skew(Millis::new(offset), Some(Millis::new(2_000)));
        assert!(describe(-994).contains("1.0 s behind") && describe(1_500).contains("1.5 s ahead"));
        assert!(describe(0).contains("agrees"));
    }

    fn check_agreement(bounds: &[(i64, i64)], expected: Option<(i64, Option<i64>, usize)>) {
        let skews = bounds.iter().map(|(low, high)| says(ClockSource::Date, *low, *high).bounds);
        let found = find_majority(skews).map(|one| (one.low.get(), one.high.map(Millis::get), one.agreeing));
        assert_eq!(found, expected, "{bounds:?}");
    }

    #[test]
    fn bounds_follow_the_majority() {
        check_agreement(&[], None);
        check_agreement(&[(1, 5)], Some((1, Some(5), 1)));
        // This is the usual example of the algorithm: of 8 to 12, 11 to 13 and 14 to 15, most agree on 11 to 12.
        check_agreement(&[(8, 12), (11, 13), (14, 15)], Some((11, Some(12), 2)));
        check_agreement(&[(8, 9), (8, 12), (10, 12)], Some((8, Some(12), 2)));
        check_agreement(&[(1, 3), (3, 5)], Some((3, Some(3), 2)));
        check_agreement(&[(0, 1), (5, 6)], Some((0, Some(6), 1)));
        check_agreement(&[(0, i64::MAX), (5, i64::MAX)], Some((5, None, 2)));
        check_agreement(&[(0, 10), (2, 8), (4, 6), (20, 30)], Some((4, Some(6), 3)));
    }

    /// Checks the venue's minimum lead, derived from a price that was requested and received at noon.
    fn check_price(time: Millis, recorded_time: Option<Millis>, expected: Option<Millis>) {
        let noon = Millis::HOUR * 12;
        let prices = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let (time, recorded_time) = (noon + time, recorded_time.map(|at| noon + at));
        let reply = Reply::without_latency(
            PriceAnswer::Record(PriceRecord { time, prices, created_time: recorded_time }),
            noon,
        );
        let sample = ClockSample::from_price(&reply, noon);
        let bounds = expected.map(|low| ClockSkew { low, high: Millis::MAX });
        assert_eq!(sample.map(|sample| sample.bounds), bounds, "{time} {recorded_time:?}");
    }

    #[test]
    fn ignores_price_records_later_than_requested() {
        let second = Millis::SECOND;
        check_price(Millis::ZERO, None, Some(Millis::ZERO));
        check_price(Millis::new(-1_000), None, Some(Millis::new(-1_000)));
        check_price(Millis::new(-1_000), Some(second * 3), Some(second * 3));
        check_price(second, None, None);
        check_price(Millis::HOUR, Some(second), None);
        check_price(Millis::new(-1_000), Some(Millis::HOUR * 2), Some(Millis::new(-1_000)));
    }

    #[test]
    fn condenses_frequent_clock_jumps() {
        let mut log = JumpLog::default();
        let mut jump = |second: i64, by: i64| log.report_jump(Millis::new(by), Millis::from_seconds(second));
        let first = jump(0, 1_373);
        assert!(first.as_ref().is_some_and(|text| text.contains("1373 ms")), "{first:?}");
        assert_eq!([jump(5, -2_000), jump(599, 900)], [None, None]);
        let others = jump(600, 1_373);
        assert!(others.is_some_and(|text| text.contains("2 more jumps") && text.ends_with("2000 ms")));
        assert_eq!(jump(1_200, 1_373), first);
    }
}

use super::*;
use crate::coordinator::warm_up::WarmUp;
use std::ops::Range;

struct Longer([Interval; 1]);

impl Strategy for Longer {
    fn warmup(&self) -> usize {
        19
    }

    fn on_candle(&mut self, _candle: &Candle) -> Option<Signal> {
        None
    }

    fn longer_intervals(&self) -> &[Interval] {
        &self.0
    }
}

/// Returns the candles in these minutes before `START`, except those that `is_missing` excludes.
fn before(minutes: Range<i64>, is_missing: impl Fn(i64) -> bool) -> Candles {
    let closes = minutes.rev().filter(|at| !is_missing(*at)).map(|at| START - Millis::MINUTE * at);
    Candles { candles: closes.map(candle).collect(), ..Candles::default() }
}

/// Returns how many candles strategies saw, and how many answers came. Each window is three times the last one.
fn shown(is_missing: impl Fn(i64) -> bool) -> (usize, usize) {
    let session = delayed_session(RiskSettings::default(), Box::new(Longer(["5m".parse().unwrap()])), 0);
    let mut warm_up = WarmUp::new(&session, &RuntimeSettings::default(), START);
    let mut window = 19;
    for answers in 1..10 {
        match warm_up.on_candles(before(0..window, &is_missing), &session) {
            None => window *= 3,
            Some(warmed) => return (warmed.candles.len(), answers),
        }
    }
    panic!("no end")
}

#[test]
fn start_requests_enough_candles_despite_gaps() {
    // START is a multiple of 5 minutes, so the longer candles before it end 0, 5, 10 and so on minutes earlier.
    assert_eq!(START.floor_to(Millis::MINUTE * 5), START);
    assert_eq!(shown(|_| false), (19, 1));
    // The second longer candle before the start is incomplete. The other three are shown: 20 minutes minus one.
    assert_eq!(shown(|minute| minute == 7), (19, 2));
    assert_eq!(shown(|minute| minute == 7 || minute == 16), (23, 2));
    assert_eq!(shown(|minute| minute % 5 == 2), (410, 4));
    assert_eq!(shown(|minute| minute < 38).1, 2);
}

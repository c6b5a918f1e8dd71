//! Compact record of a trial's wins and losses over time.

use candlewick_engine::{IntentRow, IntentState};
use candlewick_sdk::{Millis, Outcome};
use serde::{Deserialize, Serialize, Serializer};
use std::ops::Range;

pub const TIMELINE_PARTS: usize = 120;

/// Numbers of won and lost trades in each of [`TIMELINE_PARTS`] equal parts of a trial, by settlement time.
/// The counts are packed, because 10,000 timelines are in memory at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "TimelineJson")]
pub struct Timeline {
    longest_parts: u32,
    /// Header and counts. The header has the number of counts (1 byte), the bits per count (1 byte) and the smallest
    /// count (4 bytes). Won and lost counts alternate. Each is stored as its difference from the smallest count, with
    /// the lowest bits first. Trailing zeros are omitted.
    packed: Box<[u8]>,
}

const HEADER_BYTES: usize = 6;

#[derive(Serialize, Deserialize)]
struct TimelineJson {
    longest_parts: u32,
    parts: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct TimelineBuilder {
    start: Millis,
    length: Millis,
    part: usize,
    next: Millis,
    counts: [[u32; 2]; TIMELINE_PARTS],
    longest: Millis,
}

impl Timeline {
    pub(crate) fn from_rows<'a>(rows: impl IntoIterator<Item = &'a IntentRow>, span: &Range<Millis>) -> Self {
        let settled = rows.into_iter().filter(|row| row.state == IntentState::Settled);
        let mut settled: Vec<(Millis, Millis, Outcome)> = settled
            .filter_map(|row| Some((row.settled_at?, row.approved.decision_time(), row.outcome?)))
            .collect();
        settled.sort_by_key(|(known, ..)| *known);
        let mut timeline = TimelineBuilder::new(span);
        for (known, decided, outcome) in settled {
            timeline.count_trade(decided, known, outcome);
        }
        timeline.into_timeline()
    }

    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// Returns the longest time from decision to settlement, in timeline parts, rounded up.
    pub const fn longest_trade_parts(&self) -> usize {
        self.longest_parts as usize
    }

    pub fn parts(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..TIMELINE_PARTS).map(|part| (self.nth_count(2 * part), self.nth_count(2 * part + 1)))
    }

    fn nth_count(&self, place: usize) -> u32 {
        let Some(([count, width, least @ ..], bits)) = self.packed.split_first_chunk::<HEADER_BYTES>() else {
            return 0;
        };
        if place >= usize::from(*count) {
            return 0;
        }
        let first = place * usize::from(*width);
        let bytes = bits.get(first / 8..).unwrap_or_default();
        let word = match bytes.first_chunk() {
            Some(eight) => u64::from_le_bytes(*eight),
            // A count of up to 32 bits that starts anywhere in a byte ends in the fifth byte at the latest.
            None => bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        let above = word >> (first % 8) & ((1 << *width) - 1);
        u32::from_le_bytes(*least).wrapping_add(above as u32)
    }

    fn pack(longest_parts: u32, counts: &[u32]) -> Self {
        let counts = &counts[..counts.len().min(2 * TIMELINE_PARTS)];
        let counts = &counts[..counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1)];
        let (Some(least), Some(most)) = (counts.iter().min().copied(), counts.iter().max()) else {
            return Self { longest_parts, packed: Box::default() };
        };
        let width = (u32::BITS - (most - least).leading_zeros()) as usize;
        let mut packed = vec![0; HEADER_BYTES + (counts.len() * width).div_ceil(8)].into_boxed_slice();
        let (header, bits) = packed.split_at_mut(HEADER_BYTES);
        (header[0], header[1]) = (counts.len() as u8, width as u8);
        header[2..].copy_from_slice(&least.to_le_bytes());
        for (place, count) in counts.iter().enumerate() {
            let first = place * width;
            let above = u64::from(count - least) << (first % 8);
            let bytes = bits[first / 8..].iter_mut().zip(above.to_le_bytes());
            bytes.for_each(|(byte, more)| *byte |= more);
        }
        Self { longest_parts, packed }
    }
}

impl From<TimelineJson> for Timeline {
    fn from(written: TimelineJson) -> Self {
        Self::pack(written.longest_parts, &written.parts)
    }
}

impl Serialize for Timeline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Counts after this number are zero and are omitted.
        let counts = self.packed.first().copied().map_or(0, usize::from);
        let parts = (0..counts).map(|place| self.nth_count(place)).collect();
        TimelineJson { longest_parts: self.longest_parts, parts }.serialize(serializer)
    }
}

impl TimelineBuilder {
    pub(crate) fn new(span: &Range<Millis>) -> Self {
        let length = (span.end - span.start).max(Millis::new(1));
        let mut timeline = Self {
            start: span.start,
            length,
            part: 0,
            next: span.start,
            counts: [[0; 2]; TIMELINE_PARTS],
            longest: Millis::ZERO,
        };
        timeline.next = timeline.part_start(1);
        timeline
    }

    /// Counts a trade. Calls must be in the order of `known`, the time when the settlement became known.
    #[inline]
    pub(crate) fn count_trade(&mut self, decided: Millis, known: Millis, outcome: Outcome) {
        while known >= self.next {
            self.part += 1;
            self.next = self.part_start(self.part + 1);
        }
        self.longest = self.longest.max(known - decided);
        // The counters are updated without a branch, because outcomes are unpredictable.
        let [won, lost] = &mut self.counts[self.part];
        *won += u32::from(outcome == Outcome::Won);
        *lost += u32::from(outcome == Outcome::Lost);
    }

    pub(crate) fn into_timeline(self) -> Timeline {
        let part = (self.length.get() / TIMELINE_PARTS as i64).max(1);
        let longest = (self.longest.get() + part - 1) / part;
        Timeline::pack(u32::try_from(longest).unwrap_or(u32::MAX), self.counts.as_flattened())
    }

    /// Returns the start of a part. The last part never ends, so trades that settle after the last candle count too.
    fn part_start(&self, part: usize) -> Millis {
        if part >= TIMELINE_PARTS {
            return Millis::MAX;
        }
        // The product cannot overflow, because there are few parts.
        self.start + Millis::new(self.length.get() * part as i64 / TIMELINE_PARTS as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a two-hour timeline from (minute of decision, minute of settlement, outcome). A part is one minute.
    fn timeline(trades: &[(i64, i64, Outcome)]) -> Timeline {
        let mut timeline = TimelineBuilder::new(&(Millis::HOUR..Millis::HOUR * 3));
        for (decided, known, outcome) in trades {
            let at = |minute: i64| Millis::HOUR + Millis::MINUTE * minute;
            timeline.count_trade(at(*decided), at(*known), *outcome);
        }
        timeline.into_timeline()
    }

    #[test]
    fn trade_counts_in_the_part_of_its_settlement() {
        let found = timeline(&[
            (0, 0, Outcome::Won),
            (0, 1, Outcome::Lost),
            (1, 1, Outcome::Won),
            (1, 5, Outcome::Draw),
            (5, 5, Outcome::Cancelled),
            (3, 118, Outcome::Lost),
            (119, 119, Outcome::Won),
            // This settlement becomes known after the last candle.
            (119, 130, Outcome::Lost),
        ]);
        let parts: Vec<_> = found.parts().enumerate().filter(|(_, counts)| *counts != (0, 0)).collect();
        assert_eq!(parts, [(0, (1, 0)), (1, (1, 1)), (118, (0, 1)), (119, (1, 1))]);
        assert_eq!(found.longest_trade_parts(), 115);
    }

    #[test]
    fn packs_counts_by_their_distance_from_the_minimum() {
        for (least, width, bytes) in [(0, 0, 0), (7, 0, 0), (1, 1, 30), (100, 6, 180), (1_000, 9, 270)] {
            let count = |place: u32| least + place.wrapping_mul(2_654_435_761) % (1 << width);
            let timeline = Timeline::pack(1, &(0..240).map(count).collect::<Vec<_>>());
            let expected: Vec<_> = (0..120).map(|part| (count(2 * part), count(2 * part + 1))).collect();
            assert_eq!(timeline.parts().collect::<Vec<_>>(), expected);
            assert_eq!(timeline.packed.len(), if least == 0 { 0 } else { HEADER_BYTES + bytes });
            assert_eq!(timeline.is_empty(), least == 0);
        }
    }

    #[test]
    fn counts_of_any_size_round_trip() {
        let counts = [0, 1, 127, 128, 16_383, 16_384, u32::MAX, 0, 3];
        let timeline = Timeline::pack(2, &[&counts[..], &[0; 231]].concat());
        assert_eq!(timeline.packed.len(), HEADER_BYTES + 9 * 4);
        let numbers: Vec<u32> = timeline.parts().flat_map(|(won, lost)| [won, lost]).collect();
        assert_eq!((&numbers[..9], numbers.len()), (&counts[..], 2 * TIMELINE_PARTS));
        let text = serde_json::to_string(&timeline).unwrap();
        assert_eq!(text, r#"{"longest_parts":2,"parts":[0,1,127,128,16383,16384,4294967295,0,3]}"#);
        assert_eq!(serde_json::from_str::<Timeline>(&text).unwrap(), timeline);
        assert_eq!(super::Timeline::default().parts().filter(|counts| *counts == (0, 0)).count(), 120);
    }
}

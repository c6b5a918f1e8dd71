//! A part of a sweep that runs independently, on this or another machine.

use crate::SearchError;
use std::ops::Range;

/// One part of a sweep, made of consecutive sets because these share the most work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    of: u64,
}

impl Shard {
    /// Returns the shard with this 1-based number.
    pub fn new(number: u64, of: u64) -> Result<Self, SearchError> {
        if (1..=of).contains(&number) {
            return Ok(Self { number, of });
        }
        Err(SearchError::InvalidSearch {
            problem: format!("there is no shard {number} of {of}: use 1 to {of}"),
        })
    }

    pub const fn number(self) -> u64 {
        self.number
    }

    pub fn trials(self, sets: u64) -> Range<u64> {
        let begin = |number: u64| (u128::from(number) * u128::from(sets) / u128::from(self.of)) as u64;
        begin(self.number - 1)..begin(self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trial_is_in_one_shard_and_none_is_much_larger() {
        for (sets, of) in [(10, 3), (9, 3), (2, 5), (0, 1), (u64::MAX, 4)] {
            let shards: Vec<Range<u64>> =
                (1..=of).map(|number| Shard::new(number, of).unwrap().trials(sets)).collect();
            assert_eq!((shards[0].start, shards[shards.len() - 1].end), (0, sets));
            assert!(shards.windows(2).all(|pair| pair[0].end == pair[1].start), "{shards:?}");
            let lengths = || shards.iter().map(|shard| shard.end - shard.start);
            assert!(lengths().max().unwrap() - lengths().min().unwrap() <= 1, "{shards:?}");
        }
    }

    #[test]
    fn a_shard_that_is_none_is_refused() {
        for (number, of) in [(0, 3), (4, 3), (1, 0)] {
            assert!(Shard::new(number, of).is_err(), "{number} of {of}");
        }
    }
}

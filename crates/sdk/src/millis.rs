//! Timestamps (UTC) and durations in whole milliseconds.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// A timestamp or a duration, in milliseconds. Timestamps count from the Unix epoch (UTC).
/// Arithmetic saturates, so an invalid timestamp from another program never causes a panic.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Pod, Zeroable,
)]
#[serde(transparent)]
#[repr(transparent)]
pub struct Millis(i64);

impl Millis {
    /// The Unix epoch, or a duration of zero.
    pub const ZERO: Self = Self(0);
    /// Latest possible timestamp, or longest possible duration.
    pub const MAX: Self = Self(i64::MAX);
    /// One second.
    pub const SECOND: Self = Self(1_000);
    /// One minute.
    pub const MINUTE: Self = Self(60_000);
    /// One hour.
    pub const HOUR: Self = Self(3_600_000);
    /// 24 hours.
    pub const DAY: Self = Self(86_400_000);

    /// Creates a timestamp or duration from milliseconds.
    pub const fn new(milliseconds: i64) -> Self {
        Self(milliseconds)
    }

    /// Creates a timestamp or duration from whole seconds.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000))
    }

    /// Returns the number of milliseconds.
    #[inline]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Rounds down to a multiple of `step`, counted from the epoch. A `step` below 1 ms counts as 1 ms.
    #[inline]
    #[must_use]
    pub const fn floor_to(self, step: Self) -> Self {
        let step = if step.0 < 1 { 1 } else { step.0 };
        Self(self.0.saturating_sub(self.0.rem_euclid(step)))
    }

    /// Returns whether the time is a multiple of `step`, counted from the epoch.
    #[inline]
    pub const fn is_aligned_to(self, step: Self) -> bool {
        step.0 > 0 && self.0.rem_euclid(step.0) == 0
    }

    /// Returns the absolute difference between two times.
    #[inline]
    #[must_use]
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0).saturating_abs())
    }
}

impl Add for Millis {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Millis {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Millis {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Mul<i64> for Millis {
    type Output = Self;
    #[inline]
    fn mul(self, factor: i64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_is_aligned_to_the_epoch_on_both_sides_of_it() {
        for (at, step, expected) in [(61_999, 1_000, 61_000), (60_000, 60_000, 60_000), (-1, 1_000, -1_000)] {
            assert_eq!(Millis::new(at).floor_to(Millis::new(step)), Millis::new(expected));
        }
    }
}

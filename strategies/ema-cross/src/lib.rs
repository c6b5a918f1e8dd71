//! Follows the crossing of a fast and a slow exponential moving average.

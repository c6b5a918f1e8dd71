//! Indicators that know when they are warm.

//! Typed async client of the two HTTP APIs, the Venue port, and the clock.

pub mod clock;

//! Candles at rest: files, checks, generation.

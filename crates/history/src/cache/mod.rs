//! Candles as they lie in memory, in a file: opened without being read.

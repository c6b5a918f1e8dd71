//! Trades a list of signals from a CSV file.

//! Buys when Wilder's RSI closes oversold and sells when it closes overbought.

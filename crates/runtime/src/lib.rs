//! Runs a Session live: polls candles and prices, sends opens, tracks results.

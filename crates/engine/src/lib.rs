//! The deterministic Session: event in, actions out.

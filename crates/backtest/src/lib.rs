//! Replays stored candles through the engine and the simulator.

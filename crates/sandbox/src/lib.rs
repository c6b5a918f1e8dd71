//! The two HTTP APIs served over the simulator, with a fault switchboard.

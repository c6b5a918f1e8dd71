//! A fixed-time venue in memory: wallets, opens, the price path, settlement.

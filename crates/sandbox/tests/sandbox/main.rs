//! The sandbox held to the contract, line by line, and each of its faults.

#![allow(clippy::unwrap_used, reason = "a step of a test that fails is a test that fails")]

mod connection;
mod contract_prices;
mod contract_trading;
mod faults;
mod harness;
mod openapi;
mod settlement;

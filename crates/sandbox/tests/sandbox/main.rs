//! Tests of the sandbox against each rule of the contract, and of each fault.

#![allow(clippy::unwrap_used, reason = "a step of a test that fails is a test that fails")]

mod connection;
mod contract_prices;
mod contract_trading;
mod faults;
mod forgetting;
mod foundation;
mod harness;
mod meeting;
mod openapi;
mod properties;
mod rough_client;
mod settlement;
mod streaming;
mod trade_prices;

//! Local venue: serves the two HTTP APIs of the contract, with simulated trades and stored candles.
//!
//! A [`Sandbox`] serves the trading token API and the symbol price API at one address. It can inject faults.
//! Venue time can run faster than real time, or in lock-step with a bot in the same process. In lock-step,
//! the sandbox answers orders immediately. `GET /openapi.json` describes every endpoint.
//!
//! The contract leaves some behaviour undefined. In these cases, the sandbox behaves as follows:
//!
//! | Not defined by the contract | Behaviour of the sandbox |
//! |---|---|
//! | bodies of 400, 404, 500 | same shape as the body of 401 of the same endpoint, with the reason as message |
//! | missing `x-timestamp` for wallets and list | 400 (`missing_timestamp`); the value is ignored |
//! | sort order of the trade list | latest request first |
//! | retention of ended trades | until 10,000 more trades have ended (`keep_trades`) |
//! | `total`, `count` | rows on all pages, rows on this page; `lastPage` and `pages` are at least 1 |
//! | path that is not UTF-8, truncated body | 400 |
//! | body above 64 KiB, body that takes longer than 10 s | 413, 408 |
//! | body with both `amount` and `volume` | 400, because the body has neither shape |
//! | request head that takes longer than 10 s | connection closed |
//! | more than 1024 connections | the connection that has been idle longest is closed |
//! | largest `pageSize`, largest `limit` | 1000; larger values count as 1000 |
//! | `endTime` | inclusive upper bound of candle open times |
//! | forming candle | returned (`include_forming`) |
//! | candles that `limit` omits | the latest ones, because `skip` and `limit` count from the earliest candle |
//! | pair requested with a wrong asset type or price slot | 404 |
//! | interval that is neither stored nor a multiple of a stored interval | 400 |
//! | expiry shorter than the candles | 400 (`allow_coarse`) |
//! | price stream (feature `stream`) | `/socket.io/`, WebSocket only, with the `api-key`; one `message` per pair and second with the record in `data` |
//! | one-second prices | seeded random walk within the candle; records include the prices of trades, which lie on a straight line through the candle |
//! | price of an open trade in lists and by id | 0 before `openTime`; the response to an order has the price |
//! | rejections on arrival | `Outdated price` (`error`: `NO_PRICE`), `Insufficient balance` (`INSUFFICIENT_BALANCE`); `timestamp` is the arrival time |
//! | order whose open time is after the last candle | the trade opens with `openPrice` 0 and never settles |

mod body;
mod chance;
mod fault;
mod market;
mod sandbox;
mod server;
mod settings;
mod time_text;
mod venue;

pub use fault::{Fault, FaultCounts, FaultError, FaultProfile, FaultRate, FaultSwitchboard};
pub use market::build_markets;
pub use sandbox::{RunningSandbox, Sandbox, SandboxError, SandboxInputs};
pub use settings::{
    MissingTimestamp, NamedSpeed, Replies, SandboxSettings, SandboxSpeed, StartTime, TradedWallet,
};
pub use time_text::{ParseTimeError, has_time_zone, parse_any_time, parse_time, parse_unix_time};

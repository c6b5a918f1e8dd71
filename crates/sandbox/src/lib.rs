//! The two HTTP APIs of the contract over simulator and stored candles, with fault injection.
//!
//! A [`Sandbox`] is a venue for any client: the trading token API and the symbol price API on one address.
//! Venue time can run faster than real time, or in lock-step with a bot in the same process. In lock-step, orders
//! are answered immediately, as of their arrival. `GET /openapi.json` describes every endpoint.
//!
//! Behaviour that the contract does not define:
//!
//! | Open in the contract | Sandbox |
//! |---|---|
//! | bodies of 400, 404, 500 | shape of the endpoint's 401, with the reason as message |
//! | missing `x-timestamp` on wallets and list | 400 (`missing_timestamp`); the value is ignored |
//! | order of the trade list | latest request first |
//! | retention of ended trades | until 10,000 more have ended (`keep_trades`), then as if unknown |
//! | `total` and `count` | all rows, and rows on this page; `lastPage` and `pages` are at least 1 |
//! | path that is not UTF-8, truncated body | 400 |
//! | body above 64 KiB, body that takes 10 s | 413, 408 |
//! | body with both `amount` and `volume` | 400: neither shape |
//! | request head that takes 10 s | connection closed |
//! | more than 1024 connections | the longest idle one is closed |
//! | largest `pageSize`, largest `limit` | 1000; larger values count as 1000 |
//! | `endTime` | inclusive; candles count by their open time |
//! | forming candle | returned (`include_forming`) |
//! | end from which `limit` cuts | the late one: `skip` and `limit` count from the earliest candle |
//! | pair requested under another asset type or slot | 404 |
//! | interval neither stored nor made of stored candles | 400 |
//! | expiry shorter than the candles | 400 (`allow_coarse`) |
//! | price stream (feature `stream`) | `/socket.io/`, WebSocket only, with the `api-key`; one `message` per pair and second, the record in `data` |
//! | prices within a second | seeded walk through the candle; the range of a record includes the prices of trades, which follow a straight line through the candle |
//! | price of an open trade in lists and by id | 0 before its `openTime`; the answer to an open has it at once |
//! | rejections on arrival | `Outdated price` (`error`: `NO_PRICE`), `Insufficient balance` (`INSUFFICIENT_BALANCE`); `timestamp` is the arrival |
//! | order whose price is beyond the end of the candles | open trade with `openPrice` 0 that never settles |

mod body;
mod chance;
mod fault;
mod market;
mod sandbox;
mod server;
mod settings;
mod time_text;
mod venue;

pub use fault::{Fault, FaultCounts, FaultError, FaultProfile, FaultRate, Switchboard};
pub use market::build_markets;
pub use sandbox::{RunningSandbox, Sandbox, SandboxError, SandboxInputs};
pub use settings::{
    MissingTimestamp, NamedSpeed, Replies, SandboxSettings, SandboxSpeed, StartTime, TradedWallet,
};
pub use time_text::{ParseMomentError, names_zone, parse_epoch, parse_moment, parse_time};

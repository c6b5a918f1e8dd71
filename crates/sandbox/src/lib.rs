//! The two HTTP APIs of the contract, served over the simulator and stored candles, with a fault switchboard.
//!
//! A [`Sandbox`] is a venue for anybody's client: the trading token API and the symbol price API on one address,
//! a demo wallet, candles and one-second prices from files, and venue time from a clock that may run faster
//! than the real one or in lock-step with a bot beside it. Its [`Switchboard`] makes things go wrong on purpose.
//! `GET /openapi.json` describes every endpoint. Every answer carries venue time in its `Date` header.
//!
//! In lock-step every order is answered at once, as of its arrival; else [`Replies`] says when.
//!
//! Where the contract leaves behaviour open, this is what the sandbox does:
//!
//! | Open in the contract | Here |
//! |---|---|
//! | bodies of 400, 404, 500 | the shape of that endpoint's 401, with the reason as message |
//! | a missing `x-timestamp` on wallets and list | 400 (`missing_timestamp`); its value is not looked at |
//! | order of the trade list | the latest request first |
//! | how long a trade stays in the list and is found by its id | until 10,000 others were over after it (`keep_trades`); then as one that never was |
//! | `total` and `count` | all rows, and the rows on this page; `lastPage` and `pages` are at least 1 |
//! | a path that is not UTF-8, a body that is cut off | 400 |
//! | a body above 64 KiB, one that takes 10 s | 413, 408 |
//! | a body with `amount` and `volume` | 400: neither shape |
//! | the head of a request that takes 10 s | the connection ends |
//! | more than 1024 connections | the one that has been idle the longest ends |
//! | largest `pageSize`, largest `limit` | 1000; larger ones count as 1000 |
//! | `endTime` | inclusive; candles count by their open time |
//! | the forming candle | returned (`include_forming`) |
//! | which end `limit` cuts | the late one: `skip` and `limit` count from the earliest candle |
//! | a pair asked for under another asset type, or in another slot | 404 |
//! | an interval that is neither stored nor made of stored candles | 400 |
//! | an expiry shorter than the candles | 400 (`allow_coarse`) |
//! | how prices are pushed (feature `stream`) | `/socket.io/` by WebSocket alone, with the `api-key`; one `message` a pair and second, the record in `data` |
//! | prices within a second | a seeded walk through the candle; the prices of trades, on a straight line through it, lie within the records too |
//! | the price of an open trade in lists and by id | 0 before its `openTime`; the answer to an open has it at once |
//! | rejections on arrival | `Outdated price` (`error`: `NO_PRICE`), `Insufficient balance` (`INSUFFICIENT_BALANCE`); `timestamp` is the arrival |
//! | an order whose price lies beyond the end of the candles | an open trade with `openPrice` 0 that never settles |

mod chance;
mod identifier;
// The venue: trades on the one side, prices on the other.
mod market;
mod venue;
// The bodies of answers and requests.
mod body;
mod server;
// What goes wrong.
mod fault;
// The whole.
mod error;
mod sandbox;
mod settings;
mod time_text;

pub use error::SandboxError;
pub use fault::{Fault, FaultCounts, FaultError, FaultProfile, FaultRate, Switchboard};
pub use market::markets_of;
pub use sandbox::{Foundation, RunningSandbox, Sandbox};
pub use settings::{
    MissingTimestamp, NamedSpeed, Replies, SandboxSettings, SandboxSpeed, StartTime, TradedWallet,
};
pub use time_text::{ParseMomentError, names_zone, parse_epoch, parse_moment, parse_time};

//! A broker that was added to the program.

use crate::failure::Failure;
use crate::own_broker::{OwnBrokers, VenuePorts};
use candlewick_app::configuration::{Loaded, Mode};
use candlewick_app::live::Connection;
use candlewick_broker::{Account, UnrecognisedData};
use candlewick_records::TradingMode;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The broker of this name.
///
/// # Errors
/// There is none.
pub(crate) fn connect_own(name: &str, brokers: &OwnBrokers, loaded: &Loaded) -> Result<Connection, Failure> {
    let Some(VenuePorts { market, broker, clock, until }) = brokers.connect(name) else {
        let failure = Failure::configuration(format!("this program has no broker \"{name}\""));
        let known = brokers.names();
        return Err(if known.is_empty() {
            failure.help("a binary of your own adds one with `App::with_broker`")
        } else {
            failure.help(format!("it has {}", known.join(", ")))
        });
    };
    let (account, trading) = match loaded.config.account.mode {
        Mode::Demo => (Account::Demo, TradingMode::Demo),
        Mode::Real => (Account::Real, TradingMode::Real),
    };
    Ok(Connection {
        market,
        broker,
        clock,
        runtime: loaded.config.runtime.clone(),
        account,
        trading,
        exchanges: mpsc::channel(1).1,
        unrecognised: Arc::new(UnrecognisedData::new()),
        until,
    })
}

//! `live`: the bots against a venue, embedded or over the network.

use super::Context;
use crate::arguments::{parse_span, parse_speed};
use crate::configuration::{Base, Flag, Loaded, Problems, RealMoney, credentials};
use crate::crew::Crew;
use crate::failure::{Ending, Failure};
use candlewick_sandbox::{FaultProfile, SandboxSpeed};
use candlewick_sdk::Millis;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

/// How to run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  candlewick live --sandbox
  candlewick live --sandbox --speed max --until-end --trades trades.csv
  candlewick live --config config/demo.toml --for 1h")]
pub(crate) struct LiveArguments {
    /// Start the embedded venue and trade there
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// How many times faster than real time the embedded venue's clock runs, or max for lock-step
    #[arg(long, requires = "sandbox", value_name = "N|max", value_parser = parse_speed)]
    pub(crate) speed: Option<SandboxSpeed>,
    /// Open nothing more after this much real time, track what is open to its end, and stop
    #[arg(long = "for", value_name = "SPAN", value_parser = parse_span)]
    pub(crate) run_for: Option<Millis>,
    /// Stop when the embedded venue's candles end
    #[arg(long, requires = "sandbox")]
    pub(crate) until_end: bool,
    /// The second yes to real money; the first is CANDLEWICK_ALLOW_REAL=yes
    #[arg(long, conflicts_with = "sandbox")]
    pub(crate) real: bool,
    /// Candle file of the embedded venue: SYMBOL_INTERVAL.csv or SYMBOL@INTERVAL=PATH; repeatable
    #[arg(long, requires = "sandbox", value_name = "FILE")]
    pub(crate) data: Vec<String>,
    /// Write the trades as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) trades: Option<PathBuf>,
    /// Write the journal of this run
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// What goes wrong in the embedded venue: none, mixed, all, or names such as errors:0.2,latency:300ms
    #[arg(long, requires = "sandbox", value_name = "PROFILE")]
    pub(crate) faults: Option<FaultProfile>,
    /// Where the embedded venue listens; port 0 takes a free port
    #[arg(long, requires = "sandbox", value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
}

pub(super) fn run(arguments: &LiveArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let base = if arguments.sandbox { Base::Sandbox } else { Base::Bare };
    let real = if arguments.real { RealMoney::Asked } else { RealMoney::NotAsked };
    let loaded = Loaded::read(&context.global.config, base, flags_of(arguments))?;
    loaded.check_mode(real).map_err(Problems::from)?;
    loaded.config.simulation.check()?;
    loaded.config.sandbox.check()?;
    let crew = Crew::build(&loaded, context.registry)?;
    compose(arguments, &loaded, crew, context)
}

fn flags_of(arguments: &LiveArguments) -> Vec<Flag> {
    let LiveArguments { listen, speed, faults, data, .. } = arguments;
    let data = (!data.is_empty()).then_some(data);
    [
        Flag::new("--listen", "sandbox", "listen", listen.as_ref()),
        Flag::new("--speed", "sandbox", "speed", speed.as_ref()),
        Flag::new("--faults", "sandbox", "faults", faults.as_ref()),
        Flag::new("--data", "sandbox", "data", data),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Puts clock, venue, Session and runtime together, and runs them.
fn compose(
    _arguments: &LiveArguments,
    loaded: &Loaded,
    _crew: Crew,
    _context: &Context<'_>,
) -> Result<Ending, Failure> {
    let _credentials = credentials(loaded)?;
    Err(Failure::configuration("the live command is not composed yet"))
}

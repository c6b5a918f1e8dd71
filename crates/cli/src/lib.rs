//! Arguments, printing, and the [`App`] builder.
//!
//! A custom binary with a strategy in addition to the built-in ones:
//!
//! ```no_run
//! use candlewick_cli::App;
//! # use candlewick_sdk::{BotContext, BuildError, Candle, Signal, Strategy, StrategyFactory, parameters};
//! # parameters! { pub struct Params { period: usize = 14, 1..=500; } }
//! # struct MyStrategy;
//! # impl Strategy for MyStrategy {
//! #     fn warmup(&self) -> usize { 1 }
//! #     fn on_candle(&mut self, _: &Candle) -> Option<Signal> { None }
//! # }
//! # impl StrategyFactory for MyStrategy {
//! #     const NAME: &'static str = "my-strategy";
//! #     const VERSION: &'static str = "1.0.0";
//! #     const ABOUT: &'static str = "Mine.";
//! #     type Params = Params;
//! #     fn build(_: Params, _: &BotContext) -> Result<Self, BuildError> { Ok(Self) }
//! # }
//!
//! fn main() -> std::process::ExitCode {
//!     App::with_builtin_strategies().with_strategy::<MyStrategy>().run()
//! }
//! ```

mod app;
mod arguments;
mod combinations;
mod command;
mod context;
mod failure;
mod host;
mod interrupt;
mod live;
mod log;
mod output;
mod progress;
mod question;
mod repeats;
mod search;
mod terminal;

pub use app::App;
pub use candlewick_app::configuration::{
    AccountSettings, BrokerSettings, Config, ControlSettings, DataSettings, JournalSettings, Mode,
};
pub use candlewick_app::live::VenuePorts;
pub use candlewick_app::validation::ChildProgram;
pub use candlewick_sdk::testkit::CountingAllocator;
pub use host::{CommandKind, Host, HostedFailure, HostedOutput, HostedResult};

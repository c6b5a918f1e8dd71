//! The program with this broker: run `own-broker live --broker sine`.

use candlewick_cli::App;
use own_broker::PriceTurns;
use std::process::ExitCode;

fn main() -> ExitCode {
    App::with_builtin_strategies()
        .with_strategy::<PriceTurns>()
        .with_broker("sine", own_broker::polled)
        .with_broker("sine-stream", own_broker::streamed)
        .run()
}

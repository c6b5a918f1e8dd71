//! The `candlewick` binary: the strategies of this repository behind the command line.

use candlewick_cli::App;
use std::process::ExitCode;

fn main() -> ExitCode {
    App::with_builtin_strategies().run()
}

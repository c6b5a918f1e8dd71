//! `watch`: prints the events of a running bot as they happen.

use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::interrupt::Interrupt;
use crate::journal::{JournalArguments, block_on};
use crate::output::{print_json, print_json_text};
use candlewick_app::AppError;
use candlewick_app::configuration::control_paths;
use candlewick_runtime::control::FollowedRun;
use candlewick_runtime::events::event_schema;
use clap::Args;

/// Which bot.
#[derive(Debug, Args)]
#[command(
    after_help = "Prints a JSON object a line, the same as `live --json`, from now on until the bot ends or Ctrl-C; what this reader does not \
                  take in time is left out and counted (\"event\":\"dropped\"). The bot waits for nobody who watches.\n\nExamples:\n  \
                  candlewick watch\n  candlewick watch --journal run.db\n  candlewick watch --config config/demo.toml | jq 'select(.event \
                  == \"settled\")'"
)]
pub(crate) struct WatchArguments {
    #[command(flatten)]
    journal: JournalArguments,
    /// Print the JSON Schema of an event instead
    #[arg(long)]
    schema: bool,
}

pub(super) fn run(arguments: &WatchArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    if arguments.schema {
        print_json(&event_schema())?;
        return Ok(Ending::Done);
    }
    let (loaded, _) = arguments.journal.load_of_bot(context)?;
    let paths = control_paths(&loaded)?;
    block_on(async {
        let mut interrupt = Interrupt::new()?;
        let mut followed = FollowedRun::begin(&paths.socket).await.map_err(AppError::from)?;
        loop {
            let line = tokio::select! {
                line = followed.next() => line,
                ending = interrupt.wait() => return Ok::<_, Failure>(ending),
            };
            match line {
                Some(line) if print_json_text(&line)? => {}
                // The bot has ended, or nobody reads any more.
                Some(_) | None => return Ok(Ending::Done),
            }
        }
    })
}

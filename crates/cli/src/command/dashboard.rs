//! `dashboard`: serves a web page that shows and controls a bot.

use crate::context::{Context, JournalArguments, start_workers};
use crate::failure::{Ending, Failure, FailureKind};
use crate::interrupt::StopListener;
use crate::output::{print, print_json_line};
use candlewick_app::AppError;
use candlewick_app::configuration::control_paths;
use candlewick_dashboard::{Dashboard, DashboardSettings, WatchedBot};
use candlewick_journal::{JournalError, Reader};
use clap::Args;
use serde_json::json;
use std::net::SocketAddr;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick dashboard\n  candlewick dashboard --journal run.db --read-only\n\n\
                  The dashboard is a separate process that follows the journal and asks the bot for its state. Without a running bot, \
                  the dashboard shows the journal. Stopping or attacking the dashboard does not affect trading.\nThe printed link \
                  signs in one browser. After its use, a new link is printed. A browser stays signed in until the dashboard ends."
)]
pub(crate) struct DashboardArguments {
    #[command(flatten)]
    journal: JournalArguments,
    /// Listen address; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Do not allow users of the page to halt or resume the bot
    #[arg(long)]
    read_only: bool,
    /// Public host name of a TLS proxy that runs on this machine
    #[arg(long, value_name = "HOST")]
    tls_proxy: Option<String>,
    /// Allow unencrypted access over the network; eavesdroppers can then halt the bot
    #[arg(long)]
    allow_unencrypted_network: bool,
}

pub(super) fn run(arguments: &DashboardArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (loaded, journal) = arguments.journal.load_for_running_bot(context)?;
    context.set_log_format(&loaded.config.log);
    let watched = WatchedBot { journal, paths: control_paths(&loaded)?, registry: context.registry.clone() };
    let DashboardArguments { listen, read_only, allow_unencrypted_network, .. } = *arguments;
    let tls_proxy = arguments.tls_proxy.clone();
    let settings = DashboardSettings { listen, read_only, tls_proxy, allow_unencrypted_network };
    let runtime = start_workers()?;
    match runtime.block_on(Reader::open(&watched.journal)) {
        Err(error @ JournalError::NotFound { .. }) if !loaded.is_set("journal.url") => {
            return Err(AppError::from(error).into());
        }
        Err(JournalError::NotFound { .. }) => context.print_notice(&format!(
            "note: the journal {} does not exist yet; the page is empty until a bot writes to the journal",
            watched.journal
        )),
        Ok(_) | Err(_) => {}
    }
    runtime.block_on(serve(&settings, watched, context))
}

async fn serve(
    settings: &DashboardSettings,
    watched: WatchedBot,
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let mut interrupt = StopListener::new()?;
    let journal = watched.journal.to_string();
    let mut dashboard = Dashboard::start(settings, watched).await?;
    let mut links = dashboard.sign_in_links.clone();
    let link = links.borrow_and_update().clone();
    if context.global.json {
        print_json_line(&json!({ "address": dashboard.address, "link": link.url, "journal": journal }))?;
    } else {
        print(&format!(
            "Dashboard of {journal}. Open this one-time link to sign in:\n\n  {}\n\nCtrl-C stops the dashboard. Bots continue.",
            link.url
        ))?;
    }
    loop {
        tokio::select! {
            ending = interrupt.wait() => return Ok(ending),
            () = dashboard.wait_for_end() => {
                let problem = anyhow::Error::msg("the dashboard server stopped unexpectedly");
                return Err(Failure::new(FailureKind::Unexpected, problem));
            }
            changed = links.changed() => {
                if changed.is_err() {
                    continue;
                }
                let link = links.borrow_and_update().clone();
                if context.global.json {
                    print_json_line(&json!({ "link": link.url, "used": link.sign_in_count }))?;
                } else {
                    print(&format!("The link was used. Link for another browser:\n\n  {}\n", link.url))?;
                }
            }
        }
    }
}

//! Full-screen view of a run (`--tui`).

use super::DisplayContext;
use super::header::Header;
use super::screen::{DisplayHandle, MAX_QUEUED_NOTICES, Screen, collect_distinct};
use crate::failure::Failure;
use crate::log::{LogMessage, LogWriter};
use candlewick_engine::BotSettings;
use candlewick_runtime::{NoticeSender, RequestDemand};
use candlewick_tui::{BotFacts, RunControls, RunFacts, check_terminal, restore_keyboard, show};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use tokio::sync::oneshot;

const MAX_QUEUED_LINES: usize = 1_024;

pub(crate) fn check_full_screen() -> Result<(), Failure> {
    check_terminal().map_err(|problem| {
        Failure::configuration(format!("--tui requires a terminal: {problem}"))
            .hint("omit --tui to print events as plain lines")
    })
}

/// Starts the full-screen view. If the view is closed before the run ends, the run continues with plain lines.
pub(super) fn start(mut screen: Screen, front: &DisplayContext<'_>) -> (Vec<NoticeSender>, DisplayHandle) {
    let clock = Arc::clone(&front.connection.clock);
    let (lines, log_lines) = sync_channel(MAX_QUEUED_LINES);
    let controls = RunControls {
        requests: front.control.sender(),
        stop: front.stop.clone(),
        now: Box::new(move || clock.now()),
        log: log_lines,
        has_colours: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    };
    let facts = build_facts(screen.header.take(), front);
    let (watcher, mut notices) = NoticeSender::channel(MAX_QUEUED_NOTICES, screen.notice_filter());
    let (ended, has_ended) = oneshot::channel();
    let log = front.log.clone();
    log.send(LogMessage::Divert(lines));
    std::thread::spawn(move || {
        let shown = show(facts, &mut notices, &controls);
        log.send(LogMessage::Restore);
        if let Err(error) = shown {
            tracing::warn!("the full-screen view failed: {error}; continuing with plain lines");
        }
        screen.show_all(&mut notices);
        let _ = ended.send(());
    });
    (vec![watcher.with_overview()], DisplayHandle(Some(has_ended)))
}

pub(super) fn end(log: &LogWriter) {
    restore_keyboard();
    log.send(LogMessage::Restore);
}

fn build_facts(header: Option<Header>, front: &DisplayContext<'_>) -> RunFacts {
    let config = &front.loaded.config;
    let header = header.unwrap_or_default();
    let bot_facts = |(bot, about): (&BotSettings, String)| BotFacts { name: bot.name.clone(), about };
    let connection = front.connection;
    let demand =
        RequestDemand::new(&connection.runtime, &config.risk, &config.bots, &front.bots.wants_prices)
            .with_stream(config.broker.client.stream && !connection.clock.is_lock_step());
    let requests = demand.summary(connection.requests_per_second);
    RunFacts {
        venue: header.venue,
        wallet: header.wallet,
        journal: header.journal,
        request_summary: requests.strip_prefix("requests ").unwrap_or(&requests).to_owned(),
        scale: config.account.money_scale,
        bots: config.bots.iter().zip(header.bots).map(bot_facts).collect(),
        symbols: collect_distinct(config.bots.iter().map(|bot| bot.symbol)),
        series: collect_distinct(config.bots.iter().map(BotSettings::series)),
    }
}

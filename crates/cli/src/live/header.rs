//! Header of a run: venue, wallet, bots, limits, alerts, and how to stop the run.

use super::lines::expiration_suffix;
use crate::combinations::{describe_combinations, describe_gates};
use crate::terminal::{sanitize_lines, wrap_indented};
use candlewick_app::bots::{declared_durations_per_bot, session_settings};
use candlewick_app::configuration::{AlertEvent, AlertSeverity, ChannelSettings, LoadedConfig};
use candlewick_app::lints::{self, LintInput, Stage};
use candlewick_app::signals::describe_list;
use candlewick_engine::{
    BotLimitSettings, BotSettings, IfRefused, LadderEntry, PauseSettings, RiskSettings, SessionSettings,
    StakeSettings, TrackRecord, check_ruin,
};
use candlewick_journal::JournalUrl;
use candlewick_records::{count_text, format_time};
use candlewick_sandbox::{FaultProfile, NamedSpeed, SandboxSpeed};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{CloseType, Millis, Money, MoneyScale, Registry, escape_hidden, group_thousands};
use std::iter;
use std::ops::Range;
use std::path::PathBuf;

const HEADER_WIDTH: usize = 80;
const LABEL_WIDTH: usize = 10;

#[derive(Clone, Debug, Default)]
pub(crate) struct Header {
    pub(super) venue: String,
    candles: Option<String>,
    pub(super) wallet: String,
    pub(super) bots: Vec<String>,
    names: Vec<String>,
    details: Vec<(&'static str, String)>,
    monitoring: Vec<(&'static str, String)>,
    stakes: Option<Box<(SessionSettings, Vec<TrackRecord>)>>,
    pub(super) journal: String,
    control: String,
}

#[derive(Clone, Debug)]
pub(crate) struct RunDescription {
    pub(crate) venue: String,
    pub(crate) wallet: &'static str,
    pub(crate) starts_at: Option<Millis>,
    pub(crate) candles: Option<String>,
    pub(crate) journal: Option<String>,
    pub(crate) arguments: String,
}

impl Header {
    pub(crate) fn new(loaded: &LoadedConfig, registry: &Registry, run: RunDescription) -> Self {
        let RunDescription { venue, wallet, starts_at, candles, journal, arguments } = run;
        let control = match &journal {
            Some(_) => {
                format!("candlewick status, halt, resume or reload{arguments} in another terminal")
            }
            None => "Ctrl-C only (control from another terminal needs a journal)".to_owned(),
        };
        let bots = &loaded.config.bots;
        let own = declared_durations_per_bot(bots, registry);
        let assumed = bots.iter().map(|bot| loaded.config.simulation.payout_of(bot.symbol));
        let records = assumed.map(TrackRecord::from_assumed_payout).collect();
        let mut details: Vec<_> = label_lines("Combined", describe_combinations(bots, registry)).collect();
        details.extend(label_lines("Gates", describe_gates(bots, registry)));
        details.extend(label_lines("Signals", describe_signal_sources(loaded, starts_at)));
        details.push(("Limits", describe_limits(&loaded.config.risk)));
        details.extend(label_lines(
            "Notes",
            lints::collect_texts(&LintInput::new(loaded, registry), Stage::Start),
        ));
        Self {
            venue,
            candles,
            wallet: wallet.to_owned(),
            bots: bots.iter().zip(&own).map(|(bot, own)| describe_bot(bot, own)).collect(),
            names: bots.iter().map(|bot| bot.name.clone()).collect(),
            details,
            monitoring: describe_monitoring(loaded),
            stakes: Some(Box::new((session_settings(loaded), records))),
            journal: journal.unwrap_or_else(|| "none (add --journal FILE to keep one)".to_owned()),
            control,
        }
    }

    pub(crate) fn render(&self, (free, wallet): (Money, Option<Money>), scale: MoneyScale) -> String {
        let width = self.names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
        let bots = self.names.iter().zip(&self.bots).map(|(name, bot)| format!("{name:<width$}  {bot}"));
        let mut rows = vec![("Venue", self.venue.clone())];
        rows.extend(self.candles.clone().map(|candles| ("Data", candles)));
        rows.push(("Wallet", self.describe_wallet((free, wallet), scale)));
        rows.extend(label_lines("Bots", bots));
        rows.extend(self.details.iter().cloned());
        rows.extend(label_lines("Risk", self.describe_ruin(free)));
        rows.extend(self.monitoring.iter().cloned());
        let stop = "Ctrl-C waits for open trades; press it twice to quit immediately".to_owned();
        rows.extend([("Journal", self.journal.clone()), ("Control", self.control.clone()), ("Stop", stop)]);
        let row = |(label, text): (&str, String)| {
            format!(
                "{label:<LABEL_WIDTH$}{}\n",
                wrap_indented(&escape_hidden(&text), LABEL_WIDTH, Some(HEADER_WIDTH))
            )
        };
        sanitize_lines(&rows.into_iter().map(row).collect::<String>()).into_owned()
    }

    fn describe_wallet(&self, (free, wallet): (Money, Option<Money>), scale: MoneyScale) -> String {
        let (name, ledger) = (&self.wallet, scale.format(free));
        let Some(wallet) = wallet.filter(|wallet| *wallet != free) else {
            return format!("{name}, {ledger} available");
        };
        let (held, difference) = (scale.format(wallet), scale.format((wallet - free).max(free - wallet)));
        let comparison = if wallet > free { "less" } else { "more" };
        format!("{name}, {held}; the ledger balance is {difference} {comparison} ({ledger})")
    }

    fn describe_ruin(&self, free: Money) -> Vec<String> {
        let Some((settings, records)) = self.stakes.as_deref() else { return Vec::new() };
        let report = check_ruin(settings, free, records).unwrap_or_default();
        report.ladder_lines.into_iter().chain(report.stake_lines).collect()
    }
}

fn label_lines(
    label: &'static str,
    lines: impl IntoIterator<Item = String>,
) -> impl Iterator<Item = (&'static str, String)> {
    iter::once(label).chain(iter::repeat("")).zip(lines)
}

pub(crate) fn journal_arguments(journal: Option<&JournalUrl>, files: &[PathBuf]) -> String {
    if let Some(journal) = journal {
        let shown = journal.to_string();
        return format!(" --journal {}", shown.strip_prefix("sqlite://").unwrap_or(&shown));
    }
    let files: Vec<String> = files.iter().map(|file| format!(" --config {}", file.display())).collect();
    files.concat()
}

/// Returns the scheme and host of a URL. The path and query are omitted, because they may contain secrets.
pub(crate) fn describe_address(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_local = name == "localhost" || name == "[::1]" || name.starts_with("127.");
    let suffix = if is_local { " (this machine)" } else { "" };
    format!("{scheme}://{host}{suffix}")
}

pub(crate) fn describe_sandbox(base_url: &str, speed: SandboxSpeed, faults: &FaultProfile) -> String {
    let faults = match faults.to_string() {
        none if none == "none" => "no faults".to_owned(),
        faults => format!("faults {faults}"),
    };
    format!("embedded sandbox at {base_url}, {}, {faults}", describe_speed(speed))
}

pub(crate) fn describe_candles(speed: SandboxSpeed, candles: Range<Millis>, until_end: bool) -> String {
    let [start, end] = [candles.start, candles.end].map(|at| format_time(at, "%Y-%m-%d %H:%M"));
    let ends = "; ends with the last candle";
    match speed {
        SandboxSpeed::Named(NamedSpeed::Max) => format!("{start} to {end} UTC{ends}"),
        SandboxSpeed::Times(factor) => {
            let seconds = (candles.end - candles.start).get().max(0) as f64 / 1_000.0 / factor;
            let ends = if until_end { ends } else { "" };
            format!("{start} to {end} UTC ({} at this speed){ends}", format_span(seconds))
        }
    }
}

fn format_span(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, ..) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{} {} h", count_text(days, "day", "days"), hours % 24),
    }
}

pub(crate) fn describe_speed(speed: SandboxSpeed) -> String {
    match speed {
        SandboxSpeed::Named(NamedSpeed::Max) => "lock-step with the bots".to_owned(),
        SandboxSpeed::Times(1.0) => "real time".to_owned(),
        SandboxSpeed::Times(factor) => format!("{factor}x real time"),
    }
}

fn describe_bot(bot: &BotSettings, own: &[CloseType]) -> String {
    let expiry = bot.expiry();
    let kind = expiration_suffix(expiry.expiration_type);
    let stake = describe_stake(&bot.stake);
    let delay =
        if bot.entry_delay_s > 0 { format!(", entry delay {} s", bot.entry_delay_s) } else { String::new() };
    let durations: Vec<String> = own.iter().map(ToString::to_string).collect();
    let duration = match durations.as_slice() {
        [] => expiry.close_type.to_string(),
        own => format!("{} (set by the strategy)", own.join(" or ")),
    };
    format!("{} on {}, duration {duration}{kind}{delay}, stake {stake}", bot.strategy, bot.series())
}

fn describe_signal_sources(loaded: &LoadedConfig, starts_at: Option<Millis>) -> Vec<String> {
    let signals = &loaded.config.signals;
    let list = describe_list(loaded, starts_at);
    let webhook = signals.listen.map(|address| match address.port() {
        0 => format!("webhook on a free port of {} (shown with -v)", address.ip()),
        _ => format!("webhook at http://{address}/signal"),
    });
    let stdin = signals.stdin.then(|| "JSON Lines on standard input".to_owned());
    [list, webhook, stdin].into_iter().flatten().collect()
}

fn describe_stake(stake: &StakeSettings) -> String {
    match stake {
        StakeSettings::Fixed { amount } => amount.to_string(),
        StakeSettings::Share { percent } => format!("{percent} % of the available balance"),
        StakeSettings::Martingale { amount, factor, levels, entry, if_refused } => {
            let entry = match (entry, if_refused) {
                (LadderEntry::NextSignal, _) => "",
                (LadderEntry::NextCandle, IfRefused::Wait) => ", on the next candle",
                (LadderEntry::NextCandle, IfRefused::Reset) => ", on the next candle (level 1 if rejected)",
            };
            format!("{amount}, x{factor} after a loss, {}{entry}", count_text(*levels, "level", "levels"))
        }
        StakeSettings::Soros { amount, wins, .. } => {
            format!("{amount} plus the profit of up to {}", count_text(*wins, "win", "wins"))
        }
        StakeSettings::Kelly { fraction, .. } => format!("{fraction} of Kelly"),
    }
}

fn describe_limits(risk: &RiskSettings) -> String {
    let session = &risk.session;
    let hours: Vec<String> = risk.hours.iter().map(ToString::to_string).collect();
    let spans = u32::try_from(risk.blackouts.spans.len()).unwrap_or(u32::MAX);
    let is_default_day = risk.day_start == "00:00" && risk.day_timezone == "UTC";
    let per_symbol = risk.max_open_trades_per_symbol;
    let open = match describe_count(risk.max_open_trades, "open trade", "open trades") {
        Some(open) if per_symbol > 0 => Some(format!("{open} ({per_symbol} per symbol)")),
        None => describe_count(per_symbol, "open trade per symbol", "open trades per symbol"),
        open => open,
    };
    let one_by_one = [
        open,
        describe_count(risk.max_trades_per_hour, "trade/hour", "trades/hour"),
        describe_count(risk.max_trades_per_day, "trade/day", "trades/day"),
        describe_amount(risk.daily_loss_limit, "daily loss"),
        describe_percentage(risk.daily_loss_limit_percent, "daily loss"),
        describe_amount(risk.daily_profit_target, "daily profit"),
        describe_percentage(risk.daily_profit_target_percent, "daily profit"),
        (!is_default_day).then(|| format!("days start at {} {}", risk.day_start, risk.day_timezone)),
        describe_amount(session.loss_limit, "session loss"),
        describe_percentage(session.loss_limit_percent, "session loss"),
        describe_amount(session.profit_target, "session profit"),
        describe_percentage(session.profit_target_percent, "session profit"),
        describe_percentage(risk.max_drawdown_percent, "max drawdown"),
        describe_count(risk.max_loss_streak, "loss in a row", "losses in a row"),
        describe_count(risk.cooldown_after_loss_s, "s pause after a loss", "s pause after a loss"),
        (risk.cooldown_after_losses > 0).then(|| {
            let losses = count_text(risk.cooldown_after_losses, "loss", "losses");
            format!("{} s pause after {losses} in a row", risk.cooldown_after_losses_s)
        }),
    ];
    let pauses = risk.pauses.iter().map(PauseSettings::describe);
    let of_symbols = risk
        .min_payout_percent_by_symbol
        .iter()
        .map(|(name, least)| format!("min payout {least} % on {name}"));
    let rest = [
        (!risk.best_payout_of.is_empty())
            .then(|| format!("best payout of {}", risk.best_payout_of.join(", "))),
        describe_amount(risk.max_stake, "max stake"),
        describe_percentage(risk.max_stake_percent, "max stake"),
        (!hours.is_empty()).then(|| format!("trades {}", hours.join(" and "))),
        describe_count(spans, "blackout", "blackouts"),
        risk.enforce_verdict.then(|| "stop if an edge is ruled out".to_owned()),
    ];
    let bots = risk.bots.iter().filter_map(|(name, own)| describe_bot_limits(name, own));
    let all = one_by_one.into_iter().flatten().chain(pauses);
    let all = all.chain(describe_percentage(risk.min_payout_percent, "min payout")).chain(of_symbols);
    let on: Vec<String> = all.chain(rest.into_iter().flatten()).chain(bots).collect();
    if on.is_empty() { "none".to_owned() } else { on.join(", ") }
}

fn describe_bot_limits(name: &str, own: &BotLimitSettings) -> Option<String> {
    let all = [
        describe_count(own.max_open_trades, "open trade", "open trades"),
        describe_count(own.max_trades_per_day, "trade/day", "trades/day"),
        describe_amount(own.daily_loss_limit, "daily loss"),
        describe_percentage(own.daily_loss_limit_percent, "daily loss"),
        describe_amount(own.daily_profit_target, "daily profit"),
        describe_percentage(own.daily_profit_target_percent, "daily profit"),
        describe_amount(own.session_loss_limit, "session loss"),
        describe_percentage(own.session_loss_limit_percent, "session loss"),
        describe_amount(own.session_profit_target, "session profit"),
        describe_percentage(own.session_profit_target_percent, "session profit"),
        describe_count(own.max_loss_streak, "loss in a row", "losses in a row"),
    ];
    let on: Vec<String> = all.into_iter().flatten().collect();
    (!on.is_empty()).then(|| format!("{name} ({})", on.join(", ")))
}

fn describe_count(most: u32, one: &str, several: &str) -> Option<String> {
    (most > 0).then(|| count_text(most, one, several))
}

fn describe_amount(most: Decimal, label: &str) -> Option<String> {
    (!most.is_zero()).then(|| format!("{label} {}", group_thousands(&most.to_string())))
}

fn describe_percentage(most: f64, label: &str) -> Option<String> {
    (most > 0.0).then(|| format!("{label} {most} %"))
}

fn describe_monitoring(loaded: &LoadedConfig) -> Vec<(&'static str, String)> {
    let config = &loaded.config;
    let channels = config.notify.channels.iter().map(|(name, channel)| describe_channel(name, channel));
    let mut lines: Vec<(&'static str, String)> = label_lines("Alerts", channels).collect();
    lines.extend(config.metrics.listen.map(|address| match address.port() {
        0 => ("Metrics", format!("on a free port of {} (shown with -v)", address.ip())),
        _ => ("Metrics", format!("http://{address}/metrics")),
    }));
    let every_s = config.heartbeat.every_s;
    lines.extend(config.heartbeat.url.as_ref().map(|_| ("Heartbeat", format!("every {every_s} s"))));
    lines
}

fn describe_channel(name: &str, channel: &ChannelSettings) -> String {
    let least = match channel.minimum {
        AlertSeverity::Info => "all",
        AlertSeverity::Notice => "notice and above",
        AlertSeverity::Warning => "warning and above",
        AlertSeverity::Critical => "critical",
    };
    let events = |label: &str, events: &[AlertEvent]| {
        let names: Vec<String> = events.iter().copied().filter_map(event_name).collect();
        if names.is_empty() { String::new() } else { format!(", {label} {}", names.join(", ")) }
    };
    let (with, without) = (events("plus", &channel.include), events("except", &channel.exclude));
    let commands = if channel.commands { "; accepts commands" } else { "" };
    format!("{name} ({}): {least}{with}{without}{commands}", channel.kind.as_str())
}

fn event_name(event: AlertEvent) -> Option<String> {
    Some(serde_json::to_value(event).ok()?.as_str()?.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn describes_span_and_length_of_candles() {
        let from = Millis::new(1_767_609_000_000); // 2026-01-05 10:30 UTC
        let week = from..from + Millis::DAY * 7;
        let (max, times) = (SandboxSpeed::Named(NamedSpeed::Max), SandboxSpeed::Times);
        for (speed, until_end, expected) in [
            // 604,800 s at 120 times real time are 5,040 s.
            (times(120.0), false, " (1 h 24 min at this speed)"),
            (times(120.0), true, " (1 h 24 min at this speed); ends with the last candle"),
            (times(1.0), false, " (7 days 0 h at this speed)"),
            (times(10_080.0), false, " (1 min 0 s at this speed)"),
            (times(1_000_000.0), false, " (1 s at this speed)"),
            (max, false, "; ends with the last candle"),
        ] {
            let text = describe_candles(speed, week.clone(), until_end);
            assert_eq!(text, format!("2026-01-05 10:30 to 2026-01-12 10:30 UTC{expected}"));
        }
    }

    #[test]
    fn address_omits_credentials_path_and_query() {
        assert_eq!(describe_address("http://127.0.0.1:7701/api?x=1"), "http://127.0.0.1:7701 (this machine)");
        assert_eq!(describe_address("https://ann:hush@venue.example/v1"), "https://venue.example");
        assert_eq!(describe_address("http://[::1]:7701"), "http://[::1]:7701 (this machine)");
    }

    #[test]
    fn describes_every_enabled_limit() {
        let off = r#"{ "max_open_trades": 0, "max_open_trades_per_symbol": 0, "max_trades_per_day": 0, "daily_loss_limit": 0,
            "max_drawdown_percent": 0, "bots": { "btc": {} } }"#;
        let all = r#"{ "max_open_trades": 2, "max_open_trades_per_symbol": 3, "max_trades_per_hour": 4, "max_trades_per_day": 5,
            "daily_loss_limit": 6, "daily_loss_limit_percent": 7.5, "daily_profit_target": 8, "daily_profit_target_percent": 9.5,
            "session": { "loss_limit": 10, "loss_limit_percent": 11.5, "profit_target": 12, "profit_target_percent": 13.5 },
            "max_drawdown_percent": 14.5, "max_loss_streak": 15, "cooldown_after_loss_s": 16, "cooldown_after_losses": 17,
            "cooldown_after_losses_s": 60, "day_timezone": "Europe/Berlin", "pauses": [
                { "after": 3, "of": "losses", "for_s": 600, "scope": "bot" }, { "after": 1, "of": "wins" }],
            "min_payout_percent": 80.5, "min_payout_percent_by_symbol": { "EURUSD": 85 }, "best_payout_of": ["EURUSD", "GBPUSD"],
            "max_stake": 18, "max_stake_percent": 19.5, "enforce_verdict": true, "hours": [
                { "days": ["mon", "tue"], "from": "08:00", "to": "17:00", "timezone": "Europe/London" }],
            "bots": { "btc": { "max_open_trades": 20, "max_trades_per_day": 21, "daily_loss_limit": 22,
                "daily_loss_limit_percent": 23.5, "daily_profit_target": 24, "daily_profit_target_percent": 25.5,
                "session_loss_limit": 26, "session_loss_limit_percent": 27.5, "session_profit_target": 28,
                "session_profit_target_percent": 29.5, "max_loss_streak": 30 } } }"#;
        let of_all = "2 open trades (3 per symbol), 4 trades/hour, 5 trades/day, daily loss 6, daily loss 7.5 %, daily profit 8, \
                      daily profit 9.5 %, days start at 00:00 Europe/Berlin, session loss 10, session loss 11.5 %, session \
                      profit 12, session profit 13.5 %, max drawdown 14.5 %, 15 losses in a row, 16 s pause after a loss, \
                      60 s pause after 17 losses in a row, pause of 600 s after 3 losses in a row by a bot, pause \
                      for the rest of the day after 1 win in a row, min payout 80.5 %, min payout 85 % on EURUSD, \
                      best payout of EURUSD, GBPUSD, max stake 18, max stake 19.5 %, trades from 08:00 to 17:00 \
                      Europe/London mon tue, stop if an edge is ruled out, btc (20 open trades, 21 trades/day, daily loss 22, \
                      daily loss 23.5 %, daily profit 24, daily profit 25.5 %, session loss 26, session loss 27.5 %, session \
                      profit 28, session profit 29.5 %, 30 losses in a row)";
        for (settings, expected) in [
            ("{}", "3 open trades (1 per symbol), 200 trades/day, daily loss 100, max drawdown 20 %"),
            (off, "none"),
            (all, of_all),
        ] {
            assert_eq!(describe_limits(&serde_json::from_str(settings).unwrap()), expected);
        }
    }

    #[test]
    fn describes_a_channel_without_its_address() {
        for (settings, expected) in [
            (json!({ "kind": "ntfy", "url": "https://ntfy.sh/hush" }), "x (ntfy): notice and above"),
            (
                json!({ "kind": "webhook", "minimum": "info", "exclude": ["opened", "venue_heard"] }),
                "x (webhook): all, except opened, venue heard",
            ),
            (
                json!({ "kind": "telegram", "minimum": "critical", "include": ["settled"], "commands": true }),
                "x (telegram): critical, plus settled; accepts commands",
            ),
        ] {
            let channel: ChannelSettings = serde_json::from_value(settings).unwrap();
            assert_eq!(describe_channel("x", &channel), expected);
        }
    }
}

//! Header of a run: venue, wallet, bots, limits, alerts, and how to stop it.

use super::words::expiration_words;
use crate::combinations::{combinations_of, gates_of};
use crate::terminal::{lines, wrapped_beside};
use candlewick_app::bots::{own_durations, session_settings};
use candlewick_app::configuration::{AlertEvent, AlertSeverity, ChannelSettings, Loaded, VariantSettings};
use candlewick_app::lints::{self, LintInput, Stage};
use candlewick_app::signals::list_words;
use candlewick_engine::{
    BotLimitSettings, BotSettings, IfRefused, LadderEntry, PauseSettings, RiskSettings, SessionSettings,
    StakeSettings, TradeRecord, check_ruin,
};
use candlewick_journal::JournalUrl;
use candlewick_records::counted;
use candlewick_sandbox::{FaultProfile, NamedSpeed, SandboxSpeed, StartTime};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{CloseType, Millis, Money, MoneyScale, Registry, visible};
use std::iter;
use std::ops::Range;
use std::path::PathBuf;

const WIDTH: usize = 80;
const LABEL: usize = 10;

#[derive(Clone, Debug, Default)]
pub(crate) struct Header {
    pub(super) venue: String,
    candles: Option<String>,
    pub(super) wallet: String,
    pub(super) bots: Vec<String>,
    names: Vec<String>,
    /// Labelled lines between the bots and what their stakes may come to.
    rules: Vec<(&'static str, String)>,
    onlookers: Vec<(&'static str, String)>,
    stakes: Option<Box<(SessionSettings, Vec<TradeRecord>)>>,
    pub(super) journal: String,
    control: String,
}

#[derive(Clone, Debug)]
pub(crate) struct RunWords {
    pub(crate) venue: String,
    pub(crate) wallet: &'static str,
    /// Start of the run, `None` for now.
    pub(crate) begins: Option<Millis>,
    pub(crate) candles: Option<String>,
    pub(crate) journal: Option<String>,
    pub(crate) named_by: String,
}

impl Header {
    pub(crate) fn of(loaded: &Loaded, registry: &Registry, run: RunWords) -> Self {
        let RunWords { venue, wallet, begins, candles, journal, named_by } = run;
        let control = match &journal {
            Some(_) => {
                format!("from another terminal: candlewick status, halt, resume or reload{named_by}")
            }
            None => "Ctrl-C alone: without a journal no other terminal finds this run".to_owned(),
        };
        let bots = &loaded.config.bots;
        let own = own_durations(bots, registry);
        let assumed = bots.iter().map(|bot| loaded.config.simulation.payout_of(bot.symbol));
        let records = assumed.map(TradeRecord::assumed).collect();
        let mut rules: Vec<_> = labelled("combined", combinations_of(bots, registry)).collect();
        rules.extend(labelled("gates", gates_of(bots, registry)));
        rules.extend(doors_of(loaded, begins));
        rules.push(("limits", limit_words(&loaded.config.risk)));
        rules.extend(labelled("notes", lints::texts(&LintInput::new(loaded, registry), Stage::Start)));
        Self {
            venue,
            candles,
            wallet: wallet.to_owned(),
            bots: bots.iter().zip(&own).map(|(bot, own)| bot_words(bot, own)).collect(),
            names: bots.iter().map(|bot| bot.name.clone()).collect(),
            rules,
            onlookers: onlookers_of(loaded),
            stakes: Some(Box::new((session_settings(loaded), records))),
            journal: journal.unwrap_or_else(|| "none: nothing outlives this run (--journal FILE)".to_owned()),
            control,
        }
    }

    pub(crate) fn text(&self, (free, wallet): (Money, Option<Money>), scale: MoneyScale) -> String {
        let bots = self.names.iter().zip(&self.bots).map(|(name, bot)| format!("{name}: {bot}"));
        let mut rows = vec![("venue", self.venue.clone())];
        rows.extend(self.candles.clone().map(|candles| ("candles", candles)));
        rows.push(("wallet", self.wallet_words((free, wallet), scale)));
        rows.extend(labelled("bots", bots));
        rows.extend(self.rules.iter().cloned());
        rows.extend(labelled("ruin", self.ruin(free)));
        rows.extend(self.onlookers.iter().cloned());
        let stop = "Ctrl-C: no new trades, waits for open ones; once more: at once".to_owned();
        rows.extend([("journal", self.journal.clone()), ("control", self.control.clone()), ("stop", stop)]);
        let row = |(label, words): (&str, String)| {
            format!("{label:<LABEL$}{}\n", wrapped_beside(&visible(&words), LABEL, Some(WIDTH)))
        };
        lines(&rows.into_iter().map(row).collect::<String>()).into_owned()
    }

    fn wallet_words(&self, (free, wallet): (Money, Option<Money>), scale: MoneyScale) -> String {
        let (name, ledger) = (&self.wallet, scale.format(free));
        let Some(wallet) = wallet.filter(|wallet| *wallet != free) else {
            return format!("{name}, {ledger} free");
        };
        let (held, difference) = (scale.format(wallet), scale.format((wallet - free).max(free - wallet)));
        let word = if wallet > free { "more" } else { "less" };
        format!("{name}, {held}; the ledger has {ledger} free, the wallet {difference} {word}")
    }

    fn ruin(&self, free: Money) -> Vec<String> {
        let Some((settings, records)) = self.stakes.as_deref() else { return Vec::new() };
        let report = check_ruin(settings, free, records).unwrap_or_default();
        report.ladders.into_iter().chain(report.stakes).collect()
    }
}

fn labelled(
    label: &'static str,
    lines: impl IntoIterator<Item = String>,
) -> impl Iterator<Item = (&'static str, String)> {
    iter::once(label).chain(iter::repeat("")).zip(lines)
}

pub(crate) fn named_by(journal: Option<&JournalUrl>, files: &[PathBuf]) -> String {
    if let Some(journal) = journal {
        let shown = journal.to_string();
        return format!(" --journal {}", shown.strip_prefix("sqlite://").unwrap_or(&shown));
    }
    let files: Vec<String> = files.iter().map(|file| format!(" --config {}", file.display())).collect();
    files.concat()
}

/// Scheme and host of a venue's address. Paths and queries may hold secrets.
pub(crate) fn address_words(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = place.rsplit('@').next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_here = name == "localhost" || name == "[::1]" || name.starts_with("127.");
    let kind = if is_here { "on this machine" } else { "over the network" };
    format!("{kind}, {scheme}://{host}")
}

pub(crate) fn sandbox_words(base_url: &str, speed: SandboxSpeed, faults: &FaultProfile) -> String {
    format!("embedded, {base_url}, {}, faults: {faults}", speed_words(speed))
}

pub(crate) fn candle_words(speed: SandboxSpeed, candles: Range<Millis>, until_end: bool) -> String {
    let [start, end] = [candles.start, candles.end].map(|at| String::from(StartTime(at)));
    let ends = "the run ends with them";
    match speed {
        SandboxSpeed::Named(NamedSpeed::Max) => format!("{start} to {end}; {ends}"),
        SandboxSpeed::Times(factor) => {
            let seconds = (candles.end - candles.start).get().max(0) as f64 / 1_000.0 / factor;
            let ends = if until_end { format!("; {ends}") } else { String::new() };
            format!("{start} to {end}: {} at this speed{ends}", time_words(seconds))
        }
    }
}

pub(crate) fn noted_words(variants: &VariantSettings) -> String {
    let place = match &variants.ledger {
        Some(ledger) if ledger.as_os_str().is_empty() => return String::new(),
        Some(ledger) => format!(" in {}", ledger.display()),
        None => String::new(),
    };
    format!("; counted{place} as tried on them, as a backtest is")
}

fn time_words(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, ..) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{} {} h", counted(days, "day", "days"), hours % 24),
    }
}

pub(crate) fn speed_words(speed: SandboxSpeed) -> String {
    match speed {
        SandboxSpeed::Named(NamedSpeed::Max) => "in lock-step with the bots".to_owned(),
        SandboxSpeed::Times(1.0) => "in real time".to_owned(),
        SandboxSpeed::Times(factor) => format!("{factor} times real time"),
    }
}

fn bot_words(bot: &BotSettings, own: &[CloseType]) -> String {
    let expiry = bot.expiry();
    let kind = expiration_words(expiry.expiration_type);
    let stake = stake_words(&bot.stake);
    let delay = if bot.entry_delay_s > 0 { format!(" {} s later", bot.entry_delay_s) } else { String::new() };
    let durations: Vec<String> = own.iter().map(ToString::to_string).collect();
    let duration = match durations.as_slice() {
        [] => expiry.close_type.to_string(),
        own => format!("{} (the strategy's own)", own.join(" or ")),
    };
    format!("{} on {}, {duration}{kind}{delay}, stake {stake}", bot.strategy, bot.series())
}

fn doors_of(loaded: &Loaded, begins: Option<Millis>) -> Vec<(&'static str, String)> {
    let signals = &loaded.config.signals;
    let list = list_words(loaded, begins).map(|list| ("list", list));
    let webhook = signals.listen.map(|address| match address.port() {
        0 => ("webhook", format!("signals at a free port of {}, which live -v names", address.ip())),
        _ => ("webhook", format!("signals at http://{address}/signal")),
    });
    let stdin =
        signals.stdin.then(|| ("stdin", "signals on standard input, a JSON object a line".to_owned()));
    [list, webhook, stdin].into_iter().flatten().collect()
}

fn stake_words(stake: &StakeSettings) -> String {
    match stake {
        StakeSettings::Fixed { amount } => amount.to_string(),
        StakeSettings::Share { percent } => format!("{percent} % of the free balance"),
        StakeSettings::Martingale { amount, factor, levels, entry, if_refused } => {
            let entry = match (entry, if_refused) {
                (LadderEntry::NextSignal, _) => "",
                (LadderEntry::NextCandle, IfRefused::Wait) => ", again with the next candle",
                (LadderEntry::NextCandle, IfRefused::Reset) => ", again with the next candle or given up",
            };
            format!("{amount}, times {factor} after a loss, {}{entry}", counted(*levels, "level", "levels"))
        }
        StakeSettings::Soros { amount, wins, .. } => {
            format!("{amount} and the profit of up to {}", counted(*wins, "win", "wins"))
        }
        StakeSettings::Kelly { fraction, .. } => format!("{fraction} of Kelly"),
    }
}

fn limit_words(risk: &RiskSettings) -> String {
    let session = &risk.session;
    let hours: Vec<String> = risk.hours.iter().map(ToString::to_string).collect();
    let spans = u32::try_from(risk.blackouts.spans.len()).unwrap_or(u32::MAX);
    let is_usual_day = risk.day_start == "00:00" && risk.day_timezone == "UTC";
    let one_by_one = [
        count(risk.max_open_trades, "open together"),
        count(risk.max_open_trades_per_symbol, "on a symbol"),
        count(risk.max_trades_per_hour, "an hour"),
        count(risk.max_trades_per_day, "a day"),
        money(risk.daily_loss_limit, "a day's loss"),
        percent(risk.daily_loss_limit_percent, "a day's loss"),
        money(risk.daily_profit_target, "a day's profit"),
        percent(risk.daily_profit_target_percent, "a day's profit"),
        (!is_usual_day).then(|| format!("days from {} {}", risk.day_start, risk.day_timezone)),
        money(session.loss_limit, "a session's loss"),
        percent(session.loss_limit_percent, "a session's loss"),
        money(session.profit_target, "a session's profit"),
        percent(session.profit_target_percent, "a session's profit"),
        percent(risk.max_drawdown_percent, "drawdown"),
        count(risk.max_loss_streak, "losses in a row"),
        count(risk.cooldown_after_loss_s, "s of rest after a loss"),
        (risk.cooldown_after_losses > 0).then(|| {
            let losses = counted(risk.cooldown_after_losses, "loss", "losses");
            format!("{} s of rest after {losses} in a row", risk.cooldown_after_losses_s)
        }),
    ];
    let pauses = risk.pauses.iter().map(PauseSettings::words);
    let of_symbols = risk
        .min_payout_percent_by_symbol
        .iter()
        .map(|(name, least)| format!("payout of {name} at least {least} %"));
    let rest = [
        (!risk.best_payout_of.is_empty())
            .then(|| format!("the best payout of {}", risk.best_payout_of.join(", "))),
        money(risk.max_stake, "stake at most"),
        percent(risk.max_stake_percent, "stake at most"),
        (!hours.is_empty()).then(|| format!("trades {}", hours.join(" and "))),
        count(spans, if spans == 1 { "blackout" } else { "blackouts" }),
        risk.enforce_verdict.then(|| "no trades without an edge".to_owned()),
    ];
    let bots = risk.bots.iter().filter_map(|(name, own)| bot_limit_words(name, own));
    let all = one_by_one.into_iter().flatten().chain(pauses);
    let all = all.chain(percent(risk.min_payout_percent, "payout at least")).chain(of_symbols);
    let on: Vec<String> = all.chain(rest.into_iter().flatten()).chain(bots).collect();
    if on.is_empty() { "none: all are off".to_owned() } else { on.join(", ") }
}

fn bot_limit_words(name: &str, own: &BotLimitSettings) -> Option<String> {
    let all = [
        count(own.max_open_trades, "open"),
        count(own.max_trades_per_day, "a day"),
        money(own.daily_loss_limit, "a day's loss"),
        percent(own.daily_loss_limit_percent, "a day's loss"),
        money(own.daily_profit_target, "a day's profit"),
        percent(own.daily_profit_target_percent, "a day's profit"),
        money(own.session_loss_limit, "a session's loss"),
        percent(own.session_loss_limit_percent, "a session's loss"),
        money(own.session_profit_target, "a session's profit"),
        percent(own.session_profit_target_percent, "a session's profit"),
        count(own.max_loss_streak, "losses in a row"),
    ];
    let on: Vec<String> = all.into_iter().flatten().collect();
    (!on.is_empty()).then(|| format!("{name} alone: {}", on.join(" and ")))
}

fn count(most: u32, what: &str) -> Option<String> {
    (most > 0).then(|| format!("{most} {what}"))
}

fn money(most: Decimal, what: &str) -> Option<String> {
    (!most.is_zero()).then(|| format!("{what} {most}"))
}

fn percent(most: f64, what: &str) -> Option<String> {
    (most > 0.0).then(|| format!("{what} {most} %"))
}

fn onlookers_of(loaded: &Loaded) -> Vec<(&'static str, String)> {
    let config = &loaded.config;
    let channels = config.notify.channels.iter().map(|(name, channel)| channel_words(name, channel));
    let mut lines: Vec<(&'static str, String)> = labelled("alerts", channels).collect();
    lines.extend(config.metrics.listen.map(|address| match address.port() {
        0 => ("metrics", format!("at a free port of {}, which live -v names", address.ip())),
        _ => ("metrics", format!("at http://{address}/metrics")),
    }));
    let every_s = config.heartbeat.every_s;
    lines.extend(config.heartbeat.url.as_ref().map(|_| ("heartbeat", format!("each {every_s} s"))));
    lines
}

fn channel_words(name: &str, channel: &ChannelSettings) -> String {
    let least = match channel.minimum {
        AlertSeverity::Info => "all",
        AlertSeverity::Notice => "notices and worse",
        AlertSeverity::Warning => "warnings and worse",
        AlertSeverity::Critical => "critical ones",
    };
    let events = |what: &str, events: &[AlertEvent]| {
        let names: Vec<String> = events.iter().copied().filter_map(name_of).collect();
        if names.is_empty() { String::new() } else { format!(", {what} {}", names.join(", ")) }
    };
    let (with, without) = (events("with", &channel.include), events("without", &channel.exclude));
    let commands = if channel.commands { "; answers questions" } else { "" };
    format!("{name} ({}): {least}{with}{without}{commands}", channel.kind.as_str())
}

fn name_of(event: AlertEvent) -> Option<String> {
    Some(serde_json::to_value(event).ok()?.as_str()?.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn candles_say_how_long_they_last() {
        let from = Millis::new(1_767_609_000_000); // 2026-01-05 10:30 UTC
        let week = from..from + Millis::DAY * 7;
        let (max, times) = (SandboxSpeed::Named(NamedSpeed::Max), SandboxSpeed::Times);
        for (speed, until_end, expected) in [
            // By hand: 604,800 s, of which 120 pass in one.
            (times(120.0), false, ": 1 h 24 min at this speed"),
            (times(120.0), true, ": 1 h 24 min at this speed; the run ends with them"),
            (times(1.0), false, ": 7 days 0 h at this speed"),
            (times(10_080.0), false, ": 1 min 0 s at this speed"),
            (times(1_000_000.0), false, ": 1 s at this speed"),
            (max, false, "; the run ends with them"),
        ] {
            let words = candle_words(speed, week.clone(), until_end);
            assert_eq!(words, format!("2026-01-05T10:30:00Z to 2026-01-12T10:30:00Z{expected}"));
        }
        let noted = |ledger: &str| noted_words(&VariantSettings { ledger: Some(ledger.into()) });
        assert_eq!(noted("tried.jsonl"), "; counted in tried.jsonl as tried on them, as a backtest is");
        assert_eq!(noted(""), "");
    }

    #[test]
    fn an_address_is_its_place_and_no_more() {
        assert_eq!(address_words("http://127.0.0.1:7701/api?x=1"), "on this machine, http://127.0.0.1:7701");
        let away = address_words("https://ann:hush@venue.example/v1");
        assert_eq!(away, "over the network, https://venue.example");
        assert_eq!(address_words("http://[::1]:7701"), "on this machine, http://[::1]:7701");
    }

    #[test]
    fn each_limit_has_its_figure_and_those_that_are_off_are_left_out() {
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
        let of_all = "2 open together, 3 on a symbol, 4 an hour, 5 a day, a day's loss 6, a day's loss 7.5 %, a day's profit 8, \
                      a day's profit 9.5 %, days from 00:00 Europe/Berlin, a session's loss 10, a session's loss 11.5 %, a \
                      session's profit 12, a session's profit 13.5 %, drawdown 14.5 %, 15 losses in a row, 16 s of rest after \
                      a loss, 60 s of rest after 17 losses in a row, pause of 600 s after 3 losses in a row of a bot, \
                      pause until the day ends after 1 win in a row, payout at least 80.5 %, payout of EURUSD at least \
                      85 %, the best payout of EURUSD, GBPUSD, stake at most 18, stake at most 19.5 %, trades from 08:00 to 17:00 \
                      Europe/London mon tue, no trades without an edge, btc alone: 20 open and 21 a day and a day's loss 22 \
                      and a day's loss 23.5 % and a day's profit 24 and a day's profit 25.5 % and a session's loss 26 and a \
                      session's loss 27.5 % and a session's profit 28 and a session's profit 29.5 % and 30 losses in a row";
        for (settings, expected) in [
            ("{}", "3 open together, 1 on a symbol, 200 a day, a day's loss 100, drawdown 20 %"),
            (off, "none: all are off"),
            (all, of_all),
        ] {
            assert_eq!(limit_words(&serde_json::from_str(settings).unwrap()), expected);
        }
    }

    #[test]
    fn a_channel_is_named_with_what_it_is_told_and_without_its_address() {
        for (settings, expected) in [
            (json!({ "kind": "ntfy", "url": "https://ntfy.sh/hush" }), "x (ntfy): notices and worse"),
            (
                json!({ "kind": "webhook", "minimum": "info", "exclude": ["opened", "venue_heard"] }),
                "x (webhook): all, without opened, venue heard",
            ),
            (
                json!({ "kind": "telegram", "minimum": "critical", "include": ["settled"], "commands": true }),
                "x (telegram): critical ones, with settled; answers questions",
            ),
        ] {
            let channel: ChannelSettings = serde_json::from_value(settings).unwrap();
            assert_eq!(channel_words("x", &channel), expected);
        }
    }
}

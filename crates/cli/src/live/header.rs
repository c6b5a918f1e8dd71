//! Header of a run: venue, wallet, bots, limits, and how to stop it.

use super::limit_words::limit_words;
use super::onlookers::onlookers_of;
use crate::combinations::{combinations_of, gates_of};
use crate::terminal::lines;
use candlewick_app::bots::{own_durations, session_settings};
use candlewick_app::configuration::{Loaded, Mode, VariantSettings};
use candlewick_app::lints::{self, LintInput, Stage};
use candlewick_app::signals::list_words;
use candlewick_engine::{
    BotSettings, IfRefused, LadderEntry, SessionSettings, StakeSettings, TradeRecord, check_ruin,
};
use candlewick_journal::JournalUrl;
use candlewick_records::counted;
use candlewick_sandbox::{FaultProfile, NamedSpeed, SandboxSpeed, StartTime};
use candlewick_sdk::{CloseType, ExpirationType, Millis, Money, MoneyScale, Registry, visible};
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
    combinations: Vec<String>,
    gates: Vec<String>,
    doors: Vec<(&'static str, String)>,
    onlookers: Vec<(&'static str, String)>,
    limits: String,
    notes: Vec<String>,
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
        Self {
            venue,
            candles,
            wallet: wallet.to_owned(),
            bots: bots.iter().zip(&own).map(|(bot, own)| bot_words(bot, own)).collect(),
            combinations: combinations_of(bots, registry),
            gates: gates_of(bots, registry),
            names: bots.iter().map(|bot| bot.name.clone()).collect(),
            doors: doors_of(loaded, begins),
            onlookers: onlookers_of(loaded),
            limits: limit_words(&loaded.config.risk),
            notes: lints::texts(&LintInput::new(loaded, registry), Stage::Start),
            stakes: Some(Box::new((session_settings(loaded), records))),
            journal: journal.unwrap_or_else(|| "none: nothing outlives this run (--journal FILE)".to_owned()),
            control,
        }
    }

    pub(crate) fn text(&self, (free, wallet): (Money, Option<Money>), scale: MoneyScale) -> String {
        let mut text = String::new();
        let mut add = |label: &str, words: &str| {
            let words = visible(words);
            let mut label = format!("{label:<LABEL$}");
            for line in wrapped(&words, WIDTH - LABEL) {
                text.push_str(&label);
                text.push_str(line);
                text.push('\n');
                label = " ".repeat(LABEL);
            }
        };
        add("venue", &self.venue);
        if let Some(candles) = &self.candles {
            add("candles", candles);
        }
        add("wallet", &self.wallet_words((free, wallet), scale));
        for (place, (name, bot)) in self.names.iter().zip(&self.bots).enumerate() {
            add(if place == 0 { "bots" } else { "" }, &format!("{name}: {bot}"));
        }
        for (place, made_of) in self.combinations.iter().enumerate() {
            add(if place == 0 { "combined" } else { "" }, made_of);
        }
        for (place, gate) in self.gates.iter().enumerate() {
            add(if place == 0 { "gates" } else { "" }, gate);
        }
        for (label, door) in &self.doors {
            add(label, door);
        }
        add("limits", &self.limits);
        for (index, note) in self.notes.iter().enumerate() {
            add(if index == 0 { "notes" } else { "" }, note);
        }
        for (place, ruin) in self.ruin(free).iter().enumerate() {
            add(if place == 0 { "ruin" } else { "" }, ruin);
        }
        for (label, onlooker) in &self.onlookers {
            add(label, onlooker);
        }
        add("journal", &self.journal);
        add("control", &self.control);
        add("stop", "Ctrl-C: no new trades, waits for open ones; once more: at once");
        lines(&text).into_owned()
    }
}

impl Header {
    fn wallet_words(&self, (free, wallet): (Money, Option<Money>), scale: MoneyScale) -> String {
        let ledger = scale.format(free);
        match wallet.filter(|wallet| *wallet != free) {
            None => format!("{}, {ledger} free", self.wallet),
            Some(wallet) => {
                let (held, difference) =
                    (scale.format(wallet), scale.format((wallet - free).max(free - wallet)));
                let word = if wallet > free { "more" } else { "less" };
                format!(
                    "{}, {held}; the ledger has {ledger} free, the wallet {difference} {word}",
                    self.wallet
                )
            }
        }
    }

    fn ruin(&self, free: Money) -> Vec<String> {
        let Some((settings, records)) = self.stakes.as_deref() else { return Vec::new() };
        // A start with stakes that mean nothing was refused before.
        let report = check_ruin(settings, free, records).unwrap_or_default();
        report.ladders.into_iter().chain(report.stakes).collect()
    }
}

pub(crate) fn named_by(journal: Option<&JournalUrl>, files: &[PathBuf]) -> String {
    if let Some(journal) = journal {
        let shown = journal.to_string();
        return format!(" --journal {}", shown.strip_prefix("sqlite://").unwrap_or(&shown));
    }
    let files: Vec<String> = files.iter().map(|file| format!(" --config {}", file.display())).collect();
    files.concat()
}

pub(crate) const fn wallet_words(mode: Mode) -> &'static str {
    match mode {
        Mode::Demo => "demo",
        Mode::Real => "REAL MONEY",
    }
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
    let ledger = variants.ledger.display();
    if variants.ledger.as_os_str().is_empty() {
        return String::new();
    }
    format!("; counted in {ledger} as tried on them, as a backtest is")
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
    let kind = match expiry.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed => String::new(),
        other => format!(" {other}"),
    };
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

fn wrapped(text: &str, width: usize) -> Vec<&str> {
    let (mut lines, mut rest) = (Vec::new(), text);
    while rest.chars().count() > width {
        // With the letter behind the last that fits: where that is a space, a line may end before it.
        let reach = rest.char_indices().nth(width + 1).map_or(rest.len(), |(at, _)| at);
        let end = rest[..reach].rfind(' ').or_else(|| rest.find(' '));
        let Some(end) = end else { break };
        lines.push(&rest[..end]);
        rest = &rest[end + 1..];
    }
    lines.push(rest);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("a verylongword b", 4), ["a", "verylongword", "b"]);
        assert_eq!(wrapped("ää öö üü", 5), ["ää öö", "üü"]);
        assert_eq!(wrapped("short", 5), ["short"]);
    }

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
        let noted = |ledger: &str| noted_words(&VariantSettings { ledger: ledger.into() });
        assert_eq!(noted("tried.jsonl"), "; counted in tried.jsonl as tried on them, as a backtest is");
        assert_eq!(noted(""), "");
    }

    #[test]
    fn an_address_is_its_place_and_no_more() {
        assert_eq!(address_words("http://127.0.0.1:7701/api?x=1"), "on this machine, http://127.0.0.1:7701");
        assert_eq!(
            address_words("https://ann:hush@venue.example/v1"),
            "over the network, https://venue.example"
        );
        assert_eq!(address_words("http://[::1]:7701"), "on this machine, http://[::1]:7701");
    }
}

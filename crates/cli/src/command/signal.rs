//! `signal`: sends a signal to a running bot, or checks a signal list.

use crate::context::{Context, JournalArguments, block_on};
use crate::failure::{Ending, Failure};
use crate::output::{print, print_json, show_as};
use candlewick_app::configuration::control_paths;
use candlewick_app::control::submit_signal;
use candlewick_app::signals::{
    CheckedEntry, CheckedLine, CheckedList, LineUsage, check_list, parse_close_type,
};
use candlewick_broker::clock::{Clock as _, SystemClock};
use candlewick_engine::{SignalId, SignalReason, SignalSource};
use candlewick_records::count_text;
use candlewick_runtime::control::{SignalOrder, SignalOutcome};
use candlewick_sdk::{CloseType, Direction, escape_hidden};
use clap::{ArgGroup, Args};
use serde_json::json;
use std::collections::HashMap;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("direction").required(true).args(["buy", "sell", "check"])),
    after_help = "Examples:\n  candlewick signal ema --buy\n  candlewick signal ema \
                  --sell --id 2026-01-05T10:00 --expires 2s --reason \"breakout\"\n  candlewick signal --config bots.toml --check list.txt\n\n\
                  The limits are the same as for signals of the bot's strategy, and the trade is staked, recorded and \
                  tracked in the same way. If a rule rejects the signal, the command prints the rule. The exit code is \
                  0, as for an approval. A missing or unknown bot is an error.\nA signal whose --id was received before is \
                  dropped. Without --id, every signal is new."
)]
pub(crate) struct SignalArguments {
    /// Name of the bot
    #[arg(required_unless_present = "check", conflicts_with = "check")]
    bot: Option<String>,
    /// Bet on a higher price; also --call
    #[arg(long, alias = "call")]
    buy: bool,
    /// Bet on a lower price; also --put
    #[arg(long, alias = "put")]
    sell: bool,
    /// Signal list to check against the configured bots, line by line, without sending signals
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Id of the signal; the bot drops ids that it has already received
    #[arg(long, value_name = "TEXT")]
    id: Option<String>,
    /// Maximum age of the signal, such as 5s or 500ms; the limits of the bot may be stricter
    #[arg(long, value_name = "TIME", value_parser = parse_milliseconds)]
    expires: Option<u32>,
    /// Duration of the trade, such as 05:00 or M5 [default: the bot's duration]
    #[arg(long = "duration", aliases = ["close-type", "expiry"], value_name = "CODE", value_parser = parse_close_type)]
    close_type: Option<CloseType>,
    /// Reason to record in the journal
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    journal: JournalArguments,
}

fn parse_milliseconds(text: &str) -> Result<u32, String> {
    let (number, factor) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 1),
        (None, Some(number)) => (number, 1_000),
        (None, None) => (text, 0),
    };
    let ms = number.trim().parse::<u32>().ok().and_then(|number| number.checked_mul(factor));
    ms.filter(|ms| *ms > 0).ok_or_else(|| "use seconds or milliseconds, such as 5s or 500ms".to_owned())
}

pub(super) fn run(arguments: &SignalArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (loaded, _) = arguments.journal.load_for_running_bot(context)?;
    if let Some(path) = &arguments.check {
        let skips = loaded.config.signals.skip_unknown;
        let checked = check_list(&loaded, path, SystemClock::new().now())?;
        return print_check(&checked, context.global.json, skips);
    }
    let paths = control_paths(&loaded)?;
    let order = build_order(arguments)?;
    let id = order.id;
    let outcome = block_on(submit_signal(&paths, order))?;
    let text = || match &outcome {
        SignalOutcome::Approved { intent } => {
            format!("Approved: opening trade #{intent}. Run `candlewick explain {intent}` for details.")
        }
        SignalOutcome::Refused { rule } => format!("Rejected by {rule}: no trade was opened."),
        SignalOutcome::Duplicate => format!("Dropped: the bot has already received signal {id}."),
    };
    show_as(&json!({ "bot": arguments.bot, "id": id, "outcome": outcome }), text, context.global)
}

fn build_order(arguments: &SignalArguments) -> Result<SignalOrder, Failure> {
    let too_long =
        |what: &str, most| Failure::configuration(format!("{what} is too long: the limit is {most} bytes"));
    let id = arguments
        .id
        .clone()
        .unwrap_or_else(|| format!("{}-{}", SystemClock::new().now().get(), std::process::id()));
    let reason = arguments.reason.as_deref();
    let reason = reason.map(|text| SignalReason::new(text).ok_or_else(|| too_long("--reason", 47)));
    Ok(SignalOrder {
        bot: arguments.bot.clone(),
        symbol: None,
        direction: if arguments.sell { Direction::Sell } else { Direction::Buy },
        source: SignalSource::truncated("command"),
        id: SignalId::new(&id).ok_or_else(|| too_long("--id", 63))?,
        time: None,
        expires_ms: arguments.expires,
        close_type: arguments.close_type,
        reason: reason.transpose()?,
    })
}

const MAX_LISTED_REASONS: usize = 5;

/// Prints how each line is read. Fails without signals, on contradicting lines and, unless `skips`, on invalid lines.
fn print_check(list: &CheckedList, is_json: bool, skips: bool) -> Result<Ending, Failure> {
    let CheckedList {
        lines,
        rejection_notice: refused,
        bypass_notices: unbound,
        tradable_entries,
        past_notice: past,
    } = list;
    let count = |is: fn(&LineUsage) -> bool| lines.iter().filter(|line| is(&line.usage)).count();
    let entries = count(|taken| matches!(taken, LineUsage::Entry(_)));
    let repeated = count(|taken| matches!(taken, LineUsage::Repeats(_)));
    let contradicting = count(|taken| matches!(taken, LineUsage::Contradicts(_)));
    let unknown = count(|taken| matches!(taken, LineUsage::Unknown(_)));
    if is_json {
        let rows: Vec<_> = lines.iter().map(line_to_json).collect();
        let wrong = contradicting + unknown;
        let document = json!({
            "lines": rows, "entries": entries, "repeated": repeated, "no_entries": wrong, "refused": refused,
            "unbound": unbound, "would_trade": tradable_entries, "past": past
        });
        print_json(&document)?;
    } else {
        print(&describe_lines(lines))?;
        let notes: Vec<_> =
            refused.iter().chain(unbound).chain(past).map(|note| escape_hidden(note)).collect();
        if !notes.is_empty() {
            print(&format!("\n{}", notes.join("\n")))?;
        }
        if skips && contradicting == 0 {
            print(&format!("\n{}", escape_hidden(&summarize(lines, *tradable_entries))))?;
        }
    }
    if contradicting > 0 {
        let what = count_text(contradicting, "line contradicts another", "lines contradict others");
        return Err(Failure::configuration(format!("{what}: keep only one line for each bot and time")));
    }
    if entries == 0 {
        let problem = format!("none of the {} lines is a signal such as M5;EURUSD;10:00;CALL", lines.len());
        return Err(Failure::configuration(problem));
    }
    if unknown == 0 || skips {
        return Ok(Ending::Done);
    }
    let problem = format!("{unknown} of {} lines are not signals", lines.len());
    let hint = "start comment lines with #, or set signals.skip_unknown = true to skip such lines";
    Err(Failure::configuration(problem).hint(hint))
}

fn line_to_json(line: &CheckedLine) -> serde_json::Value {
    let (name, value) = match &line.usage {
        LineUsage::Entry(entry) => ("entry", json!(entry)),
        LineUsage::Date => ("date", json!(true)),
        LineUsage::Remark(remark) => ("remark", json!(remark)),
        LineUsage::Repeats(earlier) => ("repeats", json!(earlier)),
        LineUsage::Contradicts(problem) | LineUsage::Unknown(problem) => ("problem", json!(problem)),
    };
    json!({ "line": line.line, "text": line.text, name: value })
}

fn describe_lines(lines: &[CheckedLine]) -> String {
    let mut known: HashMap<&str, u64> = HashMap::new();
    let mut listed: Vec<String> = Vec::new();
    let is_alike = |one: &CheckedLine, other: &CheckedLine| matches!((&one.usage, &other.usage), (LineUsage::Unknown(one), LineUsage::Unknown(other)) if one == other);
    let descriptions = lines.chunk_by(is_alike).filter_map(|group| {
        let (first, last) = (group.first()?, group.last()?);
        let place =
            if group.len() == 1 { first.line.to_string() } else { format!("{}-{}", first.line, last.line) };
        let description = match &first.usage {
            LineUsage::Entry(entry) => describe_entry(entry),
            LineUsage::Date => format!("date of the lines below ({})", first.text),
            LineUsage::Remark(remark) => format!("{remark} ({})", first.text),
            LineUsage::Repeats(earlier) => format!("same as line {earlier}, skipped ({})", first.text),
            LineUsage::Contradicts(problem) => format!("error: {problem} ({})", first.text),
            LineUsage::Unknown(problem) => {
                let reported = *known.entry(problem).or_insert(first.line);
                let why = if reported == first.line {
                    omit_repeated_list(problem, &mut listed)
                } else {
                    format!("like line {reported}")
                };
                let more =
                    if group.len() == 1 { String::new() } else { format!("{} lines, first: ", group.len()) };
                format!("not a signal: {why} ({more}{})", first.text)
            }
        };
        Some(escape_hidden(&format!("{place:>5}  {description}")).into_owned())
    });
    descriptions.collect::<Vec<_>>().join("\n")
}

fn summarize(lines: &[CheckedLine], would_trade: usize) -> String {
    let entries = lines.iter().filter(|line| matches!(line.usage, LineUsage::Entry(_))).count();
    let mut reasons: Vec<(String, &str, usize)> = Vec::new();
    for line in lines {
        let reason = match &line.usage {
            LineUsage::Unknown(problem) => problem.as_str(),
            LineUsage::Repeats(_) => "repeats an earlier line",
            LineUsage::Entry(_) | LineUsage::Date | LineUsage::Remark(_) | LineUsage::Contradicts(_) => {
                continue;
            }
        };
        let counted = replace_quoted_text(reason);
        // The text after the colon is a hint that quotes the line. It is removed.
        let counted = counted.split(": ").next().unwrap_or(&counted).to_owned();
        match reasons.iter_mut().find(|(known, ..)| *known == counted) {
            Some((.., count)) => *count += 1,
            None => reasons.push((counted, reason, 1)),
        }
    }
    reasons.sort_by_key(|(.., count)| std::cmp::Reverse(*count));
    let skipped: usize = reasons.iter().map(|(.., count)| count).sum();
    let describe = |(counted, reason, count): &(String, &str, usize)| {
        let reason = if *count == 1 { reason } else { counted.as_str() };
        format!("{count}: {}", reason.split(": ").next().unwrap_or(reason))
    };
    let mut shown: Vec<String> = reasons.iter().take(MAX_LISTED_REASONS).map(describe).collect();
    let others: usize = reasons.iter().skip(MAX_LISTED_REASONS).map(|(.., count)| count).sum();
    if others > 0 {
        shown.push(format!("{others} for other reasons"));
    }
    let why = if shown.is_empty() { String::new() } else { format!(" ({})", shown.join("; ")) };
    let idle = match entries - would_trade.min(entries) {
        0 => String::new(),
        idle => format!("{idle} past or rejected, "),
    };
    format!("{} lines: {would_trade} would still open a trade, {idle}{skipped} skipped{why}", lines.len())
}

fn replace_quoted_text(problem: &str) -> String {
    let pieces = problem.split('"').enumerate();
    let plain: Vec<&str> =
        pieces.map(|(place, piece)| if place % 2 == 1 { "a cell" } else { piece }).collect();
    plain.concat()
}

fn omit_repeated_list(problem: &str, listed: &mut Vec<String>) -> String {
    for begins in [" of an entry: ", "The names are ", "the names are "] {
        let Some((what, list)) = problem.split_once(begins) else { continue };
        if listed.iter().any(|known| known == list) {
            return what.trim_end().trim_end_matches(':').to_owned()
                + if begins == " of an entry: " { " of an entry" } else { "" };
        }
        listed.push(list.to_owned());
        break;
    }
    problem.to_owned()
}

fn describe_entry(entry: &CheckedEntry) -> String {
    let CheckedEntry { when, local, bot, direction, close_type, note } = entry;
    let own = close_type.as_ref().map(|own| format!(", {own}")).unwrap_or_default();
    let local = local.as_ref().map(|local| format!(" ({local})")).unwrap_or_default();
    let note = note.as_ref().map(|note| format!("; {note}")).unwrap_or_default();
    format!("{direction} for {bot}{own}: {when}{local}{note}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: SignalArguments,
    }

    #[test]
    fn duration_has_aliases() {
        for flag in ["--duration", "--close-type", "--expiry"] {
            let line: Line = clap::Parser::try_parse_from(["signal", "eur", "--buy", flag, "5m"]).unwrap();
            assert_eq!((line.arguments.close_type, line.arguments.expires), ("05:00".parse().ok(), None));
        }
    }

    #[test]
    fn parses_lifetimes_in_seconds_or_milliseconds() {
        assert_eq!(parse_milliseconds("5s"), Ok(5_000));
        assert_eq!(parse_milliseconds("500ms"), Ok(500));
        for text in ["5", "s", "", "-1s", "0s", "9999999s", "5m"] {
            assert!(parse_milliseconds(text).is_err(), "{text}");
        }
    }

    fn line(line: u64, text: &str, taken: LineUsage) -> CheckedLine {
        CheckedLine { line, text: text.to_owned(), usage: taken }
    }

    #[test]
    fn lists_valid_values_once() {
        let mut listed = Vec::new();
        let all = ": a time such as 10:00, a symbol (EURUSD)";
        for (problem, list, is_listed) in [
            ("\"G1\" is not part of an entry", all, true),
            ("\"85%\" is not part of an entry", all, false),
            ("\"GBPJPY\" is not a symbol", ": the names are A, B", true),
            ("\"USDJPY\" is not a symbol", ": the names are A, B", false),
            ("the entry has no time", "", true),
        ] {
            let expected = if is_listed { format!("{problem}{list}") } else { problem.to_owned() };
            assert_eq!(omit_repeated_list(&format!("{problem}{list}"), &mut listed), expected);
        }
    }

    #[test]
    fn describes_every_line_and_groups_equal_problems() {
        let unknown = |problem: &str| LineUsage::Unknown(problem.to_owned());
        let entry = CheckedEntry {
            when: "2026-11-28T13:48:00Z".to_owned(),
            local: Some("14:48 Europe/Berlin".to_owned()),
            bot: "hand".to_owned(),
            direction: "SELL".to_owned(),
            close_type: Some("05:00".to_owned()),
            note: Some("on Saturday, the EURUSD market is closed".to_owned()),
        };
        let lines = [
            line(1, "28/11", LineUsage::Date),
            line(2, "a", unknown("no date")),
            line(3, "b", unknown("no date")),
            line(5, "c", unknown("no time")),
            line(6, "d", LineUsage::Entry(entry)),
            line(7, "e", LineUsage::Repeats(6)),
            line(8, "f", unknown("no date")),
            line(9, "g", LineUsage::Contradicts("line 6 asks".to_owned())),
        ];
        let cells = ["\"13:00 PM\" is not a time: 13:00", "\"14: 00 PM\" is not a time: 14:00"]
            .map(|problem| line(1, "h", unknown(problem)));
        assert!(summarize(&cells, 0).ends_with("2 skipped (2: a cell is not a time)"));
        let expected = [
            "    1  date of the lines below (28/11)",
            "  2-3  not a signal: no date (2 lines, first: a)",
            "    5  not a signal: no time (c)",
            "    6  SELL for hand, 05:00: 2026-11-28T13:48:00Z (14:48 Europe/Berlin); on Saturday, the EURUSD market is closed",
            "    7  same as line 6, skipped (e)",
            "    8  not a signal: like line 2 (f)",
            "    9  error: line 6 asks (g)",
        ];
        assert_eq!(describe_lines(&lines).lines().collect::<Vec<_>>(), expected);
        let (lines, unbound) = (lines.into(), Vec::new());
        let list = CheckedList {
            lines,
            rejection_notice: None,
            bypass_notices: unbound,
            tradable_entries: 1,
            past_notice: None,
        };
        let sum = "8 lines: 1 would still open a trade, 5 skipped (3: no date; 1: no time; 1: repeats an earlier line)";
        assert_eq!(summarize(&list.lines, 1), sum);
        let sum = summarize(&list.lines, 0);
        assert!(sum.contains("0 would still open a trade, 1 past or rejected, 5 skipped"), "{sum}");
        assert!(print_check(&list, false, true).is_err(), "contradictions are never skipped");
    }
}

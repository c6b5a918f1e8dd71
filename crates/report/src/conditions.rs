//! Statistics on how often rule conditions were true, as text and JSON.

use crate::figure::format_number;
use crate::page::DataTable;
use candlewick_records::explain::shorten_condition;
use serde::Serialize;

/// Overlaps of buy and sell are reported if they exceed one per this number of candles.
const MIN_CANDLES_PER_OVERLAP: u64 = 100;

/// Statistics of one condition. In a report, the lines of the condition's operands follow, one level deeper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConditionLine {
    pub bot: String,
    /// Path of this part within a combination, such as `outer.dip`. Empty for the condition of the bot itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// Role of the condition: `buy` or `sell`. A combination also uses `part`, `filter`, `vote` and `first_of`.
    pub side: &'static str,
    /// Nesting depth: 0 for the whole condition, 1 for the operands of its `and` or `or`, and so on.
    pub depth: usize,
    pub condition: String,
    /// Number of candles evaluated after warm-up. A filter (`stopped` is set) counts only candles with a signal.
    pub candles: u64,
    pub held: u64,
    pub unknown: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<u64>,
    /// Number of candles on which a sell condition was ignored because a buy condition was also true.
    #[serde(skip_serializing_if = "is_zero")]
    pub beside_buy: u64,
}

impl ConditionLine {
    pub(crate) const fn is_top_level(&self) -> bool {
        self.depth == 0
    }

    pub(crate) fn table(lines: &[Self]) -> DataTable {
        let has_bots = lines.iter().any(|line| line.bot != lines[0].bot);
        let has_unknown = lines.iter().any(|line| line.unknown > 0);
        let mut header = vec!["condition", "true on", "candles", "share"];
        header.extend(has_unknown.then_some("unknown on"));
        let row = |(place, line): (usize, &Self)| {
            let has_parts = lines.get(place + 1).is_some_and(|next| next.depth > line.depth);
            let bot = if has_bots { Some(line.bot.as_str()) } else { None };
            let part = Some(line.part.as_str()).filter(|part| !part.is_empty());
            let side = Some(line.side.replace('_', " "));
            let of_part = match line.side {
                "part" | "filter" => [side.as_deref(), part],
                _ => [part, side.as_deref()],
            };
            let whose: Vec<&str> = [bot].into_iter().chain(of_part).flatten().collect();
            let whose = if line.is_top_level() { format!("{}: ", whose.join(" ")) } else { String::new() };
            let condition = match line.stopped {
                Some(stopped) => format!("{}, {stopped} blocked", line.condition),
                None if has_parts => shorten_condition(&line.condition),
                None => line.condition.clone(),
            };
            let mut row = vec![
                format!("{whose}{}{condition}", "- ".repeat(line.depth)),
                format_number(line.held),
                format_number(line.candles),
                share_text(line),
            ];
            row.extend(has_unknown.then(|| format_number(line.unknown)));
            row
        };
        let header = header.into_iter().map(str::to_owned).collect();
        DataTable { header, rows: lines.iter().enumerate().map(row).collect() }
    }

    pub(crate) fn is_expected_true(&self) -> bool {
        match self.side {
            "buy" | "sell" => self.is_top_level(),
            // Parts that were never evaluated are omitted.
            "vote" => self.candles > 0,
            _ => self.stopped.is_some() && self.candles > 0,
        }
    }

    fn owner_label(&self) -> String {
        let Self { bot, part, .. } = self;
        if part.is_empty() { bot.clone() } else { format!("{bot}, part {part}") }
    }

    pub(crate) fn describe_always_true(lines: &[Self]) -> Vec<String> {
        let asks = |line: &&Self| matches!(line.side, "buy" | "sell") && line.is_top_level();
        let wholes = lines.iter().filter(asks).filter(|line| line.candles > 1 && line.held == line.candles);
        let words = |line: &Self| {
            let ConditionLine { side, condition, .. } = line;
            let (whose, candles) = (line.owner_label(), format_number(line.candles));
            format!("{whose}: {side} was true on all {candles} candles, so `{condition}` filters nothing")
        };
        wholes.map(words).collect()
    }

    pub(crate) fn describe_overlaps(lines: &[Self]) -> Vec<String> {
        let often = lines.iter().filter(|line| line.beside_buy * MIN_CANDLES_PER_OVERLAP > line.candles);
        let words = |line: &Self| {
            let [candles, beside_buy] = [line.candles, line.beside_buy].map(format_number);
            let whose = line.owner_label();
            format!(
                "{whose}: buy and sell were both true on {beside_buy} of {candles} candles; buy took precedence"
            )
        };
        often.map(words).collect()
    }

    pub(crate) fn describe_never_true(lines: &[Self]) -> Vec<String> {
        let wholes = lines.iter().enumerate().filter(|(_, line)| line.is_expected_true() && line.held == 0);
        let words = wholes.map(|(place, whole)| {
            if let Some(stopped) = whole.stopped {
                let signals =
                    if stopped == 1 { "the signal".to_owned() } else { format!("all {stopped} signals") };
                let mut found = Vec::new();
                let is_inside = |line: &&Self| line.depth > whole.depth;
                if lines[place + 1..].iter().take_while(is_inside).any(|line| line.held == 0) {
                    collect_never_true(lines, place, &mut found);
                }
                let found = if found.is_empty() { String::new() } else { format!(": {}", found.join("; ")) };
                return format!("{}: the filter {} blocked {signals}{found}", whole.bot, whole.part);
            }
            let mut found = Vec::new();
            collect_never_true(lines, place, &mut found);
            let side = whole.side;
            let bot = whole.owner_label();
            let on = match whole.candles {
                0 => {
                    return format!(
                        "{bot}: {side} was never evaluated, because no candle follows the warm-up"
                    );
                }
                1 => "not true on the only candle after the warm-up".to_owned(),
                many => format!("never true on {} candles", format_number(many)),
            };
            format!("{bot}: {side} was {on}: {}", found.join("; "))
        });
        words.collect()
    }
}

fn collect_never_true(lines: &[ConditionLine], place: usize, found: &mut Vec<String>) {
    let own = lines[place].depth;
    let inside = (place + 1..lines.len()).take_while(|at| lines[*at].depth > own);
    let parts: Vec<usize> = inside.filter(|at| lines[*at].depth == own + 1).collect();
    let never: Vec<usize> = parts.iter().copied().filter(|at| lines[*at].held == 0).collect();
    if parts.is_empty() {
        let line = &lines[place];
        let why = match line.unknown {
            0 => String::new(),
            all if all == line.candles => ", because one of its values is missing on all candles".to_owned(),
            some => format!(", one of its values is missing on {} candles", format_number(some)),
        };
        found.push(format!("`{}` was never true{why}", line.condition));
    } else if never.is_empty() {
        let parts = parts.iter().map(|at| &lines[*at]);
        let each = parts.map(|part| format!("`{}` on {}", part.condition, share_text(part)));
        let each = each.collect::<Vec<_>>().join(", ");
        found.push(format!("each part was true at times, but never all parts on the same candle: {each}"));
    } else {
        for at in never {
            collect_never_true(lines, at, found);
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Formats the share of candles on which the condition was true, in percent. Never rounds a rare condition to zero.
fn share_text(line: &ConditionLine) -> String {
    let ConditionLine { held, candles, .. } = *line;
    let percent = held as f64 / candles.max(1) as f64 * 100.0;
    match percent {
        _ if candles == 0 => "-".to_owned(),
        rare if held > 0 && rare < 0.01 => "< 0.01 %".to_owned(),
        percent => format!("{percent:.2} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(depth: usize, condition: &str, held: u64, unknown: u64) -> ConditionLine {
        let (bot, part, condition) = ("a".to_owned(), String::new(), condition.to_owned());
        let (side, candles, stopped, beside_buy) = ("buy", 40_000, None, 0);
        ConditionLine { bot, part, side, depth, condition, candles, held, unknown, stopped, beside_buy }
    }

    fn render_rows(lines: &[ConditionLine]) -> Vec<String> {
        ConditionLine::table(lines).rows.iter().map(|row| row.join("|")).collect()
    }

    #[test]
    fn lists_parts_with_their_share_after_the_whole_condition() {
        let lines = [line(0, "x and y", 2, 0), line(1, "x", 10_000, 0), line(1, "y", 0, 0)];
        let table = ConditionLine::table(&lines);
        assert_eq!(table.header, ["condition", "true on", "candles", "share"]);
        let rows = render_rows(&lines);
        assert_eq!(
            rows,
            ["buy: x and y|2|40,000|< 0.01 %", "- x|10,000|40,000|25.00 %", "- y|0|40,000|0.00 %"]
        );
        // A long condition is shortened if lines for its parts follow.
        let long = "close > sma(200) and rsi(14) < 30 and volume > 0";
        let rows = ConditionLine::table(&[line(0, long, 2, 0), line(1, long, 3, 0)]).rows;
        assert_eq!(rows[0][0], "buy: close > sma(200) and rsi(14) < 30 and...");
        assert_eq!(rows[1][0], format!("- {long}"));
        let mut other = line(0, "z", 4, 9);
        (other.bot, other.part) = ("b".to_owned(), "outer.dip".to_owned());
        let both = ConditionLine::table(&[lines[0].clone(), other]);
        assert_eq!(both.header.last().map(String::as_str), Some("unknown on"));
        assert_eq!(both.rows[1], ["b outer.dip buy: z", "4", "40,000", "0.01 %", "9"]);
    }

    #[test]
    fn lists_vote_parts_and_blocked_signals_of_a_combination() {
        let of = |part: &str, side, line| ConditionLine { part: part.to_owned(), side, ..line };
        let filter = |stopped: u64| {
            let line = line(0, "lets the signal pass", 20 - stopped, 0);
            ConditionLine { candles: 20, stopped: Some(stopped), ..line }
        };
        let lines = [
            of("", "vote", line(0, "2 of 2 votes agree on a direction", 20, 0)),
            of("dip", "part", line(0, "signals", 400, 0)),
            of("", "first_of", line(0, "a part signals", 0, 0)),
            of("hours", "filter", filter(15)),
            of("hours", "filter", line(1, "close > 1", 10_000, 0)),
        ];
        let expected = [
            "vote: 2 of 2 votes agree on a direction|20|40,000|0.05 %",
            "part dip: signals|400|40,000|1.00 %",
            "first of: a part signals|0|40,000|0.00 %",
            "filter hours: lets the signal pass, 15 blocked|5|20|25.00 %",
            "- close > 1|10,000|40,000|25.00 %",
        ];
        assert_eq!(render_rows(&lines), expected);
        let none = [of("hours", "filter", filter(20)), of("", "vote", line(0, "a direction", 0, 0))];
        let vote = "a: vote was never true on 40,000 candles: `a direction` was never true";
        let expected = ["a: the filter hours blocked all 20 signals", vote];
        assert_eq!(ConditionLine::describe_never_true(&none), expected);
        assert_eq!(ConditionLine::describe_never_true(&lines), [""; 0]);
    }

    #[test]
    fn names_condition_that_was_true_on_every_candle() {
        let inside = ConditionLine { part: "outer.dip".to_owned(), ..line(0, "y", 40_000, 0) };
        let lines = [line(0, "x", 40_000, 0), line(1, "p", 40_000, 0), line(0, "z", 39_999, 0), inside];
        let found = ConditionLine::describe_always_true(&lines);
        let [own, inside] = &found[..] else { panic!("{found:?}") };
        assert!(own.starts_with("a: buy ") && own.contains("`x`"), "{own}");
        assert!(inside.starts_with("a, part outer.dip: buy ") && inside.contains("`y`"), "{inside}");
        let none = ConditionLine { candles: 0, ..line(0, "x", 0, 0) };
        assert_eq!(ConditionLine::describe_always_true(&[none]), [""; 0]);
    }

    /// 400 of 40,000 candles are exactly one in a hundred.
    #[test]
    fn reports_overlaps_of_buy_and_sell_above_one_percent() {
        let sell = |beside_buy| ConditionLine { side: "sell", beside_buy, ..line(0, "y", 900, 0) };
        let found = ConditionLine::describe_overlaps(&[line(0, "x", 900, 0), sell(401)]);
        assert!(found.len() == 1 && found[0].contains("401 of 40,000 candles"), "{found:?}");
        assert_eq!(ConditionLine::describe_overlaps(&[line(0, "x", 900, 0), sell(400)]), [""; 0]);
        let inside = ConditionLine { part: "outer.dip".to_owned(), ..sell(900) };
        assert!(ConditionLine::describe_overlaps(&[inside])[0].starts_with("a, part outer.dip: "));
        assert_eq!(ConditionLine::describe_overlaps(&[ConditionLine { candles: 0, ..sell(0) }]), [""; 0]);
    }

    #[test]
    fn names_condition_that_was_never_true_down_to_the_part() {
        assert_eq!(ConditionLine::describe_never_true(&[line(0, "x", 1, 0), line(0, "y", 1, 0)]), [""; 0]);
        let inside = ConditionLine { part: "outer.dip".to_owned(), ..line(0, "x", 0, 0) };
        let expected = "a, part outer.dip: buy was never true on 40,000 candles: `x` was never true";
        assert_eq!(ConditionLine::describe_never_true(&[inside]), [expected]);
        // The condition is `(p or q) and r and s`: p and q are never true, and s is never known.
        let lines = [
            line(0, "(p or q) and r and s", 0, 0),
            line(1, "(p or q)", 0, 0),
            line(2, "p", 0, 0),
            line(2, "q", 0, 7),
            line(1, "r", 9, 0),
            line(1, "s", 0, 40_000),
            line(0, "u and v", 0, 0),
            line(1, "u", 10_000, 0),
            line(1, "v", 20_000, 0),
        ];
        let expected = [
            "a: buy was never true on 40,000 candles: `p` was never true; `q` was never true, one of its values is \
             missing on 7 candles; `s` was never true, because one of its values is missing on all candles",
            "a: buy was never true on 40,000 candles: each part was true at times, but never all parts on the same \
             candle: `u` on 25.00 %, `v` on 50.00 %",
        ];
        assert_eq!(ConditionLine::describe_never_true(&lines), expected);
    }
}

//! The report as people read it.

use super::Report;
use crate::chronicle::{DelayLine, Spread};
use crate::output::table;
use std::fmt::{self, Write as _};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bots =
            table(["bot", "symbol", "trades", "won", "lost", "draw", "win rate", "pnl", "verdict"]);
        for line in &self.bots {
            let counts = [line.trades, line.won, line.lost, line.draw].map(|count| count.to_string());
            let mut row = vec![line.bot.clone(), line.symbol.clone()];
            row.extend(counts);
            row.extend([percent(line.win_rate), self.signed(line.pnl), line.edge.brief()]);
            bots.add_row(row);
        }
        let mut figures = table(["all bots", ""]);
        for (name, value) in self.figures() {
            figures.add_row([name.to_owned(), value]);
        }
        writeln!(f, "{}\n\n{}", bots.trim_fmt(), figures.trim_fmt())?;
        if !self.delays.is_empty() {
            writeln!(f, "\n{}", delays(&self.delays))?;
        }
        for notice in &self.notices {
            write!(f, "\nnote: {notice}")?;
        }
        Ok(())
    }
}

impl Report {
    fn figures(&self) -> Vec<(&'static str, String)> {
        let Self { trades, won, lost, draw, cancelled, unsettled, .. } = self;
        let streak = self.longest_losing_streak;
        let mut figures = vec![
            ("verdict", self.edge.words()),
            ("candles", self.candles_told()),
            ("trades", format!("{trades}: {won} won, {lost} lost, {draw} drawn, {cancelled} cancelled")),
            ("win rate", format!("{} (break-even {})", percent(self.win_rate), percent(self.break_even))),
            (
                "breaks even at payout",
                self.break_even_payout_percent.map_or("-".to_owned(), |p| format!("{p:.2} %")),
            ),
            (
                "p-value, if trades are independent",
                self.p_value.map_or("-".to_owned(), |p| format!("{p:.4}")),
            ),
            ("profit and loss", self.signed(self.pnl)),
            ("final balance", self.money(self.final_balance)),
            (
                "deepest fall",
                format!("{} ({:.2} %)", self.money(self.max_drawdown), self.max_drawdown_percent),
            ),
            ("longest losing streak", streak.to_string()),
        ];
        if let Some(overlap) = self.edge.overlap() {
            figures.push(("trades that overlap", overlap));
        }
        if *cancelled > 0 {
            figures.push(("profit if cancelled trades had lost", self.signed(self.pnl_if_cancelled_lost)));
        }
        if *unsettled > 0 {
            let stakes = self.money(self.unsettled_stakes);
            figures.push(("not settled", format!("{unsettled}, stakes of {stakes} returned")));
        }
        if !self.refused.is_empty() {
            let mut refused = String::new();
            for (place, (rule, count)) in self.refused.iter().enumerate() {
                let comma = if place > 0 { ", " } else { "" };
                let _ = write!(refused, "{comma}{rule} {count}");
            }
            figures.push(("refused", refused));
        }
        if !self.audit_findings.is_empty() {
            let found = self.audit_findings.iter().map(|(audit, count)| format!("{audit} {count}"));
            figures.push(("audits found", found.collect::<Vec<_>>().join(", ")));
        }
        let short = |hash: &str| hash.chars().take(16).collect::<String>();
        if let Some(hash) = &self.data_hash {
            figures.push(("data hash", short(hash)));
        }
        figures.push(("journal hash", short(&self.journal_hash)));
        figures
    }

    fn candles_told(&self) -> String {
        let pace = self.candles_per_second.map(|pace| format!(", {pace:.0} a second"));
        format!("{}{}", self.candles, pace.unwrap_or_default())
    }

    fn money(&self, amount: f64) -> String {
        format!("{amount:.*}", self.scale.decimals() as usize)
    }

    fn signed(&self, amount: f64) -> String {
        format!("{amount:+.*}", self.scale.decimals() as usize)
    }
}

/// Delays of a live run: the middle one and the one that 99 of 100 do not exceed.
fn delays(lines: &[DelayLine]) -> String {
    let mut delays = table([
        "delays, p50 / p99 ms",
        "close to available",
        "decide to arrival",
        "decide to open",
        "request to answer",
    ]);
    let told = |spread: Option<Spread>| {
        spread.map_or("-".to_owned(), |Spread { p50, p99, .. }| format!("{p50} / {p99}"))
    };
    for line in lines {
        let spreads = [
            line.close_to_available_ms,
            line.decide_to_arrival_ms,
            line.decide_to_open_ms,
            line.request_to_answer_ms,
        ];
        let mut row = vec![line.symbol.clone()];
        row.extend(spreads.map(told));
        delays.add_row(row);
    }
    delays.trim_fmt()
}

fn percent(fraction: Option<f64>) -> String {
    fraction.map_or("-".to_owned(), |fraction| format!("{:.2} %", fraction * 100.0))
}

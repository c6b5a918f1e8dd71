//! Verdict of a report, with its evidence, the reasons for withholding it, and the heading of the report.

use super::caveats::{Caveats, caveat_text};
use crate::analysis::Finding;
use crate::figure::capitalise;
use crate::shown::{EdgeDetectionLine, explain_interval};
use candlewick_engine::{IntentRow, Judge, JudgedTrade, edge_sequence, judge};
use candlewick_records::{
    EDGE_NO_LONGER_HELD, EXPLORATORY, EdgeIntervals, PRACTICE, count_text, edge_threshold, format_utc,
    no_longer_held_text, threshold_text, verdict_name, verdict_text, withheld_verdict_text,
};
use candlewick_sdk::{Millis, Outcome};
use candlewick_search::evidence::{EvidenceKind, last_day};
use candlewick_statistics::{EdgeTest, Verdict};
use serde::Serialize;

const NO_JOINT_VERDICT: &str = "no joint verdict, because the bots changed since alpha was divided among them; see the verdict of each bot";
const SYNTHETIC: &str = "synthetic candles say nothing about a market";
const CONFIRM_HINT: &str = "To test it on candles that no one has seen: candlewick confirm CONFIG";
const CONFIRMATION_CAVEAT: &str = "Caveat: valid if no one, and no language model used, knew these days";

/// Heading of a report: a title, and at most four lines of at most 100 columns.
#[derive(Debug)]
pub struct Heading {
    /// CSS class of the page.
    pub(crate) class: &'static str,
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct EdgeLine {
    #[serde(skip)]
    pub verdict: &'static str,
    #[serde(skip)]
    evidence: EvidenceKind,
    /// Whether the account for an edge reached its threshold. Exploratory trades do not show an edge even then.
    #[serde(skip)]
    pub(crate) has_reached_threshold: bool,
    pub(crate) judged_trades: u64,
    about_more_trades: Option<u64>,
    /// Tested edge, as the mean return per unit of stake.
    delta: f64,
    #[serde(skip)]
    alpha: f64,
    pub(crate) account_for: f64,
    pub(crate) threshold_for: Option<f64>,
    pub(crate) account_against: f64,
    pub(crate) threshold_against: f64,
    clusters: u64,
    variance_inflation: f64,
    pub(crate) withheld: Vec<String>,
    labels: Vec<&'static str>,
    pub(crate) no_longer_held_since: Option<Millis>,
    shown: Option<EdgeDetectionLine>,
    #[serde(flatten)]
    pub intervals: EdgeIntervals,
}

impl EdgeLine {
    pub fn new<'a>(
        test: &EdgeTest,
        rows: impl IntoIterator<Item = &'a IntentRow> + Clone,
        caveats: &Caveats,
    ) -> Self {
        // The intervals agree with the test only if all of the bot's trades are available.
        let trades = rows.clone().into_iter().map(JudgedTrade::from_row);
        let ended = trades.filter(|trade| !trade.is_unopened()).filter_map(|trade| Some(trade.ended?.1));
        let ended: Vec<Outcome> = ended.collect();
        let counted = ended.iter().filter(|outcome| **outcome != Outcome::Cancelled).count() as u64;
        let is_whole = counted == test.settled();
        let intervals = if is_whole {
            EdgeIntervals::from_sequence(&edge_sequence(rows.clone()))
        } else {
            EdgeIntervals::default()
        };
        let (mut since, mut shown) = (None, None);
        let has_reached_threshold = test.verdict() == Verdict::EdgeShown;
        if has_reached_threshold {
            let again = EdgeTest::new(test.plan()).with_weight(test.weight());
            since = Judge::from_rows(rows.clone(), again).no_longer_held_since();
            let trades: Vec<JudgedTrade> = rows.clone().into_iter().map(JudgedTrade::from_row).collect();
            shown = if is_whole { EdgeDetectionLine::from_judged(&trades, test) } else { None };
        }
        let (verdict, withheld) = caveats.allowed_verdict(test, ended.into_iter(), |test| judge(rows, test));
        Self {
            verdict,
            evidence: caveats.evidence.clone(),
            has_reached_threshold,
            judged_trades: test.settled(),
            about_more_trades: verdict_name(test).1,
            delta: test.plan().delta(),
            alpha: test.plan().alpha(),
            account_for: test.edge_account(),
            threshold_for: edge_threshold(test),
            account_against: test.mirror_account(),
            threshold_against: test.plan().beta().recip(),
            clusters: test.overlap().clusters(),
            variance_inflation: test.overlap().variance_inflation(),
            withheld,
            labels: caveats.labels.clone(),
            no_longer_held_since: None,
            shown,
            intervals,
        }
        .with_edge_end(since)
    }

    /// Sets the time since which trades no longer support the edge; `None` if they still do.
    #[must_use]
    pub fn with_edge_end(self, since: Option<Millis>) -> Self {
        let verdict = match (since, self.verdict) {
            (Some(_), "edge_shown") => EDGE_NO_LONGER_HELD,
            (None, EDGE_NO_LONGER_HELD) => "edge_shown",
            (_, verdict) => verdict,
        };
        Self { no_longer_held_since: since, verdict, ..self }
    }

    pub fn describe(&self) -> String {
        let ended = self.no_longer_held_since.map(format_utc);
        let words = match self.verdict {
            "edge_shown" => {
                self.shown.map_or_else(|| verdict_text(self.verdict, None), |shown| shown.describe())
            }
            "edge_rejected" => format!("no edge. {}", self.ruled_out_text()),
            EDGE_NO_LONGER_HELD => {
                let since = no_longer_held_text(&ended.unwrap_or_default());
                format!("{since}: later trades no longer support an edge of {} or more", self.size())
            }
            EXPLORATORY | PRACTICE => self.describe_explored(ended.as_deref()),
            _ if !self.withheld.is_empty() => withheld_verdict_text(&self.withheld, ended.as_deref()),
            _ if self.threshold_for.is_none() => NO_JOINT_VERDICT.to_owned(),
            _ => format!("not enough trades yet{}", self.remaining_text()),
        };
        match self.caveats_text() {
            Some(caveats) => format!("{words}. Caveats: {caveats}"),
            None => words,
        }
    }

    fn describe_explored(&self, ended: Option<&str>) -> String {
        let since = ended.map(|since| format!("; {}", no_longer_held_text(since))).unwrap_or_default();
        let state = if !self.withheld.is_empty() {
            withheld_verdict_text(&self.withheld, ended)
        } else if self.has_reached_threshold {
            format!("evidence has reached its threshold{since}")
        } else if self.threshold_for.is_none() {
            NO_JOINT_VERDICT.to_owned()
        } else {
            format!("evidence is below its threshold{}", self.remaining_text())
        };
        format!("{}, {state}", describe_evidence(&self.evidence))
    }

    fn remaining_text(&self) -> String {
        let more = self.about_more_trades.map(|more| count_text(more, "more trade", "more trades"));
        more.map(|more| format!(" (about {more} if the true edge is {})", self.size())).unwrap_or_default()
    }

    fn size(&self) -> String {
        format!("{:.0} % of the stake", self.delta * 100.0)
    }

    fn ruled_out_text(&self) -> String {
        let error = 100.0 / self.threshold_against;
        format!("An edge of {} or more is ruled out ({error:.0} % error rate)", self.size())
    }

    fn caveats_text(&self) -> Option<String> {
        let caveats: Vec<&str> = self.labels.iter().map(|label| caveat_text(label)).collect();
        (!caveats.is_empty()).then(|| caveats.join("; "))
    }

    /// Returns the reservations that the heading does not contain.
    pub(super) fn reservations(&self) -> Vec<(&'static str, String)> {
        if !matches!(self.verdict, EXPLORATORY | PRACTICE | "edge_rejected") {
            return Vec::new();
        }
        let withheld = Some(self.withheld.join("; ")).filter(|reasons| !reasons.is_empty());
        let rows = [("caveats", self.caveats_text()), ("edge withheld", withheld)];
        rows.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
    }

    /// Returns whether the verdict has a heading of its own instead of a line that begins with `verdict:`.
    pub(super) fn has_heading(&self) -> bool {
        !matches!(self.verdict, "not_enough_trades" | EDGE_NO_LONGER_HELD)
    }

    pub(super) fn heading(&self, figures: String, p_value: Option<f64>) -> Heading {
        let interval = self.interval_line();
        let (class, title, rest) = match (self.verdict, &self.evidence) {
            (verdict, EvidenceKind::Practice) => {
                let no_edge = (verdict == "edge_rejected").then(|| format!("{}.", self.ruled_out_text()));
                (PRACTICE, format!("Practice: {SYNTHETIC}."), [None, no_edge, None])
            }
            ("edge_rejected", _) => {
                let lines = [interval, Some(format!("{}.", self.ruled_out_text())), None];
                ("rejected", "No edge on these candles".to_owned(), lines)
            }
            (EXPLORATORY, evidence) => {
                let last = self.no_longer_held_since.map_or_else(
                    || CONFIRM_HINT.to_owned(),
                    |since| format!("{}.", capitalise(&no_longer_held_text(&format_utc(since)))),
                );
                let lines = [interval, p_value.map(luck_line), Some(last)];
                (EXPLORATORY, capitalise(&describe_evidence(evidence)), lines)
            }
            ("edge_shown", evidence) => {
                let shown = self.shown.map(|shown| capitalise(&shown.describe()));
                let title = describe_evidence(evidence);
                let title = if title.is_empty() { title } else { format!(": {title}") };
                let is_confirmed = matches!(evidence, EvidenceKind::Confirmed { .. });
                let caveats = self.caveats_text().map(|caveats| format!("Caveats: {caveats}"));
                let caveats = if is_confirmed { Some(CONFIRMATION_CAVEAT.to_owned()) } else { caveats };
                ("shown", format!("Edge shown{title}"), [interval, shown, caveats])
            }
            (verdict, _) => {
                let (class, title) = match verdict {
                    EDGE_NO_LONGER_HELD => ("rejected", "Edge no longer held"),
                    _ if !self.withheld.is_empty() => ("withheld", "Edge withheld"),
                    _ => ("open", "Not enough trades yet"),
                };
                (class, title.to_owned(), [interval, Some(capitalise(&self.describe())), None])
            }
        };
        Heading { class, title, lines: std::iter::once(figures).chain(rest.into_iter().flatten()).collect() }
    }

    fn interval_line(&self) -> Option<String> {
        let edge = self.intervals.edge_text()?;
        let is_interval = self.intervals.edge_sequence_95.is_some_and(|[low, high]| low <= high);
        let line = format!("95 % interval of the edge: {edge} of the stake, valid after every trade");
        Some(if is_interval { line } else { capitalise(&edge) })
    }

    pub fn summary(&self) -> String {
        let verdict = match self.verdict {
            "edge_rejected" => "no edge".to_owned(),
            "not_enough_trades" if !self.withheld.is_empty() => String::new(),
            other => other.replace('_', " "),
        };
        let withheld = if self.withheld.is_empty() { "" } else { "edge withheld" };
        let is_over = self.no_longer_held_since.is_some() && self.verdict != EDGE_NO_LONGER_HELD;
        let parts = [verdict.as_str(), withheld, if is_over { "no longer held" } else { "" }];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("{} ({})", parts.join(", "), count_text(self.judged_trades, "trade", "trades"))
    }

    pub fn evidence(&self) -> String {
        format!("{:.2} of {}", self.account_for, threshold_text(self.threshold_for))
    }

    pub(super) fn evidence_text(&self, thresholds: &[Option<f64>]) -> String {
        let (mark, error) = (1.0 / self.alpha, self.alpha * 100.0);
        let shared = match thresholds {
            [Some(first), rest @ ..] if !rest.is_empty() && rest.iter().all(|one| *one == Some(*first)) => {
                let (bots, needed) = (thresholds.len(), threshold_text(Some(*first)));
                format!("; {bots} bots share this error rate, so each bot needs {needed}")
            }
            [_, _, ..] => "; several bots share this error rate, so each bot needs more evidence".to_owned(),
            _ => String::new(),
        };
        format!(
            "Evidence starts at 1; wins raise the evidence, losses lower it. The threshold for a single bot is \
             {mark:.0} ({error:.0} % error rate){shared}"
        )
    }

    pub(crate) fn explain_interval(&self) -> Option<&'static str> {
        explain_interval(self.verdict, self.intervals.edge_sequence_95, self.delta)
    }

    pub(crate) fn finding(&self) -> Option<Finding> {
        self.shown.filter(|_| self.no_longer_held_since.is_none())?.finding()
    }

    pub fn overlap_text(&self) -> Option<String> {
        let Self { clusters, variance_inflation: factor, .. } = self;
        let groups = count_text(*clusters, "group", "groups");
        (*factor > 1.0 + 1e-9)
            .then(|| format!("{groups} of overlapping trades; variance multiplied by {factor:.2}"))
    }
}

/// Describes the kind of evidence; empty for a live run.
pub(crate) fn describe_evidence(evidence: &EvidenceKind) -> String {
    match evidence {
        EvidenceKind::Practice => format!("practice ({SYNTHETIC})"),
        EvidenceKind::Exploratory { until, run } => {
            let until = until.map(|until| format!(" until {until}")).unwrap_or_default();
            let run = run.map(|run| format!(" (run {run})")).unwrap_or_default();
            format!("exploratory{until}{run}")
        }
        EvidenceKind::Confirmed { test, from, until } => {
            let last = last_day(&(*from..*until));
            format!("test {test} of this ledger, sealed days {from} to {last}")
        }
        EvidenceKind::Live { .. } => String::new(),
    }
}

fn luck_line(p_value: f64) -> String {
    let share = match p_value {
        usual if usual >= 0.01 => format!("{:.0} of 100", usual * 100.0),
        small if small >= 0.000_1 => format!("{:.0} of 10,000", small * 10_000.0),
        _ => "fewer than 1 of 10,000".to_owned(),
    };
    format!("A bot without an edge does at least this well in {share} such runs.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::{SymbolId, judge_trades};
    use candlewick_sdk::Payout;
    use candlewick_search::evidence::day_of;
    use candlewick_statistics::EdgeTestPlan;

    const FIGURES: &str = "1,234,567 trades, win rate 57.10 %, break-even 55.56 %";

    /// Builds the line of a test whose trades all have the same outcome.
    fn line(evidence: EvidenceKind, outcome: Outcome) -> EdgeLine {
        let trade = |place: i64| {
            let (decided, payout) = (Millis::MINUTE * place, Payout::from_percent(85.into()).ok());
            let ended = Some((decided + Millis::MINUTE, outcome));
            JudgedTrade { symbol: SymbolId::FIRST, decided, answered: None, payout, ended, sequence: None }
        };
        let trades: Vec<JudgedTrade> = (0..200).map(trade).collect();
        let test = judge_trades(&trades, EdgeTestPlan::default());
        let caveats = Caveats { labels: vec!["on assumed payout"], evidence, ..Caveats::default() };
        let rows: [IntentRow; 0] = [];
        let mut line = EdgeLine::new(&test, &rows, &caveats);
        line.intervals.edge_sequence_95 = Some([-0.105_2, 0.261]);
        line.shown = line.has_reached_threshold.then_some(EdgeDetectionLine {
            after_trades: 1_234_567,
            at: Some(Millis::new(1_767_571_200_000)),
            won_since: 3_210_000,
            lost_since: 2_190_000,
            draw_since: 0,
            win_rate_since: Some(0.594),
            break_even_since: Some(0.540_5),
            is_supported_since: Some(true),
        });
        line
    }

    #[track_caller]
    fn check_heading(line: &EdgeLine, facts: &[&str]) -> String {
        let Heading { title, lines, .. } = line.heading(FIGURES.to_owned(), Some(0.184));
        let text = format!("{title}\n{}\n", lines.join("\n"));
        assert!(text.lines().count() <= 5 && text.contains(FIGURES), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        for fact in facts {
            assert!(text.contains(fact), "{fact} is missing in {text}");
        }
        text
    }

    #[test]
    fn heading_names_the_evidence_and_its_facts_in_five_short_lines() {
        use Outcome::{Lost, Won};
        let (from, until) = (day_of(Millis::ZERO), day_of(Millis::DAY * 48));
        let [explored, confirmed, live] = [
            EvidenceKind::Exploratory { until: Some(until), run: Some(18) },
            EvidenceKind::Confirmed { test: 3, from, until },
            EvidenceKind::Live { weight: 1.0 },
        ];
        let interval = "-10.52 % to +26.10 %";
        let practice = check_heading(
            &line(EvidenceKind::Practice, Won),
            &["Practice: synthetic candles say nothing about a market.\n"],
        );
        assert_eq!(practice.lines().count(), 2);
        let luck = "A bot without an edge does at least this well in 18 of 100 such runs.\n";
        let facts =
            ["Exploratory until 1970-02-18 (run 18)\n", interval, luck, "candlewick confirm CONFIG\n"];
        check_heading(&line(explored.clone(), Won), &facts);
        check_heading(&line(EvidenceKind::default(), Won), &["Exploratory\n", luck]);
        let ended = line(explored, Won).with_edge_end(Some(Millis::ZERO));
        check_heading(&ended, &["Exploratory", "The edge has not held since 1970-01-01T00:00:00.000Z"]);
        let days = "Edge shown: test 3 of this ledger, sealed days 1970-01-01 to 1970-02-17\n";
        let text = check_heading(&line(confirmed, Won), &[days, interval, CONFIRMATION_CAVEAT]);
        assert!(!text.contains("the payout is assumed"), "{text}");
        let shown =
            "after trade 1234567 of 6634567 on 2026-01-05; since then 59.40 % won (break-even 54.05 %)\n";
        check_heading(&line(live.clone(), Won), &["Edge shown\n", shown, "Caveats: the payout is assumed\n"]);
        let ruled_out = "An edge of 4 % of the stake or more is ruled out (5 % error rate).\n";
        check_heading(&line(live, Lost), &["No edge on these candles\n", interval, ruled_out]);
        check_heading(&line(EvidenceKind::Practice, Lost), &["Practice: synthetic candles", ruled_out]);
    }

    #[test]
    fn heading_without_interval_says_that_the_edge_has_changed() {
        let mut changed = line(EvidenceKind::default(), Outcome::Won);
        changed.intervals.edge_sequence_95 = Some([0.104, -0.105]);
        let fact =
            "\nThe edge has changed: it was above +10.40 % at one time and below -10.50 % at another\n";
        check_heading(&changed, &[fact]);
    }

    #[test]
    fn states_the_share_of_luck_without_decimals() {
        for (p_value, expected) in [
            (1.0, "in 100 of 100"),
            (0.184, "in 18 of 100"),
            (0.000_4, "in 4 of 10,000"),
            (0.0, "fewer than 1"),
        ] {
            assert!(luck_line(p_value).contains(expected), "{p_value}");
        }
    }
}

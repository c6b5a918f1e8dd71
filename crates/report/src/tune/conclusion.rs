//! Conclusions of a guided search, with their descriptions and next steps.

use super::{TuneHints, TunedGate};
use crate::analysis::FindingKind;
use crate::conditions::ConditionLine;
use crate::figure::format_number;
use crate::walk_forward::WalkForwardReport;
use candlewick_search::evidence::EvidenceKind;
use candlewick_search::sweep::Figures;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// The walk-forward tests reached the threshold for an edge, but on candles that may be explored.
    Promising,
    EdgeNoLongerHeld,
    EdgeWithheld,
    NoEdge,
    NotEnoughTrades,
}

impl Conclusion {
    pub fn from_report(report: &WalkForwardReport) -> Self {
        let edge = &report.edge;
        let did_not_last =
            edge.no_longer_held_since.is_some() || report.has_finding(FindingKind::EdgeDidNotLast);
        let state = [edge.has_reached_threshold, !edge.withheld.is_empty(), did_not_last];
        match Self::from_verdict(report.verdict, state) {
            Self::Promising if report.has_finding(FindingKind::StakesLoseMoney) => Self::EdgeWithheld,
            conclusion => conclusion,
        }
    }

    fn from_verdict(verdict: &str, [has_reached_threshold, is_withheld, did_not_last]: [bool; 3]) -> Self {
        match verdict {
            "edge_rejected" => Self::NoEdge,
            _ if !has_reached_threshold => Self::NotEnoughTrades,
            _ if is_withheld => Self::EdgeWithheld,
            _ if did_not_last => Self::EdgeNoLongerHeld,
            _ => Self::Promising,
        }
    }

    pub(super) const fn class_and_headline(self) -> (&'static str, &'static str) {
        match self {
            Self::Promising => ("exploratory", "Promising, not tested yet"),
            Self::EdgeNoLongerHeld => ("rejected", "The edge did not last"),
            Self::EdgeWithheld => ("withheld", "Exploratory, edge withheld"),
            Self::NoEdge => ("rejected", "No edge"),
            Self::NotEnoughTrades => ("open", "Not enough trades"),
        }
    }

    pub(super) fn describe(self, report: &WalkForwardReport, gate: Option<&TunedGate>) -> String {
        let verdict = report.edge.describe();
        match self {
            Self::Promising => format!(
                "The walk-forward tests are promising, but only a test on candles that no one has seen can show an \
                 edge. Verdict on the walk-forward tests: {verdict}."
            ),
            Self::EdgeNoLongerHeld | Self::EdgeWithheld => {
                format!("Verdict on the walk-forward tests: {verdict}.")
            }
            Self::NoEdge => format!("Verdict on the walk-forward tests: {verdict}. Do not trade this rule."),
            Self::NotEnoughTrades => {
                let cause = gate.filter(|gate| gate.blocks_most_signals()).map_or_else(String::new, |gate| {
                    let [signals, traded] = [gate.signals, gate.traded].map(format_number);
                    format!(" The gate is the cause: it passed {traded} of {signals} signals.")
                });
                format!(
                    "{} Verdict on the walk-forward tests: {verdict}.{cause}",
                    describe_tendency(report.tested_figures())
                )
            }
        }
    }

    pub(super) fn next_steps(
        self,
        report: &WalkForwardReport,
        (conditions, gate): (&[ConditionLine], Option<&TunedGate>),
        hints: &TuneHints,
    ) -> Vec<String> {
        let more = hints.more_candles_hint.clone();
        let runs = hints.best_file.as_ref().map(|_| &hints.arguments);
        let watch = runs.map(|arguments| {
            format!(
                "watch the bot trade on the sandbox: `candlewick live --sandbox {arguments} --speed max --until-end \
                 --journal run.db`"
            )
        });
        let idea = "change the rule, not its numbers: without an edge, the best of more sets is just luck. \
                    The sealed candles stay unseen for the next rule"
            .to_owned();
        let test = if report.evidence == EvidenceKind::Practice {
            "import or fetch real candles first (`candlewick data import`, `candlewick data fetch`), because synthetic \
             candles say nothing about a market"
                .to_owned()
        } else {
            let arguments = runs.map_or("CONFIG", String::as_str);
            format!("`candlewick confirm {arguments}` tests this bot once on the sealed candles")
        };
        let steps: Vec<Option<String>> = match self {
            Self::Promising => vec![Some(test), watch],
            Self::EdgeNoLongerHeld | Self::NoEdge => vec![Some(idea), watch],
            Self::EdgeWithheld => vec![
                Some(
                    "resolve the reasons for withholding the verdict, then run the same command again"
                        .to_owned(),
                ),
                watch,
            ],
            Self::NotEnoughTrades => hints_for_conditions(conditions)
                .or_else(|| {
                    gate.filter(|gate| gate.blocks_most_signals())
                        .map(|_| hints_for_strict_gate(watch.clone()))
                })
                .unwrap_or_else(|| vec![Some(more), watch]),
        };
        steps.into_iter().flatten().collect()
    }
}

fn hints_for_conditions(conditions: &[ConditionLine]) -> Option<Vec<Option<String>>> {
    let never = ConditionLine::describe_never_true(conditions);
    let wholes = conditions.iter().filter(|line| line.is_expected_true()).count();
    (!never.is_empty()).then(|| {
        let change =
            never.iter().map(|words| Some(format!("change the condition that was never true: {words}")));
        let seldom =
            "or add candles if the condition is meant to be rare; the table above shows how often each part was true";
        change.chain((never.len() < wholes).then(|| Some(seldom.to_owned()))).collect()
    })
}

fn hints_for_strict_gate(watch: Option<String>) -> Vec<Option<String>> {
    vec![
        Some(
            "tune the rule without its gate first, so that every signal counts: remove `gate` from the bot's params \
             and run the same command. A gate cannot create an edge"
                .to_owned(),
        ),
        Some(
            "or loosen the gate so that it passes more signals: require fewer virtual losses or a lower win rate, or let more trades \
             pass before it closes (`close_after_trades`)"
                .to_owned(),
        ),
        watch,
    ]
}

fn describe_tendency(tested: Option<&Figures>) -> String {
    let rates = tested.and_then(|figures| Some((figures.win_rate?, figures.break_even?)));
    match rates {
        None => "No trade was won or lost, so nothing is known about an edge.".to_owned(),
        Some((rate, needed)) if rate <= needed => {
            "No edge so far: the tests did not beat break-even, but there are too few trades to rule one out."
                .to_owned()
        }
        Some(_) => {
            "The tests beat break-even, but there are too few trades to tell this from luck.".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_is_promising_only_if_it_reached_its_threshold_without_reservations() {
        use Conclusion as Is;
        for (verdict, state, expected) in [
            ("exploratory", [true, false, false], Is::Promising),
            ("practice", [true, false, false], Is::Promising),
            ("exploratory", [false, false, false], Is::NotEnoughTrades),
            ("exploratory", [true, true, true], Is::EdgeWithheld),
            ("exploratory", [true, false, true], Is::EdgeNoLongerHeld),
            ("edge_rejected", [false, false, false], Is::NoEdge),
        ] {
            assert_eq!(Conclusion::from_verdict(verdict, state), expected, "{verdict} {state:?}");
        }
    }
}

//! Conclusions of a guided search, with their descriptions and next steps.

use super::{TuneHints, TunedGate};
use crate::analysis::FindingKind;
use crate::conditions::ConditionLine;
use crate::figure::format_number;
use crate::walk_forward::{HoldOut, WalkForwardReport};
use candlewick_search::sweep::Figures;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    EdgeHeld,
    EdgeShown,
    EdgeUnconfirmed,
    EdgeNotHeld,
    EdgeNoLongerHeld,
    EdgeWithheld,
    NoEdge,
    NotEnoughTrades,
}

impl Conclusion {
    pub fn from_report(report: &WalkForwardReport) -> Self {
        let hold_out = report.hold_out.as_ref().and_then(HoldOut::verdict);
        let did_not_last = report.has_finding(FindingKind::EdgeDidNotLast);
        let loses_money = report.has_finding(FindingKind::StakesLoseMoney);
        match Self::from_verdicts(report.verdict, !report.edge.withheld.is_empty(), hold_out) {
            Self::EdgeShown | Self::EdgeUnconfirmed if did_not_last => Self::EdgeNoLongerHeld,
            Self::EdgeHeld | Self::EdgeShown | Self::EdgeUnconfirmed if loses_money => Self::EdgeWithheld,
            conclusion => conclusion,
        }
    }

    fn from_verdicts(tests: &str, is_withheld: bool, hold_out: Option<&str>) -> Self {
        match (tests, hold_out) {
            ("edge_shown", None) => Self::EdgeShown,
            ("edge_shown", Some("edge_shown")) => Self::EdgeHeld,
            ("edge_shown", Some("edge_rejected" | "edge_no_longer_held")) => Self::EdgeNotHeld,
            ("edge_shown", Some(_)) => Self::EdgeUnconfirmed,
            ("edge_rejected", _) => Self::NoEdge,
            ("edge_no_longer_held", _) => Self::EdgeNoLongerHeld,
            _ if is_withheld => Self::EdgeWithheld,
            _ => Self::NotEnoughTrades,
        }
    }

    pub(super) const fn class_and_headline(self) -> (&'static str, &'static str) {
        match self {
            Self::EdgeHeld => ("shown", "The edge held"),
            Self::EdgeShown => ("shown", "Edge shown, hold-out locked"),
            Self::EdgeUnconfirmed => ("open", "Edge shown, not confirmed"),
            Self::EdgeNotHeld => ("rejected", "The edge did not hold"),
            Self::EdgeNoLongerHeld => ("rejected", "The edge did not last"),
            Self::EdgeWithheld => ("withheld", "Exploratory, edge withheld"),
            Self::NoEdge => ("rejected", "No edge"),
            Self::NotEnoughTrades => ("open", "Not enough trades"),
        }
    }

    pub(super) fn describe(
        self,
        report: &WalkForwardReport,
        looks: &[String],
        gate: Option<&TunedGate>,
    ) -> String {
        let verdict = report.edge.describe();
        match self {
            Self::EdgeHeld => {
                "The walk-forward tests show an edge, and so does the unseen hold-out.".to_owned()
            }
            Self::EdgeShown if !looks.is_empty() => format!(
                "The walk-forward tests show an edge. The hold-out is still locked, but its candles were used before: {}.",
                looks.join("; ")
            ),
            Self::EdgeShown => {
                "The walk-forward tests show an edge. The hold-out is unseen and still locked.".to_owned()
            }
            Self::EdgeUnconfirmed => {
                "The walk-forward tests show an edge. The hold-out neither confirms the edge nor rules it out; the table below shows why."
                    .to_owned()
            }
            Self::EdgeNotHeld => {
                "The walk-forward tests show an edge, but the unseen hold-out rules it out: the edge was luck, or it is over."
                    .to_owned()
            }
            Self::EdgeNoLongerHeld | Self::EdgeWithheld => {
                format!("Verdict on the walk-forward tests: {verdict}.")
            }
            Self::NoEdge => format!("Verdict on the walk-forward tests: {verdict}. Do not trade this rule."),
            Self::NotEnoughTrades => {
                let cause = gate.filter(|gate| gate.blocks_most_signals()).map_or_else(String::new, |gate| {
                    let [signals, traded] = [gate.signals, gate.traded].map(format_number);
                    format!(" The gate is the cause: it passed {traded} of {signals} signals before the hold-out.")
                });
                format!("{} Verdict on the walk-forward tests: {verdict}.{cause}", describe_tendency(report.tested_figures()))
            }
        }
    }

    pub(super) fn next_steps(
        self,
        report: &WalkForwardReport,
        (looks, conditions, gate): (&[String], &[ConditionLine], Option<&TunedGate>),
        hints: &TuneHints,
    ) -> Vec<String> {
        let is_spent = report.hold_out.as_ref().is_some_and(|hold_out| hold_out.openings > 0);
        let more = hints.more_candles_hint.clone();
        let runs = hints.best_file.as_ref().map(|_| &hints.arguments);
        let watch = runs.map(|arguments| {
            format!("watch the bot trade on the sandbox: `candlewick live --sandbox {arguments} --speed max --until-end \
                 --journal run.db`. This replays all candles, including the hold-out, and counts as one use of these candles")
        });
        let idea = "change the rule, not its numbers: without an edge, the best of more sets is just luck. \
                    The hold-out stays locked for the next rule"
            .to_owned();
        let trade = runs.map(|arguments| {
            format!(
                "run the bot on the sandbox: `candlewick live --sandbox {arguments} --speed max --until-end --journal run.db`. Then use a demo \
                 wallet: check it with `candlewick doctor {arguments}` and start the bot with `candlewick live {arguments}`. Compare \
                 `candlewick report` with this page"
            )
        });
        let steps: Vec<Option<String>> = match self {
            Self::EdgeHeld => vec![
                trade,
                Some("check the risk of ruin before staking real money: `candlewick edge ruin`".to_owned()),
            ],
            Self::EdgeShown if !looks.is_empty() => vec![
                Some(
                    "the candles of the hold-out were used before, so its result is weaker evidence. If you open the \
                     hold-out (once, with `--open-hold-out`), the report mentions this"
                        .to_owned(),
                ),
                Some(format!("for stronger evidence, use unseen candles: {more}")),
            ],
            Self::EdgeShown => vec![Some(
                "open the hold-out once: repeat the command with `--open-hold-out`. Trade only if the edge also holds there"
                    .to_owned(),
            )],
            Self::EdgeNotHeld => vec![
                Some("drop this rule, because its hold-out is used up".to_owned()),
                Some("test another idea on later candles".to_owned()),
            ],
            Self::EdgeNoLongerHeld | Self::NoEdge => vec![Some(idea), watch],
            Self::EdgeWithheld => vec![
                Some("resolve the reasons for withholding the verdict, then run the same command again".to_owned()),
                watch,
            ],
            // No edge is confirmed, so the next steps do not suggest a wallet.
            Self::EdgeUnconfirmed => vec![Some(more), watch],
            Self::NotEnoughTrades => hints_for_conditions(conditions)
                .or_else(|| gate.filter(|gate| gate.blocks_most_signals()).map(|_| hints_for_strict_gate(watch.clone())))
                .unwrap_or_else(|| vec![Some(more), watch]),
        };
        let spent = (is_spent && self == Self::EdgeShown).then(|| {
            "the hold-out was already opened for this rule, so a second look proves nothing. Use later candles".to_owned()
        });
        spent.into_iter().chain(steps.into_iter().flatten()).collect()
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
    fn edge_holds_only_if_tests_and_hold_out_show_it() {
        use Conclusion as Is;
        for (tests, is_withheld, hold_out, expected) in [
            ("edge_shown", false, None, Is::EdgeShown),
            ("edge_shown", false, Some("edge_shown"), Is::EdgeHeld),
            ("edge_shown", false, Some("not_enough_trades"), Is::EdgeUnconfirmed),
            ("edge_shown", false, Some("edge_rejected"), Is::EdgeNotHeld),
            ("edge_shown", false, Some("edge_no_longer_held"), Is::EdgeNotHeld),
            ("edge_rejected", false, None, Is::NoEdge),
            ("edge_rejected", false, Some("edge_shown"), Is::NoEdge),
            ("edge_no_longer_held", false, Some("edge_shown"), Is::EdgeNoLongerHeld),
            ("not_enough_trades", true, None, Is::EdgeWithheld),
            ("not_enough_trades", false, None, Is::NotEnoughTrades),
            ("not_enough_trades", false, Some("edge_shown"), Is::NotEnoughTrades),
        ] {
            let found = Conclusion::from_verdicts(tests, is_withheld, hold_out);
            assert_eq!(found, expected, "{tests} {hold_out:?}");
        }
    }
}

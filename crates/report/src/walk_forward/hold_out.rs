//! The hold-out section of a report. A hold-out is either locked, or opened and evaluated.

use super::{WindowLine, edge_test_plan};
use crate::figure::{format_minute, format_percent};
use crate::run::{Caveats, EdgeLine};
use candlewick_engine::judge;
use candlewick_records::count_text;
use candlewick_sdk::Millis;
use candlewick_search::sweep::{Objective, Space};
use candlewick_search::walk_forward::WindowResult;
use serde::Serialize;
use std::ops::Range;

#[derive(Debug, Serialize)]
pub struct HoldOut {
    from: Millis,
    to: Millis,
    /// Number of times that the hold-out was opened for this hypothesis, including this run.
    pub(crate) openings: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    opened: Option<OpenedHoldOut>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldOutOpening {
    /// Time at which the hold-out was opened. Earlier than this run if the run repeats an opening.
    pub at: String,
    pub number: usize,
    /// Number of times that these candles were opened for different hypotheses.
    pub openings_for_others: usize,
    /// Known earlier uses of these candles. Each use is a reason for withholding the verdict.
    pub looks: Vec<String>,
    pub looks_unknown: Option<String>,
}

#[derive(Debug, Serialize)]
struct OpenedHoldOut {
    opened_at: String,
    opened_for_others: usize,
    looks: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    looks_unknown: Option<String>,
    verdict: &'static str,
    edge: EdgeLine,
    #[serde(flatten)]
    window: WindowLine,
}

impl HoldOut {
    pub const fn locked(range: &Range<Millis>, openings: usize) -> Self {
        Self { from: range.start, to: range.end, openings, opened: None }
    }

    /// Evaluates the hold-out like a window's test range. The verdict is withheld if these candles were used before.
    pub fn from_opening(
        step: &WindowResult,
        (space, objective): (&Space, Objective),
        opened: &HoldOutOpening,
        mut caveats: Caveats,
    ) -> Self {
        if opened.number > 1 {
            let times = opened.number - 1;
            caveats
                .withholding_reasons
                .push(format!("the hold-out was opened before for this hypothesis ({times} x)"));
        }
        caveats.withholding_reasons.extend(opened.looks.iter().cloned());
        // Corrects for the number of hypotheses that were tested on the hold-out.
        caveats.variants = 1 + opened.openings_for_others as u64;
        step.chosen.iter().for_each(|chosen| caveats.add_gap_reason(&chosen.test_result.book));
        let rows = step.chosen.as_ref().map(|chosen| chosen.test_result.book.rows()).unwrap_or_default();
        let edge = EdgeLine::new(&judge(rows, edge_test_plan(std::slice::from_ref(step))), rows, &caveats);
        Self {
            from: step.window.test.start,
            to: step.window.test.end,
            openings: opened.number,
            opened: Some(OpenedHoldOut {
                opened_at: opened.at.clone(),
                opened_for_others: opened.openings_for_others,
                looks: opened.looks.clone(),
                looks_unknown: opened.looks_unknown.clone(),
                verdict: edge.verdict,
                edge,
                window: WindowLine::new(step, None, space, objective),
            }),
        }
    }

    pub(crate) fn verdict(&self) -> Option<&'static str> {
        self.opened.as_ref().map(|opened| opened.verdict)
    }

    pub(crate) fn summary(&self) -> String {
        let part = |(name, words): (&'static str, String)| match name {
            "" | "hold-out" => words,
            "hold-out verdict" => format!("verdict: {words}"),
            "hold-out win rate" => format!("win rate {words}"),
            other => format!("{other}: {words}"),
        };
        self.figures().into_iter().map(part).collect::<Vec<_>>().join("; ")
    }

    pub(super) fn figures(&self) -> Vec<(&'static str, String)> {
        let range = format!("{} to {} UTC", format_minute(self.from), format_minute(self.to));
        let times = |count: usize| if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let Some(opened) = &self.opened else {
            let looked = match self.openings {
                0 => String::new(),
                count => format!("; opened {} for this hypothesis", times(count)),
            };
            return vec![("hold-out", format!("locked, {range}{looked}"))];
        };
        let mut words = vec![("hold-out", format!("opened {}, {range}", opened.opened_at))];
        if self.openings > 1 {
            words.push(("", format!("this is opening number {} for this hypothesis", self.openings)));
        }
        if opened.opened_for_others > 0 {
            let count = times(opened.opened_for_others);
            words.push((
                "",
                format!("opened {count} before for other hypotheses; the best of several is partly luck"),
            ));
        }
        words.extend(opened.looks.iter().chain(&opened.looks_unknown).map(|look| ("", look.clone())));
        words.push(("hold-out verdict", opened.edge.describe()));
        if let Some(figures) = opened.window.out_of_sample() {
            let (rate, needed) = (format_percent(figures.win_rate), format_percent(figures.break_even));
            let trades = count_text(figures.trades, "trade", "trades");
            words.push(("hold-out win rate", format!("{rate} of {trades} (break-even {needed})")));
        }
        words
    }
}

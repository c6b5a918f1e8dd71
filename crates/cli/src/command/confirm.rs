//! `confirm`: tests bots once on sealed candles.

use super::backtest::{ReportParts, build_report, collect_caveats};
use crate::arguments::{parse_moment, parse_payout_percent};
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::output::{show, show_as};
use crate::progress::{StderrBars, with_spinner};
use crate::question::ask_yes_or_no;
use candlewick_app::candles::CandleChoice;
use candlewick_app::confirm::{
    BotSetSource, ConfirmOptions, ConfirmationStart, PreparedConfirmation, RevealedSet, ShownTest,
};
use candlewick_report::confirmation::{ConfirmationPlan, ConfirmationReport, SetReport, has_many_gaps};
use candlewick_sdk::Millis;
use candlewick_search::evidence::{Answer, Confirmation, EvidenceKind, last_day};
use clap::Args;
use serde_json::json;
use std::io::{self, IsTerminal as _};
use std::ops::Range;
use std::path::PathBuf;

const TERMINAL_HINT: &str = "pass --yes to run the test without a prompt";
const SETTINGS_HINT: &str =
    "a report would withhold an edge with these settings; correct them before you use up a test";

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick confirm my.toml\n  candlewick confirm a.toml b.toml --data BTCUSDT@1m\n  \
                  candlewick confirm my.toml --yes --json\n\n\
                  Exploring runs never see the sealed candles, so only a test on them can show an edge on past candles. \
                  The answer is a single bit. Each test of an evidence ledger needs more evidence than the one before: \
                  the thresholds are 25, 200, 600, 1,200, ... Several configurations share the error rate of one test, so \
                  each of them needs as many times more evidence.\n\n\
                  Not shown: nothing else is revealed, and the days can be tested again. Shown: the report follows, and \
                  the days become explored days. A test that is interrupted counts as used up. The same test on the same \
                  days gets the same answer, and with later candles it continues.\n\n\
                  Exit codes: 0 if an edge is shown, 8 if not, 130 if the question is declined."
)]
pub(crate) struct ConfirmArguments {
    /// Configuration files. The bots of each file are tested as a whole; --config files apply to all of them
    #[arg(value_name = "CONFIG")]
    sets: Vec<PathBuf>,
    /// Candle source; repeatable. A file SYMBOL_INTERVAL.csv or .parquet, SYMBOL@INTERVAL=PATH, or a catalog series
    /// SYMBOL@INTERVAL
    #[arg(long, value_name = "FILE")]
    data: Vec<String>,
    /// Catalog folder to read candles from if --data is not given
    #[arg(long, value_name = "DIR")]
    catalog: Option<PathBuf>,
    /// Skip explored candles that open before this time; they only determine the expected number of trades
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    from: Option<Millis>,
    /// Rule file that replaces the configured bots. Each symbol of --data gets one bot, which trades on the
    /// symbol's longest interval
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Payout of a win, in percent of the stake [default: simulation.payout_percent]
    #[arg(long, value_name = "PERCENT", value_parser = parse_payout_percent)]
    payout: Option<f64>,
    /// Reveal the results even if no edge is shown. The days then become explored days
    #[arg(long)]
    open: bool,
    /// Do not ask before the test
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(arguments: &ConfirmArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    if !(arguments.yes || io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let problem = "confirm needs a terminal for its prompt";
        return Err(Failure::configuration(problem).hint(TERMINAL_HINT));
    }
    let options = arguments.to_options(context);
    let prepared = match options.prepare(context.registry, &StderrBars(context.global))? {
        ConfirmationStart::Ready(prepared) => prepared,
        ConfirmationStart::Shown(shown) => return show_earlier_answer(&shown, context),
    };
    check_settings(&prepared)?;
    context.print_notes(prepared.shown_before.as_ref().map(describe_shown_test));
    let find_threshold = |number| prepared.plan(number).alpha().recip();
    let plan = ConfirmationPlan {
        test: &prepared.planned,
        born: prepared.born,
        threshold: find_threshold(prepared.planned.number),
        sets: &prepared.forecasts,
    };
    context.print_notice(&plan.to_string());
    context.log.flush();
    if !arguments.yes && !ask_yes_or_no(&plan.question()) {
        return Ok(Ending::Interrupted);
    }
    let tested = with_spinner("Testing on sealed candles", context.global, || {
        prepared.run(arguments.open, has_many_gaps)
    });
    let (confirmation, revealed) = tested?;
    let report = |set| report_set(set, &confirmation, context);
    let reports = revealed.into_iter().map(report).collect::<Result<Vec<SetReport>, Failure>>();
    // The answer is shown even if a report fails, because it cannot be repeated on explored days.
    let (reports, failure) = match reports {
        Ok(reports) => (reports, None),
        Err(failure) => (Vec::new(), Some(failure)),
    };
    let names = prepared.forecasts.iter().map(|forecast| forecast.name.clone()).collect();
    let answer = (find_threshold(confirmation.number), arguments.open);
    show(&ConfirmationReport::new(&confirmation, answer, (names, reports)), context.global)?;
    failure.map_or(Ok(()), Err)?;
    Ok(match confirmation.answer {
        Answer::Shown => Ending::Done,
        Answer::NotShown => Ending::NotShown,
    })
}

fn describe_shown_test(ShownTest { number, days }: &ShownTest) -> String {
    format!(
        "test {number} showed an edge of these bots on the sealed days {} to {}",
        days.start,
        last_day(days)
    )
}

fn show_earlier_answer(shown: &ShownTest, context: &Context<'_>) -> Result<Ending, Failure> {
    let ShownTest { number, days: Range { start, end } } = shown;
    let document = json!({ "answer": "shown", "test": number, "from": start, "until": end, "repeat": true });
    let text = || {
        let test = describe_shown_test(shown);
        format!("Shown: {test}.\nThese days are explored days now. Another test needs later candles.")
    };
    show_as(&document, text, context.global)
}

impl ConfirmArguments {
    fn to_options(&self, context: &Context<'_>) -> ConfirmOptions {
        let Self { data, catalog, from, rules, payout, .. } = self;
        let shared = &context.global.config;
        let set = |file: &PathBuf| BotSetSource {
            name: file.display().to_string(),
            files: shared.iter().chain([file]).cloned().collect(),
        };
        let mut sets: Vec<BotSetSource> = self.sets.iter().map(set).collect();
        if sets.is_empty() {
            let name =
                rules.as_ref().or(shared.last()).map_or("bots".into(), |file| file.display().to_string());
            sets.push(BotSetSource { name, files: shared.clone() });
        }
        let candles = CandleChoice {
            data: data.clone(),
            catalog: catalog.clone(),
            from: *from,
            rules: rules.clone(),
            payout: *payout,
            ..CandleChoice::default()
        };
        ConfirmOptions { sets, candles }
    }
}

/// Refuses settings that would withhold an edge in a report, before they use up a test.
fn check_settings(prepared: &PreparedConfirmation<'_>) -> Result<(), Failure> {
    for (set, forecast) in prepared.explored.iter().zip(&prepared.forecasts) {
        let reasons = collect_caveats(set, false, EvidenceKind::default()).withholding_reasons;
        if !reasons.is_empty() {
            let problem = format!("{}: {}", forecast.name, reasons.join("; "));
            return Err(Failure::configuration(problem).hint(SETTINGS_HINT));
        }
    }
    Ok(())
}

fn report_set(
    set: RevealedSet,
    confirmation: &Confirmation,
    context: &Context<'_>,
) -> Result<SetReport, Failure> {
    let RevealedSet { name, is_shown, prepared, run, verdicts } = set;
    let (test, from, until) = (confirmation.number, confirmation.days.start, confirmation.days.end);
    let evidence = if is_shown {
        EvidenceKind::Confirmed { test, from, until }
    } else {
        EvidenceKind::Exploratory { until: Some(until), run: None }
    };
    let parts = ReportParts {
        caveats: collect_caveats(&prepared, false, evidence),
        coarse_trades: None,
        // The verdicts have the error rate of the set.
        joint_verdict_weight: 1.0,
        verdicts,
        sensitivity: None,
    };
    let report = build_report(&prepared, &run, parts, context);
    let report = report.map_err(|failure| failure.context(format!("the report of test {test} failed")))?;
    Ok(SetReport { set: name, is_shown, run: report })
}

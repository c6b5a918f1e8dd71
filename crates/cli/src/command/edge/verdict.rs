//! `edge verdict`: what trades say of an edge.

use super::{load, parse_payout, percent};
use crate::context::Context;
use crate::failure::Failure;
use crate::journal::{JournalArguments, block_on};
use crate::output::{print, print_json, table};
use candlewick_engine::JudgedTrade;
use candlewick_journal::Reader;
use candlewick_records::JournalContents;
use candlewick_report::edge::{Counts, NamedTrade, Sample, read_trades};
use candlewick_sdk::Payout;
use candlewick_statistics::VerdictPlan;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Of which trades.
#[derive(Debug, Args)]
#[command(
    after_help = "The verdict follows a notional account trade by trade: it needs the trades in their order, from a CSV (that of \
                  `backtest --trades`, or any with the columns result and payout) or a journal, the configured one without \
                  any option. It may be looked at as often as one likes, and overlap does not mislead it. Bare counts have \
                  no order: of them only the figures are told that assume independent trades and a single look. Of a journal \
                  the trades count that a bot made with its last parameters and code, by the plan that was fixed before \
                  them; elsewhere [risk.verdict] of the configuration.\n\n\
                  Examples:\n  candlewick edge verdict --won 580 --lost 420 --payout 85\n  candlewick edge verdict \
                  --trades trades.csv\n  candlewick edge verdict --journal run.db --json"
)]
pub(crate) struct VerdictArguments {
    /// Trades won
    #[arg(long, value_name = "N", requires = "lost", conflicts_with_all = ["trades", "journal"])]
    won: Option<u64>,
    /// Trades lost
    #[arg(long, value_name = "N", requires = "won")]
    lost: Option<u64>,
    /// Trades drawn
    #[arg(long, value_name = "N", requires = "won")]
    draws: Option<u64>,
    /// Payout in percent, of counts and of a CSV without one; simulation.payout_percent when left out
    #[arg(long, value_name = "PERCENT", value_parser = parse_payout)]
    payout: Option<f64>,
    /// A CSV of trades
    #[arg(long, value_name = "FILE", conflicts_with = "journal")]
    trades: Option<PathBuf>,
    #[command(flatten)]
    journal: JournalArguments,
}

#[derive(Debug, Serialize)]
struct Answer {
    alpha: f64,
    beta: f64,
    /// The edge that is looked for, as a return per unit of stake.
    delta: f64,
    /// All trades together.
    all: Sample,
    /// Each bot, where there are several.
    bots: Vec<Sample>,
}

pub(super) fn run(arguments: &VerdictArguments, context: &Context<'_>) -> Result<(), Failure> {
    let mut plan = load(context)?.config.risk.verdict.to_plan()?;
    let samples = match (arguments.won.zip(arguments.lost), &arguments.trades) {
        (Some((won, lost)), _) => {
            let assumed = load(context)?.config.simulation.payout_percent.to_fraction();
            let draw = arguments.draws.unwrap_or_default();
            let counts = Counts { won, lost, draw, ..Counts::default() };
            vec![Sample::of_counts(counts, arguments.payout.unwrap_or(assumed))?]
        }
        (None, Some(path)) => {
            let payout =
                arguments.payout.and_then(|payout| Payout::from_parts((payout * 1e6).round() as u32));
            Sample::all_of(&read_trades(path, payout)?, plan)?
        }
        (None, None) => {
            let (trades, journalled) = of_journal(&arguments.journal, context)?;
            plan = journalled;
            Sample::all_of(&trades, plan)?
        }
    };
    let mut samples = samples.into_iter();
    let Some(all) = samples.next() else { return Ok(()) };
    let (alpha, beta, delta) = (plan.alpha(), plan.beta(), plan.delta());
    let answer = Answer { alpha, beta, delta, all, bots: samples.collect() };
    if context.global.json { print_json(&answer) } else { print(&answer.to_table()) }
}

/// The trades of each bot with its present parameters and code, and the plan that was fixed before them.
fn of_journal(
    journal: &JournalArguments,
    context: &Context<'_>,
) -> Result<(Vec<NamedTrade>, VerdictPlan), Failure> {
    let (_, url) = journal.load(context)?;
    let contents = block_on(async {
        let mut reader = Reader::open(&url).await?;
        JournalContents::read(&mut reader).await
    })?;
    let session = &contents.session;
    let since = |bot: &str| {
        let mut bots = session.bots().iter().zip(session.verdicts());
        bots.find(|(name, _)| *name == bot).map(|(_, verdict)| verdict.since())
    };
    let own = contents.intents().filter(|(row, told)| Some(row.approved.intent()) >= since(&told.bot));
    let named = own.map(|(row, told)| NamedTrade { bot: told.bot.clone(), trade: JudgedTrade::of_row(row) });
    let plan =
        session.verdicts().next().map_or_else(VerdictPlan::default, |verdict| verdict.edge_test().plan());
    Ok((named.collect(), plan))
}

impl Answer {
    fn to_table(&self) -> String {
        let mut verdicts =
            table(["", "verdict", "for", "against", "won", "lost", "draw", "cancelled", "open"]);
        let account =
            |account: Option<f64>| account.map_or("-".to_owned(), |account| format!("{account:.3}"));
        for sample in std::iter::once(&self.all).chain(&self.bots) {
            let Counts { won, lost, draw, cancelled, unsettled } = sample.counts;
            let mut row = vec![sample.bot.clone().unwrap_or_else(|| "all trades".to_owned()), sample.words()];
            row.extend([account(sample.account_for), account(sample.account_against)]);
            row.extend([won, lost, draw, cancelled, unsettled].map(|count| count.to_string()));
            verdicts.add_row(row);
        }
        let meaning = if self.all.verdict.is_some() {
            format!(
                "An account begins with 1: {:.0} for an edge shows one, {:.0} against one of {} of the stake or more rules it out.",
                1.0 / self.alpha,
                1.0 / self.beta,
                percent(self.delta)
            )
        } else {
            "The verdict follows trades in their order: give them with --trades or --journal.".to_owned()
        };
        format!("{}\n{meaning}\n\n{}", verdicts.trim_fmt(), self.independent())
    }

    /// The figures that assume independent trades.
    fn independent(&self) -> String {
        let every = || std::iter::once(&self.all).chain(&self.bots);
        let mut header = vec!["assumes independent trades".to_owned()];
        header.extend(every().map(|sample| sample.bot.clone().unwrap_or_else(|| "all trades".to_owned())));
        let mut lines = table(header);
        let mut add = |name: &str, told: &dyn Fn(&Sample) -> Option<String>| {
            let cells = every().map(|sample| told(sample).unwrap_or_else(|| "-".to_owned()));
            let row: Vec<String> = std::iter::once(name.to_owned()).chain(cells).collect();
            lines.add_row(row);
        };
        let range = |[low, high]: [f64; 2]| format!("{} to {}", percent(low), percent(high));
        add("win rate", &|sample| sample.independent.win_rate.map(percent));
        add("break-even", &|sample| sample.independent.break_even.map(percent));
        add("95 % of it, Wilson", &|sample| sample.independent.wilson_95.map(range));
        add("95 % of it, Clopper-Pearson", &|sample| sample.independent.clopper_pearson_95.map(range));
        add("p-value against break-even", &|sample| {
            sample.independent.p_value.map(|p_value| format!("{p_value:.4}"))
        });
        add("SPRT", &|sample| sample.independent.sprt.map(|answer| answer.replace('_', " ")));
        add("mean return of the stake", &|sample| sample.independent.mean_return.map(percent));
        add("clusters of trades", &|sample| sample.clusters.map(|clusters| clusters.to_string()));
        add("variance by overlap", &|sample| sample.variance_inflation.map(|factor| format!("x{factor:.2}")));
        lines.trim_fmt()
    }
}

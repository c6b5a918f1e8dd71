//! Judgements on given trades: `edge verdict` and `edge gate`.

use super::{load, parse_payout, parse_rate};
use crate::context::{Context, JournalArguments, block_on};
use crate::failure::{Ending, Failure};
use crate::output::show;
use candlewick_app::recent::read_recent;
use candlewick_engine::{BotVerdict, DayStart, IntentRow, JudgedTrade, judge_of};
use candlewick_journal::Reader;
use candlewick_records::IntentOrigin;
use candlewick_report::edge::{
    Counts, GateReport, NamedTrade, Sample, TradeMoney, TriedGate, VerdictReport, findings_of, read_trades,
};
use candlewick_report::run::Caveats;
use candlewick_sdk::Payout;
use candlewick_statistics::{EdgeTest, EdgeTestPlan, GateOpening, GateRule};
use clap::{ArgGroup, Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "The verdict follows a notional account trade by trade: it needs the trades in their order, from a CSV (that of \
                  `backtest --trades`, or any with the columns result and payout) or a journal, the configured one without \
                  any option. It may be looked at as often as one likes, and overlap does not mislead it. Bare counts have \
                  no order: of them only the figures are shown that assume independent trades and a single look. Of a journal \
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

pub(super) fn run_verdict(arguments: &VerdictArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let mut plan = load(context)?.config.risk.verdict.to_plan()?;
    let (mut findings, mut notices) = (Vec::new(), Vec::new());
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
            let file = read_trades(path, payout)?;
            findings.extend(findings_of(&file.trades));
            findings.extend(file.findings);
            notices = file.notices;
            Sample::all_of(&file.trades, plan, (file.bots, &file.caveats))?
        }
        (None, None) => {
            let found = of_journal(&arguments.journal, context)?;
            (plan, findings) = (found.plan, findings_of(&found.trades));
            found.samples
        }
    };
    let mut samples = samples.into_iter();
    let Some(all) = samples.next() else { return Ok(Ending::Done) };
    let report = VerdictReport::of(plan, all, samples.collect()).with_findings(findings, notices);
    show(&report, context.global)
}

struct JournalVerdict {
    samples: Vec<Sample>,
    plan: EdgeTestPlan,
    trades: Vec<NamedTrade>,
}

fn of_journal(journal: &JournalArguments, context: &Context<'_>) -> Result<JournalVerdict, Failure> {
    let (_, url) = journal.load(context)?;
    let contents = block_on(async { read_recent(&mut Reader::open(&url).await?).await })?;
    let (session, run) = (&contents.session, contents.last_run());
    let caveats = Caveats::of_trading(run.trading, (&run.simulation, &run.settings.bots), &contents.book);
    let verdict_of = |bot: &str| {
        let mut bots = session.bots().iter().zip(session.verdicts());
        bots.find(|(name, _)| *name == bot).map(|(_, verdict)| verdict)
    };
    let since = |bot: &str| verdict_of(bot).map(BotVerdict::first_intent);
    let own = || contents.intents().filter(|(row, origin)| Some(row.approved.intent()) >= since(&origin.bot));
    let trades_of = |bot: &str| -> Vec<JudgedTrade> {
        own().filter(|(_, origin)| origin.bot == bot).map(|(row, _)| JudgedTrade::of_row(row)).collect()
    };
    let plan =
        session.verdicts().next().map_or_else(EdgeTestPlan::default, |verdict| verdict.edge_test().plan());
    let bots = || session.bots().iter().zip(session.verdicts());
    let each =
        bots().map(|(bot, verdict)| Sample::of_trades(Some(bot), &trades_of(bot), verdict.judge(), &caveats));
    let mut samples = each.collect::<Result<Vec<_>, _>>()?;
    let trades = own().map(|(row, origin)| named_trade(row, origin)).collect();
    if let [only] = &mut *samples {
        only.bot = None;
        return Ok(JournalVerdict { samples, plan, trades });
    }
    let every: Vec<JudgedTrade> = own().map(|(row, _)| JudgedTrade::of_row(row)).collect();
    let judge = judge_of(&every, EdgeTest::new(plan).weighing(session.weight_of_all_bots()));
    samples.insert(0, Sample::of_trades(None, &every, &judge, &caveats)?);
    Ok(JournalVerdict { samples, plan, trades })
}

fn named_trade(row: &IntentRow, origin: &IntentOrigin) -> NamedTrade {
    let amount = |money| origin.scale.to_f64(money);
    let money = TradeMoney {
        stake: amount(row.approved.stake()),
        profit: amount(row.profit),
        decimals: origin.scale.decimals(),
    };
    NamedTrade { bot: origin.bot.clone(), trade: JudgedTrade::of_row(row), money: Some(money) }
}

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("opening").required(true).args(["after_virtual_losses", "virtual_win_rate"]),
    after_help = "A gate lets a bot trade only after its trades without money went a certain way: after losses in a row, or while they \
                  win often enough. This takes trades that were all made, from the CSV of `backtest --trades`, and says what \
                  such a gate would have been worth on them: against trading all, against random gates that let as many \
                  trades be real, and against itself on the same results in random order. On trades that do not depend on \
                  each other it is worth nothing.\n\nExamples:\n  candlewick edge gate --trades trades.csv \
                  --after-virtual-losses 2\n  candlewick edge gate --trades trades.csv --after-virtual-losses 2 \
                  --close-after-losses 1\n  candlewick edge gate --trades trades.csv --virtual-win-rate 60 --over 20\n  candlewick edge \
                  gate --trades trades.csv --after-virtual-losses 2 --close-after-trades 1 --resets day --openings 1"
)]
pub(crate) struct GateArguments {
    /// A CSV of trades
    #[arg(long, value_name = "FILE")]
    trades: PathBuf,
    /// Opens after so many virtual losses in a row
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    after_virtual_losses: Option<u32>,
    /// Opens while the last trades, virtual and real, win at least so often
    #[arg(long, value_name = "PERCENT", value_parser = parse_rate, requires = "over")]
    virtual_win_rate: Option<f64>,
    /// Over how many trades the win rate is taken
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), requires = "virtual_win_rate")]
    over: Option<u32>,
    /// Closes after so many real losses in a row
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    close_after_losses: Option<u32>,
    /// Closes after so many real trades; 1 after virtual losses when nothing else closes or resets it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    close_after_trades: Option<u32>,
    /// Closes after so many real wins
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    close_after_wins: Option<u32>,
    /// Closes with each day, and counts anew
    #[arg(long, value_name = "WHEN", value_enum)]
    resets: Option<Resets>,
    /// Opens at most so often a day
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), requires = "resets")]
    openings: Option<u32>,
    /// When a day begins
    #[arg(long, value_name = "HH:MM", default_value = "00:00", requires = "resets")]
    day_start: String,
    /// The time zone of that, by its IANA name
    #[arg(long, value_name = "ZONE", default_value = "UTC", requires = "resets")]
    day_timezone: String,
    /// Payout in percent, of a CSV without one; simulation.payout_percent when left out
    #[arg(long, value_name = "PERCENT", value_parser = parse_payout)]
    payout: Option<f64>,
    /// Random gates, and random orders, to hold it against
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(99..=1_000_000))]
    draws: u32,
    /// Seed of their chance
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// What begins a gate anew.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Resets {
    Day,
}

pub(super) fn run_gate(arguments: &GateArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let assumed = load(context)?.config.simulation.payout_percent;
    let payout = arguments.payout.and_then(|payout| Payout::from_parts((payout * 1e6).round() as u32));
    let file = read_trades(&arguments.trades, Some(payout.unwrap_or(assumed)))?;
    let gate = TriedGate { rule: arguments.rule(), day: arguments.day()? };
    show(&GateReport::of(&file, gate, arguments.draws, arguments.seed)?, context.global)
}

impl GateArguments {
    fn rule(&self) -> GateRule {
        let opening = match (self.virtual_win_rate, self.over) {
            (Some(rate), Some(over)) => GateOpening::WinRate { rate, over },
            _ => GateOpening::AfterVirtualLosses(self.after_virtual_losses.unwrap_or_default()),
        };
        let close_after_losses = self.close_after_losses.unwrap_or_default();
        let close_after_wins = self.close_after_wins.unwrap_or_default();
        let closes_otherwise = close_after_losses + close_after_wins > 0 || self.resets.is_some();
        let needs_one = matches!(opening, GateOpening::AfterVirtualLosses(_)) && !closes_otherwise;
        let close_after_trades = self.close_after_trades.unwrap_or(u32::from(needs_one));
        GateRule {
            opening,
            resets_daily: self.resets.is_some(),
            openings: self.openings.unwrap_or_default(),
            close_after_losses,
            close_after_trades,
            close_after_wins,
        }
    }

    fn day(&self) -> Result<Option<DayStart>, Failure> {
        let day = |Resets::Day| DayStart::new(&self.day_start, &self.day_timezone, "--resets day");
        Ok(self.resets.map(day).transpose()?)
    }
}

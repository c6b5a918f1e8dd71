//! `tune`: checks a rule, optimizes it and tests it, step by step.

use super::strategy::check::{build_check_command, to_check_failure};
use super::sweep::with_sweep;
use super::walk_forward::{WalkResult, run_walk};
use crate::combinations::condition_lines;
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::host::report_candles;
use crate::interrupt;
use crate::output::{show, write_file};
use crate::progress::{Progress, StderrBars};
use crate::search::SearchArguments;
use candlewick_app::search::{PreparedSearch, ResultFolder, SearchOptions, WalkRun};
use candlewick_app::tune::{CheckedCandles, TunePlan, check_candles};
use candlewick_app::validation::{self, ValidationOptions, ValidationReport};
use candlewick_app::warm_up::WarmUp;
use candlewick_records::count_text;
use candlewick_report::conditions::ConditionLine;
use candlewick_report::page::write_tune_page;
use candlewick_report::sweep::SweepReport;
use candlewick_report::tune::{StepResult, TuneHints, TuneReport, TuneResult, TunedBot, TunedGate};
use candlewick_rules::combine::replay_gate;
use candlewick_sdk::Millis;
use candlewick_sdk::testkit::{Finding, Market, Subject};
use candlewick_search::evidence::start_of;
use clap::Args;
use serde_json::{json, to_value};
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

const CANDLES_HINT: &str = "the checks use only the candles before the sealed day";
const CHECK_TIMEOUT: Duration = Duration::from_mins(10);
const MAX_SHOWN_SETS: usize = 10;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick tune rule.toml --data BTCUSDT_1m.csv\n  candlewick tune --config bot.toml \
                  --param period=5..30 --html tuned.html\n\nCombines data check, strategy check, sweep and \
                  walk-forward:\n  1. Check the candles, with the commands that fetch or repair them.\n  2. Check the \
                  strategy.\n  3. Sweep all parameters with a range (or those of --param): all sets if there are at \
                  most 200, otherwise 200 sets spread over the ranges.\n  4. Walk forward on the same candles: five \
                  windows, each trained on all candles before its test.\nThe result is a page with the verdict and the \
                  next step. All steps use only candles before the sealed day, so they cannot show an edge. If the bot \
                  is promising, test it with `candlewick confirm`.\n\nA bot without parameter ranges is tested as it \
                  is. After an interruption, run the same command again to resume; each rule gets its own folder."
)]
pub(crate) struct TuneArguments {
    /// Rule file [default: the bot configured in --config]
    #[arg(value_name = "RULES", conflicts_with = "rules")]
    rule: Option<PathBuf>,
    #[command(flatten)]
    search: SearchArguments,
    /// Output folder for trials and results
    #[arg(long, value_name = "DIR", default_value = "tune")]
    out: PathBuf,
    /// HTML file for the report [default: report.html in --out]
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

struct TuneRun<'a> {
    arguments: &'a TuneArguments,
    plan: TunePlan<'a>,
    trials: PathBuf,
    context: &'a Context<'a>,
}

pub(super) fn run(arguments: &TuneArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let stop_flag = interrupt::stop_flag()?;
    let terms = arguments.to_search_options();
    let (files, progress) = (&context.global.config, StderrBars(context.global));
    let candles = check_candles(&terms, (files, context.registry), &progress)?;
    let plan = TunePlan::prepare(terms, (files, context.registry), &progress)?;
    let sealed = plan.prepared.candles.evidence.sealed_day().map(start_of);
    let candles: Vec<CheckedCandles> =
        candles.into_iter().map(|series| series.before(sealed.unwrap_or(Millis::MAX))).collect();
    for series in &candles {
        context.print_notice(&format!("candles {}: {}", series.series, series.describe()));
    }
    let trials = arguments.out.join(plan.folder_name()?);
    let tuning = TuneRun { arguments, plan, trials, context };
    // Rejects a layout without windows before the search begins.
    tuning.prepare_walk()?;
    let checked = tuning.check_strategy();
    // Ctrl-C also ends the process that runs the checks. Such an end is not a failure of the strategy.
    if stop_flag.get().is_some() {
        return Ok(context.report_stop(&stop_flag, &tuning.trials));
    }
    let (subject, checked, conditions) = checked?;
    let sweep = match tuning.sweep()? {
        Ok(sweep) => sweep,
        Err(ending) => return Ok(ending),
    };
    tuning.walk_and_report(&candles, (&subject, &checked, conditions), sweep.as_ref(), &stop_flag)
}

impl TuneArguments {
    fn to_search_options(&self) -> SearchOptions {
        let mut terms = self.search.to_search_options();
        terms.candles.rules = self.rule.clone().or(terms.candles.rules);
        terms
    }
}

impl TuneRun<'_> {
    fn check_strategy(&self) -> Result<(Subject, ValidationReport, Vec<ConditionLine>), Failure> {
        let (subject, market) = self.plan.validation_input()?;
        let strategy = (subject.entry.name.as_str(), &subject.params);
        let conditions = condition_lines(self.context.registry, strategy, &subject.bot, &market.candles)?;
        let mut progress = Progress::new(format!("Checking {}", subject.entry.name), self.context.global);
        let itself = super::strategy::child_program()?;
        let means = ValidationOptions {
            seed: self.plan.options.seed,
            unseen_candles: None,
            program: itself,
            limit: CHECK_TIMEOUT,
        };
        let mut watch = |begun| progress.update(begun, validation::CHECK_COUNT);
        let checked = validation::examine(&subject, Some(market), &means, &mut watch);
        drop(progress);
        let checked = checked
            .map_err(|error| to_check_failure(error, &subject, CANDLES_HINT, self.context.registry))?;
        let failed = checked.checked.iter().filter(|one| one.finding == Finding::Failed);
        let failed: Vec<String> = failed.map(|one| format!("{}: {}", one.check, one.words)).collect();
        if failed.is_empty() {
            self.context.print_notice(&format!("strategy check: {}", summarize_checks(&checked)));
            return Ok((subject, checked, conditions));
        }
        let problem = format!("strategy check failed: {}", failed.join("; "));
        let help = format!(
            "the results of a strategy that fails a check are worthless; for details, run: {}",
            build_check_command(&subject, &self.context.global.config, &self.plan.options.candles)
        );
        Err(Failure::failed_check(problem).hint(help))
    }

    fn sweep(&self) -> Result<Result<Option<SweepReport>, Ending>, Failure> {
        if self.plan.is_bot_unchanged {
            self.context.print_notice("sweep: skipped, because no parameter has a range");
            return Ok(Ok(None));
        }
        let TunePlan { options, prepared, .. } = &self.plan;
        let place = (ResultFolder::open(&self.trials.join("sweep"))?, MAX_SHOWN_SETS);
        let end =
            with_sweep((options, prepared), place, None, self.context, |sweep| sweep.report(Vec::new()))?;
        Ok(end.map(Some))
    }

    fn walk_and_report(
        &self,
        candles: &[CheckedCandles],
        strategy: (&Subject, &ValidationReport, Vec<ConditionLine>),
        sweep: Option<&SweepReport>,
        stop_flag: &OnceLock<Ending>,
    ) -> Result<Ending, Failure> {
        let walked = match self.walk()? {
            Ok(walked) => walked,
            Err(ending) => return Ok(ending),
        };
        let mut notices = self.collect_notices();
        if stop_flag.get().is_some() {
            return Ok(self.context.report_stop(stop_flag, &self.trials));
        }
        let best = self.write_best_bot(sweep.is_some(), &mut notices)?;
        let prepared = &self.plan.prepared;
        let mut files: Vec<PathBuf> = best.iter().cloned().collect();
        files.extend(sweep.is_some().then(|| self.trials.join("sweep")));
        files.push(self.trials.join("walk-forward"));
        let mut report = TuneReport::new(TuneResult {
            bot: self.describe_bot(),
            candles: candles.iter().map(to_step_result).collect::<Result<_, _>>()?,
            strategy_check: StepResult {
                name: "strategy check".to_owned(),
                text: summarize_checks(strategy.1),
                document: strategy.1.to_json(strategy.0),
            },
            conditions: strategy.2,
            sweep,
            walk_forward: walked.summary(),
            notices: notices.into_iter().chain(prepared.candles.notices.iter().cloned()).collect(),
            hints: TuneHints {
                best_file: best,
                arguments: self.best_bot_arguments(),
                more_candles_hint: self.describe_missing_candles(candles),
            },
            gate: self.replay_bot_gate()?,
            files,
        });
        self.write_report(&mut report)?;
        show(&report, self.context.global)
    }

    fn prepare_walk(&self) -> Result<WalkRun<'_>, Failure> {
        let TunePlan { options, prepared, layout, .. } = &self.plan;
        Ok(WalkRun::prepare(options, layout, prepared, &self.trials.join("walk-forward"))?)
    }

    fn walk(&self) -> Result<Result<WalkResult, Ending>, Failure> {
        let TunePlan { options, prepared, .. } = &self.plan;
        report_candles(&prepared.candles.series);
        run_walk(self.prepare_walk()?, (options, prepared), &[], self.context)
    }

    fn write_best_bot(
        &self,
        is_searched: bool,
        notices: &mut Vec<String>,
    ) -> Result<Option<PathBuf>, Failure> {
        let of_sweep = fs::read_to_string(self.trials.join("sweep").join("best.toml"));
        let of_sweep = of_sweep.ok().filter(|_| is_searched);
        if is_searched && of_sweep.is_none() {
            notices.push(format!(
                "no parameter set has at least {} settled trades (--min-trades): best.toml contains the unchanged bot",
                self.plan.options.min_trades
            ));
        }
        let text = match of_sweep {
            Some(text) => Some(text),
            None => self.plan.render_unchanged_bot()?,
        };
        let path = self.best_bot_path();
        let Some(text) = text else { return Ok(None) };
        let loaded = &self.plan.prepared.loaded;
        let (data, catalog) = (&loaded.config.sandbox.data, &loaded.config.data.catalog);
        let data = (!data.is_empty()).then(|| format!("\n[sandbox]\ndata = {}\n", json!(data)));
        let is_set = loaded.is_set("data.catalog");
        let catalog = is_set.then(|| format!("\n[data]\ncatalog = {}\n", json!(catalog)));
        let text = [Some(text), data, catalog].into_iter().flatten().collect::<String>();
        write_file("--out", &path, |file| file.write_all(text.as_bytes()))?;
        Ok(Some(path))
    }

    fn replay_bot_gate(&self) -> Result<Option<TunedGate>, Failure> {
        let (Subject { entry, params, bot }, Market { candles, .. }) = self.plan.validation_input()?;
        let followed = replay_gate(&entry, &params, &bot, &candles)?;
        Ok(followed.map(|followed| TunedGate {
            gate: followed.rule.to_string(),
            signals: followed.signals.len() as u64,
            traded: followed.signals.iter().filter(|signal| signal.is_real).count() as u64,
        }))
    }

    fn describe_missing_candles(&self, candles: &[CheckedCandles]) -> String {
        let series = self.describe_bot().series;
        let own = candles.iter().find(|own| own.series == series).or(candles.first());
        own.map(CheckedCandles::more_candles_hint).unwrap_or_default()
    }

    fn best_bot_path(&self) -> PathBuf {
        self.arguments.out.join("best.toml")
    }

    fn best_bot_arguments(&self) -> String {
        let files = self.context.global.config.iter().cloned().chain([self.best_bot_path()]);
        files.map(|file| format!("--config {}", file.display())).collect::<Vec<_>>().join(" ")
    }

    fn write_report(&self, report: &mut TuneReport<'_>) -> Result<(), Failure> {
        let json = self.arguments.out.join("report.json");
        let html = self.arguments.html.clone().unwrap_or_else(|| self.arguments.out.join("report.html"));
        report.add_written_file(json.clone());
        report.add_written_file(html.clone());
        let page = report.page()?;
        write_file("--html", &html, |file| write_tune_page(&page, file))?;
        write_file("--out", &json, |file| writeln!(file, "{:#}", page.document))
    }

    fn describe_bot(&self) -> TunedBot {
        let PreparedSearch { entry, settings, .. } = &self.plan.prepared;
        let bot = settings.session.bots.first();
        let searched = if self.plan.is_bot_unchanged { &[][..] } else { &self.plan.options.parameters };
        TunedBot {
            name: bot.map(|bot| bot.name.clone()).unwrap_or_default(),
            series: bot.map(|bot| format!("{}@{}", bot.symbol, bot.interval)).unwrap_or_default(),
            strategy: entry.name.clone(),
            version: entry.version.clone(),
            searched: searched.to_vec(),
        }
    }

    fn collect_notices(&self) -> Vec<String> {
        let without = &self.plan.parameters_without_range;
        let names = without.join(", ");
        let bare = (!without.is_empty() && !self.plan.is_bot_unchanged).then(|| {
            format!("parameters without min and max were not searched: {names}; add --param NAME=FROM..TO to search one")
        });
        let kept = &self.plan.combination_parameters;
        let kept = (!kept.is_empty()).then(|| {
            format!(
                "parameters that only filter signals were not searched: {}; add --param gate.NAME=FROM..TO to search one",
                kept.join(", ")
            )
        });
        bare.into_iter().chain(kept).chain(self.describe_warm_up()).collect()
    }

    fn describe_warm_up(&self) -> Option<String> {
        let (subject, market) = self.plan.validation_input().ok()?;
        let strategy = subject.build().ok()?;
        let Subject { entry, params, bot } = &subject;
        let (named, registry) = ((entry.name.as_str(), params), self.context.registry);
        let warm_up = WarmUp::from_strategy(strategy.as_ref(), named, bot.interval, registry);
        let text = warm_up.describe_warm_up_share(market.candles.len())?;
        Some(format!("bot \"{}\": {text}", bot.bot))
    }
}

fn summarize_checks(checked: &ValidationReport) -> String {
    let of = |finding: Finding| checked.checked.iter().filter(move |one| one.finding == finding);
    let all = count_text(of(Finding::Passed).count(), "check passed", "checks passed");
    let noted: Vec<String> = of(Finding::Noted).map(|one| format!("{}: {}", one.check, one.words)).collect();
    if noted.is_empty() { all } else { format!("{all}; noted: {}", noted.join("; ")) }
}

fn to_step_result(candles: &CheckedCandles) -> Result<StepResult, Failure> {
    let document = to_value(candles).map_err(Failure::unexpected)?;
    let span = format!(
        "{} from {} to {}",
        count_text(candles.candles, "candle", "candles"),
        candlewick_records::format_utc(candles.from),
        candlewick_records::format_utc(candles.to)
    );
    Ok(StepResult { name: candles.series.clone(), text: format!("{span}; {}", candles.describe()), document })
}

//! `config init`: writes a first configuration from the answers to a few questions.

use crate::arguments::parse_percent;
use crate::context::Context;
use crate::failure::{Failure, FailureKind};
use crate::output::print;
use anyhow::Context as _;
use candlewick_app::configuration::{BaseLayer, LoadedConfig, Problems, RealMoneyRequest};
use candlewick_app::inspection::find_problems;
use candlewick_app::{AppError, normalize_spelling};
use candlewick_history::{AssetType, expected_asset_type, is_currency_pair, known_market};
use candlewick_sdk::{CloseType, Interval, Payout, Symbol, suggest};
use clap::Args;
use std::fmt::Display;
use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

const CONFIG_TEMPLATE: &str = include_str!("template.toml");
const EXAMPLE_RULE: &str = include_str!("example.rule.toml");
const RULES_STRATEGY: &str = "rules";

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  candlewick config init\n  \
                  candlewick config init my.toml --defaults\n  candlewick config init eur.toml --symbol EURUSD --interval 5m --expiry 15:00\n  candlewick config init dips.toml --rules dips.rule.toml --stake 2%\n\n\
                  Prompts for missing values on a terminal. Otherwise, and with --defaults, uses defaults and lists them.")]
pub(crate) struct InitArguments {
    /// File to create; an existing file is never changed
    #[arg(default_value = "candlewick.toml")]
    file: PathBuf,
    /// Use defaults without prompting
    #[arg(long)]
    defaults: bool,
    /// Symbol, such as BTCUSDT
    #[arg(long)]
    symbol: Option<String>,
    /// Interval of the candles, such as 1m
    #[arg(long)]
    interval: Option<String>,
    /// Strategy name, as shown by `strategy list`
    #[arg(long)]
    strategy: Option<String>,
    /// Rule file for the `rules` strategy [default: create an example file]
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Trade duration, such as 05:00 (minutes:seconds)
    #[arg(long)]
    expiry: Option<String>,
    /// Stake: an amount such as 10, or a share of the balance such as 2%
    #[arg(long)]
    stake: Option<String>,
    /// Payout of a win, in percent of the stake
    #[arg(long)]
    payout: Option<String>,
}

pub(super) fn run(arguments: &InitArguments, context: &Context<'_>) -> Result<(), Failure> {
    let file = &arguments.file;
    if file.exists() {
        let problem =
            format!("{} already exists: choose another file name, or move the file", file.display());
        return Err(Failure::configuration(problem));
    }
    let asks = !arguments.defaults && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let (mut from, mut to) = (std::io::stdin().lock(), anstream::stderr());
    let mut dialogue =
        Dialogue::new(asks.then_some((&mut from as &mut dyn BufRead, &mut to as &mut dyn Write)));
    let answers = Answers::from_dialogue(arguments, &mut dialogue, context)?;
    let stake = StakeAnswer::parse(&answers.stake).map_err(Failure::configuration)?;
    let payout = parse_payout_answer(&answers.payout).map_err(Failure::configuration)?;
    let Answers { symbol, interval, strategy, expiry, rules, .. } = &answers;
    let asset_type = symbol.parse().map_or(AssetType::Crypto, choose_asset_type).as_str();
    let name = format!("{}-{strategy}", symbol.to_lowercase());
    let params = rules.to_params();
    let text = fill_template(
        CONFIG_TEMPLATE,
        &[
            ("file", &file.display().to_string()),
            ("payout", &payout.to_string()),
            ("ticks", &render_tick_section(symbol)),
            ("daily_loss", &stake.daily_loss_limit()),
            ("name", &name),
            ("symbol", symbol),
            ("asset_type", asset_type),
            ("interval", interval),
            ("strategy", strategy),
            ("expiry", expiry),
            ("params", &params),
            ("stake", &stake.to_toml()),
        ],
    );
    validate(&text, (file, rules), context)
        .map_err(|failure| if asks { failure.hint(answers.retry_command(file)) } else { failure })?;
    if let RuleChoice::Example(path) = rules {
        write(path, &render_example(path))?;
        print(&format!("Wrote the example rule {}. Replace its conditions with your own.", path.display()))?;
    }
    write(file, &text)?;
    let shown = file.display();
    if !dialogue.defaults.is_empty() {
        let defaults = dialogue.defaults.join(" ");
        print(&format!("Defaults used: {defaults}\nTo change a default, pass its option or edit the file."))?;
    }
    print(&format!(
        "Wrote {shown}. Next:{}\n  candlewick backtest --config {shown}\n  candlewick live --sandbox --config {shown}",
        rules.next_step(&shown.to_string())
    ))
}

fn check_parsable<T: FromStr<Err: Display>>(text: &str) -> Result<(), String> {
    text.parse::<T>().map(|_| ()).map_err(|error| error.to_string())
}

fn normalize_symbol(typed: &str) -> Result<String, Failure> {
    let usual = normalize_spelling(typed);
    if usual != typed {
        print(&format!("Using the symbol {usual}, the usual spelling on venues."))?;
    }
    Ok(usual)
}

/// Returns the asset type of a symbol. Pairs of rare currencies, such as USDMXN, are `forex` too.
fn choose_asset_type(symbol: Symbol) -> AssetType {
    match expected_asset_type(symbol) {
        AssetType::Crypto if is_currency_pair(symbol) => AssetType::Forex,
        known => known,
    }
}

struct Answers {
    symbol: String,
    interval: String,
    strategy: String,
    rules: RuleChoice,
    expiry: String,
    stake: String,
    payout: String,
}

enum RuleChoice {
    None,
    File(PathBuf),
    Example(PathBuf),
}

impl RuleChoice {
    fn to_params(&self) -> String {
        match self {
            Self::None => "{}".to_owned(),
            Self::File(path) => format!("{{ file = {:?} }}", path.display().to_string()),
            Self::Example(path) => format!("{{ file = {:?} }}", file_name(path)),
        }
    }

    fn expiry(&self) -> Option<String> {
        let Self::File(path) = self else { return None };
        let rule: toml_edit::DocumentMut = fs::read_to_string(path).ok()?.parse().ok()?;
        rule.get("expiry")?.as_str()?.parse::<CloseType>().ok().map(|expiry| expiry.to_string())
    }

    /// Returns the next command: `tune` for a rule.
    fn next_step(&self, config: &str) -> String {
        match self {
            Self::None => String::new(),
            Self::File(_) | Self::Example(_) => {
                format!("\n  candlewick tune --config {config} --data FILE")
            }
        }
    }
}

impl Answers {
    fn from_dialogue(
        arguments: &InitArguments,
        dialogue: &mut Dialogue<'_>,
        context: &Context<'_>,
    ) -> Result<Self, Failure> {
        let names: Vec<&str> = context.registry.entries().iter().map(|entry| entry.name.as_str()).collect();
        let first = names.first().copied().unwrap_or_default();
        let usual = names.iter().copied().find(|name| *name == "rsi-reversal").unwrap_or(first);
        let question = |option, text, default| Question { option, text, default };
        let InitArguments { symbol, interval, expiry, stake, payout, .. } = arguments;
        let asked = question("symbol", "Symbol", "BTCUSDT");
        let symbol = normalize_symbol(&dialogue.prompt(asked, symbol.as_ref(), check_parsable::<Symbol>)?)?;
        let asked = question("interval", "Candles (1s, 5s, 1m, 5m, 1h, ...)", "1m");
        let interval = dialogue.prompt(asked, interval.as_ref(), check_parsable::<Interval>)?;
        let known = |text: &str| {
            if names.contains(&text) {
                return Ok(());
            }
            Err(format!("unknown strategy \"{text}\"; {}", suggest(text, names.iter().copied())))
        };
        let rules_strategy = || arguments.rules.as_ref().map(|_| RULES_STRATEGY.to_owned());
        let given = arguments.strategy.clone().or_else(rules_strategy);
        let text = format!("Strategy ({})", names.join(", "));
        let strategy = dialogue.prompt(question("strategy", &text, usual), given.as_ref(), known)?;
        let rules = Self::prompt_for_rules(arguments, &strategy, dialogue)?;
        let of_rule = rules.expiry();
        let usual = of_rule.as_deref().unwrap_or("01:00");
        let text = match &of_rule {
            Some(own) => {
                format!("Duration of a trade (minutes:seconds; the rule file overrides it with {own})")
            }
            None => "Duration of a trade (minutes:seconds, such as 05:00)".to_owned(),
        };
        let asked = question("expiry", &text, usual);
        let expiry = dialogue.prompt(asked, expiry.as_ref(), check_parsable::<CloseType>)?;
        let asked =
            question("stake", "Stake of a trade (an amount such as 10, or a share such as 2%)", "1.0");
        let stake = dialogue.prompt(asked, stake.as_ref(), |text| StakeAnswer::parse(text).map(|_| ()))?;
        let asked = question("payout", "Payout of a win, in percent of the stake", "80.0");
        let payout = dialogue.prompt(asked, payout.as_ref(), |text| {
            let meant = Payout::percent_from_fraction(parse_payout_answer(text)?);
            meant.map_or(Ok(()), |meant| Err(format!("payouts are in percent; did you mean {meant}?")))
        })?;
        Ok(Self { symbol, interval, strategy, rules, expiry, stake, payout })
    }

    fn prompt_for_rules(
        arguments: &InitArguments,
        strategy: &str,
        dialogue: &mut Dialogue<'_>,
    ) -> Result<RuleChoice, Failure> {
        if strategy != RULES_STRATEGY {
            return match &arguments.rules {
                None => Ok(RuleChoice::None),
                Some(_) => Err(Failure::configuration(format!(
                    "--rules requires the strategy \"rules\", not \"{strategy}\": omit --rules or --strategy"
                ))),
            };
        }
        let example = arguments.file.with_extension("rule.toml");
        let usual = example.display().to_string();
        if let Some(path) = arguments.rules.as_ref().filter(|path| !path.is_file()) {
            return Err(Failure::configuration(format!(
                "--rules {}: file not found; to create an example rule, pass --strategy rules without --rules",
                path.display()
            )));
        }
        let given = arguments.rules.as_ref().map(|path| path.display().to_string());
        let question =
            Question { option: "rules", text: "Rule file (by default, a new example file)", default: &usual };
        let named = dialogue.prompt(question, given.as_ref(), |text| {
            if text == usual || Path::new(text).is_file() {
                Ok(())
            } else {
                Err(format!("file {text} not found"))
            }
        })?;
        let path = PathBuf::from(&named);
        Ok(if path == example && !path.exists() { RuleChoice::Example(path) } else { RuleChoice::File(path) })
    }

    fn retry_command(&self, file: &Path) -> String {
        let Self { symbol, interval, strategy, rules, expiry, stake, payout } = self;
        let rules = match rules {
            RuleChoice::File(path) => format!(" --rules {:?}", path.display().to_string()),
            RuleChoice::None | RuleChoice::Example(_) => String::new(),
        };
        format!(
            "correct the answers and run again: candlewick config init {} --symbol {symbol} --interval {interval} --strategy {strategy}{rules} \
             --expiry {expiry} --stake {stake:?} --payout {payout:?}",
            file.display()
        )
    }
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    candlewick_history::write_whole_file(file, |to| to.write_all(text.as_bytes()))
        .map_err(|error| to_write_failure(file, error))
}

fn render_example(path: &Path) -> String {
    fill_template(EXAMPLE_RULE, &[("file", &path.display().to_string())])
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn render_tick_section(symbol: &str) -> String {
    symbol.parse().ok().and_then(known_market).map_or_else(String::new, |market| {
        format!(
            "\n# Tick size: prices inside a candle are rounded to a multiple of this size.\n[simulation.ticks]\n{symbol:?} = {}\n",
            market.tick
        )
    })
}

fn to_write_failure(file: &Path, error: io::Error) -> Failure {
    Failure::new(FailureKind::Configuration, error).context(format!("cannot write {}", file.display()))
}

fn fill_template(template: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(template.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

fn validate(text: &str, (file, rules): (&Path, &RuleChoice), context: &Context<'_>) -> Result<(), Failure> {
    // The draft is written next to the target file, which also detects a folder that is not writable.
    let parent = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = tempfile::Builder::new().prefix(".candlewick-").tempdir_in(parent);
    let folder = folder.map_err(|error| to_write_failure(file, error))?;
    let draft = folder.path().join(file.file_name().unwrap_or_default());
    fs::write(&draft, text).map_err(|error| to_write_failure(file, error))?;
    if let RuleChoice::Example(path) = rules {
        let copy = folder.path().join(file_name(path));
        fs::write(copy, render_example(path)).map_err(|error| to_write_failure(path, error))?;
    }
    let loaded = LoadedConfig::read(std::slice::from_ref(&draft), BaseLayer::Sandbox, Vec::new());
    let checked = loaded.and_then(|loaded| {
        Ok(Problems::check(find_problems(&loaded, RealMoneyRequest::NotRequested, context.registry))?)
    });
    checked.map_err(|error| match error {
        // Errors name the target file instead of the draft, because the draft is deleted.
        AppError::Configuration(problems) => {
            AppError::from(problems.replace_origin_file(&draft, file)).into()
        }
        error => error.into(),
    })
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'a> {
    pub(super) option: &'static str,
    pub(super) text: &'a str,
    pub(super) default: &'a str,
}

pub(super) struct Dialogue<'a> {
    terminal: Option<(&'a mut dyn BufRead, &'a mut dyn Write)>,
    /// Options that the user did not set, with the default values that were used.
    defaults: Vec<String>,
}

impl<'a> Dialogue<'a> {
    pub(super) const fn new(terminal: Option<(&'a mut dyn BufRead, &'a mut dyn Write)>) -> Self {
        Self { terminal, defaults: Vec::new() }
    }

    pub(super) fn prompt(
        &mut self,
        question: Question<'_>,
        given: Option<&String>,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Result<String, Failure> {
        if let Some(given) = given {
            return Ok(given.clone());
        }
        let Some((from, to)) = &mut self.terminal else {
            self.defaults.push(format!("--{} {}", question.option, question.default));
            return Ok(question.default.to_owned());
        };
        let answered = ask(question, check, (&mut **from, &mut **to));
        let answered = answered.context("cannot read from the terminal; use --defaults to skip the prompts");
        answered.map_err(|error| Failure::new(FailureKind::Configuration, error))
    }
}

fn ask(
    question: Question<'_>,
    check: impl Fn(&str) -> Result<(), String>,
    (from, to): (&mut dyn BufRead, &mut dyn Write),
) -> io::Result<String> {
    loop {
        write!(to, "{} [{}]: ", question.text, question.default)?;
        to.flush()?;
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let typed = line.trim();
        let answer = if typed.is_empty() { question.default } else { typed };
        match check(answer) {
            Ok(()) => return Ok(answer.to_owned()),
            Err(problem) => writeln!(to, "  {problem}")?,
        }
    }
}

const INITIAL_BALANCE: f64 = 10_000.0;
const DAILY_LOSS_IN_STAKES: f64 = 20.0;
const MAX_DAILY_LOSS_SHARE: f64 = 0.2;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StakeAnswer {
    Amount(f64),
    Percent(f64),
}

impl StakeAnswer {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (number, is_percent) = text.trim().strip_suffix('%').map_or((text, false), |rest| (rest, true));
        let number = number.trim().parse().ok().filter(|number| f64::is_finite(*number)).ok_or_else(|| {
            format!("the stake \"{text}\" is not a number: use an amount such as 10.0, or a share of the balance such as 2%")
        })?;
        Ok(if is_percent { Self::Percent(number) } else { Self::Amount(number) })
    }

    pub(super) fn to_toml(self) -> String {
        match self {
            Self::Amount(amount) => format!("{{ kind = \"fixed\", amount = {amount:?} }}"),
            Self::Percent(percent) => format!("{{ kind = \"share\", percent = {percent:?} }}"),
        }
    }

    fn daily_loss_limit(self) -> String {
        let loss = match self {
            Self::Amount(amount) => amount * DAILY_LOSS_IN_STAKES,
            Self::Percent(percent) => (percent / 100.0 * INITIAL_BALANCE * DAILY_LOSS_IN_STAKES)
                .min(INITIAL_BALANCE * MAX_DAILY_LOSS_SHARE)
                .round(),
        };
        format!("{loss:?}")
    }
}

pub(super) fn parse_payout_answer(text: &str) -> Result<f64, String> {
    parse_percent(text)
        .ok_or_else(|| format!("the payout \"{text}\" is not a number: use a percentage such as 80"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tick_size_of_known_symbols() {
        let step = |symbol: &str| render_tick_section(symbol).lines().last().map(str::to_owned);
        assert_eq!(step("EURUSD").as_deref(), Some("\"EURUSD\" = 0.00001"));
        assert_eq!(step("BTCUSDT").as_deref(), Some("\"BTCUSDT\" = 0.01"));
        assert_eq!(step("WHATEVER"), None);
    }

    #[test]
    fn currency_pairs_are_forex_in_any_spelling() {
        for (typed, symbol, asset_type) in [
            ("EUR/USD", "EURUSD", "forex"),
            ("eurusd", "EURUSD", "forex"),
            ("EUR-USD", "EURUSD", "forex"),
            ("usd/mxn", "USDMXN", "forex"),
            ("btc/usdt", "BTCUSDT", "crypto"),
            ("EURUSD-OTC", "EURUSD-OTC", "otc"),
        ] {
            let written = normalize_symbol(typed).unwrap();
            assert_eq!(written, symbol);
            assert_eq!(choose_asset_type(written.parse().unwrap()).as_str(), asset_type, "{typed}");
        }
    }

    #[test]
    fn duration_of_a_rule_is_the_default_answer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my.rule.toml");
        let expiry_of = |text: &str| {
            fs::write(&path, text).unwrap();
            RuleChoice::File(path.clone()).expiry()
        };
        assert_eq!(expiry_of("buy = \"close > 1\"\nexpiry = \"02:00\"").as_deref(), Some("02:00"));
        assert_eq!(expiry_of("buy = \"close > 1\""), None);
        assert_eq!(expiry_of("expiry = 3"), None);
    }

    const QUESTION: Question<'_> = Question { option: "stake", text: "Stake", default: "1.0" };

    fn number(text: &str) -> Result<(), String> {
        text.parse::<f64>().map(|_| ()).map_err(|_| format!("{text} is not a number"))
    }

    fn typed(text: &str) -> (Option<String>, String) {
        let (mut from, mut to) = (text.as_bytes(), Vec::new());
        let mut dialogue = Dialogue::new(Some((&mut from, &mut to)));
        (dialogue.prompt(QUESTION, None, number).ok(), String::from_utf8(to).unwrap())
    }

    #[test]
    fn prompts_again_after_an_invalid_answer() {
        let (answer, prompted) = typed("much\n 5 \n");
        assert_eq!(answer.as_deref(), Some("5"));
        assert_eq!(prompted, "Stake [1.0]:   much is not a number\nStake [1.0]: ");
        assert_eq!((typed("\n").0.as_deref(), typed("much\n").0), (Some("1.0"), None));
    }

    #[test]
    fn uses_and_lists_defaults_without_a_terminal() {
        let mut dialogue = Dialogue::new(None);
        let given = "7".to_owned();
        assert_eq!(dialogue.prompt(QUESTION, Some(&given), number).ok(), Some(given));
        assert_eq!(dialogue.prompt(QUESTION, None, number).ok().as_deref(), Some("1.0"));
        assert_eq!(dialogue.defaults, ["--stake 1.0"]);
    }

    #[test]
    fn parses_stakes_as_amount_or_share() {
        for (text, table, daily_loss) in [
            ("10", "{ kind = \"fixed\", amount = 10.0 }", "200.0"),
            ("0.5", "{ kind = \"fixed\", amount = 0.5 }", "10.0"),
            ("5 %", "{ kind = \"share\", percent = 5.0 }", "2000.0"),
            ("0.5%", "{ kind = \"share\", percent = 0.5 }", "1000.0"),
        ] {
            let stake = StakeAnswer::parse(text).unwrap();
            assert_eq!((stake.to_toml().as_str(), stake.daily_loss_limit().as_str()), (table, daily_loss));
        }
        for text in ["much", "5 percent", "", "%", "nan", "10,5"] {
            assert!(StakeAnswer::parse(text).unwrap_err().contains("is not a number"), "{text}");
        }
        assert_eq!((parse_payout_answer("85 %"), parse_payout_answer("85")), (Ok(85.0), Ok(85.0)));
        assert!(parse_payout_answer("inf").is_err());
    }
}

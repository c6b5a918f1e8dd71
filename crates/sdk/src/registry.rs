//! The strategies of a binary, by name.

use crate::parameters::Parameter;
use crate::{BotContext, BuildError, Declaration, Strategy, StrategyFactory, parameters};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A registered strategy: description and constructor.
///
/// [`StrategyEntry::from_factory`] creates the entry of a type. [`StrategyEntry::new`] creates one from a closure, for a strategy that
/// is known only at run time, such as a user's rule:
///
/// ```
/// use candlewick_sdk::{Candle, Direction, Parameter, ReasonTemplate, Registry, Signal, Strategy, StrategyEntry};
///
/// /// Trades against a candle that moved far.
/// struct Fade {
///     move_fraction: f64,
///     reason: ReasonTemplate,
/// }
///
/// impl Strategy for Fade {
///     fn warmup(&self) -> usize {
///         1
///     }
///
///     fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
///         let change = candle.close() / candle.open() - 1.0;
///         let direction = if change > 0.0 { Direction::Sell } else { Direction::Buy };
///         let reason = self.reason.with_numbers(&[change]);
///         (change.abs() >= self.move_fraction).then(|| Signal::with_reason(direction, reason))
///     }
/// }
///
/// // Read from a rule file.
/// let (name, text) = (String::from("fade"), String::from("moved far"));
/// let reason = ReasonTemplate::new(text, ["change"]);
/// let entry = StrategyEntry::new(name, "1.0.0", move |values, _bot| {
///     let move_fraction = values["move_fraction"].as_f64().unwrap_or(f64::NAN);
///     Ok(Box::new(Fade { move_fraction, reason: reason.clone() }))
/// })
/// .described("Trades against a candle that moved far.")
/// .with_parameter(Parameter::new("move_fraction", 0.001).within(0.0, 0.5).described("Smallest move."));
/// let registry = Registry::default().with_entry(entry)?;
/// assert!(registry.find("fade").is_some());
/// # Ok::<(), candlewick_sdk::RegistryError>(())
/// ```
#[derive(Clone)]
pub struct StrategyEntry {
    /// Name in configurations: lower-case letters, digits and hyphens.
    pub name: String,
    /// Version of the rules. Results of different versions are kept apart.
    pub version: String,
    /// One-sentence description.
    pub about: String,
    /// Whether the strategy needs prices between candles.
    pub wants_prices: bool,
    /// Parameters, in the order of their declaration.
    pub parameters: Vec<Parameter>,
    build: Arc<Build>,
    specify: Option<Arc<Specify>>,
    explain: Option<Arc<Explain>>,
}

/// A strategy built for a bot, with its declared signals.
pub struct BuiltStrategy {
    /// The strategy.
    pub strategy: Box<dyn Strategy>,
    /// Declared signals, `None` if the strategy declares none.
    pub declaration: Option<Declaration>,
}

type Build = dyn Fn(&Value, &[Parameter], &BotContext) -> Result<BuiltStrategy, BuildError> + Send + Sync;

type Explain = dyn Fn(&Value, &BotContext) -> Result<Box<dyn Strategy>, BuildError> + Send + Sync;

type Specify = dyn Fn(&Value) -> Result<StrategyEntry, BuildError> + Send + Sync;

impl StrategyEntry {
    /// Creates the entry of a strategy type.
    pub fn from_factory<S: StrategyFactory>() -> Self {
        let build = |values: &Value, described: &[Parameter], bot: &BotContext| {
            let params = parameters::read_with_schema(values, described)
                .map_err(|problem| BuildError::parameters(S::NAME, problem))?;
            let strategy = S::build(params, bot).map_err(|error| error.with_strategy_name(S::NAME))?;
            let declaration = strategy.declaration();
            Ok(BuiltStrategy { strategy: Box::new(strategy), declaration })
        };
        Self {
            name: S::NAME.to_owned(),
            version: S::VERSION.to_owned(),
            about: S::ABOUT.to_owned(),
            wants_prices: S::WANTS_PRICES,
            parameters: parameters::describe::<S::Params>(),
            build: Arc::new(build),
            specify: None,
            explain: None,
        }
    }

    /// Creates the entry of a strategy known only at run time.
    ///
    /// `build` is called once per bot. Its first argument is a JSON object of all parameters, checked against their ranges.
    /// Parameters that the bot does not set have their defaults.
    pub fn new(
        name: impl Into<String>,
        version: impl Into<String>,
        build: impl Fn(&Value, &BotContext) -> Result<Box<dyn Strategy>, BuildError> + Send + Sync + 'static,
    ) -> Self {
        let undeclared = move |values: &Value, bot: &BotContext| {
            Ok(BuiltStrategy { strategy: build(values, bot)?, declaration: None })
        };
        Self::declaring(name, version, undeclared)
    }

    /// Like [`new`](Self::new), but `build` also returns the declared signals.
    pub fn declaring(
        name: impl Into<String>,
        version: impl Into<String>,
        build: impl Fn(&Value, &BotContext) -> Result<BuiltStrategy, BuildError> + Send + Sync + 'static,
    ) -> Self {
        let name = name.into();
        let of = name.clone();
        let build = move |values: &Value, described: &[Parameter], bot: &BotContext| {
            let values = parameters::complete(values, described)
                .map_err(|problem| BuildError::parameters(of.as_str(), problem))?;
            build(&values, bot)
        };
        Self {
            name,
            version: version.into(),
            about: String::new(),
            wants_prices: false,
            parameters: Vec::new(),
            build: Arc::new(build),
            specify: None,
            explain: None,
        }
    }

    /// Makes version and parameters depend on the bot's parameters, such as the name of a file.
    ///
    /// `specify` returns an entry of the same name for the given parameters. That entry then [builds](Self::build) the
    /// strategy. See [`for_params`](Self::for_params).
    #[must_use]
    pub fn specified_by(
        mut self,
        specify: impl Fn(&Value) -> Result<Self, BuildError> + Send + Sync + 'static,
    ) -> Self {
        self.specify = Some(Arc::new(specify));
        self
    }

    /// Adds a builder of a variant with [conditions](Strategy::conditions).
    ///
    /// The variant gives the same signals but is slower. `build` has the same arguments as in [`new`](Self::new).
    #[must_use]
    pub fn explained_by(
        mut self,
        build: impl Fn(&Value, &BotContext) -> Result<Box<dyn Strategy>, BuildError> + Send + Sync + 'static,
    ) -> Self {
        self.explain = Some(Arc::new(build));
        self
    }

    /// Returns the entry for these parameters. For most strategies, it is this entry.
    /// Fails with [`BuildError`] if the parameters do not describe a strategy.
    pub fn for_params(&self, params: &Value) -> Result<Cow<'_, Self>, BuildError> {
        self.specify.as_ref().map_or(Ok(Cow::Borrowed(self)), |specify| specify(params).map(Cow::Owned))
    }

    /// Sets the description.
    #[must_use]
    pub fn described(mut self, about: impl Into<String>) -> Self {
        self.about = about.into();
        self
    }

    /// Adds a parameter.
    #[must_use]
    pub fn with_parameter(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// Requests prices between candles for the strategy's bots ([`Strategy::on_price`]).
    #[must_use]
    pub const fn wanting_prices(mut self) -> Self {
        self.wants_prices = true;
        self
    }

    /// Builds the strategy of a bot from a JSON object of parameters.
    /// Fails with [`BuildError`] if a parameter is unknown, of the wrong type or out of range, or the
    /// strategy rejects them.
    pub fn build(&self, params: &Value, bot: &BotContext) -> Result<Box<dyn Strategy>, BuildError> {
        self.build_with_declaration(params, bot).map(|built| built.strategy)
    }

    /// Like [`build`](Self::build), with the declared signals, for a search.
    pub fn build_with_declaration(
        &self,
        params: &Value,
        bot: &BotContext,
    ) -> Result<BuiltStrategy, BuildError> {
        let entry = self.for_params(params)?;
        (entry.build)(params, &entry.parameters, bot)
    }

    /// Like [`build`](Self::build), but uses the variant with conditions if there is one.
    pub fn build_explained(&self, params: &Value, bot: &BotContext) -> Result<Box<dyn Strategy>, BuildError> {
        let entry = self.for_params(params)?;
        let Some(explain) = &entry.explain else { return entry.build(params, bot) };
        let values = parameters::complete(params, &entry.parameters)
            .map_err(|problem| BuildError::parameters(entry.name.as_str(), problem))?;
        explain(&values, bot)
    }

    fn check(&self) -> Result<(), RegistryError> {
        let is_allowed = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-');
        if self.name.is_empty() || !self.name.chars().all(is_allowed) {
            return Err(RegistryError::NameNotAllowed { name: self.name.clone() });
        }
        for (place, parameter) in self.parameters.iter().enumerate() {
            let strategy = || self.name.clone();
            if self.parameters[..place].iter().any(|earlier| earlier.name == parameter.name) {
                return Err(RegistryError::ParameterTaken {
                    strategy: strategy(),
                    parameter: parameter.name.clone(),
                });
            }
            parameters::check_range(parameter, &parameter.default)
                .map_err(|problem| RegistryError::DefaultOutOfRange { strategy: strategy(), problem })?;
        }
        Ok(())
    }
}

impl fmt::Debug for StrategyEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, version, wants_prices, parameters, .. } = self;
        let mut entry = f.debug_struct("StrategyEntry");
        entry.field("name", name).field("version", version).field("wants_prices", wants_prices);
        entry.field("parameters", parameters).finish_non_exhaustive()
    }
}

/// Registration errors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// A strategy with this name exists already.
    #[error("two strategies are named \"{name}\": give one of them another name")]
    NameTaken {
        /// Duplicate name.
        name: String,
    },
    /// The name is invalid in configurations, file names or commands.
    #[error("\"{name}\" cannot be the name of a strategy: use lower-case letters, digits and hyphens")]
    NameNotAllowed {
        /// Rejected name.
        name: String,
    },
    /// Two parameters have the same name.
    #[error("strategy \"{strategy}\" has two parameters named \"{parameter}\": rename one of them")]
    ParameterTaken {
        /// Name of the strategy.
        strategy: String,
        /// Name of the parameter.
        parameter: String,
    },
    /// A default is outside the parameter's own range.
    #[error("strategy \"{strategy}\", default of a parameter: {problem}; change the default or the range")]
    DefaultOutOfRange {
        /// Name of the strategy.
        strategy: String,
        /// Parameter with its default and range.
        problem: String,
    },
}

/// The strategies of a binary. Its code registers each of them explicitly.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    entries: Vec<StrategyEntry>,
}

impl Registry {
    /// Adds a strategy type.
    pub fn with<S: StrategyFactory>(self) -> Result<Self, RegistryError> {
        self.with_entry(StrategyEntry::from_factory::<S>())
    }

    /// Adds a strategy entry, for example for a strategy known only at run time.
    /// Fails with [`RegistryError`] if the name is taken or invalid, or a default is out of range.
    pub fn with_entry(mut self, entry: StrategyEntry) -> Result<Self, RegistryError> {
        entry.check()?;
        if self.find(&entry.name).is_some() {
            return Err(RegistryError::NameTaken { name: entry.name });
        }
        self.entries.push(entry);
        Ok(self)
    }

    /// Returns the strategy with this name.
    pub fn find(&self, name: &str) -> Option<&StrategyEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Returns all strategies in the order of registration.
    pub fn entries(&self) -> &[StrategyEntry] {
        &self.entries
    }
}

/// Returns an error message if cargo built this program in a folder other than the current one.
///
/// Cargo mixes up two packages with the same name and version that share a target folder, unless the second one is newer.
/// `built_in` is `env!("CARGO_MANIFEST_DIR")` of the program. `None` if the folders match or cargo did not start it.
pub fn folder_error(built_in: &str) -> Option<String> {
    describe_folder_mismatch(built_in, &std::env::var("CARGO_MANIFEST_DIR").ok()?)
}

fn describe_folder_mismatch(built_in: &str, run_in: &str) -> Option<String> {
    let is_same = built_in == run_in
        || matches!((Path::new(built_in).canonicalize(), Path::new(run_in).canonicalize()), (Ok(one), Ok(other)) if one == other);
    (!is_same).then(|| {
        format!(
            "cargo ran the program built in {built_in}, not in {run_in}: both packages have the same name and target folder. \
             Rename one of them in Cargo.toml, or run cargo clean -p NAME and build again"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Candle, Signal};
    use serde_json::json;

    struct Idle(usize);

    impl Strategy for Idle {
        fn warmup(&self) -> usize {
            self.0
        }

        fn on_candle(&mut self, _: &Candle) -> Option<Signal> {
            None
        }
    }

    fn idle(name: &str) -> StrategyEntry {
        StrategyEntry::new(name, "1.0.0", |values, _| {
            Ok(Box::new(Idle(values["period"].as_u64().expect("every parameter has a value") as usize)))
        })
        .with_parameter(Parameter::new("period", 20).within(1.0, 50.0))
    }

    #[test]
    fn rejects_invalid_and_duplicate_names() {
        let registry = Registry::default().with_entry(idle("idle-2")).unwrap();
        let refused = |entry| registry.clone().with_entry(entry).unwrap_err();
        assert_eq!(refused(idle("idle-2")), RegistryError::NameTaken { name: "idle-2".to_owned() });
        for name in ["", "Idle", "idle_2", "idle 2", "idlé", "a/b"] {
            assert_eq!(refused(idle(name)), RegistryError::NameNotAllowed { name: name.to_owned() });
        }
        assert_eq!(registry.entries().len(), 1);
    }

    #[test]
    fn rejects_default_out_of_range_and_duplicate_parameter() {
        let entry = idle("idle").with_parameter(Parameter::new("level", 101.0).within(0.0, 100.0));
        let refused = Registry::default().with_entry(entry).unwrap_err().to_string();
        assert!(refused.contains("level = 101") && refused.contains("0 to 100"), "{refused}");
        let entry = idle("idle").with_parameter(Parameter::new("period", 1));
        assert!(matches!(Registry::default().with_entry(entry), Err(RegistryError::ParameterTaken { .. })));
    }

    #[test]
    fn closure_receives_checked_values_of_all_parameters() {
        let bot = crate::testkit::bot("BTCUSDT");
        let entry = idle("idle");
        assert_eq!(entry.build(&json!({}), &bot).unwrap().warmup(), 20);
        assert_eq!(entry.build(&json!({ "period": 7 }), &bot).unwrap().warmup(), 7);
        for (params, named) in [
            (json!({ "period": 51 }), "period = 51"),
            (json!({ "period": "seven" }), "period"),
            (json!({ "period": 7.5 }), "period"),
            (json!({ "periods": 7 }), "periods"),
            (json!([7]), "table"),
        ] {
            let Err(refused) = entry.build(&params, &bot) else { panic!("{params} was accepted") };
            let refused = refused.to_string();
            assert!(refused.contains("idle") && refused.contains(named), "{params}: {refused}");
        }
    }

    #[test]
    fn reports_program_of_another_folder_but_not_of_another_path() {
        let here = env!("CARGO_MANIFEST_DIR");
        assert_eq!(describe_folder_mismatch(here, here), None);
        assert_eq!(describe_folder_mismatch(here, &format!("{here}/src/..")), None);
        let message = describe_folder_mismatch("/home/trader/first", "/home/trader/copy").unwrap();
        assert!(message.contains("built in /home/trader/first, not in /home/trader/copy"), "{message}");
    }

    #[test]
    fn cargo_runs_tests_in_the_folder_of_their_build() {
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "cargo sets the folder of a test");
        assert_eq!(folder_error(env!("CARGO_MANIFEST_DIR")), None);
        assert!(folder_error("/home/trader/first").is_some());
    }
}

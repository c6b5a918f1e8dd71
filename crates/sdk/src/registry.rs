//! Registry of the strategies in a program, by name.

use crate::parameters::Parameter;
use crate::{BotContext, BuildError, Declaration, Strategy, StrategyFactory, parameters};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A registered strategy, with its description and its constructor.
///
/// [`StrategyEntry::from_factory`] creates an entry from a type. [`StrategyEntry::new`] creates an entry from a
/// closure, for a strategy that is known only at run time, such as a user's rule:
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
/// .with_about("Trades against a candle that moved far.")
/// .with_parameter(Parameter::new("move_fraction", 0.001).with_range(0.0, 0.5).with_about("Smallest move."));
/// let registry = Registry::default().with_entry(entry)?;
/// assert!(registry.find("fade").is_some());
/// # Ok::<(), candlewick_sdk::RegistryError>(())
/// ```
#[derive(Clone)]
pub struct StrategyEntry {
    /// Name in configurations. Consists of lower-case letters, digits and hyphens.
    pub name: String,
    /// Version of the strategy. Results of different versions are never mixed.
    pub version: String,
    /// Description of the strategy in one sentence.
    pub about: String,
    /// Whether the strategy needs prices between candle closes.
    pub wants_prices: bool,
    /// Parameters in declaration order.
    pub parameters: Vec<Parameter>,
    build: Arc<BuildFn>,
    derive: Option<Arc<DeriveFn>>,
    explain: Option<Arc<ExplainFn>>,
}

/// A strategy that was built for a bot, with its declaration.
pub struct BuiltStrategy {
    /// Strategy of the bot.
    pub strategy: Box<dyn Strategy>,
    /// Declared signals, or `None` if the strategy does not declare its signals.
    pub declaration: Option<Declaration>,
}

type BuildFn = dyn Fn(&Value, &[Parameter], &BotContext) -> Result<BuiltStrategy, BuildError> + Send + Sync;

type ExplainFn = dyn Fn(&Value, &BotContext) -> Result<Box<dyn Strategy>, BuildError> + Send + Sync;

type DeriveFn = dyn Fn(&Value) -> Result<StrategyEntry, BuildError> + Send + Sync;

impl StrategyEntry {
    /// Creates an entry from a strategy type.
    pub fn from_factory<S: StrategyFactory>() -> Self {
        let build = |values: &Value, described: &[Parameter], bot: &BotContext| {
            let params = parameters::parse_with_descriptions(values, described)
                .map_err(|problem| BuildError::invalid_parameters(S::NAME, problem))?;
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
            derive: None,
            explain: None,
        }
    }

    /// Creates an entry for a strategy that is known only at run time.
    ///
    /// `build` is called once per bot. The first argument of `build` is a JSON object of all parameters, checked
    /// against their ranges. Parameters that the bot does not set get their defaults.
    pub fn new(
        name: impl Into<String>,
        version: impl Into<String>,
        build: impl Fn(&Value, &BotContext) -> Result<Box<dyn Strategy>, BuildError> + Send + Sync + 'static,
    ) -> Self {
        let undeclared = move |values: &Value, bot: &BotContext| {
            Ok(BuiltStrategy { strategy: build(values, bot)?, declaration: None })
        };
        Self::new_with_declaration(name, version, undeclared)
    }

    /// Like [`new`](Self::new), but `build` also returns the declaration of the strategy's signals.
    pub fn new_with_declaration(
        name: impl Into<String>,
        version: impl Into<String>,
        build: impl Fn(&Value, &BotContext) -> Result<BuiltStrategy, BuildError> + Send + Sync + 'static,
    ) -> Self {
        let name = name.into();
        let strategy = name.clone();
        let build = move |values: &Value, described: &[Parameter], bot: &BotContext| {
            let values = parameters::fill_in_defaults(values, described)
                .map_err(|problem| BuildError::invalid_parameters(strategy.as_str(), problem))?;
            build(&values, bot)
        };
        Self {
            name,
            version: version.into(),
            about: String::new(),
            wants_prices: false,
            parameters: Vec::new(),
            build: Arc::new(build),
            derive: None,
            explain: None,
        }
    }

    /// Adds a closure that creates a separate entry for each bot, for example from the path of a rule file.
    ///
    /// The derived entry [builds](Self::build) the strategy. It keeps the name of this entry, but may have another
    /// version and other parameters. See [`for_params`](Self::for_params).
    #[must_use]
    pub fn with_derivation(
        mut self,
        derive: impl Fn(&Value) -> Result<Self, BuildError> + Send + Sync + 'static,
    ) -> Self {
        self.derive = Some(Arc::new(derive));
        self
    }

    /// Adds a constructor for a variant of the strategy that explains its [conditions](Strategy::conditions).
    ///
    /// The variant gives the same signals but is slower. `build` has the same arguments as in [`new`](Self::new).
    #[must_use]
    pub fn with_explainer(
        mut self,
        build: impl Fn(&Value, &BotContext) -> Result<Box<dyn Strategy>, BuildError> + Send + Sync + 'static,
    ) -> Self {
        self.explain = Some(Arc::new(build));
        self
    }

    /// Returns the entry for a bot's parameters: a [derived](Self::with_derivation) entry, or `self`.
    /// Fails with [`BuildError`] if the parameters do not describe a strategy.
    pub fn for_params(&self, params: &Value) -> Result<Cow<'_, Self>, BuildError> {
        self.derive.as_ref().map_or(Ok(Cow::Borrowed(self)), |derive| derive(params).map(Cow::Owned))
    }

    /// Sets the description of the strategy.
    #[must_use]
    pub fn with_about(mut self, about: impl Into<String>) -> Self {
        self.about = about.into();
        self
    }

    /// Adds a parameter to the strategy.
    #[must_use]
    pub fn with_parameter(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// Requests prices between candle closes for bots with this strategy ([`Strategy::on_price`]).
    #[must_use]
    pub const fn with_prices(mut self) -> Self {
        self.wants_prices = true;
        self
    }

    /// Builds the strategy of a bot from a JSON object of parameters. Fails with [`BuildError`] if a parameter is
    /// unknown, has the wrong type or is out of range, or if the strategy rejects the parameters.
    pub fn build(&self, params: &Value, bot: &BotContext) -> Result<Box<dyn Strategy>, BuildError> {
        self.build_with_declaration(params, bot).map(|built| built.strategy)
    }

    /// Like [`build`](Self::build), but also returns the strategy's declaration, if any.
    pub fn build_with_declaration(
        &self,
        params: &Value,
        bot: &BotContext,
    ) -> Result<BuiltStrategy, BuildError> {
        let entry = self.for_params(params)?;
        (entry.build)(params, &entry.parameters, bot)
    }

    /// Like [`build`](Self::build), but builds the variant that explains its conditions, if available.
    pub fn build_explainer(&self, params: &Value, bot: &BotContext) -> Result<Box<dyn Strategy>, BuildError> {
        let entry = self.for_params(params)?;
        let Some(explain) = &entry.explain else { return entry.build(params, bot) };
        let values = parameters::fill_in_defaults(params, &entry.parameters)
            .map_err(|problem| BuildError::invalid_parameters(entry.name.as_str(), problem))?;
        explain(&values, bot)
    }

    fn check(&self) -> Result<(), RegistryError> {
        let is_allowed = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-');
        if self.name.is_empty() || !self.name.chars().all(is_allowed) {
            return Err(RegistryError::InvalidName { name: self.name.clone() });
        }
        for (place, parameter) in self.parameters.iter().enumerate() {
            let strategy = || self.name.clone();
            if self.parameters[..place].iter().any(|earlier| earlier.name == parameter.name) {
                return Err(RegistryError::DuplicateParameter {
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

/// Error from registering a strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Another strategy already has this name.
    #[error("two strategies are named \"{name}\": give one of them another name")]
    DuplicateName {
        /// Duplicate name.
        name: String,
    },
    /// The name is empty or contains a character other than a lower-case letter, a digit or a hyphen.
    #[error("\"{name}\" cannot be the name of a strategy: use lower-case letters, digits and hyphens")]
    InvalidName {
        /// Rejected name.
        name: String,
    },
    /// Two parameters have the same name.
    #[error("strategy \"{strategy}\" has two parameters named \"{parameter}\": rename one of them")]
    DuplicateParameter {
        /// Name of the strategy.
        strategy: String,
        /// Name of the parameter.
        parameter: String,
    },
    /// The default value of a parameter is outside the parameter's range.
    #[error("strategy \"{strategy}\", default of a parameter: {problem}; change the default or the range")]
    DefaultOutOfRange {
        /// Name of the strategy.
        strategy: String,
        /// Error message that names the parameter, its default value and its range.
        problem: String,
    },
}

/// The strategies of a program, each registered explicitly in code.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    entries: Vec<StrategyEntry>,
}

impl Registry {
    /// Adds a strategy type to the registry.
    pub fn with<S: StrategyFactory>(self) -> Result<Self, RegistryError> {
        self.with_entry(StrategyEntry::from_factory::<S>())
    }

    /// Adds a strategy entry, for example for a strategy that is known only at run time.
    /// Fails with [`RegistryError`] if a name is duplicate or invalid, or a default value is out of range.
    pub fn with_entry(mut self, entry: StrategyEntry) -> Result<Self, RegistryError> {
        entry.check()?;
        if self.find(&entry.name).is_some() {
            return Err(RegistryError::DuplicateName { name: entry.name });
        }
        self.entries.push(entry);
        Ok(self)
    }

    /// Returns the strategy with this name, if registered.
    pub fn find(&self, name: &str) -> Option<&StrategyEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Returns all strategies in registration order.
    pub fn entries(&self) -> &[StrategyEntry] {
        &self.entries
    }
}

/// Returns an error message if cargo runs a program that was built in another folder.
///
/// This can happen if two packages share their name, version and target folder. Pass `env!("CARGO_MANIFEST_DIR")` of
/// the program as `built_in`. Returns `None` if the folders match, or if cargo did not start the program.
pub fn check_build_folder(built_in: &str) -> Option<String> {
    describe_folder_mismatch(built_in, &std::env::var("CARGO_MANIFEST_DIR").ok()?)
}

fn describe_folder_mismatch(built_in: &str, run_in: &str) -> Option<String> {
    let is_same = built_in == run_in
        || matches!((Path::new(built_in).canonicalize(), Path::new(run_in).canonicalize()), (Ok(one), Ok(other)) if one == other);
    (!is_same).then(|| {
        format!(
            "cargo ran the program built in {built_in}, not the one in {run_in}. Both packages have the same name and \
             share a target folder. Rename one package in Cargo.toml, or run `cargo clean -p NAME` and build again"
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
        .with_parameter(Parameter::new("period", 20).with_range(1.0, 50.0))
    }

    #[test]
    fn rejects_invalid_and_duplicate_names() {
        let registry = Registry::default().with_entry(idle("idle-2")).unwrap();
        let refused = |entry| registry.clone().with_entry(entry).unwrap_err();
        assert_eq!(refused(idle("idle-2")), RegistryError::DuplicateName { name: "idle-2".to_owned() });
        for name in ["", "Idle", "idle_2", "idle 2", "idlé", "a/b"] {
            assert_eq!(refused(idle(name)), RegistryError::InvalidName { name: name.to_owned() });
        }
        assert_eq!(registry.entries().len(), 1);
    }

    #[test]
    fn rejects_default_out_of_range_and_duplicate_parameter() {
        let entry = idle("idle").with_parameter(Parameter::new("level", 101.0).with_range(0.0, 100.0));
        let refused = Registry::default().with_entry(entry).unwrap_err().to_string();
        assert!(refused.contains("level = 101") && refused.contains("0 to 100"), "{refused}");
        let entry = idle("idle").with_parameter(Parameter::new("period", 1));
        let refused = Registry::default().with_entry(entry);
        assert!(matches!(refused, Err(RegistryError::DuplicateParameter { .. })));
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
        assert!(
            message.contains("built in /home/trader/first, not the one in /home/trader/copy"),
            "{message}"
        );
    }

    #[test]
    fn cargo_runs_tests_in_the_folder_of_their_build() {
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "cargo sets the folder of a test");
        assert_eq!(check_build_folder(env!("CARGO_MANIFEST_DIR")), None);
        assert!(check_build_folder("/home/trader/first").is_some());
    }
}

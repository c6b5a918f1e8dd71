//! Strategy parameters: a serde struct with defaults, ranges and documentation.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A struct of strategy parameters, declared with [`crate::parameters!`].
///
/// A struct that is not declared with the macro needs the four supertraits and an empty `impl`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a struct of strategy parameters",
    label = "declare it with `parameters!`",
    note = "parameters! {{ pub struct Params {{ period: usize = 14, 1..=500; }} }}"
)]
pub trait Parameters: Serialize + DeserializeOwned + schemars::JsonSchema + Default {}

/// Type that a strategy parameter can have.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the type of a parameter",
    label = "use a number, `bool` or `String`",
    note = "for a choice, declare a `String` and match the text in `build`: `mode: String = \"fast\".to_owned();`"
)]
pub trait ParameterType: Clone + std::fmt::Debug + PartialEq + Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Clone + std::fmt::Debug + PartialEq + Serialize + DeserializeOwned> ParameterType for T {}

/// Checks at compile time that a strategy parameter can have the type `T`.
#[doc(hidden)]
pub const fn check_type<T: ParameterType>() {}

/// Description of one strategy parameter, used by `candlewick strategy show` and parameter searches.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name of the parameter in configurations.
    pub name: String,
    /// Description, from the documentation comment.
    pub about: String,
    /// Default value.
    pub default: Value,
    /// Minimum value, `None` if there is no limit.
    pub minimum: Option<f64>,
    /// Maximum value, `None` if there is no limit.
    pub maximum: Option<f64>,
    /// JSON type: `integer`, `number`, `string`, `boolean` or another schema type.
    pub kind: String,
}

impl Parameter {
    /// Creates a parameter for a strategy known only at run time. The type of `default` is the parameter's type.
    pub fn new(name: impl Into<String>, default: impl Into<Value>) -> Self {
        let default = default.into();
        let kind = match &default {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let (name, kind) = (name.into(), kind.to_owned());
        Self { name, about: String::new(), default, minimum: None, maximum: None, kind }
    }

    /// Sets the range of allowed values. Both ends are allowed.
    #[must_use]
    pub const fn with_range(mut self, minimum: f64, maximum: f64) -> Self {
        (self.minimum, self.maximum) = (Some(minimum), Some(maximum));
        self
    }

    /// Sets the description of the parameter.
    #[must_use]
    pub fn with_about(mut self, about: impl Into<String>) -> Self {
        self.about = about.into();
        self
    }
}

type JsonType = (&'static str, &'static str, fn(&Value) -> bool);

const JSON_TYPES: [JsonType; 4] = [
    ("integer", "a whole number", |value| value.is_i64() || value.is_u64()),
    ("number", "a number", Value::is_number),
    ("string", "a text in quotes", Value::is_string),
    ("boolean", "true or false", Value::is_boolean),
];

/// Returns descriptions of the parameters in the struct `P`, in declaration order.
pub fn describe<P: Parameters>() -> Vec<Parameter> {
    let schema = schemars::schema_for!(P);
    let defaults = serde_json::to_value(P::default()).unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    let parameter = |(name, property): (&String, &Value)| Parameter {
        name: name.clone(),
        about: schema_text(property, "description"),
        default: defaults.get(name).cloned().unwrap_or_default(),
        minimum: property.get("minimum").and_then(Value::as_f64),
        maximum: property.get("maximum").and_then(Value::as_f64),
        kind: schema_text(property, "type"),
    };
    properties.into_iter().flatten().map(parameter).collect()
}

/// Parses a parameter struct from a JSON object and checks all ranges. Missing keys get their defaults.
/// The error message names the key and the allowed values.
pub fn parse<P: Parameters>(values: &Value) -> Result<P, String> {
    parse_with_descriptions(values, &describe::<P>())
}

/// Like [`parse`], but takes the parameter descriptions, because creating them takes longer than parsing.
pub(crate) fn parse_with_descriptions<P: Parameters>(
    values: &Value,
    described: &[Parameter],
) -> Result<P, String> {
    // Serde would accept a list by position. It would also omit the parameter name if a type is wrong.
    if !values.is_object() && !values.is_null() {
        return Err(non_table_error(values));
    }
    for parameter in described {
        values.get(&parameter.name).map_or(Ok(()), |value| check_json_type(parameter, value))?;
    }
    let params = P::deserialize(values).map_err(|error| error.to_string())?;
    for parameter in described {
        values.get(&parameter.name).map_or(Ok(()), |value| check_range(parameter, value))?;
    }
    Ok(params)
}

pub(crate) fn fill_in_defaults(values: &Value, described: &[Parameter]) -> Result<Value, String> {
    let empty = Map::new();
    let given = match values {
        Value::Null => &empty,
        Value::Object(given) => given,
        other => return Err(non_table_error(other)),
    };
    if let Some(unknown) = given.keys().find(|key| described.iter().all(|parameter| parameter.name != **key))
    {
        let known: Vec<&str> = described.iter().map(|parameter| parameter.name.as_str()).collect();
        return Err(format!("unknown parameter {unknown}; known parameters are: {}", known.join(", ")));
    }
    let value_of = |parameter: &Parameter| {
        let value = given.get(&parameter.name).unwrap_or(&parameter.default);
        check_json_type(parameter, value)?;
        check_range(parameter, value).map(|()| (parameter.name.clone(), value.clone()))
    };
    described.iter().map(value_of).collect::<Result<Map<_, _>, _>>().map(Value::Object)
}

fn non_table_error(value: &Value) -> String {
    format!("{value} is not a table of parameters: write {{ NAME = VALUE }}")
}

fn check_json_type(parameter: &Parameter, value: &Value) -> Result<(), String> {
    let kind = JSON_TYPES.iter().find(|(name, ..)| *name == parameter.kind);
    let Some((_, kind, _)) = kind.filter(|(.., is_met)| !is_met(value)) else { return Ok(()) };
    let bound = |word: &str, bound: Option<f64>| bound.map(|bound| format!(" {word} {bound}"));
    let bounds = [bound("from", parameter.minimum), bound("to", parameter.maximum)];
    let bounds: String = bounds.into_iter().flatten().collect();
    Err(format!("{} = {value}: use {kind}{bounds}", parameter.name))
}

pub(crate) fn check_range(parameter: &Parameter, value: &Value) -> Result<(), String> {
    let Some(value) = value.as_f64() else { return Ok(()) };
    let low = parameter.minimum.unwrap_or(f64::NEG_INFINITY);
    let high = parameter.maximum.unwrap_or(f64::INFINITY);
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        let name = &parameter.name;
        Err(format!("{name} = {value} is outside the range {low} to {high}"))
    }
}

fn schema_text(property: &Value, key: &str) -> String {
    property.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Declares a parameter struct. Each line has documentation, name, type, default and optional range.
///
/// A type is a number, `bool` or `String`. A range includes both ends. For a choice, declare a `String` and match the
/// text in [`StrategyFactory::build`](crate::StrategyFactory::build). All fields are public. The struct implements
/// `Clone`, `Debug`, `PartialEq`, `Default`, `Serialize`, `JsonSchema` and `Deserialize`. Parsing sets missing
/// keys to their defaults and rejects unknown keys.
///
/// ```
/// candlewick_sdk::parameters! {
///     /// Parameters of a moving-average strategy.
///     pub struct Params {
///         /// Candles in the average.
///         period: usize = 20, 1..=500;
///         /// Price to average.
///         source: String = "close".to_owned();
///     }
/// }
/// assert_eq!(Params::default().period, 20);
/// ```
#[macro_export]
macro_rules! parameters {
    ( $(#[doc = $doc:literal])* #[derive($($derived:tt)*)] $($rest:tt)* ) => {
        $crate::__parameters_derived! { [$($derived)*] $(#[doc = $doc])* #[derive($($derived)*)] $($rest)* }
    };
    ( $($declaration:tt)* ) => {
        $crate::__parameters! { $($declaration)* }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __parameters {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident {
            $( $(#[$field_meta:meta])* $field:ident : $type:ty = $default:expr $(, $low:literal ..= $high:literal)? ; )*
        }
    ) => {
        const _: () = { $( $crate::parameters::check_type::<$type>(); )* };

        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, $crate::serde::Serialize, $crate::serde::Deserialize, $crate::schemars::JsonSchema)]
        #[serde(crate = "candlewick_sdk::serde", default, deny_unknown_fields)]
        #[schemars(crate = "candlewick_sdk::schemars")]
        $visibility struct $name {
            $( $(#[$field_meta])* $(#[schemars(range(min = $low, max = $high))])? pub $field: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $crate::Parameters for $name {}
    };
    ( $($mistaken:tt)* ) => {
        $crate::__parameters_mistake! { $($mistaken)* }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __parameters_mistake {
    ( $(#[$meta:meta])* $visibility:vis struct $name:ident { $($fields:tt)* } ) => {
        $crate::__parameter_mistake! { $($fields)* }
    };
    ( $($other:tt)* ) => {
        ::core::compile_error!(
            "`parameters!` takes one struct with named fields: `parameters! { pub struct Params { period: usize = 14, 1..=500; } }`"
        );
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __parameters_derived {
    ( [Clone $($more:tt)*] $($all:tt)* ) => { $crate::__parameters_derived! { @twice Clone } };
    ( [Debug $($more:tt)*] $($all:tt)* ) => { $crate::__parameters_derived! { @twice Debug } };
    ( [PartialEq $($more:tt)*] $($all:tt)* ) => { $crate::__parameters_derived! { @twice PartialEq } };
    ( [Default $($more:tt)*] $($all:tt)* ) => { $crate::__parameters_derived! { @twice Default } };
    ( [Serialize $($more:tt)*] $($all:tt)* ) => { $crate::__parameters_derived! { @twice Serialize } };
    ( [Deserialize $($more:tt)*] $($all:tt)* ) => { $crate::__parameters_derived! { @twice Deserialize } };
    ( [JsonSchema $($more:tt)*] $($all:tt)* ) => { $crate::__parameters_derived! { @twice JsonSchema } };
    ( [$other:tt $($more:tt)*] $($all:tt)* ) => { $crate::__parameters_derived! { [$($more)*] $($all)* } };
    ( [] $($all:tt)* ) => { $crate::__parameters! { $($all)* } };
    ( @twice $name:ident ) => {
        ::core::compile_error!(::core::concat!(
            "remove `", ::core::stringify!($name),
            "`: `parameters!` derives Clone, Debug, PartialEq, Default, Serialize, Deserialize and JsonSchema"
        ));
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __parameter_mistake {
    (
        $(#[$meta:meta])* $field:ident : $type:ty = $default:expr $(, $low:literal ..= $high:literal)? ;
        $($rest:tt)*
    ) => {
        $crate::__parameter_mistake! { $($rest)* }
    };
    ( $(#[$meta:meta])* pub $($rest:tt)* ) => {
        ::core::compile_error!("remove `pub`: all parameters are public");
    };
    ( $(#[$meta:meta])* $field:ident : $type:ty ; $($rest:tt)* ) => {
        $crate::__parameter_mistake! { @no_default $field $type }
    };
    ( $(#[$meta:meta])* $field:ident : $type:ty , $($rest:tt)* ) => {
        $crate::__parameter_mistake! { @no_default $field $type }
    };
    ( $(#[$meta:meta])* $field:ident : $type:ty ) => {
        $crate::__parameter_mistake! { @no_default $field $type }
    };
    ( @no_default $field:ident $type:ty ) => {
        ::core::compile_error!(::core::concat!(
            "parameter `", ::core::stringify!($field), "` has no default: write `",
            ::core::stringify!($field), ": ", ::core::stringify!($type), " = DEFAULT;`"
        ));
    };
    ( $(#[$meta:meta])* $field:ident = $($rest:tt)* ) => {
        ::core::compile_error!(::core::concat!(
            "parameter `", ::core::stringify!($field), "` has no type: write `",
            ::core::stringify!($field), ": TYPE = DEFAULT;`, for example with type `usize`"
        ));
    };
    ( $(#[$meta:meta])* $field:ident : $type:ty = $default:expr , $low:literal .. $high:literal $($rest:tt)* ) => {
        ::core::compile_error!(::core::concat!(
            "the range of parameter `", ::core::stringify!($field), "` must include its end: write `",
            ::core::stringify!($low), "..=` and the largest value"
        ));
    };
    ( $(#[$meta:meta])* $field:ident : $type:ty = $default:expr $(, $low:literal ..= $high:literal)? ) => {
        $crate::__parameter_mistake! { @no_semicolon $field }
    };
    ( $(#[$meta:meta])* $field:ident : $type:ty = $default:expr , $low:literal ..= $high:literal , $($rest:tt)* ) => {
        $crate::__parameter_mistake! { @no_semicolon $field }
    };
    ( $(#[$meta:meta])* $field:ident : $type:ty = $default:expr , ) => {
        $crate::__parameter_mistake! { @no_semicolon $field }
    };
    (
        $(#[$meta:meta])* $field:ident : $type:ty = $default:expr ,
        $(#[$next_meta:meta])* $next:ident : $($rest:tt)*
    ) => {
        $crate::__parameter_mistake! { @no_semicolon $field }
    };
    ( @no_semicolon $field:ident ) => {
        ::core::compile_error!(::core::concat!(
            "the declaration of parameter `", ::core::stringify!($field), "` must end with `;`"
        ));
    };
    ( $(#[$meta:meta])* $field:ident : $type:ty = $default:expr , $($rest:tt)* ) => {
        ::core::compile_error!(::core::concat!(
            "the range of parameter `", ::core::stringify!($field), "` must be two literal numbers: `1..=500`"
        ));
    };
    ( $($other:tt)* ) => {
        ::core::compile_error!(
            "write a parameter as name, type, default and optional range: `period: usize = 14, 1..=500;`"
        );
    };
}

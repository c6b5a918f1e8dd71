//! Compile errors for malformed `parameters!` declarations, with the correct form.

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
            "leave out `", ::core::stringify!($name),
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
        ::core::compile_error!("every parameter is public: leave out `pub`");
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
            ::core::stringify!($field), ": usize = DEFAULT;`, or the type that it is of"
        ));
    };
    ( $(#[$meta:meta])* $field:ident : $type:ty = $default:expr , $low:literal .. $high:literal $($rest:tt)* ) => {
        ::core::compile_error!(::core::concat!(
            "the range of parameter `", ::core::stringify!($field), "` holds both its ends: write `",
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
            "the line of parameter `", ::core::stringify!($field), "` must end with `;`"
        ));
    };
    ( $(#[$meta:meta])* $field:ident : $type:ty = $default:expr , $($rest:tt)* ) => {
        ::core::compile_error!(::core::concat!(
            "the range of parameter `", ::core::stringify!($field), "` is two numbers, written out: `1..=500`"
        ));
    };
    ( $($other:tt)* ) => {
        ::core::compile_error!(
            "a parameter is a name, a type, a default and perhaps a range: `period: usize = 14, 1..=500;`"
        );
    };
}

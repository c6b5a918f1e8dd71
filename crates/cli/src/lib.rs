//! Arguments, configuration, composition, and the App builder.

mod model;
mod properties;
mod scenarios;
pub(crate) mod testing;

//! Selection bias: how good the best of many variants looks by luck.

mod best_of_many;
mod cscv;
mod variant_returns;

pub use best_of_many::{BestOfMany, Bootstrap, best_of_many};
pub use cscv::{MAX_BLOCKS, Overfitting, Split, probability_of_overfitting};
pub use variant_returns::{VariantReturns, Variants};

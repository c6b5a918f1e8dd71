//! The user and the wallets (contract 2.1, 2.6).

use super::value::WalletType;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A wallet of the authenticated user (contract 2.1).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_field_names)] // `type` is a keyword
pub(crate) struct Wallet {
    pub(crate) id: String,
    pub(crate) user_id: String,
    #[serde(rename = "type")]
    #[schema(value_type = WalletType)]
    pub(crate) wallet_type: &'static str,
    #[schema(minimum = 0)]
    pub(crate) balance: f64,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
}

/// The authenticated user (contract 2.6).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools)] // the contract's fields
pub(crate) struct User {
    pub(crate) id: String,
    pub(crate) tenant_id: String,
    pub(crate) kyc_level_id: String,
    pub(crate) two_factor_id: String,
    pub(crate) email: String,
    pub(crate) affiliate_id: String,
    pub(crate) name: String,
    pub(crate) nickname: String,
    pub(crate) influencer: bool,
    pub(crate) bot: bool,
    pub(crate) public_profile: bool,
    pub(crate) password_v2: bool,
    pub(crate) country: String,
    pub(crate) language: String,
    pub(crate) active: bool,
    pub(crate) banned: bool,
    pub(crate) deleted: bool,
    pub(crate) email_verified: bool,
    pub(crate) legacy: bool,
    pub(crate) phone_country_code: String,
    pub(crate) phone: String,
    pub(crate) params: UserParams,
    pub(crate) copy_trade_params: CopyTradeParams,
    #[schema(format = DateTime)]
    pub(crate) last_login_at: String,
    /// The elements' shape is not shown; the sandbox has none.
    pub(crate) flags: Vec<Value>,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    #[schema(format = DateTime)]
    pub(crate) updated_at: String,
}

/// Limits of the user (contract 2.6).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserParams {
    pub(crate) max_withdrawal_amount: f64,
    pub(crate) ignore_tenant_user_limitation: bool,
}

/// Copy trading of the user (contract 2.6).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CopyTradeParams {
    pub(crate) copy_commission_rate: f64,
    pub(crate) max_follower_amount_per_trade: f64,
    pub(crate) auto_approve_copy_followers: bool,
}

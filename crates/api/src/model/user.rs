//! The profile of the authenticated user (contract 2.6).

use super::fields::{Fields, Record, Unreadable};
use candlewick_sdk::Millis;
use rust_decimal::Decimal;
use serde_json::Value;

/// A user. Only the identifier is needed for trading; the rest is as the venue says it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct User {
    /// User identifier.
    pub(crate) id: String,
    /// Tenant identifier.
    pub(crate) tenant_id: Option<String>,
    /// Level of identity check.
    pub(crate) kyc_level_id: Option<String>,
    /// Second factor.
    pub(crate) two_factor_id: Option<String>,
    /// E-mail address.
    pub(crate) email: Option<String>,
    /// Affiliate identifier.
    pub(crate) affiliate_id: Option<String>,
    /// Full name.
    pub(crate) name: Option<String>,
    /// Public name.
    pub(crate) nickname: Option<String>,
    /// Whether the account is an influencer's.
    pub(crate) influencer: Option<bool>,
    /// Whether the account is a bot's.
    pub(crate) bot: Option<bool>,
    /// Whether others see the profile.
    pub(crate) public_profile: Option<bool>,
    /// Whether the password has the newer form.
    pub(crate) password_v2: Option<bool>,
    /// Two-letter country code.
    pub(crate) country: Option<String>,
    /// Language code.
    pub(crate) language: Option<String>,
    /// Whether the account may be used.
    pub(crate) active: Option<bool>,
    /// Whether it was barred.
    pub(crate) banned: Option<bool>,
    /// Whether it was deleted.
    pub(crate) deleted: Option<bool>,
    /// Whether the e-mail address was confirmed.
    pub(crate) email_verified: Option<bool>,
    /// Whether the account comes from an older system.
    pub(crate) legacy: Option<bool>,
    /// Digits of the telephone country code.
    pub(crate) phone_country_code: Option<String>,
    /// Digits of the telephone number.
    pub(crate) phone: Option<String>,
    /// Limits of the account.
    pub(crate) params: Option<UserParams>,
    /// What copying the account costs and allows.
    pub(crate) copy_trade_params: Option<CopyTradeParams>,
    /// When the user last came.
    pub(crate) last_login_at: Option<Millis>,
    /// Elements of a shape that is not given.
    pub(crate) flags: Vec<Value>,
    /// When the record was made.
    pub(crate) created_at: Option<Millis>,
    /// When the record was last changed.
    pub(crate) updated_at: Option<Millis>,
}

/// Limits of an account.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UserParams {
    /// Largest withdrawal.
    pub(crate) max_withdrawal_amount: Option<Decimal>,
    /// Whether the tenant's limits are set aside.
    pub(crate) ignore_tenant_user_limitation: Option<bool>,
}

/// What copying an account costs and allows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CopyTradeParams {
    /// Rate of the commission.
    pub(crate) copy_commission_rate: Option<Decimal>,
    /// Largest stake of a follower.
    pub(crate) max_follower_amount_per_trade: Option<Decimal>,
    /// Whether followers need no approval.
    pub(crate) auto_approve_copy_followers: Option<bool>,
}

impl Record for User {
    const NAME: &'static str = "User";

    fn read(fields: &mut Fields<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            id: fields.required("id")?,
            tenant_id: fields.optional("tenantId"),
            kyc_level_id: fields.optional("kycLevelId"),
            two_factor_id: fields.optional("twoFactorId"),
            email: fields.optional("email"),
            affiliate_id: fields.optional("affiliateId"),
            name: fields.optional("name"),
            nickname: fields.optional("nickname"),
            influencer: fields.optional("influencer"),
            bot: fields.optional("bot"),
            public_profile: fields.optional("publicProfile"),
            password_v2: fields.optional("passwordV2"),
            country: fields.optional("country"),
            language: fields.optional("language"),
            active: fields.optional("active"),
            banned: fields.optional("banned"),
            deleted: fields.optional("deleted"),
            email_verified: fields.optional("emailVerified"),
            legacy: fields.optional("legacy"),
            phone_country_code: fields.optional("phoneCountryCode"),
            phone: fields.optional("phone"),
            params: fields.nested("params"),
            copy_trade_params: fields.nested("copyTradeParams"),
            last_login_at: fields.optional("lastLoginAt"),
            flags: match fields.raw("flags") {
                Some(Value::Array(flags)) => flags,
                _ => Vec::new(),
            },
            created_at: fields.optional("createdAt"),
            updated_at: fields.optional("updatedAt"),
        })
    }
}

impl Record for UserParams {
    const NAME: &'static str = "User.params";

    fn read(fields: &mut Fields<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            max_withdrawal_amount: fields.optional("maxWithdrawalAmount"),
            ignore_tenant_user_limitation: fields.optional("ignoreTenantUserLimitation"),
        })
    }
}

impl Record for CopyTradeParams {
    const NAME: &'static str = "User.copyTradeParams";

    fn read(fields: &mut Fields<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            copy_commission_rate: fields.optional("copyCommissionRate"),
            max_follower_amount_per_trade: fields.optional("maxFollowerAmountPerTrade"),
            auto_approve_copy_followers: fields.optional("autoApproveCopyFollowers"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::read_record;
    use candlewick_broker::UnrecognisedData;
    use serde_json::json;

    #[test]
    fn a_user_is_read_by_the_contracts_names() {
        let json = json!({
            "id": "01JUSER", "tenantId": "01JTENANT", "kycLevelId": "01JKYC", "twoFactorId": "01JTWO",
            "email": "someone@example.com", "affiliateId": "01JAFF", "name": "Some One", "nickname": "one",
            "influencer": false, "bot": false, "publicProfile": true, "passwordV2": true, "country": "BR",
            "language": "pt", "active": true, "banned": false, "deleted": false, "emailVerified": true,
            "legacy": false, "phoneCountryCode": "55", "phone": "11999999999",
            "params": {"maxWithdrawalAmount": 1000, "ignoreTenantUserLimitation": false},
            "copyTradeParams": {
                "copyCommissionRate": 0.1, "maxFollowerAmountPerTrade": 50, "autoApproveCopyFollowers": true,
            },
            "lastLoginAt": "2026-11-20T11:00:00.000Z", "flags": ["vip"],
            "createdAt": "2025-01-02T03:04:05.006Z", "updatedAt": "2026-11-20T11:00:01.000Z",
        });
        let drift = UnrecognisedData::new();
        let user: User = read_record(json, &drift).unwrap();
        let text = |text: &str| Some(text.to_owned());
        let expected = User {
            id: "01JUSER".into(),
            tenant_id: text("01JTENANT"),
            kyc_level_id: text("01JKYC"),
            two_factor_id: text("01JTWO"),
            email: text("someone@example.com"),
            affiliate_id: text("01JAFF"),
            name: text("Some One"),
            nickname: text("one"),
            influencer: Some(false),
            bot: Some(false),
            public_profile: Some(true),
            password_v2: Some(true),
            country: text("BR"),
            language: text("pt"),
            active: Some(true),
            banned: Some(false),
            deleted: Some(false),
            email_verified: Some(true),
            legacy: Some(false),
            phone_country_code: text("55"),
            phone: text("11999999999"),
            params: Some(UserParams {
                max_withdrawal_amount: Some(Decimal::from(1_000)),
                ignore_tenant_user_limitation: Some(false),
            }),
            copy_trade_params: Some(CopyTradeParams {
                copy_commission_rate: Some(Decimal::new(1, 1)),
                max_follower_amount_per_trade: Some(Decimal::from(50)),
                auto_approve_copy_followers: Some(true),
            }),
            last_login_at: Some(Millis::new(1_795_172_400_000)),
            flags: vec![json!("vip")],
            created_at: Some(Millis::new(1_735_787_045_006)),
            updated_at: Some(Millis::new(1_795_172_401_000)),
        };
        assert_eq!(user, expected);
        assert!(drift.snapshot().is_empty(), "{:?}", drift.snapshot());
    }

    #[test]
    fn a_user_needs_an_identifier_and_nothing_else() {
        let drift = UnrecognisedData::new();
        let user: User =
            read_record(json!({"id": "01JUSER", "twoFactorId": null, "tier": 3}), &drift).unwrap();
        assert_eq!(user, User { id: "01JUSER".into(), ..User::default() });
        assert_eq!(drift.snapshot().into_keys().collect::<Vec<_>>(), ["User.tier"]);
        assert!(read_record::<User>(json!({"email": "someone@example.com"}), &drift).is_err());
    }
}

//! Profile of the authenticated user (contract 2.6).

use super::fields::{Fields, Record, Unreadable};
use candlewick_sdk::Millis;
use rust_decimal::Decimal;
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct User {
    pub(crate) id: String,
    pub(crate) tenant_id: Option<String>,
    pub(crate) kyc_level_id: Option<String>,
    pub(crate) two_factor_id: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) affiliate_id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) nickname: Option<String>,
    pub(crate) influencer: Option<bool>,
    pub(crate) bot: Option<bool>,
    pub(crate) public_profile: Option<bool>,
    pub(crate) password_v2: Option<bool>,
    pub(crate) country: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) active: Option<bool>,
    pub(crate) banned: Option<bool>,
    pub(crate) deleted: Option<bool>,
    pub(crate) email_verified: Option<bool>,
    pub(crate) legacy: Option<bool>,
    pub(crate) phone_country_code: Option<String>,
    pub(crate) phone: Option<String>,
    pub(crate) params: Option<UserParams>,
    pub(crate) copy_trade_params: Option<CopyTradeParams>,
    pub(crate) last_login_at: Option<Millis>,
    /// Elements of undocumented shape.
    pub(crate) flags: Vec<Value>,
    pub(crate) created_at: Option<Millis>,
    pub(crate) updated_at: Option<Millis>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UserParams {
    pub(crate) max_withdrawal_amount: Option<Decimal>,
    pub(crate) ignore_tenant_user_limitation: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CopyTradeParams {
    pub(crate) copy_commission_rate: Option<Decimal>,
    pub(crate) max_follower_amount_per_trade: Option<Decimal>,
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

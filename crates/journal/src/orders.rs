//! Orders of operators, sent to a running bot through the database of its journal.
//! Orders survive a restart of the bot. An answer is committed together with the effects of its order.

use crate::database::JournalUrl;
use crate::database::connection::{ANSWER_TIMEOUT, Connection, Purpose, with_timeout};
use crate::database::fault::WithUrl;
use crate::database::schema::{self, FoundSchema, OPERATOR_ORDERS_MIN_SCHEMA};
use crate::error::{Result, unavailable_error};
use crate::{JournalError, lease};
use serde::{Deserialize, Serialize};
use sqlx::{AnyConnection, Row};
use std::collections::BTreeMap;
use std::fmt;

const MAX_ORDERS_PER_READ: i64 = 32;

/// Idempotency key of an operator's order. If an order arrives several times, it is executed only once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OrderToken(String);

impl OrderToken {
    pub fn random() -> Result<Self> {
        random_hex(&"the system's random number generator").map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns 128 random bits as hexadecimal digits. On failure, the error says that `subject` is unavailable.
pub(crate) fn random_hex(subject: &impl fmt::Display) -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| unavailable_error(subject, error))?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

impl fmt::Display for OrderToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorOrder {
    pub token: OrderToken,
    pub issuer: String,
    pub body: String,
}

pub async fn submit_operator_order(url: &JournalUrl, order: &OperatorOrder) -> Result<()> {
    const INSERT: &str = "INSERT INTO orders (id, token, given, giver, body) \
                          SELECT COALESCE(MAX(id), 0) + 1, $1, $2, $3, $4 FROM orders";
    with_timeout(ANSWER_TIMEOUT, url, async {
        let mut connection = open(url).await?;
        let is_server = connection.is_server();
        let mut transaction = connection.begin().await?;
        if is_server {
            // This lock serializes concurrent orders.
            let wait = sqlx::raw_sql("SELECT 1 FROM pg_advisory_xact_lock(4891157266)");
            wait.execute(&mut *transaction).await.with_url(url)?;
        }
        let now = lease::database_time(&mut transaction, url).await?;
        let query = sqlx::query(INSERT).bind(order.token.as_str()).bind(now.get());
        let query = query.bind(order.issuer.as_str()).bind(order.body.as_str());
        query.execute(&mut *transaction).await.with_url(url)?;
        transaction.commit().await.with_url(url)?;
        connection.close().await;
        Ok(())
    })
    .await
}

pub async fn close_operator_orders(
    url: &JournalUrl,
    order: Option<&OrderToken>,
    answer: &str,
) -> Result<u64> {
    const CLOSE: &str = "UPDATE orders SET answer = $1, answered = $2 \
                         WHERE answered IS NULL AND (token = $3 OR $3 = '')";
    with_timeout(ANSWER_TIMEOUT, url, async {
        let mut connection = open(url).await?;
        let mut transaction = connection.begin().await?;
        let now = lease::database_time(&mut transaction, url).await?;
        let query = sqlx::query(CLOSE).bind(answer).bind(now.get());
        let query = query.bind(order.map_or("", OrderToken::as_str));
        let closed = query.execute(&mut *transaction).await.with_url(url)?;
        transaction.commit().await.with_url(url)?;
        connection.close().await;
        Ok(closed.rows_affected())
    })
    .await
}

/// Opens a journal for adding orders. Does not migrate the schema, because an older program may be using the journal.
async fn open(url: &JournalUrl) -> Result<Connection> {
    if url.file().is_some_and(|file| !file.exists()) {
        return Err(JournalError::NotFound { url: url.to_string() });
    }
    let mut connection = Connection::open(url, Purpose::Write).await?;
    match schema::inspect(&mut connection).await? {
        FoundSchema::Nothing => return Err(JournalError::NotFound { url: url.to_string() }),
        FoundSchema::Schema(schema) if schema < OPERATOR_ORDERS_MIN_SCHEMA => {
            return Err(JournalError::OlderSchema { url: url.to_string() });
        }
        FoundSchema::Schema(_) => {}
    }
    connection.make_durable().await?;
    Ok(connection)
}

pub(crate) async fn read_pending(any: &mut AnyConnection, url: &JournalUrl) -> Result<Vec<OperatorOrder>> {
    let text = "SELECT token, giver, body FROM orders WHERE answered IS NULL ORDER BY id LIMIT $1";
    let rows = sqlx::query(text).bind(MAX_ORDERS_PER_READ).fetch_all(any).await.with_url(url)?;
    let order = |row: &sqlx::any::AnyRow| {
        Ok::<_, sqlx::Error>(OperatorOrder {
            token: OrderToken(row.try_get("token")?),
            issuer: row.try_get("giver")?,
            body: row.try_get("body")?,
        })
    };
    rows.iter().map(|row| order(row).with_url(url)).collect()
}

pub(crate) async fn read_answer(
    any: &mut AnyConnection,
    url: &JournalUrl,
    order: &OrderToken,
) -> Result<Option<String>> {
    let text = "SELECT answer FROM orders WHERE token = $1 AND answered IS NOT NULL";
    let row = sqlx::query(text).bind(order.as_str()).fetch_optional(any).await.with_url(url)?;
    row.map(|row| row.try_get("answer").with_url(url)).transpose()
}

pub(crate) async fn store_answers(
    any: &mut AnyConnection,
    url: &JournalUrl,
    answers: &BTreeMap<OrderToken, String>,
) -> Result<()> {
    let text = "UPDATE orders SET answer = $1, answered = $2 WHERE token = $3 AND answered IS NULL";
    for (order, answer) in answers {
        let now = lease::database_time(any, url).await?;
        let query = sqlx::query(text).bind(answer.as_str()).bind(now.get()).bind(order.as_str());
        query.execute(&mut *any).await.with_url(url)?;
    }
    Ok(())
}

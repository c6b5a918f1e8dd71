//! Endpoints that change state: sign-in, halt and resume. No endpoint opens a trade.

use super::Server;
use super::data::{ApiResult, AppState, Failure};
use crate::view::{Ordered, Problem, Reason, SignIn, SignedIn};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Response};
use candlewick_app::AppError;
use candlewick_app::control::{HaltOutcome, ResumeOutcome, describe, halt as halt_bot, resume as resume_bot};
use std::sync::Arc;

/// Exchanges the one-time token of the sign-in link for a cookie.
#[utoipa::path(
    post, path = "/api/session", request_body = SignIn,
    responses(
        (status = 200, description = "The cookie is set", body = SignedIn),
        (status = 401, description = "The token is invalid or was already used", body = Problem),
    )
)]
pub(crate) async fn sign_in(State(serving): AppState, Json(asked): Json<SignIn>) -> Response {
    match serving.sign_ins.exchange_token(&asked.token) {
        Ok(Some(cookie)) => ([(SET_COOKIE, cookie)], Json(SignedIn { signed_in: true })).into_response(),
        Ok(None) => {
            let problem = "used or outdated link: open the newest link in the dashboard's terminal";
            Failure::new(StatusCode::UNAUTHORIZED, problem).into_response()
        }
        Err(error) => Failure::internal(&error).into_response(),
    }
}

/// Halts the bot like `candlewick halt`. A halted bot opens no trades until it is resumed.
#[utoipa::path(
    post, path = "/api/halt", request_body = Reason,
    responses(
        (status = 200, description = "The bot is halted", body = Ordered),
        (status = 403, description = "The dashboard is read-only", body = Problem),
        (status = 502, description = "The bot rejected or did not confirm the command", body = Problem),
    )
)]
pub(crate) async fn halt(State(serving): AppState, Json(asked): Json<Reason>) -> ApiResult<Ordered> {
    run_to_completion(&serving, carry_out_halt(Arc::clone(&serving), asked.reason)).await
}

async fn carry_out_halt(serving: Arc<Server>, reason: String) -> ApiResult<Ordered> {
    let _one = serving.ordering.lock().await;
    let watched = &serving.shared.watched;
    let reason = if reason.trim().is_empty() { "ordered on the page" } else { reason.trim() };
    let halted = halt_bot(&watched.paths, &watched.journal, reason).await;
    serving.shared.poll_now.notify_one();
    let text = match halted.map_err(|error| to_failure(&error))? {
        HaltOutcome::ByOrder(state) => describe(&state),
        HaltOutcome::ByFile(_) => "No bot is running. The next bot on this journal starts halted.".to_owned(),
        HaltOutcome::ByJournal { .. } => {
            "No bot is running. The HALT file was not created, but the next bot starts halted.".to_owned()
        }
        HaltOutcome::Unconfirmed { error, .. } => {
            let text = format!(
                "{}; the HALT file was created, so a running bot halts within a second",
                join_lines(&error)
            );
            return Err(Failure::new(StatusCode::BAD_GATEWAY, text));
        }
    };
    Ok(Json(Ordered { text }))
}

/// Lets the bot open trades again, like `candlewick resume`.
#[utoipa::path(
    post, path = "/api/resume",
    responses(
        (status = 200, description = "The bot may open trades again", body = Ordered),
        (status = 403, description = "The dashboard is read-only", body = Problem),
        (status = 502, description = "The bot rejected or did not confirm the command", body = Problem),
    )
)]
pub(crate) async fn resume(State(serving): AppState) -> ApiResult<Ordered> {
    run_to_completion(&serving, carry_out_resume(Arc::clone(&serving))).await
}

async fn carry_out_resume(serving: Arc<Server>) -> ApiResult<Ordered> {
    let _one = serving.ordering.lock().await;
    let watched = &serving.shared.watched;
    let resumed = resume_bot(&watched.paths, &watched.journal).await;
    serving.shared.poll_now.notify_one();
    let text = match resumed.map_err(|error| to_failure(&error))? {
        ResumeOutcome::ByOrder { state, .. } => describe(&state),
        ResumeOutcome::TakenBack { .. } => "No bot is running. Pending halts were withdrawn.".to_owned(),
        ResumeOutcome::NothingToResume => "No bot is running, and no halt command is pending.".to_owned(),
    };
    Ok(Json(Ordered { text }))
}

/// Executes a command to completion, even if the browser disconnects.
async fn run_to_completion(
    serving: &Server,
    order: impl Future<Output = ApiResult<Ordered>> + Send + 'static,
) -> ApiResult<Ordered> {
    if serving.shared.read_only {
        let problem = "this dashboard is read-only: restart it without --read-only to send commands";
        return Err(Failure::new(StatusCode::FORBIDDEN, problem));
    }
    tokio::spawn(order).await.unwrap_or_else(|error| Err(Failure::internal(&error)))
}

fn join_lines(error: &AppError) -> String {
    error.text().replace('\n', "; ")
}

fn to_failure(error: &AppError) -> Failure {
    Failure::new(StatusCode::BAD_GATEWAY, join_lines(error))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::server::tests::{settings, watched};
    use futures_util::FutureExt;
    use std::time::Duration;
    use tokio::net::UnixListener;
    use tokio::time::timeout;

    const MAX_WAIT: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn completes_halt_after_the_page_was_closed() {
        let folder = tempfile::tempdir().unwrap();
        let watched = watched(folder.path());
        let bot = UnixListener::bind(&watched.paths.socket).unwrap();
        let file = watched.paths.halt_file.path().to_owned();
        let settings = settings("127.0.0.1:7070".parse().unwrap(), false);
        let serving = Arc::new(Server::new(settings.listen, &settings, watched).unwrap().0);
        let another = serving.ordering.lock().await;
        let asked = Json(Reason { reason: "enough".to_owned() });
        assert!(halt(State(Arc::clone(&serving)), asked).now_or_never().is_none(), "an order is in progress");
        drop(another);
        let (reached, _) = timeout(MAX_WAIT, bot.accept()).await.expect("the bot is asked").unwrap();
        // The bot stops without an answer, so the HALT file must ensure that its next start is halted.
        drop((reached, bot));
        let looking = async {
            while !file.exists() {
                tokio::task::yield_now().await;
            }
        };
        timeout(MAX_WAIT, looking).await.expect("the HALT file exists");
        drop(serving.ordering.lock().await);
    }
}

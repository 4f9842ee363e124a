use std::sync::Arc;

use futures_util::{FutureExt as _, future::BoxFuture};
use maud::html;
use tokio::sync::{mpsc, oneshot};

use crate::pages::{Fields, Page, PageReply, Site, Visit};

/// The address to which the browser returns after a sign-in. Requests without the right `state` are ignored.
pub(super) struct SignInCallback {
    state: String,
    server: String,
    answers: mpsc::Sender<Return>,
}

/// A browser that returned.
pub(super) struct Return {
    /// The fields that it brought.
    pub(super) fields: Fields,
    /// Shows the outcome to the person there: what went wrong, if anything.
    pub(super) done: oneshot::Sender<Option<String>>,
}

impl SignInCallback {
    pub(super) fn new(state: String, server: String) -> (Self, mpsc::Receiver<Return>) {
        let (answers, returns) = mpsc::channel(1);
        (Self { state, server, answers }, returns)
    }
}

/// Whether the fields belong to the sign-in with this `state`.
pub(super) fn belongs(fields: &Fields, state: &str) -> bool {
    fields.one("state").is_some_and(|brought| crate::pages::is_same(brought, state))
}

impl Site for SignInCallback {
    fn answer(self: Arc<Self>, visit: Visit) -> BoxFuture<'static, PageReply> {
        async move {
            if visit.form.is_some() || !belongs(&visit.query, &self.state) {
                let body = html! { p { "This does not belong to the current sign-in." } };
                return PageReply::Page(Page::refusal("Not expected", body));
            }
            let (done, end) = oneshot::channel();
            if self.answers.try_send(Return { fields: visit.query, done }).is_err() {
                let body = html! { p { "You can close this page." } };
                return PageReply::Page(Page::refusal("This sign-in is over", body));
            }
            PageReply::Page(match end.await {
                Ok(None) => {
                    Page::new(format!("Signed in to {}", self.server), html! { p { "You can close this page." } })
                }
                Ok(Some(reason)) => Page::refusal(
                    format!("Not signed in to {}", self.server),
                    html! { p { (reason) } p { "See the terminal for details." } },
                ),
                Err(_) => Page::refusal("This sign-in is over", html! { p { "See the terminal for details." } }),
            })
        }
        .boxed()
    }
}

use std::{
    collections::HashMap,
    io,
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::Duration,
};

use futures_util::{FutureExt as _, future::BoxFuture};
use maud::html;
use tokio::{sync::watch, time::timeout};

use crate::pages::{self, Address, PageReply, Pages, Site, Visit, unguessable};

/// A web page on this machine with an *Approve* button. It is served until the process ends.
#[derive(Debug)]
pub(super) struct ApprovalPage {
    /// Unguessable.
    pub(super) id: String,
    /// The address.
    pub(super) url: String,
    approval: Arc<Approval>,
    _pages: Pages,
}

#[derive(Debug, Default)]
struct Approval(watch::Sender<bool>);

static PAGES: LazyLock<Mutex<HashMap<String, Arc<ApprovalPage>>>> = LazyLock::new(Mutex::default);

/// The page with this id, if this process serves it.
pub(super) fn find(id: &str) -> Option<Arc<ApprovalPage>> {
    PAGES.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
}

/// Serves a new page.
pub(super) async fn open() -> io::Result<Arc<ApprovalPage>> {
    let approval = Arc::<Approval>::default();
    let site: Arc<dyn Site> = approval.clone();
    let pages = Pages::serve(Address::Secret, site).await?;
    let id = unguessable()?;
    let page = Arc::new(ApprovalPage { id: id.clone(), url: pages.url().to_owned(), approval, _pages: pages });
    PAGES.lock().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::clone(&page));
    Ok(page)
}

impl ApprovalPage {
    /// Waits until somebody approves.
    pub(super) async fn approved(&self) {
        // The sender lives as long as the page.
        drop(self.approval.0.subscribe().wait_for(|approved| *approved).await);
    }

    /// Whether somebody approves within `time`.
    pub(super) async fn approved_within(&self, time: Duration) -> bool {
        timeout(time, self.approved()).await.is_ok()
    }
}

impl Site for Approval {
    fn answer(self: Arc<Self>, visit: Visit) -> BoxFuture<'static, PageReply> {
        async move {
            if !visit.path.is_empty() {
                return PageReply::NotFound;
            }
            if visit.form.is_some() {
                self.0.send_replace(true);
                let body = html! { p { "You can close this page." } };
                return PageReply::Page(pages::Page::new("Approved", body));
            }
            let body = html! {
                p { "The tool waits until you approve it on this page." }
                form method="post" { (visit.token()) button .agrees { "Approve" } }
            };
            PageReply::Page(pages::Page::new("Connect the demo server?", body))
        }
        .boxed()
    }
}

//! Replaces the pages in a build without the feature `http`.

use std::{io, time::Duration};

/// A web page: there is none.
pub(super) struct ApprovalPage {
    pub(super) id: String,
    pub(super) url: String,
    never: std::convert::Infallible,
}

pub(super) fn find(_id: &str) -> Option<ApprovalPage> {
    None
}

#[expect(clippy::unused_async, reason = "with the feature `http` it awaits")]
pub(super) async fn open() -> io::Result<ApprovalPage> {
    Err(io::Error::other("this build cannot serve pages; a build with the feature `http` can"))
}

impl ApprovalPage {
    #[expect(clippy::unused_async, reason = "with the feature `http` it awaits")]
    pub(super) async fn approved(&self) {
        match self.never {}
    }

    #[expect(clippy::unused_async, reason = "with the feature `http` it awaits")]
    pub(super) async fn approved_within(&self, _time: Duration) -> bool {
        match self.never {}
    }
}

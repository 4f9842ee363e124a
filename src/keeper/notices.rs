use std::sync::{Arc, Weak, atomic::Ordering};

use super::{command_link::CommandLink, latest::Latest, party::Party, process::Keeper};
use crate::{
    client::{ClientError, ClientOptions, Notice, NoticeKind, NoticeSink, SignInOptions},
    elicitation::Resolver,
    host::HostOptions,
    transport::Trace,
};

impl Keeper {
    /// The client's options.
    pub(super) fn options(self: &Arc<Self>) -> Result<ClientOptions, ClientError> {
        let keeper = Arc::downgrade(self);
        let notices: NoticeSink = Arc::new(move |notice| {
            if let Some(keeper) = keeper.upgrade() {
                keeper.spread(&notice);
            }
        });
        let (keeper, traced) = (Arc::downgrade(self), Arc::downgrade(self));
        let trace = Trace::passing_on(move |line| {
            let Some(keeper) = Weak::upgrade(&keeper) else { return };
            keeper.links().iter().filter(|link| link.traces).for_each(|link| link.traced(line));
        })
        .while_read(move || traced.upgrade().is_some_and(|keeper| keeper.links().iter().any(|link| link.traces)));
        let resolver: Arc<dyn Resolver> = Arc::new(Latest::new(Arc::downgrade(self)));
        let options = HostOptions {
            sign_in: SignInOptions { person: Some(Arc::clone(&resolver)), ..SignInOptions::default() },
            sign_ins: self.setup.sign_ins.clone(),
            resolver: Some(resolver).filter(|_| self.setup.asks),
            notices,
            roots: self.setup.roots.clone(),
            protocol: self.setup.protocol,
            cache: self.setup.cache.clone(),
            trace: Some(trace),
            ..HostOptions::default()
        };
        options.for_server(&self.setup.server.as_str().into(), &self.setup.config).map_err(ClientError::Connect)
    }

    /// A notice that belongs to no call: it goes to the commands that are being served, and what they do not show goes
    /// to the log.
    fn spread(&self, notice: &Notice) {
        if matches!(&notice.kind, NoticeKind::Changed { method, .. } if method == "notifications/tools/list_changed") {
            self.changes.fetch_add(1, Ordering::Relaxed);
            self.listed().take();
        }
        let links = self.links();
        let mut heard = links.iter().filter(|link| link.is_served()).peekable();
        if heard.peek().is_none() || matches!(notice.kind, NoticeKind::Stderr(_)) {
            self.log_notice(notice);
        }
        heard.for_each(|link| link.notice(notice.clone()));
    }

    /// Where the notices of a call go: to its command.
    pub(super) fn notices_of(self: &Arc<Self>, party: Party) -> NoticeSink {
        let keeper = Arc::downgrade(self);
        Arc::new(move |notice| match (party.owner(), Weak::upgrade(&keeper)) {
            (Some(owner), _) => owner.link.notice(notice),
            (None, Some(keeper)) => keeper.log_notice(&notice),
            (None, None) => {}
        })
    }

    /// The command that was served last, among those that are being served; for a sign-in, only those with a person.
    pub(super) fn latest(&self, for_sign_in: bool) -> Option<Arc<CommandLink>> {
        let is_one = |link: &&Arc<CommandLink>| link.is_served() && (link.signs_in || !for_sign_in);
        self.links().iter().rev().find(is_one).cloned()
    }
}

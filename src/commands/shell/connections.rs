//! What the lines of a shell share: the connections, and where their questions and notices go.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::commands::{
    options::ServerArgs,
    server::{
        command_host::{Ear, HeardNotices},
        questions::Questions,
    },
};
use crate::{
    client::{Notice, NoticeKind, NoticeSink},
    config::Config,
    elicitation::{Outcome, Question, Resolver, Waited},
    error::Unanswered,
    host::Host,
    output::Printer,
};

/// The connections of a shell.
pub(crate) struct ShellConnections {
    pub(crate) host: Arc<Host>,
    pub(crate) way: Arc<ShellWay>,
    pub(crate) heard: Arc<Mutex<HeardNotices>>,
    /// Who answers, unless a line has its own options.
    pub(crate) questions: Questions,
    /// How long calls may be silent, unless a line says so.
    pub(crate) timeout: Option<Duration>,
}

impl fmt::Debug for ShellConnections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared")
    }
}

impl ShellConnections {
    /// Whether a line with these options can use the existing connections.
    pub(crate) fn fits(&self, config: &Config, args: &ServerArgs, questions: &Questions) -> bool {
        let keeps = args.keep.is_some() || args.no_keep;
        !keeps && args.is_plain() && questions.fits() && config.servers == self.host.config().servers
    }
}

/// Who gets questions and notices.
#[derive(Clone)]
pub(crate) struct ShellListener {
    pub(crate) resolver: Option<Arc<dyn Resolver>>,
    pub(crate) printer: Arc<Printer>,
    pub(crate) ear: Ear,
}

/// Where the questions and notices of servers go: to the line that is running, or else to the shell itself.
pub(crate) struct ShellWay {
    own: ShellListener,
    line: Mutex<Option<ShellListener>>,
}

impl ShellWay {
    pub(crate) fn new(own: ShellListener) -> Self {
        Self { own, line: Mutex::new(None) }
    }

    /// Sends them to `listener` while the returned guard is alive.
    pub(crate) fn lend(self: &Arc<Self>, listener: ShellListener) -> Lent {
        *self.line.lock().unwrap_or_else(PoisonError::into_inner) = Some(listener);
        Lent(Arc::clone(self))
    }

    fn listener(&self) -> ShellListener {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_else(|| self.own.clone())
    }

    /// The sink for notices.
    pub(crate) fn sink(self: Arc<Self>, heard: Arc<Mutex<HeardNotices>>) -> NoticeSink {
        Arc::new(move |notice: Notice| {
            if let NoticeKind::Unanswered { question, why } = &notice.kind {
                let entry = Unanswered { question: Some(Arc::clone(question)), why: why.clone() };
                heard.lock().unwrap_or_else(PoisonError::into_inner).unanswered.push(entry);
            }
            let listener = self.listener();
            if !(listener.ear)(&notice) {
                // If stdout is gone, that is reported when the result cannot be written.
                drop(listener.printer.notice(&notice));
            }
        })
    }
}

impl Resolver for ShellWay {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        match self.listener().resolver {
            Some(resolver) => resolver.claim(question, stop),
            None => Box::pin(std::future::ready(Outcome::Pass)),
        }
    }

    fn remark(&self, question: &Question) -> Option<String> {
        self.listener().resolver?.remark(question)
    }

    fn wait(&self, link: Arc<Question>, done: CancellationToken, limit: Duration) -> BoxFuture<'static, Waited> {
        match self.listener().resolver {
            Some(resolver) => resolver.wait(link, done, limit),
            None => Box::pin(std::future::ready(Waited::TimedOut)),
        }
    }
}

/// A line gets questions and notices while this is alive.
pub(crate) struct Lent(Arc<ShellWay>);

impl Drop for Lent {
    fn drop(&mut self) {
        *self.0.line.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

use std::{sync::Arc, time::Duration};

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{
    ReadHalf,
    attachment::{AttachmentState, OperationEvent},
    frame::{self, KeeperFrame},
    message::{ToCommand, ToKeeper},
    outbox::FrameBody,
};
use crate::{
    client::{ClientError, ServerInfo},
    elicitation::{Answer, Cause, Outcome, Question, Resolver},
};

/// How long a keeper may be silent before it gets a ping, and how long it then may take to answer.
const QUIET: Duration = Duration::from_secs(5);
const PONG: Duration = Duration::from_secs(15);

impl AttachmentState {
    /// Handles the keeper's messages, until it is gone or the command no longer needs it.
    pub(super) async fn listen(
        self: Arc<Self>,
        mut reader: ReadHalf,
        ready: oneshot::Sender<Result<ServerInfo, ClientError>>,
    ) {
        let mut ready = Some(ready);
        let (frames, mut arrived) = mpsc::channel(16);
        // Reading is not cancel-safe, so it has its own task.
        let reading = tokio::spawn(async move {
            while let Ok(Some(frame)) = frame::read::<ToCommand>(&mut reader).await {
                if frames.send(frame).await.is_err() {
                    return;
                }
            }
        });
        let mut patience = QUIET;
        loop {
            tokio::select! {
                biased;
                () = self.over.cancelled() => break,
                frame = arrived.recv() => match frame {
                    Some(frame) => self.take(frame, &mut ready),
                    None => break,
                },
                () = tokio::time::sleep(patience) => {
                    if patience == PONG {
                        break;
                    }
                    self.outbox.send(&ToKeeper::Ping, FrameBody::Empty);
                    patience = PONG;
                    continue;
                }
            }
            patience = QUIET;
        }
        reading.abort();
        self.operations().take();
        for (_, stop) in self.questions().drain() {
            stop.cancel();
        }
    }

    fn take(
        self: &Arc<Self>,
        frame: KeeperFrame<ToCommand>,
        ready: &mut Option<oneshot::Sender<Result<ServerInfo, ClientError>>>,
    ) {
        let tell = |id: u64, event: OperationEvent, is_end: bool| {
            let mut operations = self.operations();
            let Some(operations) = operations.as_mut() else { return };
            let sender = if is_end { operations.remove(&id) } else { operations.get(&id).cloned() };
            if let Some(sender) = sender {
                drop(sender.send(event));
            }
        };
        match frame.head {
            ToCommand::Ready(info) => drop(ready.take().map(|ready| ready.send(Ok(*info)))),
            ToCommand::Failed(error) => drop(ready.take().map(|ready| ready.send(Err(error)))),
            ToCommand::Ended { id, end } => tell(id, OperationEvent::End(end, frame.body), true),
            ToCommand::Progress { id, at } => tell(id, OperationEvent::Progress(at), false),
            ToCommand::Became { id, pending } => tell(id, OperationEvent::Became(pending), false),
            ToCommand::MaySend { id, pending } => tell(id, OperationEvent::MaySend(pending), false),
            ToCommand::Notice(mut notice) => {
                notice.server = self.options.server.clone();
                (self.options.notices)(notice);
            }
            ToCommand::Traced => self.options.trace.iter().for_each(|trace| trace.line(&frame.body)),
            ToCommand::Ask { question, asked } => self.ask(question, asked),
            ToCommand::Wait { question, link, limit } => self.wait(question, link, limit),
            ToCommand::Over { question } => {
                if let Some(stop) = self.questions().get(&question) {
                    stop.cancel();
                }
            }
            ToCommand::Hello { .. } | ToCommand::Pong | ToCommand::Standing(_) => {}
        }
    }

    /// Who answers: the options' resolver for the server's questions, but not for a sign-in.
    fn resolver_of(&self, question: &Question) -> Option<&Arc<dyn Resolver>> {
        let is_sign_in = question.origin.cause == Cause::SignIn;
        if is_sign_in { self.options.person.as_ref() } else { self.options.resolver.as_ref() }
    }

    fn ask(self: &Arc<Self>, question: u64, mut asked: Arc<Question>) {
        // The person and the answers file know the server by this command's name for it.
        Arc::make_mut(&mut asked).origin.server = self.options.server.clone();
        let stop = CancellationToken::new();
        self.questions().insert(question, stop.clone());
        let Some(resolver) = self.resolver_of(&asked) else {
            let outcome = Outcome::Answered(Answer::cancel(&asked.request.id));
            return self.outbox.send(&ToKeeper::Outcome { question, outcome }, FrameBody::Empty);
        };
        let outcome = resolver.claim(asked, stop);
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            let outcome = outcome.await;
            shared.questions().remove(&question);
            shared.outbox.send(&ToKeeper::Outcome { question, outcome }, FrameBody::Empty);
        });
    }

    fn wait(self: &Arc<Self>, question: u64, mut link: Arc<Question>, limit: Duration) {
        Arc::make_mut(&mut link).origin.server = self.options.server.clone();
        let Some(resolver) = self.resolver_of(&link) else { return };
        let done = CancellationToken::new();
        self.questions().insert(question, done.clone());
        let waited = resolver.wait(link, done, limit);
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            let waited = waited.await;
            shared.questions().remove(&question);
            shared.outbox.send(&ToKeeper::Waited { question, waited }, FrameBody::Empty);
        });
    }
}

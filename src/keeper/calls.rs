use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use futures_util::{FutureExt as _, future::BoxFuture};
use ring::rand::SecureRandom as _;
use serde_json::Value;
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    command_link::CommandLink,
    message::{End, Operation, OperationTimes, ToCommand},
    outbox::FrameBody,
    party::{Aside, OperationOwner, Party, pending},
    process::Keeper,
};
use crate::client::{CallEnd, Caller, Client, ClientError, ProgressSink, TaskSink, ToolCall};

/// How long a call that was put aside may wait, and how many may wait.
const WAITS: Duration = Duration::from_secs(24 * 60 * 60);
const MOST: usize = 64;

/// A call that was put aside.
pub(super) enum Parked {
    /// Its question waits for the next command.
    Open(mpsc::UnboundedSender<OperationOwner>),
    /// It ended meanwhile.
    Over(Result<CallEnd, ClientError>),
}

type Making = BoxFuture<'static, Result<CallEnd, ClientError>>;

impl Keeper {
    /// Runs a command's operation, and reports how it ended.
    pub(super) async fn operate(
        self: Arc<Self>,
        link: Arc<CommandLink>,
        id: u64,
        operation: Operation,
        times: OperationTimes,
    ) {
        let stop = link.stop_of(id);
        let Some(client) = self.client().await else {
            let error = ClientError::Interrupted { method: String::new() };
            return link.end(id, End::Failed(error), FrameBody::Empty);
        };
        link.busy.fetch_add(1, Ordering::Relaxed);
        if matches!(operation, Operation::CallTool { .. } | Operation::Call { .. } | Operation::Resume { .. }) {
            self.calls.fetch_add(1, Ordering::Relaxed);
        }
        let owner = OperationOwner { link: Arc::clone(&link), id, stop: stop.clone(), is_resumed: false };
        match operation {
            Operation::Tools { fresh } => {
                let listed = self.tools(&client, fresh, &stop).await;
                answer(&link, id, listed.map(FrameBody::Shared));
            }
            Operation::List { method, key } => {
                let listed = client.list(&method, &key, &stop).await;
                answer(&link, id, listed.map(|list| FrameBody::Line(Value::Array(list).to_string().into_bytes())));
            }
            Operation::Request { method, params } => {
                let result = client.request(&method, params, &stop).await;
                answer(&link, id, result.map(FrameBody::Result));
            }
            Operation::Listen { filter } => {
                let listened = client.listen(filter, &stop).await;
                answer(&link, id, listened.map(|()| FrameBody::Empty));
            }
            Operation::CallTool { name, arguments, is_known, reports, timeout } => {
                let tool = if is_known { self.tool(&name) } else { None };
                let on_task = became(&owner);
                let on_progress = reports.then(|| progress_of(&owner));
                self.call(owner, times, move |caller, stop| {
                    let call = ToolCall {
                        name,
                        arguments,
                        tool,
                        timeout,
                        on_task: Some(on_task),
                        on_progress,
                        caller: Some(caller),
                    };
                    Box::pin(async move { client.call_tool(call, &stop).await })
                })
                .await;
            }
            Operation::Call { method, params } => {
                self.call(owner, times, move |caller, stop| {
                    Box::pin(async move { client.call(&method, params, Some(caller), &stop).await })
                })
                .await;
            }
            Operation::Resume { pending } => {
                if let Some(key) = pending.kept.clone() {
                    self.take_up(&key, OperationOwner { is_resumed: true, ..owner }, &pending.method);
                } else {
                    let asker = Arc::clone(&link);
                    self.call(owner, times, move |caller, stop| {
                        Box::pin(async move {
                            let ask = |call| {
                                let asker = Arc::clone(&asker);
                                async move { asker.may_send(id, call).await }.boxed()
                            };
                            client.resume(pending, &ask, Some(caller), &stop).await
                        })
                    })
                    .await;
                }
            }
        }
        link.busy.fetch_sub(1, Ordering::Relaxed);
        self.used();
    }

    /// Makes a call that belongs to `owner`, until it ends or is put aside; a call that was put aside continues in a
    /// separate task.
    async fn call(
        self: &Arc<Self>,
        owner: OperationOwner,
        times: OperationTimes,
        make: impl FnOnce(Caller, CancellationToken) -> Making,
    ) {
        let (party, mut asides) = Party::new(owner);
        let stop = CancellationToken::new();
        let caller = Caller {
            resolver: Arc::new(party.clone()),
            notices: self.notices_of(party.clone()),
            url_wait: times.url_wait,
            silence: times.silence,
            total: times.total,
        };
        let mut making = make(caller, stop.clone());
        tokio::select! {
            biased;
            end = with_owner(&mut making, &party, &stop) => {
                self.log_loss(&end);
                if let Some(owner) = party.owner() {
                    finish(&owner, end);
                }
            }
            Some(aside) = asides.recv() => {
                let keeper = Arc::clone(self);
                tokio::spawn(async move { keeper.wait_aside(making, party, asides, aside, stop).await });
            }
        }
    }

    /// Holds a call that was put aside, from one command to the next, until it ends.
    async fn wait_aside(
        self: Arc<Self>,
        mut making: Making,
        party: Party,
        mut asides: mpsc::UnboundedReceiver<Aside>,
        first: Aside,
        stop: CancellationToken,
    ) {
        let mut aside = Some(first);
        loop {
            let Some(now) = aside.take() else { return };
            let Aside { question, owner, is_deferred } = now;
            let key = name_of_a_call();
            let (sender, mut owners) = mpsc::unbounded_channel();
            if !self.park(&key, Parked::Open(sender)) {
                stop.cancel();
                party.give(owner.clone());
                let end = making.await;
                return finish(&owner, end);
            }
            let end = if is_deferred {
                End::Deferred(Box::new(pending(&question, Some(key.clone()))))
            } else {
                End::Failed(ClientError::Interrupted { method: "tools/call".to_owned() })
            };
            owner.link.end(owner.id, end, FrameBody::Empty);
            let until = Instant::now() + WAITS;
            let next = tokio::select! {
                biased;
                end = &mut making => {
                    self.log_loss(&end);
                    self.park(&key, Parked::Over(end));
                    return;
                }
                next = owners.recv() => next,
                () = tokio::time::sleep_until(until) => None,
            };
            let Some(next) = next else {
                self.unpark(&key);
                stop.cancel();
                drop(making.await);
                return;
            };
            party.give(next);
            tokio::select! {
                biased;
                end = with_owner(&mut making, &party, &stop) => {
                    if let Some(owner) = party.owner() {
                        finish(&owner, end);
                    }
                    self.used();
                    return;
                }
                again = asides.recv() => aside = again,
            }
        }
    }

    /// Logs that the server died during a call.
    fn log_loss(&self, end: &Result<CallEnd, ClientError>) {
        if let Err(ClientError::Lost { source, .. }) = end {
            self.log(&source.to_string());
        }
    }

    /// Gives a call that was put aside to `owner`.
    fn take_up(&self, key: &str, owner: OperationOwner, method: &str) {
        match self.unpark(key) {
            Some(Parked::Open(owners)) => drop(owners.send(owner)),
            Some(Parked::Over(Err(ClientError::Lost { source, .. }))) => {
                finish(&owner, Err(ClientError::call_gone(method, Some(source))));
            }
            Some(Parked::Over(end)) => finish(&owner, end),
            None => finish(&owner, Err(ClientError::call_gone(method, None))),
        }
    }

    fn park(&self, key: &str, parked: Parked) -> bool {
        let mut all = self.parked();
        if all.len() >= MOST && !all.contains_key(key) {
            return false;
        }
        all.insert(key.to_owned(), parked);
        true
    }

    fn unpark(&self, key: &str) -> Option<Parked> {
        self.parked().remove(key)
    }

    /// The tools, as JSON: the remembered ones, while they are certainly unchanged.
    async fn tools(&self, client: &Client, fresh: bool, stop: &CancellationToken) -> Result<Arc<str>, ClientError> {
        if let Some(known) = self.known_tools(client, fresh) {
            return Ok(known);
        }
        let before = self.changes.load(Ordering::Relaxed);
        let tools = client.list_tools(stop).await?;
        Ok(self.learn_tools(tools, before))
    }
}

/// Continues a call while its command is attached: if the command leaves, or stops it, the call is cancelled.
async fn with_owner(making: &mut Making, party: &Party, stop: &CancellationToken) -> Result<CallEnd, ClientError> {
    let owner_stop = party.owner().map(|owner| owner.stop);
    let given_up = async {
        match owner_stop {
            Some(stop) => stop.cancelled().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        end = &mut *making => return end,
        () = given_up => stop.cancel(),
    }
    making.await
}

/// The name of a call that was put aside, unique in this keeper and in later ones.
fn name_of_a_call() -> String {
    let mut bytes = [0; 16];
    // Without random numbers the name is only less unique.
    let _ = ring::rand::SystemRandom::new().fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn became(owner: &OperationOwner) -> TaskSink {
    let owner = owner.clone();
    TaskSink::new(move |call| owner.link.send(&ToCommand::Became { id: owner.id, pending: call.clone() }))
}

/// Reports a call's progress to its command.
fn progress_of(owner: &OperationOwner) -> ProgressSink {
    let owner = owner.clone();
    ProgressSink::new(move |at| owner.link.progress(owner.id, at))
}

fn answer(link: &CommandLink, id: u64, result: Result<FrameBody, ClientError>) {
    match result {
        Ok(body) => link.end(id, End::Plain, body),
        Err(error) => link.end(id, End::Failed(error), FrameBody::Empty),
    }
}

fn finish(owner: &OperationOwner, end: Result<CallEnd, ClientError>) {
    let (end, body) = match end {
        Ok(CallEnd::Done(report)) => (End::Done { unanswered: report.unanswered }, FrameBody::Result(report.result)),
        Ok(CallEnd::Deferred(pending)) => (End::Deferred(pending), FrameBody::Empty),
        Err(error) => (End::Failed(error), FrameBody::Empty),
    };
    owner.link.end(owner.id, end, body);
}

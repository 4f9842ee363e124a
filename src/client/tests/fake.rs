use std::{
    sync::{Arc, Mutex, mpsc::RecvTimeoutError},
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::{
    client::{
        CallEnd, Caller, Client, ClientError, ClientOptions, Notice, NoticeKind, Times, ToolCall,
        negotiate::{Connector, Opener},
    },
    config::ServerConfig,
    elicitation::{Answer, Modes, Outcome, Question, Resolver, Waited},
    protocol::{Frame, Id, ProtocolChoice, Revision, Tool},
    transport::{Closed, Ended, Endpoint, Grace, Incoming, Outgoing, StdioEndpoint, Transport, TransportError},
};

/// A transport whose other end is a [`Peer`].
struct Fake {
    said: mpsc::UnboundedSender<Frame>,
    incoming: mpsc::UnboundedReceiver<Incoming>,
    ended: Option<Closed>,
}

impl Transport for Fake {
    fn send(&mut self, out: Outgoing) -> Result<(), TransportError> {
        let gone = || TransportError::Closed(Closed { reason: "gone".into(), stderr: Vec::new() });
        self.said.send(out.frame).map_err(|_| gone())
    }

    fn next(&mut self) -> BoxFuture<'_, Incoming> {
        async {
            if let Some(closed) = &self.ended {
                return Incoming::Closed(closed.clone());
            }
            let gone = || Incoming::Closed(Closed { reason: "the server left".into(), stderr: Vec::new() });
            let incoming = self.incoming.recv().await.unwrap_or_else(gone);
            if let Incoming::Closed(closed) = &incoming {
                self.ended = Some(closed.clone());
            }
            incoming
        }
        .boxed()
    }

    fn agree(&mut self, _revision: Revision) {}

    fn cancel(&mut self, _id: &Id) -> bool {
        false
    }

    fn close(self: Box<Self>, _grace: Grace) -> BoxFuture<'static, Ended> {
        async move {
            drop(self);
            Ended::Otherwise
        }
        .boxed()
    }
}

/// How long anything may be waited for.
const LIMIT: Duration = Duration::from_secs(30);

/// Waits, and fails if it takes too long: by the wall clock, because a test's clock may be paused.
async fn within<T>(what: &str, wait: impl Future<Output = T>) -> T {
    let (over, is_over) = oneshot::channel();
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        if is_done.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            // The waiting task may already be done.
            let _ = over.send(());
        }
    });
    let waited = tokio::select! {
        biased;
        waited = wait => waited,
        Ok(()) = is_over => panic!("{what} for {} s", LIMIT.as_secs()),
    };
    drop(done);
    waited
}

/// The server's end of a connection. Dropping it kills the server.
pub(super) struct Peer {
    said: mpsc::UnboundedReceiver<Frame>,
    incoming: mpsc::UnboundedSender<Incoming>,
}

impl Peer {
    /// The client's next message, or `None` if it has closed the connection.
    pub(super) async fn hear(&mut self) -> Option<Frame> {
        within("the client says nothing", self.said.recv()).await
    }

    /// The client's next message, if there is one already.
    pub(super) fn heard(&mut self) -> Option<Frame> {
        self.said.try_recv().ok()
    }

    /// Expects the request or notification `method` next: its id and its params.
    pub(super) async fn expect(&mut self, method: &str) -> (Id, Value) {
        let frame = self.hear().await.expect("the client says something");
        assert_eq!(frame.method(), Some(method), "{frame:?}");
        (frame.id().cloned().unwrap_or(Id::from("none")), frame.body_value().expect("JSON"))
    }

    /// Expects the reply to `id` next.
    pub(super) async fn expect_reply(&mut self, id: &Id) -> Value {
        let frame = self.hear().await.expect("the client says something");
        assert!(frame.method().is_none() && frame.id() == Some(id), "{frame:?}");
        frame.body_value().expect("JSON")
    }

    pub(super) fn say(&self, frame: Frame) {
        // The client may have closed the connection.
        drop(self.incoming.send(Incoming::Frame(frame)));
    }

    /// Exits, with `stderr` as its last words.
    pub(super) fn end(self, stderr: &[&str]) {
        let stderr = stderr.iter().map(|line| (*line).to_owned()).collect();
        drop(self.incoming.send(Incoming::Closed(Closed { reason: "it exited".into(), stderr })));
    }

    pub(super) fn fail(&self, id: &Id, error: TransportError) {
        drop(self.incoming.send(Incoming::Failed { id: id.clone(), error }));
    }

    pub(super) fn reply(&self, id: &Id, result: impl Into<Value>) {
        self.say(Frame::result(id, &result.into()));
    }

    pub(super) fn refuse(&self, id: &Id, code: i64, data: impl Into<Option<Value>>) {
        let error = crate::protocol::RpcError { code, message: "no".into(), data: data.into() };
        self.say(Frame::error(id, &error));
    }

    pub(super) fn notify(&self, method: &str, params: impl Into<Value>) {
        self.say(Frame::notification(method, Some(&params.into())));
    }

    /// Asks for a name, under `id`.
    pub(super) fn ask(&self, id: &Id) {
        self.say(Frame::request(id, "elicitation/create", Some(&form("Name?"))));
    }

    /// Sends a message while it answers the request `id`, like a transport with a stream for each request.
    pub(super) fn say_during(&self, id: &Id, frame: Frame) {
        drop(self.incoming.send(Incoming::During(id.clone(), frame)));
    }

    /// A legacy server's part of the opening, refusing the probe.
    pub(super) async fn open_legacy(&mut self) {
        self.open_legacy_with(json!({"tools": {}})).await;
    }

    pub(super) async fn open_legacy_with(&mut self, capabilities: Value) {
        let (id, _) = self.expect("server/discover").await;
        self.refuse(&id, -32601, None);
        self.initialize(capabilities).await;
    }

    pub(super) async fn initialize(&mut self, capabilities: Value) {
        let (id, _) = self.expect("initialize").await;
        self.reply(&id, json!({"protocolVersion": "2025-11-25", "capabilities": capabilities}));
        self.expect("notifications/initialized").await;
    }

    /// A modern server's part of the opening.
    pub(super) async fn open_modern(&mut self) {
        let (id, _) = self.expect("server/discover").await;
        self.reply(&id, json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}));
    }
}

/// The params of a question for a name.
pub(super) fn form(message: &str) -> Value {
    json!({"message": message, "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}})
}

/// The params of a link.
pub(super) fn link(id: &str) -> Value {
    json!({"mode": "url", "message": "Go", "url": format!("https://idp.example/{id}"), "elicitationId": id})
}

/// A question that a test answers.
pub(super) struct OnDesk {
    pub(super) question: Arc<Question>,
    pub(super) stop: CancellationToken,
    answer: oneshot::Sender<Outcome>,
}

impl OnDesk {
    pub(super) fn answer(self, outcome: Outcome) {
        // The question may be gone.
        drop(self.answer.send(outcome));
    }

    pub(super) fn accept(self, data: Value) {
        let answer = Answer::accept(&self.question.request.id, Some(data));
        self.answer(Outcome::Answered(answer));
    }
}

/// A resolver's wait for a link.
pub(super) struct Behind {
    pub(super) done: CancellationToken,
    pub(super) end: oneshot::Sender<Waited>,
}

/// A resolver whose answers come from the test.
pub(super) struct FakeDesk {
    questions: mpsc::UnboundedSender<OnDesk>,
    behind: mpsc::UnboundedSender<Behind>,
}

impl Resolver for FakeDesk {
    fn claim(&self, question: Arc<Question>, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let (answer, answered) = oneshot::channel();
        drop(self.questions.send(OnDesk { question, stop: stop.clone(), answer }));
        async move {
            tokio::select! {
                biased;
                () = stop.cancelled() => Outcome::Withdrawn,
                Ok(outcome) = answered => outcome,
            }
        }
        .boxed()
    }

    fn wait(&self, _link: Arc<Question>, done: CancellationToken, limit: Duration) -> BoxFuture<'static, Waited> {
        let (end, ended) = oneshot::channel();
        drop(self.behind.send(Behind { done: done.clone(), end }));
        async move {
            tokio::select! {
                () = done.cancelled() => Waited::Complete,
                Ok(waited) = ended => waited,
                () = tokio::time::sleep(limit) => Waited::TimedOut,
            }
        }
        .boxed()
    }
}

/// One of several callers of one client, with its own desk.
pub(super) fn caller() -> (Caller, mpsc::UnboundedReceiver<OnDesk>) {
    let (questions, on_desk) = mpsc::unbounded_channel();
    let (behind, _) = mpsc::unbounded_channel();
    let hour = Duration::from_secs(3600);
    let resolver = Arc::new(FakeDesk { questions, behind });
    let caller = Caller { resolver, notices: Arc::new(|_| {}), url_wait: hour, silence: hour, total: hour };
    (caller, on_desk)
}

/// What a test needs to play everybody but the client.
pub(super) struct FakeWorld {
    pub(super) peers: mpsc::UnboundedReceiver<Peer>,
    pub(super) questions: mpsc::UnboundedReceiver<OnDesk>,
    pub(super) behind: mpsc::UnboundedReceiver<Behind>,
    pub(super) notices: Arc<Mutex<Vec<NoticeKind>>>,
}

impl FakeWorld {
    pub(super) async fn peer(&mut self) -> Peer {
        within("nobody connects", self.peers.recv()).await.expect("a connection")
    }

    pub(super) async fn question(&mut self) -> OnDesk {
        within("nobody asks", self.questions.recv()).await.expect("a question")
    }

    pub(super) fn notices(&self) -> Vec<NoticeKind> {
        self.notices.lock().expect("notices").clone()
    }

    pub(super) fn warnings(&self) -> usize {
        self.notices().iter().filter(|kind| matches!(kind, NoticeKind::Warning(_))).count()
    }
}

/// What a test changes.
#[derive(Default)]
pub(super) struct Wish {
    pub(super) times: Option<Times>,
    pub(super) protocol: ProtocolChoice,
    pub(super) cache: Option<std::path::PathBuf>,
    pub(super) plain: bool,
    pub(super) unattended: bool,
    pub(super) roots: Vec<std::path::PathBuf>,
    pub(super) log_level: Option<String>,
}

/// An opener, and everything around it.
pub(super) fn stage(wish: Wish) -> (Opener, FakeWorld) {
    let (questions, on_desk) = mpsc::unbounded_channel();
    let (behind, waiting) = mpsc::unbounded_channel();
    let (connections, peers) = mpsc::unbounded_channel();
    let notices = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&notices);
    let desk: Arc<dyn Resolver> = Arc::new(FakeDesk { questions, behind });
    let options = ClientOptions {
        server: "fake".into(),
        resolver: (!wish.unattended).then_some(desk),
        person: None,
        notices: Arc::new(move |notice: Notice| sink.lock().expect("notices").push(notice.kind)),
        roots: wish.roots,
        protocol: None,
        times: wish.times.unwrap_or_default(),
        cache: wish.cache,
        log_level: wish.log_level,
        trace: None,
        tool: None,
        credentials: None,
    };
    let config = ServerConfig {
        protocol: wish.protocol,
        modes: if wish.plain { Modes::PLAIN } else { Modes::ALL },
        ..ServerConfig::at(Endpoint::Stdio(StdioEndpoint { command: "fake".into(), ..StdioEndpoint::default() }))
    };
    let connector: Connector = Box::new(move |_| {
        let (said, hears) = mpsc::unbounded_channel();
        let (says, incoming) = mpsc::unbounded_channel();
        drop(connections.send(Peer { said: hears, incoming: says }));
        Ok(Box::new(Fake { said, incoming, ended: None }))
    });
    (Opener::with(config, options, connector), FakeWorld { peers, questions: on_desk, behind: waiting, notices })
}

/// A client of a legacy server, opened.
pub(super) async fn legacy(wish: Wish) -> (Client, Peer, FakeWorld) {
    let (opener, mut stage) = stage(wish);
    let stop = CancellationToken::new();
    let play = async {
        let mut peer = stage.peer().await;
        peer.open_legacy().await;
        peer
    };
    let (client, peer) = tokio::join!(Client::open(opener, &stop), play);
    (client.expect("connected"), peer, stage)
}

/// A client of a modern server, opened.
pub(super) async fn modern(wish: Wish) -> (Client, Peer, FakeWorld) {
    let (opener, mut stage) = stage(wish);
    let stop = CancellationToken::new();
    let play = async {
        let mut peer = stage.peer().await;
        peer.open_modern().await;
        peer
    };
    let (client, peer) = tokio::join!(Client::open(opener, &stop), play);
    (client.expect("connected"), peer, stage)
}

/// A call of the tool `greet`.
pub(super) async fn greet(client: &Client) -> Result<Value, ClientError> {
    call(client, None, &CancellationToken::new()).await.map(result)
}

pub(super) async fn call(
    client: &Client,
    tool: Option<Value>,
    stop: &CancellationToken,
) -> Result<CallEnd, ClientError> {
    let tool = tool.and_then(Tool::from_value);
    let call = ToolCall { name: "greet".into(), arguments: Map::new(), tool, ..ToolCall::default() };
    client.call_tool(call, stop).await
}

/// The result of a call that has one.
pub(super) fn result(end: CallEnd) -> Value {
    match end {
        CallEnd::Done(report) => serde_json::from_str(report.result.get()).expect("JSON"),
        CallEnd::Deferred(pending) => panic!("put aside: {pending:?}"),
    }
}

use std::{
    collections::VecDeque,
    process::{ExitStatus, Stdio as Pipe},
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{ChildStdout, Command},
    time::{Instant, sleep_until},
};

use super::{
    farewell,
    group::{self, Group},
    lines::{LineError, StreamLines},
    log::StderrLog,
    program, split,
    writer::Writer,
};
use crate::{
    protocol::{Id, Revision},
    transport::{Closed, Ended, Grace, Incoming, Limits, Outgoing, StdioEndpoint, Transport, TransportError},
};

/// How long to wait, after a program has ended, for its status, its last words and its last messages.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// A connection to a program that we started over its standard streams.
pub struct Stdio {
    name: String,
    group: Group,
    writer: Writer,
    output: StreamLines<ChildStdout>,
    /// Whether a message has arrived.
    has_spoken: bool,
    log: StderrLog,
    /// Messages of a batch that were not returned yet.
    ready: VecDeque<Incoming>,
    /// What has ended so far, and the deadline for the rest.
    ends: StdioEnds,
    /// Requests that could not be written; reported if the server does not explain its end.
    unsent: VecDeque<Id>,
    closed: Option<Closed>,
}

crate::text::opaque! { Stdio }

#[derive(Default)]
struct StdioEnds {
    output: bool,
    log: bool,
    writer: bool,
    status: Option<ExitStatus>,
    /// Why, if the server is not the cause.
    reason: Option<String>,
    deadline: Option<Instant>,
}

impl Stdio {
    /// Starts the program in its own process group.
    ///
    /// # Errors
    /// [`TransportError::Spawn`] if the program cannot be started, [`TransportError::NoDirectory`] if its directory is
    /// missing.
    pub fn start(endpoint: &StdioEndpoint, limits: Limits) -> Result<Box<dyn Transport>, TransportError> {
        program::check_directory(endpoint)?;
        let mut command = Command::new(program::resolve(endpoint));
        command.args(&endpoint.args).envs(endpoint.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Pipe::piped()).stdout(Pipe::piped()).stderr(Pipe::piped());
        if let Some(cwd) = &endpoint.cwd {
            command.current_dir(cwd);
        }
        let started = Group::start_server(command).map_err(|error| program::refusal(endpoint, error))?;
        let (group, (stdin, stdout, stderr)) = started;
        Ok(Box::new(Self {
            name: endpoint.command.clone(),
            group,
            writer: Writer::start(stdin),
            output: StreamLines::new(stdout, limits.max_message),
            has_spoken: false,
            log: StderrLog::drain(stderr),
            ready: VecDeque::new(),
            ends: StdioEnds::default(),
            unsent: VecDeque::new(),
            closed: None,
        }))
    }

    async fn next_incoming(&mut self) -> Incoming {
        loop {
            if let Some(incoming) = self.ready.pop_front() {
                return incoming;
            }
            if let Some(closed) = &self.closed {
                return Incoming::Closed(closed.clone());
            }
            let deadline = self.ends.deadline;
            tokio::select! {
                biased;
                line = self.output.next(), if !self.ends.output => self.take_line(line),
                line = self.log.next(), if !self.ends.log => match line {
                    Some(line) => return Incoming::Log(line),
                    None => self.ends.log = true,
                },
                status = self.group.wait(), if self.ends.status.is_none() => {
                    self.ends.status = Some(status.unwrap_or_default());
                    self.wait_a_little();
                }
                id = self.writer.unsent(), if !self.ends.writer => match id {
                    Some(id) => {
                        self.unsent.push_back(id);
                        self.wait_a_little();
                    }
                    None => self.ends.writer = true,
                },
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => self.give_up(),
            }
            if self.ends.output && self.ends.log && self.ends.status.is_some() {
                self.close_now();
            }
        }
    }

    fn take_line(&mut self, line: Result<Option<Vec<u8>>, LineError>) {
        match line {
            Ok(Some(line)) => {
                if !self.has_spoken
                    && let Some(how) = split::foreign(&line)
                {
                    self.ends.reason = Some(format!("the server ({}) {how}", self.name));
                    return self.close_now();
                }
                let messages = split::messages(line);
                self.has_spoken |= messages.iter().any(|message| matches!(message, Incoming::Frame(_)));
                self.ready.extend(messages);
                // Output that still arrives after the program's end is waited for.
                if self.ends.status.is_some() {
                    self.wait_a_little();
                }
                return;
            }
            Ok(None) => {}
            Err(LineError::TooLong(error)) => {
                self.ends.reason = Some(format!("the server ({}) wrote too much: {error}", self.name));
                return self.close_now();
            }
            Err(LineError::Io(error)) => {
                self.ends.reason = Some(format!("the server ({}) cannot be read: {error}", self.name));
            }
        }
        self.ends.output = true;
        self.wait_a_little();
    }

    fn wait_a_little(&mut self) {
        self.ends.deadline = Some(Instant::now() + LAST_WORDS);
    }

    /// The deadline passed: the connection is over, or only the requests that could not be written are.
    fn give_up(&mut self) {
        self.ends.deadline = None;
        if self.ends.output || self.ends.status.is_some() {
            return self.close_now();
        }
        let reason = format!("the server ({}) closed its input", self.name);
        let closed = Closed { reason, stderr: self.log.tail() };
        let failed = self.unsent.drain(..);
        self.ready.extend(failed.map(|id| Incoming::Failed { id, error: TransportError::Closed(closed.clone()) }));
    }

    fn close_now(&mut self) {
        let ended = self.ends.status.map_or_else(|| "closed its output".to_owned(), group::describe);
        let reason = self.ends.reason.take().unwrap_or_else(|| format!("the server ({}) {ended}", self.name));
        self.closed = Some(Closed { reason, stderr: self.log.tail() });
    }
}

impl Transport for Stdio {
    fn send(&mut self, out: Outgoing) -> Result<(), TransportError> {
        if self.writer.send(out.frame) {
            return Ok(());
        }
        let gone =
            || Closed { reason: format!("the server ({}) closed its input", self.name), stderr: self.log.tail() };
        Err(TransportError::Closed(self.closed.clone().unwrap_or_else(gone)))
    }

    fn next(&mut self) -> BoxFuture<'_, Incoming> {
        self.next_incoming().boxed()
    }

    fn agree(&mut self, _revision: Revision) {}

    fn cancel(&mut self, _id: &Id) -> bool {
        false
    }

    fn close(self: Box<Self>, grace: Grace) -> BoxFuture<'static, Ended> {
        let Self { mut group, writer, output, log, ends, .. } = *self;
        drop(log);
        async move {
            let (start, id) = (Instant::now(), group.id());
            let polite = async {
                writer.close(farewell::to_read(grace)).await;
                if ends.status.is_some() {
                    return Ended::Otherwise;
                }
                tokio::select! {
                    biased;
                    _ = group.wait() => Ended::ByItself,
                    did_nothing = farewell::wait(grace, start, id) => {
                        if did_nothing { Ended::WhenTold } else { Ended::Otherwise }
                    }
                }
            };
            // The server's output is read to the end, so that it never blocks on writing instead of noticing that its
            // input is closed.
            let ended = tokio::select! {
                ended = polite => ended,
                () = discard(output.into_inner()) => Ended::Otherwise,
            };
            match (ended, group.end().await) {
                (Ended::WhenTold, false) => Ended::Otherwise,
                (ended, _) => ended,
            }
        }
        .boxed()
    }
}

/// Reads and drops everything; never returns.
async fn discard(mut stream: impl AsyncRead + Unpin) {
    let mut chunk = vec![0; 64 * 1024];
    while matches!(stream.read(&mut chunk).await, Ok(1..)) {}
    std::future::pending::<()>().await;
}

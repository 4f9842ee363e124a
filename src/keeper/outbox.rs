use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::mpsc,
};

use super::frame;

/// How much may be queued before messages that may be lost are dropped, in bytes.
const FULL: usize = 4 << 20;

/// Messages to the other side, written in order, without anybody waiting for them.
#[derive(Clone)]
pub(super) struct Outbox {
    queue: mpsc::UnboundedSender<(Vec<u8>, FrameBody)>,
    waiting: Arc<AtomicUsize>,
}

/// The body of a frame, in the form that is already in memory.
pub(super) enum FrameBody {
    Empty,
    Result(Box<RawValue>),
    Shared(Arc<str>),
    Line(Vec<u8>),
}

impl FrameBody {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Empty => &[],
            Self::Result(result) => result.get().as_bytes(),
            Self::Shared(text) => text.as_bytes(),
            Self::Line(line) => line,
        }
    }
}

/// The receiving end of an outbox.
pub(super) struct Mail {
    queue: mpsc::UnboundedReceiver<(Vec<u8>, FrameBody)>,
    waiting: Arc<AtomicUsize>,
}

impl Outbox {
    pub(super) fn new() -> (Self, Mail) {
        let ((queue, mail), waiting) = (mpsc::unbounded_channel(), Arc::default());
        (Self { queue, waiting: Arc::clone(&waiting) }, Mail { queue: mail, waiting })
    }

    /// Sends a message. If the receiver is gone, it is dropped.
    pub(super) fn send(&self, message: &impl Serialize, body: FrameBody) {
        let head = frame::head(message, body.bytes().len());
        let length = head.len() + body.bytes().len();
        self.waiting.fetch_add(length, Ordering::Relaxed);
        drop(self.queue.send((head, body)));
    }

    /// Sends a message that may be lost, unless too much is queued already.
    pub(super) fn offer(&self, message: &impl Serialize, body: FrameBody) {
        if self.waiting.load(Ordering::Relaxed) < FULL {
            self.send(message, body);
        }
    }
}

impl Mail {
    /// Writes the messages, until nobody sends any more.
    ///
    /// # Errors
    /// If the stream fails.
    pub(super) async fn deliver(mut self, mut stream: impl AsyncWrite + Unpin) -> io::Result<()> {
        while let Some((head, body)) = self.queue.recv().await {
            stream.write_all(&head).await?;
            stream.write_all(body.bytes()).await?;
            self.waiting.fetch_sub(head.len() + body.bytes().len(), Ordering::Relaxed);
        }
        stream.shutdown().await
    }
}

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

/// How much may wait to be written before what may be lost is dropped, in bytes.
const FULL: usize = 4 << 20;

/// What is to be written to the other side, in order, without anybody waiting for it.
#[derive(Clone)]
pub(super) struct Outbox {
    queue: mpsc::UnboundedSender<(Vec<u8>, FrameBody)>,
    waiting: Arc<AtomicUsize>,
}

/// The body of a frame, as it is held already.
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

/// Where an outbox is emptied.
pub(super) struct Mail {
    queue: mpsc::UnboundedReceiver<(Vec<u8>, FrameBody)>,
    waiting: Arc<AtomicUsize>,
}

impl Outbox {
    pub(super) fn new() -> (Self, Mail) {
        let ((queue, mail), waiting) = (mpsc::unbounded_channel(), Arc::default());
        (Self { queue, waiting: Arc::clone(&waiting) }, Mail { queue: mail, waiting })
    }

    /// Sends a message. What is sent to somebody who is gone is dropped.
    pub(super) fn send(&self, message: &impl Serialize, body: FrameBody) {
        let head = frame::head(message, body.bytes().len());
        let length = head.len() + body.bytes().len();
        self.waiting.fetch_add(length, Ordering::Relaxed);
        drop(self.queue.send((head, body)));
    }

    /// Sends a message that may be lost, unless too much waits already.
    pub(super) fn offer(&self, message: &impl Serialize, body: FrameBody) {
        if self.waiting.load(Ordering::Relaxed) < FULL {
            self.send(message, body);
        }
    }
}

impl Mail {
    /// Writes what is sent, until nobody sends any more.
    ///
    /// # Errors
    /// When the stream breaks.
    pub(super) async fn deliver(mut self, mut stream: impl AsyncWrite + Unpin) -> io::Result<()> {
        while let Some((head, body)) = self.queue.recv().await {
            stream.write_all(&head).await?;
            stream.write_all(body.bytes()).await?;
            self.waiting.fetch_sub(head.len() + body.bytes().len(), Ordering::Relaxed);
        }
        stream.shutdown().await
    }
}

use std::{io, time::Duration};

use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::mpsc,
    task::JoinHandle,
};

use crate::protocol::{Frame, FrameKind, Id};

/// Frames up to this size, in bytes, are written together with their line end.
const SMALL: usize = 16 * 1024;

/// Writes frames to a server's standard input, in order, in a separate task: a server that does not read never blocks
/// the rest.
pub(super) struct Writer {
    queue: mpsc::UnboundedSender<Frame>,
    unsent: mpsc::UnboundedReceiver<Id>,
    task: JoinHandle<()>,
}

impl Writer {
    /// Starts the task.
    pub(super) fn start(stdin: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (queue, frames) = mpsc::unbounded_channel();
        let (failures, unsent) = mpsc::unbounded_channel();
        Self { queue, unsent, task: tokio::spawn(write(stdin, frames, failures)) }
    }

    /// Queues a frame. Returns whether the server can still be written to; if not, the frame is lost.
    pub(super) fn send(&self, frame: Frame) -> bool {
        self.queue.send(frame).is_ok()
    }

    /// The id of the next request that could not be written, or `None` from then on if everything is written.
    /// Cancel-safe.
    pub(super) async fn unsent(&mut self) -> Option<Id> {
        self.unsent.recv().await
    }

    /// Writes what is queued, for at most `grace`, and closes the server's standard input.
    pub(super) async fn close(self, grace: Duration) {
        drop(self.queue);
        let mut task = self.task;
        if tokio::time::timeout(grace, &mut task).await.is_err() {
            task.abort();
        }
    }
}

async fn write(
    mut stdin: impl AsyncWrite + Unpin,
    mut frames: mpsc::UnboundedReceiver<Frame>,
    unsent: mpsc::UnboundedSender<Id>,
) {
    while let Some(frame) = frames.recv().await {
        if write_line(&mut stdin, frame.bytes()).await.is_ok() {
            continue;
        }
        frames.close();
        let mut lost = Some(frame);
        while let Some(frame) = lost {
            if let FrameKind::Request { id, .. } = frame.kind() {
                drop(unsent.send(id.clone()));
            }
            lost = frames.recv().await;
        }
    }
}

async fn write_line(stdin: &mut (impl AsyncWrite + Unpin), message: &[u8]) -> io::Result<()> {
    if message.len() <= SMALL {
        stdin.write_all(&[message, b"\n"].concat()).await?;
    } else {
        stdin.write_all(message).await?;
        stdin.write_all(b"\n").await?;
    }
    stdin.flush().await
}

use std::{io, sync::Arc};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    sync::mpsc,
};

use super::{DemoOutbox, DemoSession};
use crate::protocol::Frame;

/// Serves one client over stdin and stdout, one message per line, until stdin ends.
///
/// # Errors
/// If the streams cannot be read or written.
pub async fn serve_stdio() -> io::Result<()> {
    let session = Arc::new(DemoSession::default());
    let (sender, mut frames) = mpsc::unbounded_channel::<Frame>();
    let outbox: DemoOutbox = Arc::new(move |frame| {
        // Nobody reads any more when the client is gone.
        drop(sender.send(frame));
    });
    let write = async {
        let mut stdout = tokio::io::stdout();
        while let Some(frame) = frames.recv().await {
            let mut line = frame.bytes().to_vec();
            line.push(b'\n');
            stdout.write_all(&line).await?;
            stdout.flush().await?;
        }
        Ok(())
    };
    let read = async {
        let mut stdin = BufReader::new(tokio::io::stdin());
        let mut line = Vec::new();
        while stdin.read_until(b'\n', &mut line).await? > 0 {
            receive(&session, std::mem::take(&mut line), &outbox);
        }
        Ok(())
    };
    tokio::select! {
        result = read => result,
        result = write => result,
    }
}

fn receive(session: &Arc<DemoSession>, line: Vec<u8>, outbox: &DemoOutbox) {
    // Something that is not a message has no id to answer.
    if let Ok(frame) = Frame::parse(line) {
        drop(tokio::spawn(Arc::clone(session).receive(frame, Arc::clone(outbox))));
    }
}

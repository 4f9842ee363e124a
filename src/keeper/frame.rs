use std::io;

use serde::{Serialize, de::DeserializeOwned};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The longest head, in bytes: questions with their schemas, arguments, notices.
const LONGEST_HEAD: u32 = 64 << 20;
/// The longest body, in bytes: a result may be as long as `maxMessage` allows.
const LONGEST_BODY: u64 = 16 << 30;
/// How much memory is reserved in advance, in bytes. Allocators commit none of it before it is written to.
const ROOM: u64 = 64 << 20;

/// One message between a command and a keeper: a head in JSON, and a body that is passed on unchanged.
///
/// On the socket: the length of the head (4 bytes, little endian), that of the body (8 bytes), the head, the body.
pub(super) struct KeeperFrame<T> {
    /// Its content.
    pub(super) head: T,
    /// JSON from the server, or nothing.
    pub(super) body: Vec<u8>,
}

/// Reads the next frame; `None` at the end of the stream.
///
/// # Errors
/// If the stream fails, or the data is not a frame.
pub(super) async fn read<T: DeserializeOwned>(
    stream: &mut (impl AsyncRead + Unpin),
) -> io::Result<Option<KeeperFrame<T>>> {
    let mut lengths = [0; 12];
    let first = stream.read(&mut lengths).await?;
    if first == 0 {
        return Ok(None);
    }
    stream.read_exact(&mut lengths[first..]).await?;
    let (head, body) = lengths.split_at(4);
    // Both parts have exactly the length that the numbers need.
    let head = u32::from_le_bytes(head.try_into().unwrap_or_default());
    let body = u64::from_le_bytes(body.try_into().unwrap_or_default());
    if head > LONGEST_HEAD || body > LONGEST_BODY {
        return Err(nonsense("it is too long"));
    }
    let head = take(stream, head.into()).await?;
    let head = serde_json::from_slice(&head).map_err(|error| nonsense(&error.to_string()))?;
    Ok(Some(KeeperFrame { head, body: take(stream, body).await? }))
}

async fn take(stream: &mut (impl AsyncRead + Unpin), length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(ROOM)).unwrap_or_default());
    if stream.take(length).read_to_end(&mut bytes).await? as u64 == length {
        Ok(bytes)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

fn nonsense(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the message does not come from a keeper: {reason}"))
}

/// The lengths and the head of a frame with a body of `body` bytes.
pub(super) fn head(head: &impl Serialize, body: usize) -> Vec<u8> {
    let mut bytes = vec![0; 12];
    // Our own types, without maps whose keys are not strings.
    if serde_json::to_writer(&mut bytes, head).is_err() {
        bytes.truncate(12);
    }
    let length = u32::try_from(bytes.len() - 12).unwrap_or(u32::MAX);
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes[4..12].copy_from_slice(&(body as u64).to_le_bytes());
    bytes
}

/// Writes one frame.
///
/// # Errors
/// If the stream fails.
pub(super) async fn write(
    stream: &mut (impl AsyncWrite + Unpin),
    message: &impl Serialize,
    body: &[u8],
) -> io::Result<()> {
    stream.write_all(&head(message, body.len())).await?;
    stream.write_all(body).await?;
    stream.flush().await
}

/// Reads `bytes` as messages of a command and of a keeper; a message is written and read as the same again.
#[cfg(feature = "fuzzing")]
pub(crate) fn fuzzed_messages(bytes: &[u8]) {
    use super::message::{ToCommand, ToKeeper};

    fn all<T: Serialize + DeserializeOwned>(mut bytes: &[u8]) {
        use futures_util::FutureExt as _;
        while let Some(Ok(Some(frame))) = read::<T>(&mut bytes).now_or_never() {
            let written = [head(&frame.head, frame.body.len()), frame.body].concat();
            let again = read::<T>(&mut &*written).now_or_never();
            let again = again.and_then(Result::ok).flatten().expect("what was written is read");
            assert_eq!(head(&again.head, again.body.len()), written[..written.len() - again.body.len()]);
        }
    }
    all::<ToKeeper>(bytes);
    all::<ToCommand>(bytes);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[tokio::test]
    async fn heads_and_bodies_arrive_as_they_were_sent() {
        let (mut here, mut there) = tokio::io::duplex(7);
        let long = vec![b'x'; 3 << 20];
        let sent = async {
            write(&mut here, &json!({"a": 1.50}), b"").await.expect("written");
            write(&mut here, &json!(null), &long).await.expect("written");
            drop(here);
        };
        let received = async {
            let first: KeeperFrame<Value> = read(&mut there).await.expect("read").expect("a frame");
            assert_eq!((first.head.to_string().as_str(), first.body.len()), (r#"{"a":1.5}"#, 0));
            let second: KeeperFrame<Value> = read(&mut there).await.expect("read").expect("a frame");
            assert_eq!((second.head, second.body.len()), (Value::Null, 3 << 20));
            assert!(read::<Value>(&mut there).await.expect("the end").is_none());
        };
        tokio::join!(sent, received);
    }

    #[tokio::test]
    async fn nonsense_is_refused_before_room_is_made_for_it() {
        for bytes in [&b"HTTP/1.1 200 OK\r\n\r\n"[..], &[255; 12], &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b'x'], &[1, 0]]
        {
            assert!(read::<Value>(&mut &*bytes).await.is_err(), "{bytes:?}");
        }
    }
}

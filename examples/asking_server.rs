//! A server that asks, built on the server's half of elicitation: `toolnexus call greet -- cargo run --example
//! asking_server`. It speaks 2025-11-25 over stdio.

use std::io::{self, BufRead as _, Write as _};

use serde_json::{Value, json};
use toolnexus::{
    elicitation::{Verdict, build_callback},
    protocol::{Frame, FrameKind, RpcError},
};

fn write(frame: Frame) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(frame.bytes())?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}

fn read() -> io::Result<Vec<u8>> {
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line.trim_end().as_bytes().to_vec()),
    }
}

/// Calls the only tool; `can_ask` says whether the client allows questions.
async fn greet(can_ask: bool) -> Value {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let verdict = match build_callback(can_ask.then_some(write), can_ask.then_some(async || read())) {
        Some(mut callback) => callback.ask("What is your name?", &schema).await,
        None => Ok(Verdict::Cancel),
    };
    let (text, is_error) = match verdict {
        Ok(Verdict::Accept(content)) => (format!("Hello, {}!", content["name"].as_str().unwrap_or("you")), false),
        Ok(Verdict::Decline | Verdict::Cancel) => ("Hello, whoever you are!".to_owned(), false),
        Err(error) => (error.to_string(), true),
    };
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let mut can_ask = false;
    while let Ok(line) = read() {
        let Ok(frame) = Frame::parse(line) else { continue };
        let FrameKind::Request { id, method } = frame.kind() else { continue };
        let params = frame.body_value().unwrap_or_default();
        let reply = match method.as_str() {
            "initialize" => {
                can_ask = params["capabilities"].get("elicitation").is_some();
                Frame::result(
                    id,
                    &json!({
                        "protocolVersion": "2025-11-25",
                        "capabilities": {"tools": {}},
                        "serverInfo": {"name": "asking-server", "version": "1"},
                    }),
                )
            }
            "ping" => Frame::result(id, &json!({})),
            "tools/list" => {
                Frame::result(id, &json!({"tools": [{"name": "greet", "inputSchema": {"type": "object"}}]}))
            }
            "tools/call" => Frame::result(id, &greet(can_ask).await),
            _ => Frame::error(id, &RpcError::method_not_found()),
        };
        write(reply)?;
    }
    Ok(())
}

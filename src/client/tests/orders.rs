use std::{
    cell::Cell,
    collections::{HashMap, HashSet},
    time::Duration,
};

use proptest::prelude::*;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::fake::{OnDesk, Wish, call, legacy};
use crate::{
    client::ClientError,
    protocol::{Frame, Id},
};

/// Longer than a call may be silent.
const LONG: Duration = Duration::from_secs(10 * 60);

/// Something that happens during a call.
#[derive(Clone, Debug)]
enum FakeStep {
    Ask,
    Answer(usize),
    Withdraw(usize),
    Settle,
    /// Nothing arrives for a long time.
    Silence,
    Result,
    Interrupt,
    Die,
}

fn steps() -> impl Strategy<Value = Vec<FakeStep>> {
    let step = prop_oneof![
        6 => Just(FakeStep::Ask),
        4 => (0_usize..8).prop_map(FakeStep::Answer),
        3 => (0_usize..8).prop_map(FakeStep::Withdraw),
        4 => Just(FakeStep::Settle),
        1 => Just(FakeStep::Silence),
        1 => Just(FakeStep::Result),
        1 => Just(FakeStep::Interrupt),
        1 => Just(FakeStep::Die),
    ];
    prop::collection::vec(step, 1..40)
}

/// What happened to the questions, by their ids.
#[derive(Default)]
struct FakeFate {
    asked: u64,
    withdrawn: HashSet<u64>,
    /// Withdrawn when there already was an answer, or the call was over: there is one reply or none.
    raced: HashSet<u64>,
    replies: HashMap<u64, usize>,
    died: bool,
    /// How the call ended without a result.
    error: Option<ClientError>,
}

impl FakeFate {
    fn count(&mut self, frame: &Frame) {
        if frame.method().is_none()
            && let Some(Id::Number(number)) = frame.id()
        {
            *self.replies.entry(number.as_u64().expect("ours")).or_default() += 1;
        }
    }
}

/// Lets everybody finish what they can do now.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

async fn play(steps: Vec<FakeStep>) -> FakeFate {
    let (client, server, mut stage) = legacy(Wish::default()).await;
    let mut server = Some(server);
    let stop = CancellationToken::new();
    let mut fate = FakeFate::default();
    let ended = Cell::new(false);
    let act = async {
        let (call, _) = server.as_mut().expect("alive").expect("tools/call").await;
        let mut desk: Vec<(u64, OnDesk)> = Vec::new();
        let (mut answered, mut is_over) = (HashSet::new(), false);
        // Withdrawn before the client had the time to notice.
        let mut unread = HashSet::new();
        for step in steps {
            let Some(peer) = &mut server else { break };
            match step {
                FakeStep::Ask => {
                    fate.asked += 1;
                    peer.ask(&Id::from(fate.asked));
                }
                FakeStep::Answer(place) if !desk.is_empty() => {
                    let (id, question) = desk.remove(place % desk.len());
                    answered.insert(id);
                    if unread.contains(&id) {
                        fate.raced.insert(id);
                    }
                    question.accept(json!({}));
                }
                FakeStep::Withdraw(place) if fate.asked > 0 => {
                    let id = place as u64 % fate.asked + 1;
                    peer.notify("notifications/cancelled", json!({"requestId": id}));
                    if is_over || ended.get() || answered.contains(&id) {
                        &mut fate.raced
                    } else {
                        &mut fate.withdrawn
                    }
                    .insert(id);
                    unread.insert(id);
                }
                FakeStep::Settle => {
                    settle().await;
                    unread.clear();
                    while let Ok(question) = stage.questions.try_recv() {
                        let crate::elicitation::Cause::Asked(Id::Number(id)) = &question.question.origin.cause else {
                            panic!("asked")
                        };
                        desk.push((id.as_u64().expect("ours"), question));
                    }
                }
                FakeStep::Silence => {
                    // Time passes only when everybody has finished.
                    tokio::time::sleep(LONG).await;
                    unread.clear();
                }
                FakeStep::Result => {
                    peer.reply(&call, json!({}));
                    is_over = true;
                }
                FakeStep::Interrupt => {
                    fate.raced.extend(&unread);
                    stop.cancel();
                    is_over = true;
                }
                FakeStep::Die => {
                    while let Some(frame) = peer.heard() {
                        fate.count(&frame);
                    }
                    server = None;
                    fate.died = true;
                }
                FakeStep::Answer(_) | FakeStep::Withdraw(_) => {}
            }
        }
        if let Some(peer) = &server {
            peer.reply(&call, json!({}));
        }
        (server, fate)
    };
    let used = async {
        let end = call(&client, None, &stop).await;
        ended.set(true);
        end.err()
    };
    let (error, (server, mut fate)) = tokio::join!(used, act);
    fate.error = error;
    settle().await;
    client.close().await;
    if let Some(mut peer) = server {
        while let Some(frame) = peer.hear().await {
            fate.count(&frame);
        }
    }
    fate
}

fn run(steps: Vec<FakeStep>) -> FakeFate {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(play(steps))
}

/// Checks that the steps do what their names say.
#[test]
fn calls_time_out_are_interrupted_and_lose_their_server() {
    let replies = |fate: &FakeFate| [1, 2].map(|id| fate.replies.get(&id).copied().unwrap_or_default());
    let answered = [FakeStep::Ask, FakeStep::Settle, FakeStep::Answer(0), FakeStep::Settle];
    let then = |last: &[FakeStep]| run([&answered, last].concat());
    let fate = then(&[FakeStep::Silence, FakeStep::Ask, FakeStep::Settle]);
    assert!(matches!(fate.error, Some(ClientError::TimedOut { .. })), "{:?}", fate.error);
    assert_eq!(replies(&fate), [1, 1]);
    // No time passes while a question is open.
    let fate = then(&[FakeStep::Ask, FakeStep::Silence, FakeStep::Settle, FakeStep::Answer(0)]);
    assert!(fate.error.is_none(), "{:?}", fate.error);
    assert_eq!(replies(&fate), [1, 1]);
    let fate = then(&[FakeStep::Ask, FakeStep::Settle, FakeStep::Interrupt, FakeStep::Settle]);
    assert!(matches!(fate.error, Some(ClientError::Interrupted { .. })), "{:?}", fate.error);
    assert_eq!(replies(&fate), [1, 1]);
    let fate = then(&[FakeStep::Ask, FakeStep::Settle, FakeStep::Die]);
    assert!(matches!(fate.error, Some(ClientError::Lost { .. })), "{:?}", fate.error);
    assert_eq!(replies(&fate), [1, 0]);
    assert_eq!(replies(&then(&[FakeStep::Ask, FakeStep::Settle, FakeStep::Withdraw(1), FakeStep::Settle])), [1, 0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_question_ends_in_one_reply_or_none_when_it_was_withdrawn(steps in steps()) {
        let fate = run(steps);
        for id in 1..=fate.asked {
            let replies = fate.replies.get(&id).copied().unwrap_or_default();
            prop_assert!(replies <= 1, "question {id} got {replies} replies");
            if fate.raced.contains(&id) {
                continue;
            }
            if fate.withdrawn.contains(&id) {
                prop_assert_eq!(replies, 0, "question {}", id);
            } else if !fate.died {
                prop_assert_eq!(replies, 1, "question {}", id);
            }
        }
    }
}

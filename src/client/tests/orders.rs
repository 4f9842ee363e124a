use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::fake::{OnDesk, Wish, call, legacy};
use crate::protocol::Id;

/// Something that happens during a call.
#[derive(Clone, Debug)]
enum Step {
    Ask,
    Answer(usize),
    Withdraw(usize),
    Settle,
    Result,
    Interrupt,
    Die,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => Just(Step::Ask),
        4 => (0_usize..8).prop_map(Step::Answer),
        3 => (0_usize..8).prop_map(Step::Withdraw),
        4 => Just(Step::Settle),
        1 => Just(Step::Result),
        1 => Just(Step::Interrupt),
        1 => Just(Step::Die),
    ];
    prop::collection::vec(step, 1..40)
}

/// What became of the questions, by their ids.
struct Fate {
    asked: u64,
    withdrawn: HashSet<u64>,
    /// Withdrawn when there was an answer already, or the call was over: there is one reply or none.
    raced: HashSet<u64>,
    replies: HashMap<u64, usize>,
    died: bool,
}

/// Lets everybody do what there is to do.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

async fn play(steps: Vec<Step>) -> Fate {
    let (client, server, mut stage) = legacy(Wish::default()).await;
    let mut server = Some(server);
    let stop = CancellationToken::new();
    let mut fate =
        Fate { asked: 0, withdrawn: HashSet::new(), raced: HashSet::new(), replies: HashMap::new(), died: false };
    let count = |fate: &mut Fate, frame: &crate::protocol::Frame| {
        if frame.method().is_none()
            && let Some(Id::Number(number)) = frame.id()
        {
            *fate.replies.entry(number.as_u64().expect("ours")).or_default() += 1;
        }
    };
    let act = async {
        let (call, _) = server.as_mut().expect("alive").expect("tools/call").await;
        let mut desk: Vec<(u64, OnDesk)> = Vec::new();
        let (mut answered, mut is_over) = (HashSet::new(), false);
        // What was withdrawn without the client having had the time to hear of it.
        let mut unread = HashSet::new();
        for step in steps {
            let Some(peer) = &mut server else { break };
            match step {
                Step::Ask => {
                    fate.asked += 1;
                    peer.ask(&Id::from(fate.asked));
                }
                Step::Answer(place) if !desk.is_empty() => {
                    let (id, question) = desk.remove(place % desk.len());
                    answered.insert(id);
                    if unread.contains(&id) {
                        fate.raced.insert(id);
                    }
                    question.accept(json!({}));
                }
                Step::Withdraw(place) if fate.asked > 0 => {
                    let id = place as u64 % fate.asked + 1;
                    peer.notify("notifications/cancelled", json!({"requestId": id}));
                    if is_over || answered.contains(&id) { &mut fate.raced } else { &mut fate.withdrawn }.insert(id);
                    unread.insert(id);
                }
                Step::Settle => {
                    settle().await;
                    unread.clear();
                    while let Ok(question) = stage.questions.try_recv() {
                        let crate::elicitation::Cause::Asked(Id::Number(id)) = &question.question.origin.cause else {
                            panic!("asked")
                        };
                        desk.push((id.as_u64().expect("ours"), question));
                    }
                }
                Step::Result => {
                    peer.reply(&call, json!({}));
                    is_over = true;
                }
                Step::Interrupt => {
                    fate.raced.extend(&unread);
                    stop.cancel();
                    is_over = true;
                }
                Step::Die => {
                    while let Some(frame) = peer.heard() {
                        count(&mut fate, &frame);
                    }
                    server = None;
                    fate.died = true;
                }
                Step::Answer(_) | Step::Withdraw(_) => {}
            }
        }
        if let Some(peer) = &server {
            peer.reply(&call, json!({}));
        }
        (server, fate)
    };
    let used = async {
        // How the call ends is another matter.
        drop(call(&client, None, &stop).await);
    };
    let ((), (server, mut fate)) = tokio::join!(used, act);
    settle().await;
    client.close().await;
    if let Some(mut peer) = server {
        while let Some(frame) = peer.hear().await {
            count(&mut fate, &frame);
        }
    }
    fate
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_question_ends_in_one_reply_or_none_when_it_was_withdrawn(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let fate = runtime.expect("a runtime").block_on(play(steps));
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

use std::sync::{Arc, atomic::Ordering};

use tokio::time::timeout;

use super::{
    Stream,
    attachment::HELLO,
    command_link::CommandLink,
    frame, is_own_peer,
    message::{PROGRAM, ToCommand, ToKeeper},
    outbox::Outbox,
    process::Keeper,
};
use crate::client::{Client, ClientError};

impl Keeper {
    /// Serves one command, until it is gone.
    pub(super) async fn attend(self: Arc<Self>, stream: Stream) {
        if !is_own_peer(&stream).unwrap_or(false) {
            return;
        }
        let (mut reader, writer) = stream.into_split();
        let (outbox, mail) = Outbox::new();
        let Ok(Ok(Some(first))) = timeout(HELLO, frame::read::<ToKeeper>(&mut reader)).await else {
            return;
        };
        let ToKeeper::Hello { program, trace, person } = first.head else { return };
        tokio::spawn(mail.deliver(writer));
        let link = CommandLink::new(outbox, trace, person);
        link.send(&ToCommand::Hello { program: PROGRAM.to_owned() });
        if program != PROGRAM {
            // A newer program needs its own keeper; this one ends with its last command.
            self.drain();
            return;
        }
        self.links().push(Arc::clone(&link));
        while let Ok(Some(frame)) = frame::read::<ToKeeper>(&mut reader).await {
            let keeper = Arc::clone(&self);
            match frame.head {
                ToKeeper::Attach => drop(tokio::spawn(keeper.attach(Arc::clone(&link)))),
                ToKeeper::Do { id, operation, times } => {
                    drop(tokio::spawn(keeper.operate(Arc::clone(&link), id, operation, times)));
                }
                ToKeeper::Ping => link.send(&ToCommand::Pong),
                ToKeeper::Standing => link.send(&ToCommand::Standing(self.standing())),
                ToKeeper::Drain => self.drain(),
                ToKeeper::Down => self.down.cancel(),
                message => link.take(message),
            }
        }
        link.gone.cancel();
        self.links().retain(|other| !Arc::ptr_eq(other, &link));
        self.used();
    }

    async fn attach(self: Arc<Self>, link: Arc<CommandLink>) {
        link.busy.fetch_add(1, Ordering::Relaxed);
        match self.connect(&link).await {
            Ok(client) => link.send(&ToCommand::Ready(Box::new((*client.info()).clone()))),
            Err(error) => {
                link.send(&ToCommand::Failed(error));
                // There is nothing to keep.
                self.drain();
            }
        }
        link.busy.fetch_sub(1, Ordering::Relaxed);
    }

    async fn connect(self: &Arc<Self>, link: &CommandLink) -> Result<Arc<Client>, ClientError> {
        let mut slot = self.client.lock().await;
        if let Some(client) = &*slot {
            return Ok(Arc::clone(client));
        }
        let client = Client::connect(self.setup.config.clone(), self.options()?, &link.gone).await?;
        Ok(Arc::clone(slot.insert(Arc::new(client))))
    }
}

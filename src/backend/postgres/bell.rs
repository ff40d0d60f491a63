//! The bell: a connection of its own that listens. Polling goes on beneath it, so that what is never told (a pooler in
//! transaction mode, a server that forgets) is late and not lost.

use super::super::target::PostgresServer;
use super::super::{Error, Kind, Result, Ring, Watch};
use super::conn::{CONNECT, Store};
use super::connect::{Driver, Link, connect};
use super::schema::in_schema;
use crate::queue::QueueName;
use std::future::poll_fn;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client};

/// While notifications come the store is looked at so often all the same.
const SAFETY: Duration = Duration::from_secs(1);
/// Without them so often.
const POLL: Duration = Duration::from_millis(100);
/// Producers tell nobody who has not said for so long that he listens.
const LISTENS: Duration = Duration::from_mins(1);
/// After so much silence the connection is asked whether it is still there.
const SILENCE: Duration = Duration::from_secs(30);
/// And has so long to answer.
const ANSWER: Duration = Duration::from_secs(2);
/// The longest wait before another connection is tried.
const BACKOFF: Duration = Duration::from_secs(5);

pub(super) fn watch(store: &Store, queues: &[QueueName]) -> Result<Box<dyn Watch>> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            Error::new(Kind::Unreachable, "the system gives no event queue").because(error)
        })?;
    let mut bell = Bell {
        runtime,
        server: store.server.clone(),
        queues: queues
            .iter()
            .map(|queue| queue.as_str().to_owned())
            .collect(),
        ear: None,
        first: true,
        retry: Instant::now(),
        wait: POLL,
    };
    if bell.server.notify {
        // Without a connection of its own it polls, and tries again.
        bell.listen();
    }
    Ok(Box::new(bell))
}

struct Bell {
    runtime: Runtime,
    server: PostgresServer,
    queues: Vec<String>,
    ear: Option<Ear>,
    first: bool,
    /// When another connection is tried, and how long after that one more.
    retry: Instant,
    wait: Duration,
}

/// A connection that listens.
struct Ear {
    client: Client,
    /// The queues that something came to; closed when the connection ends.
    told: UnboundedReceiver<String>,
    registered: Instant,
    heard: Instant,
}

impl Watch for Bell {
    fn wait(&mut self, timeout: Duration) -> Result<Ring> {
        if std::mem::take(&mut self.first) {
            return Ok(Ring::Rang);
        }
        if self.ear.is_none() && self.server.notify && Instant::now() >= self.retry {
            self.listen();
            if self.ear.is_some() {
                // What came while nobody listened was told to nobody.
                return Ok(Ring::Rang);
            }
        }
        let Some(ear) = &mut self.ear else {
            std::thread::sleep(timeout.min(POLL));
            return Ok(if timeout > POLL {
                Ring::Rang
            } else {
                Ring::Quiet
            });
        };
        let left = timeout.min(SAFETY);
        let queues = &self.queues;
        let heard = self
            .runtime
            .block_on(async { tokio::time::timeout(left, hear(ear, queues)).await });
        let ring = match heard {
            Ok(true) => Ring::Rang,
            Ok(false) => {
                self.lose();
                return Ok(Ring::Rang);
            }
            Err(_) if timeout > SAFETY => Ring::Rang,
            Err(_) => Ring::Quiet,
        };
        self.keep();
        Ok(ring)
    }
}

/// Waits for news of one of the queues. False: the connection has ended.
async fn hear(ear: &mut Ear, queues: &[String]) -> bool {
    while let Some(queue) = ear.told.recv().await {
        ear.heard = Instant::now();
        if queues.contains(&queue) {
            // One look serves for all that was told meanwhile.
            while ear.told.try_recv().is_ok() {}
            return true;
        }
    }
    false
}

impl Bell {
    fn listen(&mut self) {
        let ear = self.runtime.block_on(async {
            tokio::time::timeout(CONNECT, open(&self.server, &self.queues)).await
        });
        match ear {
            Ok(Ok(ear)) => {
                self.ear = Some(ear);
                self.wait = POLL;
            }
            _ => self.lose(),
        }
    }

    fn lose(&mut self) {
        self.ear = None;
        self.retry = Instant::now() + self.wait;
        self.wait = (self.wait * 2).min(BACKOFF);
    }

    /// Says again that it listens, and asks a silent connection whether it is there.
    fn keep(&mut self) {
        let Some(ear) = &mut self.ear else { return };
        let tells = ear.registered.elapsed() > LISTENS / 2;
        if !tells && ear.heard.elapsed() < SILENCE {
            return;
        }
        let (server, queues) = (&self.server, &self.queues);
        let answered = self.runtime.block_on(async {
            tokio::time::timeout(ANSWER, register(&ear.client, server, queues)).await
        });
        match answered {
            Ok(Ok(())) => (ear.registered, ear.heard) = (Instant::now(), Instant::now()),
            _ => self.lose(),
        }
    }
}

async fn open(server: &PostgresServer, queues: &[String]) -> Result<Ear> {
    let Link { client, driver } = connect(server).await?;
    let (tell, told) = unbounded_channel();
    tokio::spawn(relay(driver, tell));
    let rows = client
        .query_typed(&in_schema(sql!("channel"), &server.schema), &[])
        .await?;
    let channel: &str = match rows.first() {
        Some(row) => row.try_get(0)?,
        None => return Err(Error::bug("a store without a channel")),
    };
    client
        .batch_execute(&format!("LISTEN \"{channel}\""))
        .await?;
    register(&client, server, queues).await?;
    Ok(Ear {
        client,
        told,
        registered: Instant::now(),
        heard: Instant::now(),
    })
}

/// Hands on what was told, until the connection ends.
async fn relay(mut driver: Driver, tell: tokio::sync::mpsc::UnboundedSender<String>) {
    while let Some(Ok(message)) = poll_fn(&mut driver).await {
        if let AsyncMessage::Notification(news) = message
            && tell.send(news.payload().to_owned()).is_err()
        {
            return;
        }
    }
}

async fn register(client: &Client, server: &PostgresServer, queues: &[String]) -> Result<()> {
    let mut queues = queues.to_vec();
    queues.sort();
    queues.dedup();
    let seconds = i64::try_from(LISTENS.as_secs()).unwrap_or(60);
    let statement = in_schema(sql!("listens"), &server.schema).into_owned();
    client
        .query_typed(
            &statement,
            &[(&queues, Type::TEXT_ARRAY), (&seconds, Type::INT8)],
        )
        .await?;
    Ok(())
}

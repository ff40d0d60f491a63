//! The pure domain: names, times, messages, selections and the retry ladder. No I/O, no clock, no printing.

pub mod envelope;
pub mod headers;
pub mod hint;
pub mod message;
pub mod name;
pub mod near;
pub mod payload;
pub mod record;
pub mod retry;
pub mod said;
pub mod selection;
pub mod state;
pub mod time;

pub use hint::Hint;
pub use message::{
    Attempt, Delivery, Due, End, Enqueued, Headers, Message, NewMessage, Open, QueueCounts, Ttl,
};
pub use name::{Cursor, Group, MessageId, OpId, QueueName, Receipt};
pub use retry::{Ladder, Settings};
pub use selection::{Head, Order, Selection};
pub use state::{Outcome, Reason, State};
pub use time::{Skew, Timestamp};

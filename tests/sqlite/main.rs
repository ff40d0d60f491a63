//! What is true of SQLite alone: files and their modes, other programs at the same tables, query plans.

#[path = "../support/hands.rs"]
mod hands;

mod counts;
mod doctor;
mod faults;
mod files;
mod held;
mod keyed;
mod large;
mod plans;
mod producers;
mod rights;
mod still;
mod wake;

use hands::{claim, done, open, open_url, options, put, queue, target};

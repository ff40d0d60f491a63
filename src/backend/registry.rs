//! Which scheme is which store: one line a backend.

use super::{Backend, Checked, Error, Kind, OpenOptions, Result, Target};

/// A kind of store.
pub struct Driver {
    /// The schemes of its URLs.
    pub schemes: &'static [&'static str],
    /// Opens a handle; a thread that wants another one calls it again.
    pub open: fn(&Target, &OpenOptions) -> Result<Opened>,
}

/// A handle, and what opening it did.
pub struct Opened {
    /// The store.
    pub backend: Box<dyn Backend>,
    /// Whether the store came into being just now.
    pub created: bool,
}

/// Every store that is built in.
pub const DRIVERS: &[Driver] = &[
    #[cfg(feature = "sqlite")]
    super::sqlite::DRIVER,
    #[cfg(feature = "postgres")]
    super::postgres::DRIVER,
];

/// Opens a store, behind the checked door.
///
/// # Errors
/// [`Kind::Config`] if no store of that scheme is built in; whatever the store says.
pub fn open(target: &Target, options: &OpenOptions) -> Result<Opened> {
    let scheme = target.scheme();
    let driver = DRIVERS
        .iter()
        .find(|driver| driver.schemes.contains(&scheme))
        .ok_or_else(|| {
            Error::new(Kind::Config, format!("{scheme}:// is not built in")).with("scheme", scheme)
        })?;
    let opened = (driver.open)(target, options)?;
    Ok(Opened {
        backend: Box::new(Checked::over(opened.backend)),
        ..opened
    })
}

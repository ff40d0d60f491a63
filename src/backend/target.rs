//! Where a store is.

/// A parsed URL.
#[derive(Clone, Debug)]
pub struct Target {
    scheme: String,
}

impl Target {
    /// The scheme of the URL.
    #[must_use]
    pub fn scheme(&self) -> &str {
        &self.scheme
    }
}

//! `midcall wrap --url`: the server is not started here but reached by HTTP.

use std::path::PathBuf;

use crate::transport::remote::{Target, TargetError};

/// Where the server is, if it is elsewhere.
#[derive(clap::Args)]
pub struct Address {
    /// The server's address, instead of its command
    #[arg(
        long,
        env = "MIDCALL_URL",
        value_name = "URL",
        hide_env_values = true,
        help_heading = "Server"
    )]
    pub url: Option<String>,
    /// A header for the server, such as 'Authorization: Bearer ${TOKEN}'; ${…} is taken from the
    /// environment
    #[arg(
        long = "header",
        env = "MIDCALL_HEADER",
        value_name = "NAME: VALUE",
        value_delimiter = '\n',
        hide_env_values = true,
        help_heading = "Server"
    )]
    headers: Vec<String>,
    /// A file of certificates (PEM) to trust beside the system's
    #[arg(long, env = "MIDCALL_CA", value_name = "FILE", help_heading = "Server")]
    ca: Option<PathBuf>,
}

impl Address {
    /// The target, if there is an address.
    pub fn target(&self) -> Result<Option<Target>, TargetError> {
        let Some(url) = &self.url else {
            let is_bare = self.headers.is_empty() && self.ca.is_none();
            return is_bare.then_some(None).ok_or(TargetError::NoUrl);
        };
        Target::new(url, &self.headers, self.ca.as_deref()).map(Some)
    }
}

/// Names only: a header may hold a key, and so may an address.
impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Address").finish_non_exhaustive()
    }
}

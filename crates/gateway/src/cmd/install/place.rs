//! What `install` and `uninstall` work with: a home, its files, and where backups are.

use std::path::PathBuf;

use super::apply::Hand;
use super::pick::Flags;
use super::record::Records;
use super::scan::{Found, Home, program};

/// A home with the files that the flags are about.
pub struct Place {
    pub home: Home,
    pub program: PathBuf,
    pub records: Records,
    pub found: Vec<Found>,
}

impl Place {
    /// Looks at all files, and removes what runs that were killed left there.
    pub fn new(flags: &Flags) -> anyhow::Result<Self> {
        let clients = flags.clients()?;
        let home = Home::new(flags.home.as_deref())?;
        let program = program()?;
        let records = Records::new(&home.state);
        let found = home.find(&clients, &records);
        flags.check_names(&found)?;
        if !flags.dry_run {
            Hand::tidy(&records, &found);
        }
        Ok(Self {
            home,
            program,
            records,
            found,
        })
    }

    /// True if some file can't be read.
    pub fn is_broken(&self) -> bool {
        self.found.iter().any(|one| one.content.is_err())
    }
}

//! What a computer must have for a file to be served on it.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::net::{SocketAddr, TcpListener};

use crate::program;

/// A computer, as far as a file can be wrong about it.
pub(super) struct Machine {
    /// A variable of the environment.
    pub variable: fn(&str) -> Option<String>,
    /// Why a program can't be started, if so.
    pub lacks: fn(&OsStr) -> Option<String>,
    /// Whether an address can be listened on.
    pub listens: fn(SocketAddr) -> io::Result<()>,
}

/// The one that this process runs on.
pub(super) const THIS: Machine = Machine {
    variable: |name| env::var(name).ok(),
    lacks: |program| program::find(program).err().map(|why| why.to_string()),
    listens: |address| TcpListener::bind(address).map(drop),
};

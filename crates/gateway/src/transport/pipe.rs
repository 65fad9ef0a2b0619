//! The ends of pipes, read and written without a thread in between.
//!
//! tokio's own standard streams go through a pool of threads, which costs as much as all the
//! rest of the way. What cannot be waited for (a file, a terminal that others use too) gets a
//! thread and a pipe of its own.

use std::fs::File;
use std::future::poll_fn;
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net;
use std::pin::Pin;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::fs::{FileType, fstat};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::sleep;

/// An end to read from.
pub enum Reading {
    Pipe(Receiver),
    /// Some programs, Node's among them, connect their children by sockets.
    Socket(UnixStream),
}

/// An end to write to.
pub enum Writing {
    Pipe(Sender, Option<JoinHandle<()>>),
    Socket(UnixStream),
}

impl Reading {
    pub fn new(end: OwnedFd) -> io::Result<Self> {
        match kind(&end)? {
            FileType::Fifo => Ok(Self::Pipe(Receiver::from_owned_fd(end)?)),
            FileType::Socket => Ok(Self::Socket(socket(end)?)),
            _ => {
                let (reader, mut writer) = io::pipe()?;
                thread::spawn(move || copy(File::from(end), &mut writer));
                Ok(Self::Pipe(Receiver::from_owned_fd(reader.into())?))
            }
        }
    }

    /// Reads what there is, once there is something. Nothing is the end. Nothing is lost when
    /// waiting is given up.
    pub async fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // Unlike `try_read`, polling takes less than there is room for as all there was, and does
        // not ask the system again to be told so.
        let mut into = ReadBuf::new(into);
        poll_fn(|context| match self {
            Self::Pipe(end) => Pin::new(end).poll_read(context, &mut into),
            Self::Socket(end) => Pin::new(end).poll_read(context, &mut into),
        })
        .await?;
        Ok(into.filled().len())
    }
}

impl Writing {
    pub fn new(end: OwnedFd) -> io::Result<Self> {
        match kind(&end)? {
            FileType::Fifo => Ok(Self::Pipe(Sender::from_owned_fd(end)?, None)),
            FileType::Socket => Ok(Self::Socket(socket(end)?)),
            _ => {
                let (mut reader, writer) = io::pipe()?;
                let copying = thread::spawn(move || copy(&mut reader, File::from(end)));
                let end = Sender::from_owned_fd(writer.into())?;
                Ok(Self::Pipe(end, Some(copying)))
            }
        }
    }

    /// Writes what the system takes at once.
    pub fn try_write(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Pipe(end, _) => end.try_write_vectored(pieces),
            Self::Socket(end) => end.try_write_vectored(pieces),
        }
    }

    /// Waits until the system takes something.
    pub async fn ready(&self) -> io::Result<()> {
        match self {
            Self::Pipe(end, _) => end.writable().await,
            Self::Socket(end) => end.writable().await,
        }
    }

    /// Closes it. What was written gets out first.
    pub async fn close(self) {
        if let Self::Pipe(end, Some(copying)) = self {
            drop(end);
            while !copying.is_finished() {
                sleep(Duration::from_millis(5)).await;
            }
        }
    }
}

/// Copies until one side has gone; then nobody minds. Not `io::copy`: that lets the system hold
/// the pipe while a terminal takes its time, and closing the pipe would wait for it.
fn copy(mut from: impl Read, mut to: impl Write) {
    let mut piece = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut piece) {
        if to.write_all(&piece[..read]).is_err() {
            return;
        }
    }
}

fn kind(end: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(end)?.st_mode))
}

fn socket(end: OwnedFd) -> io::Result<UnixStream> {
    let socket = net::UnixStream::from(end);
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}

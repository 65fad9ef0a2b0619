//! The ends of pipes, read and written without a thread in between.
//!
//! tokio's own standard streams go through a pool of threads, which costs as much as all the
//! rest of the way. What cannot be waited for (a file, a terminal that others use too) gets a
//! thread and a pipe of its own.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, OwnedFd};
use std::thread::{self, JoinHandle};

use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// An end to read from.
pub struct Reading(AsyncFd<OwnedFd>);

/// An end to write to.
pub struct Writing {
    end: AsyncFd<OwnedFd>,
    copying: Option<JoinHandle<()>>,
}

impl Reading {
    pub fn new(end: OwnedFd) -> io::Result<Self> {
        if can_wait(&end)? {
            return Ok(Self(wait_for(end, Interest::READABLE)?));
        }
        let (reader, writer) = rustix::pipe::pipe()?;
        thread::spawn(move || {
            let (mut from, mut to) = (std::fs::File::from(end), std::fs::File::from(writer));
            // Whoever reads may have gone; then nobody minds.
            let _ = io::copy(&mut from, &mut to);
        });
        Ok(Self(wait_for(reader, Interest::READABLE)?))
    }

    /// Reads what there is, once there is something. Nothing is the end.
    pub async fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        let read = |end: &OwnedFd| Ok(rustix::io::read(end, &mut *into)?);
        self.0.async_io(Interest::READABLE, read).await
    }
}

impl Writing {
    pub fn new(end: OwnedFd) -> io::Result<Self> {
        if can_wait(&end)? {
            let end = wait_for(end, Interest::WRITABLE)?;
            return Ok(Self { end, copying: None });
        }
        let (reader, writer) = rustix::pipe::pipe()?;
        let copying = thread::spawn(move || {
            let (mut from, mut to) = (std::fs::File::from(reader), std::fs::File::from(end));
            let _ = io::copy(&mut from, &mut to);
        });
        Ok(Self {
            end: wait_for(writer, Interest::WRITABLE)?,
            copying: Some(copying),
        })
    }

    /// Writes what the system takes at once.
    pub fn try_write(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(rustix::io::writev(&self.end, pieces)?)
    }

    /// Writes something, once the system takes it.
    pub async fn write(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let write = |end: &OwnedFd| Ok(rustix::io::writev(end, pieces)?);
        self.end.async_io(Interest::WRITABLE, write).await
    }

    /// Closes it. What was written gets out first.
    pub fn close(self) {
        drop(self.end);
        if let Some(copying) = self.copying {
            let _ = copying.join();
        }
    }
}

/// Whether the end belongs to this process alone, and the system tells when it is ready.
fn can_wait(end: &OwnedFd) -> io::Result<bool> {
    let kind = FileType::from_raw_mode(fstat(end)?.st_mode);
    Ok(matches!(kind, FileType::Fifo | FileType::Socket))
}

fn wait_for(end: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    fcntl_setfl(end.as_fd(), fcntl_getfl(&end)? | OFlags::NONBLOCK)?;
    AsyncFd::with_interest(end, interest)
}

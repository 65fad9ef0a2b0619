//! How a call outlives the process that it began in.
//!
//! Elsewhere: what is kept of a call (`journal`), how it travels (`place`), and what becomes of a
//! client that comes back (`layer::resume`).

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use midcall_store::Store;

use crate::asks::Asks;

/// What becomes of a call between two requests of a client of 2026-07-28, which is away while its
/// person thinks.
///
/// To *park* a call is to keep its tool waiting in the memory of this process: its code runs once. To
/// *replay* it is to run the tool again from its first line with the answers so far, which travel
/// sealed in the client's `requestState`; any process with the same [keys](Asks::keys) can do that.
/// [Which tools may run again](crate::replay) is for you to say, so parking alone is the default.
///
/// ```
/// use midcall_server::{Asks, Resume};
/// # use midcall_server::midcall_core::seal::{Keys, Secret};
/// # let keys = Keys::new(Secret::from([7; 32]));
/// let asks = Asks::new().keys(keys).resume(Resume::ParkThenReplay);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Resume {
    /// Parks the call. Where the parked one is gone (this is another process, the server was started
    /// again, or too many calls waited), the tool runs again with the answers so far.
    ParkThenReplay,
    /// Parks no call: the tool runs again for each round. For processes that must keep nothing
    /// between two requests.
    ReplayOnly,
    /// Parks the call. Where the parked one is gone, the client is told that its call is over.
    #[default]
    ParkOnly,
}

impl Resume {
    pub(crate) fn replays(self) -> bool {
        self != Self::ParkOnly
    }
}

impl Asks {
    /// What becomes of a call while its client is away. Without this, [`Resume::ParkOnly`].
    ///
    /// ```
    /// use midcall_server::{Asks, Resume};
    /// let asks = Asks::new().resume(Resume::ReplayOnly);
    /// ```
    pub fn resume(self, resume: Resume) -> Self {
        self.set(|settings| settings.resume = resume)
    }

    /// What replicas share, beside their keys: any store of `midcall-store`. Calls that may
    /// [run again](Self::resume) are written down there, sealed, so that they can have any size. Of several
    /// replicas that a client comes back to, exactly one goes on with the call, and whoever brings the
    /// same retry again hears what came of it. And an [effect](crate::Ask::once) happens once.
    ///
    /// ```
    /// use midcall_server::{Asks, Resume};
    /// use midcall_store::Memory;
    /// # use midcall_server::midcall_core::seal::{Keys, Secret};
    /// # let keys = Keys::new(Secret::from([7; 32]));
    /// // Two servers in one process. Others need a store outside of it.
    /// let store = Memory::default();
    /// let asks = || Asks::new().keys(keys.clone()).resume(Resume::ParkThenReplay).store(store.clone());
    /// let (one, two) = (asks(), asks());
    /// ```
    pub fn store(self, store: impl Store) -> Self {
        self.set(|settings| settings.store = Some(Arc::new(store)))
    }

    /// What time it is, for states that expire: for tests of yours. Without this, the system's time.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// let tomorrow = || SystemTime::now() + Duration::from_secs(24 * 60 * 60);
    /// let asks = midcall_server::Asks::new().clock(tomorrow);
    /// ```
    pub fn clock(self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.set(|settings| settings.now = Arc::new(move || unix(now())))
    }
}

/// Seconds since 1970, as sealed states count.
pub(crate) fn unix(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.as_ref().map_or(0, Duration::as_secs)
}

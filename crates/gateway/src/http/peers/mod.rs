//! The other gateways of the same person: one page shows the questions of all.
//!
//! Every gateway keeps its own questions. It leaves its address and a key for its like in a
//! [`Folder`] of the user's own, and tells each page that follows its events who else is there.
//! A page then has itself let in by the others, with launch tokens that its gateway gets for it
//! and that work for its origin alone, and follows all of them: when the process that served it
//! goes, the rest is there as before.
//!
//! In: [`Gathering`], for whoever has a page. Elsewhere: whether a browser is opened
//! (`route::page`).

pub mod calls;
mod folder;
mod peer;

use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use futures_util::stream::unfold;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::timeout;

pub use calls::OpenQuestion;
pub use folder::{Folder, Turn};
pub use peer::Peer;

use super::announce::{AnnounceError, Announced, Announcement};

/// What a gateway knows of its like.
pub struct Gathering {
    folder: Folder,
    /// The origin of its own page.
    own: String,
    /// Told when somebody new may be there.
    nudge: watch::Sender<()>,
}

/// How a page stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Nobody has it open.
    Closed,
    /// A browser was told to show it.
    Coming,
    /// A person has it open.
    Open,
}

/// The event that tells a page who else is there.
pub const EVENT: &str = "gateways";

/// How often a page is looked around for. Who is new says hello, and who has gone is missed by
/// the page itself; this is for what neither tells.
const LOOK: Duration = Duration::from_millis(500);

impl Gathering {
    /// Joins the others, as long as the file lives that comes with it. Files of gateways that were
    /// killed are removed first.
    pub fn join(
        folder: Folder,
        announcement: &Announcement,
    ) -> Result<(Self, Announced), AnnounceError> {
        folder.sweep();
        let announced = folder.announce(announcement)?;
        let gathering = Self {
            folder,
            own: announcement.page.clone(),
            nudge: watch::Sender::default(),
        };
        Ok((gathering, announced))
    }

    /// The others that live.
    pub fn others(&self) -> Vec<Peer> {
        let mut living = self.folder.living();
        living.retain(|peer| peer.page != self.own);
        living
    }

    /// Has pages told at once, if somebody is new.
    pub fn look(&self) {
        self.nudge.send_replace(());
    }

    /// The right to decide, for all gateways, whether a browser is opened.
    pub async fn turn(&self) -> Turn {
        self.folder.turn().await
    }

    /// The pages of the others that can be gathered, now and whenever they change.
    pub fn pages(self: Arc<Self>) -> impl Stream<Item = Vec<String>> {
        let nudge = self.nudge.subscribe();
        let start = (self, nudge, None);
        unfold(start, |(all, mut nudge, told)| async move {
            loop {
                let others = all.others().into_iter().filter(Peer::can_be_gathered);
                let pages: Vec<String> = others.map(|peer| peer.page).collect();
                if told.as_ref() != Some(&pages) {
                    return Some((pages.clone(), (all, nudge, Some(pages))));
                }
                let _ = timeout(LOOK, nudge.changed()).await;
            }
        })
    }
}

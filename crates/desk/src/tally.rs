//! Counting open tickets and how fast they come.

use std::sync::Arc;

use foldhash::HashMap;
use midcall_core::Scope;
use tokio::time::Instant;

use crate::rules::{Limited, Rules};

/// What is counted, user by user.
#[derive(Default)]
pub(crate) struct Tally {
    users: HashMap<Arc<str>, User>,
    /// How many users there may be before the idle ones are looked for.
    many: usize,
}

#[derive(Default)]
struct User {
    open: usize,
    servers: HashMap<Arc<str>, Server>,
    conversations: HashMap<Arc<str>, usize>,
}

struct Server {
    open: usize,
    /// How many more questions may come now. It refills steadily.
    left: f64,
    at: Instant,
}

/// One ticket's part in the counts, to be given back.
pub(crate) struct Share {
    pub user: Arc<str>,
    server: Arc<str>,
    conversation: Option<Arc<str>>,
}

impl Tally {
    /// Counts one more ticket, unless there are too many.
    pub fn add(
        &mut self,
        scope: &Scope,
        server: &str,
        rules: &Rules,
        now: Instant,
    ) -> Result<Share, Limited> {
        self.sweep(rules, now);
        let (user, counts) = entry(&mut self.users, &scope.user, User::default);
        if counts.open >= rules.open_per_user {
            return Err(Limited::User(rules.open_per_user));
        }
        let talk = scope.conversation.as_deref();
        let talking = talk.and_then(|name| counts.conversations.get(name));
        if talking.is_some_and(|open| *open >= rules.open_per_conversation) {
            return Err(Limited::Conversation(rules.open_per_conversation));
        }
        let fresh = || Server::new(rules, now);
        let (server, asking) = entry(&mut counts.servers, server, fresh);
        asking.refill(rules, now);
        if asking.open >= rules.open_per_server {
            return Err(Limited::Server(rules.open_per_server));
        }
        if asking.left < 1.0 {
            return Err(Limited::TooOften(rules.asks_per_minute));
        }
        asking.left -= 1.0;
        asking.open += 1;
        counts.open += 1;
        let conversation = talk.map(|name| {
            let (name, open) = entry(&mut counts.conversations, name, || 0);
            *open += 1;
            name
        });
        Ok(Share {
            user,
            server,
            conversation,
        })
    }

    /// Forgets who asks no more, whenever there are twice as many as after the last time.
    fn sweep(&mut self, rules: &Rules, now: Instant) {
        if self.users.len() <= self.many.max(1_000) {
            return;
        }
        self.users.retain(|_, user| {
            user.servers.retain(|_, server| {
                server.refill(rules, now);
                server.open > 0 || server.left < f64::from(rules.asks_per_minute)
            });
            user.open > 0 || !user.servers.is_empty()
        });
        self.many = self.users.len() * 2;
    }

    /// Gives a ticket's part back. Who asks no more is forgotten once the pace is.
    pub fn remove(&mut self, share: Share, rules: &Rules, now: Instant) {
        let Some(counts) = self.users.get_mut(&share.user) else {
            return;
        };
        counts.open -= 1;
        if let Some(name) = share.conversation
            && let Some(open) = counts.conversations.get_mut(&name)
        {
            *open -= 1;
            if *open == 0 {
                counts.conversations.remove(&name);
            }
        }
        if let Some(asking) = counts.servers.get_mut(&share.server) {
            asking.open -= 1;
            asking.refill(rules, now);
            if asking.open == 0 && asking.left >= f64::from(rules.asks_per_minute) {
                counts.servers.remove(&share.server);
            }
        }
        if counts.open == 0 && counts.servers.is_empty() {
            self.users.remove(&share.user);
        }
    }
}

impl Server {
    fn new(rules: &Rules, now: Instant) -> Self {
        Self {
            open: 0,
            left: f64::from(rules.asks_per_minute),
            at: now,
        }
    }

    fn refill(&mut self, rules: &Rules, now: Instant) {
        let most = f64::from(rules.asks_per_minute);
        let more = now.duration_since(self.at).as_secs_f64() * most / 60.0;
        self.left = (self.left + more).min(most);
        self.at = now;
    }
}

/// The entry of a name, and the name as it is kept: most names are known already.
fn entry<'a, T>(
    map: &'a mut HashMap<Arc<str>, T>,
    name: &str,
    new: impl FnOnce() -> T,
) -> (Arc<str>, &'a mut T) {
    let known = map.get_key_value(name).map(|(known, _)| known.clone());
    let known = known.unwrap_or_else(|| name.into());
    (known.clone(), map.entry(known).or_insert_with(new))
}

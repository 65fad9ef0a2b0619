//! Counting open tickets and how fast they come.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use midcall_core::Scope;
use tokio::time::Instant;

use crate::rules::{Limited, Rules};

/// What is counted: by user, by a user's server, by a user's conversation.
#[derive(Default)]
pub(crate) struct Tally {
    users: HashMap<Arc<str>, usize>,
    servers: HashMap<(Arc<str>, Arc<str>), Server>,
    conversations: HashMap<(Arc<str>, Arc<str>), usize>,
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
        let user = shared(&self.users, &scope.user);
        let conversation = scope.conversation.as_deref().map(Arc::<str>::from);
        if self
            .users
            .get(&user)
            .is_some_and(|open| *open >= rules.open_per_user)
        {
            return Err(Limited::User(rules.open_per_user));
        }
        let place = conversation.clone().map(|name| (user.clone(), name));
        if let Some(open) = place
            .as_ref()
            .and_then(|place| self.conversations.get(place))
            && *open >= rules.open_per_conversation
        {
            return Err(Limited::Conversation(rules.open_per_conversation));
        }
        let most = f64::from(rules.asks_per_minute);
        let key = (user.clone(), Arc::<str>::from(server));
        let entry = self.servers.entry(key);
        let server = entry.key().1.clone();
        let asking = entry.or_insert(Server {
            open: 0,
            left: most,
            at: now,
        });
        let refill = now.duration_since(asking.at).as_secs_f64() * most / 60.0;
        asking.left = (asking.left + refill).min(most);
        asking.at = now;
        if asking.open >= rules.open_per_server {
            return Err(Limited::Server(rules.open_per_server));
        }
        if asking.left < 1.0 {
            return Err(Limited::TooOften(rules.asks_per_minute));
        }
        asking.left -= 1.0;
        asking.open += 1;
        *self.users.entry(user.clone()).or_default() += 1;
        if let Some(place) = place {
            *self.conversations.entry(place).or_default() += 1;
        }
        Ok(Share {
            user,
            server,
            conversation,
        })
    }

    /// Gives a ticket's part back. A server that asks no more is forgotten once its pace is.
    pub fn remove(&mut self, share: Share, rules: &Rules, now: Instant) {
        let Share {
            user,
            server,
            conversation,
        } = share;
        if let Some(name) = conversation {
            less(&mut self.conversations, &(user.clone(), name));
        }
        let key = (user.clone(), server);
        if let Some(asking) = self.servers.get_mut(&key) {
            asking.open -= 1;
            let most = f64::from(rules.asks_per_minute);
            let refill = now.duration_since(asking.at).as_secs_f64() * most / 60.0;
            if asking.open == 0 && asking.left + refill >= most {
                self.servers.remove(&key);
            }
        }
        less(&mut self.users, &user);
    }
}

fn shared(known: &HashMap<Arc<str>, usize>, name: &str) -> Arc<str> {
    known
        .get_key_value(name)
        .map_or_else(|| name.into(), |(known, _)| known.clone())
}

fn less<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

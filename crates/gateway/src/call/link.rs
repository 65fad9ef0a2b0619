//! The links that a server needs followed in a call: which of them are the same, and when the call is made again.
//!
//! Some servers create a new link each time they get the call. So Midcall treats two links of one call as the same if
//! they have the same message and site, whatever their id, path or query. It retries the call slowly, because each try may
//! invalidate the link that the person has open.
//!
//! Elsewhere: what errors and rounds say of links (`session::links`), the questions about them (`question`).

use std::time::Duration;

use midcall_core::wire::{Asked, ElicitRequestParams, ElicitResult};
use midcall_core::{Elicitation, Link, Wanted};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::rounds::Answers;
use super::task::Raw;
use crate::moment::Moment;
use crate::times::LINK_AGAIN;

/// What makes two links of one call the same.
#[derive(Clone, PartialEq, Serialize, Deserialize)] // No Debug of what follows: a link may hold a secret.
#[serde(deny_unknown_fields)]
pub struct LinkKey {
    /// What the server says about it.
    pub message: String,
    /// The scheme, host and port that it leads to.
    pub origin: String,
}

/// A link as a server names it.
#[derive(Clone)]
pub struct NamedLink {
    pub key: LinkKey,
    pub id: Option<String>,
    pub url: String,
}

/// A link that a server needs, or needed, followed in a call.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FollowedLink {
    pub key: LinkKey,
    /// What the server called it: first, and lately.
    pub ids: Vec<String>,
    /// Where it leads, as the server said last.
    pub url: String,
    /// True if the page still shows an older address of this link.
    pub is_renewed: bool,
    /// When the person agreed to open the link, and how long the sign-in behind it may take.
    pub consent: Option<(Moment, Duration)>,
    /// The refusal that a modern server gets if the person gave up after opening the link.
    pub refusal: Option<Refusal>,
    /// True if the server named it in its last answer.
    pub is_wanted: bool,
    /// True if what it leads to is done, as somebody has said since the server last got the call.
    pub is_finished: bool,
    /// The key by which the server asks for it in its last round.
    pub asked_as: Option<String>,
}

/// A no, as a modern server is told.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    pub result: Raw,
    pub outcome: Option<Value>,
}

/// The links of a call, by number.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Links {
    pub all: Vec<FollowedLink>,
    /// How many times the server has been left alone since somebody agreed to open one.
    pub pauses: u32,
}

/// What a call needs that a server answered with links.
#[derive(Debug, PartialEq)]
pub enum Needs {
    /// Somebody has to be asked: by the place in the server's list, the numbers of the links that are new.
    Consent(Vec<Option<usize>>),
    /// Time, until then.
    Time(Moment),
    /// It can't go on.
    End(LinkEnd),
}

/// Why a call ends without its links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkEnd {
    /// A person said no.
    Refused,
    /// Nobody opened one in time.
    TimedOut,
    /// Nobody could be asked.
    Nobody,
    /// The links were opened, and what they lead to wasn't done in time.
    Unfinished,
    TooMany,
}

/// What a server was told about links that it asked for again in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Retold {
    Nothing,
    /// That a person agreed to open them, which it knows.
    Accepts,
    /// That a person said no to one of them.
    Refusal,
}

/// How many links one call may need, all in all.
const MOST: usize = 16;

/// How many ids of one link are remembered.
const MOST_IDS: usize = 32;

/// How many times longer the longest pause is than the first.
const LONGEST: u32 = 15;

/// How long the server is left alone after so many pauses.
pub fn pause(pauses: u32) -> Duration {
    let doubled = 1 << pauses.min(LONGEST.ilog2() + 1);
    LINK_AGAIN.get().saturating_mul(LONGEST.min(doubled))
}

impl NamedLink {
    /// A link of an error or a round; none if these are the params of a form. `link` is where it leads.
    pub fn read(params: &ElicitRequestParams, link: &Link) -> Option<Self> {
        let Asked::Url {
            url,
            elicitation_id,
            ..
        } = &params.asked
        else {
            return None;
        };
        Some(Self {
            key: LinkKey {
                message: params.message.clone(),
                // One that is refused is the same as none but itself.
                origin: link.origin().unwrap_or_else(|| url.clone()),
            },
            id: elicitation_id.clone(),
            url: url.clone(),
        })
    }

    /// The link that a question asks to open.
    pub fn of(elicitation: &Elicitation) -> Option<Self> {
        let Wanted::Link(link) = &elicitation.wanted else {
            return None;
        };
        let params = serde_json::from_str(elicitation.params().get()).ok()?;
        Self::read(&ElicitRequestParams::read(params).ok()?, link)
    }
}

impl FollowedLink {
    fn new(named: NamedLink) -> Self {
        Self {
            key: named.key,
            ids: named.id.into_iter().collect(),
            url: named.url,
            is_renewed: false,
            consent: None,
            refusal: None,
            is_wanted: true,
            is_finished: false,
            asked_as: None,
        }
    }

    /// The server names it again.
    fn meet(&mut self, named: NamedLink) {
        self.is_wanted = true;
        if let Some(id) = named.id.filter(|id| !self.ids.contains(id)) {
            if self.ids.len() == MOST_IDS {
                self.ids.remove(1); // The first is the one that somebody was told.
            }
            self.ids.push(id);
        }
        self.is_renewed |= self.url != named.url;
        self.url = named.url;
    }

    /// True if somebody agreed to open it, or agreed and gave up.
    fn is_answered(&self) -> bool {
        self.consent.is_some() || self.refusal.is_some()
    }

    fn is_exactly(&self, named: &NamedLink) -> bool {
        let is_named = (named.id.as_ref()).is_some_and(|id| self.ids.contains(id));
        is_named || self.url == named.url
    }
}

impl Links {
    /// True if somebody has answered for this link before, so that it isn't asked again.
    pub fn knows(&self, key: &LinkKey) -> bool {
        let mut answered = self.all.iter().filter(|link| link.is_answered());
        answered.any(|link| link.key == *key)
    }

    /// The link that the server calls so.
    pub fn by_id(&self, id: &str) -> Option<usize> {
        let is_called = |link: &FollowedLink| link.ids.iter().any(|known| known == id);
        self.all.iter().position(is_called)
    }

    /// The server answered the call with an error that names these.
    pub fn named(&mut self, now: Moment, named: Vec<NamedLink>) -> Needs {
        // Looking for so many would take long.
        if named.len() > MOST {
            return Needs::End(LinkEnd::TooMany);
        }
        let known = self.known(&named);
        let new = known.iter().filter(|at| at.is_none()).count();
        if self.all.len() + new > MOST {
            return Needs::End(LinkEnd::TooMany);
        }
        self.want_none();
        let mut asked = Vec::new();
        for (named, at) in named.into_iter().zip(known) {
            asked.push(at.is_none().then_some(self.all.len()));
            match at {
                Some(at) => self.all[at].meet(named),
                None => self.all.push(FollowedLink::new(named)),
            }
        }
        if self.wanted().any(|link| link.refusal.is_some()) {
            return Needs::End(LinkEnd::Refused);
        }
        if new > 0 {
            return Needs::Consent(asked);
        }
        self.again(now)
    }

    /// The server asks for these again in a round, by key: adds the answers.
    pub fn retell(&mut self, named: Vec<(String, NamedLink)>, answers: &mut Answers) -> Retold {
        self.want_none();
        let (keys, named): (Vec<String>, Vec<NamedLink>) = named.into_iter().unzip();
        let known = self.known(&named);
        let mut retold = Retold::Nothing;
        for ((key, named), at) in keys.into_iter().zip(named).zip(known) {
            let Some(at) = at else { continue };
            let link = &mut self.all[at];
            link.meet(named);
            link.asked_as = Some(key.clone());
            match &link.refusal {
                Some(Refusal { result, outcome }) => {
                    answers.add(key, result.clone(), outcome.clone());
                    retold = Retold::Refusal;
                }
                None => {
                    answers.add(key, accept(), None);
                    if retold == Retold::Nothing {
                        retold = Retold::Accepts;
                    }
                }
            }
        }
        retold
    }

    /// When the call is made again whose links somebody agreed to open, or why it isn't.
    pub fn again(&mut self, now: Moment) -> Needs {
        let ends = self.wanted().filter_map(|link| link.consent);
        let ends = ends.map(|(at, patience)| at + patience).max();
        if ends.is_some_and(|ends| ends <= now) {
            return Needs::End(LinkEnd::Unfinished);
        }
        // Somebody said so while the server looked.
        if self.wanted().any(|link| link.is_finished) && self.are_finished() {
            self.pauses = 0;
        }
        let next = now + pause(self.pauses);
        self.pauses += 1;
        Needs::Time(ends.map_or(next, |ends| next.min(ends)))
    }

    /// Somebody agreed to open a link in a round.
    pub fn open(&mut self, named: NamedLink, now: Moment, patience: Duration) {
        let at = self.all.len();
        self.all.push(FollowedLink::new(named));
        self.agree(at, now, patience);
    }

    /// Somebody agreed to open a link.
    pub fn agree(&mut self, at: usize, now: Moment, patience: Duration) {
        if let Some(link) = self.all.get_mut(at)
            && link.consent.is_none()
        {
            link.consent = Some((now, patience));
            self.pauses = 0;
        }
    }

    /// What a link leads to is done.
    pub fn finish(&mut self, at: usize) {
        if let Some(link) = self.all.get_mut(at) {
            link.is_finished = true;
        }
    }

    /// A person gave up. Returns the key by which the server asks for the link.
    pub fn refuse(&mut self, at: usize, refusal: Refusal) -> Option<String> {
        let link = self.all.get_mut(at)?;
        link.refusal = Some(refusal);
        link.asked_as.clone()
    }

    /// The server gets the call.
    pub fn send(&mut self) {
        for link in &mut self.all {
            link.is_finished = false;
            link.asked_as = None;
        }
    }

    /// How many links wait for somebody to agree.
    pub fn left(&self) -> usize {
        let left = self.wanted();
        left.filter(|link| !link.is_finished && !link.is_answered())
            .count()
    }

    /// True if what all of them lead to is done.
    pub fn are_finished(&self) -> bool {
        self.wanted().all(|link| link.is_finished)
    }

    /// The links that lead elsewhere since this was asked last.
    pub fn take_renewed(&mut self) -> Vec<(usize, String)> {
        let each = self.all.iter_mut().enumerate();
        let renewed = each.filter_map(|(at, link)| {
            std::mem::take(&mut link.is_renewed).then(|| (at, link.url.clone()))
        });
        renewed.collect()
    }

    fn wanted(&self) -> impl Iterator<Item = &FollowedLink> {
        self.all.iter().filter(|link| link.is_wanted)
    }

    fn want_none(&mut self) {
        for link in &mut self.all {
            link.is_wanted = false;
        }
    }

    /// Which link each of a list is that somebody has answered for. Of those with one key, those that the server names as
    /// before are known for sure, and the rest are told apart by their order.
    fn known(&self, named: &[NamedLink]) -> Vec<Option<usize>> {
        let of = |named: &NamedLink| {
            let each = self.all.iter().enumerate();
            let same = each.filter(|(_, link)| link.is_answered() && link.key == named.key);
            same.collect::<Vec<_>>()
        };
        let mut known: Vec<Option<usize>> = Vec::new();
        for named in named {
            let same = of(named).into_iter();
            let mut free = same.filter(|(at, _)| !known.contains(&Some(*at)));
            let exact = free.find(|(_, link)| link.is_exactly(named));
            known.push(exact.map(|(at, _)| at));
        }
        for place in 0..known.len() {
            if known[place].is_some() {
                continue;
            }
            let same: Vec<usize> = of(&named[place]).into_iter().map(|(at, _)| at).collect();
            let free = same.iter().find(|at| !known.contains(&Some(**at)));
            known[place] = free.or(same.last()).copied();
        }
        known
    }
}

/// The answer to a link that a person has agreed to open.
fn accept() -> Raw {
    let accept = json!(ElicitResult::accept(None).write());
    serde_json::value::to_raw_value(&accept).expect("our own results are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link by a number: its message, its host, its id and its path.
    fn named(message: &str, host: &str, nth: usize) -> NamedLink {
        let origin = format!("https://{host}");
        NamedLink {
            id: Some(format!("id-{nth}")),
            url: format!("{origin}/{nth}"),
            key: LinkKey {
                message: message.to_owned(),
                origin,
            },
        }
    }

    const FIVE_MINUTES: Duration = Duration::from_secs(300);

    #[test]
    fn pauses_get_longer_up_to_fifteen_seconds() {
        let pauses: Vec<u64> = (0..7).map(|nth| pause(nth).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 15, 15, 15]);
        assert_eq!(pause(u32::MAX), pause(6));
    }

    #[test]
    fn a_link_is_known_by_its_message_and_site_once_somebody_has_agreed_to_open_it() {
        let (a, b) = ("Sign in", "Pay");
        let (x, y) = ("x.example", "y.example");
        // Links that were opened, links that the server names then, and which of these are which.
        type Case<'a> = (
            &'a [(&'a str, &'a str, usize)],
            &'a [(&'a str, &'a str, usize)],
            &'a [Option<usize>],
        );
        let cases: [Case<'_>; 9] = [
            (&[], &[(a, x, 1)], &[None]),
            (&[(a, x, 1)], &[(a, x, 1)], &[Some(0)]),
            (&[(a, x, 1)], &[(a, x, 2)], &[Some(0)]),
            (&[(a, x, 1)], &[(b, x, 1)], &[None]),
            (&[(a, x, 1)], &[(a, y, 1)], &[None]),
            (
                &[(a, x, 1), (a, x, 2)],
                &[(a, x, 3), (a, x, 4)],
                &[Some(0), Some(1)],
            ),
            (&[(a, x, 1), (a, x, 2)], &[(a, x, 2)], &[Some(1)]),
            (
                &[(a, x, 1), (a, x, 2)],
                &[(a, x, 3), (a, x, 1)],
                &[Some(1), Some(0)],
            ),
            (
                &[(a, x, 1)],
                &[(a, x, 2), (a, x, 1), (b, y, 1)],
                &[Some(0), Some(0), None],
            ),
        ];
        for (opened, then, known) in cases {
            let mut links = Links::default();
            for (message, host, nth) in opened {
                links.open(named(message, host, *nth), Moment::now(), FIVE_MINUTES);
            }
            let then: Vec<NamedLink> = (then.iter())
                .map(|(message, host, nth)| named(message, host, *nth))
                .collect();
            assert_eq!(links.known(&then), known);
        }
        // Nobody has agreed yet.
        let mut links = Links::default();
        links.named(Moment::now(), vec![named(a, x, 1)]);
        assert_eq!(links.known(&[named(a, x, 1)]), [None]);
    }

    #[test]
    fn what_a_call_needs_that_is_answered_with_links() {
        let now = Moment::now();
        let after = |seconds| now + Duration::from_secs(seconds);
        let one = |nth| vec![named("Sign in", "x.example", nth)];
        let mut links = Links::default();
        assert_eq!(links.named(now, one(1)), Needs::Consent(vec![Some(0)]));
        assert_eq!(links.left(), 1);
        links.agree(0, now, FIVE_MINUTES);
        assert_eq!(links.left(), 0);
        assert_eq!(links.again(now), Needs::Time(after(1)));
        links.send();
        assert_eq!(links.named(after(1), one(2)), Needs::Time(after(3)));
        assert_eq!(
            links.take_renewed(),
            [(0, "https://x.example/2".to_owned())]
        );
        assert!(links.take_renewed().is_empty());
        assert_eq!(
            (links.by_id("id-1"), links.by_id("id-2")),
            (Some(0), Some(0))
        );
        // It is said to be done as the server looks.
        links.send();
        links.finish(0);
        assert_eq!(links.named(after(3), one(3)), Needs::Time(after(4)));
        // The last try is when patience is over.
        links.send();
        links.pauses = 9;
        assert_eq!(links.named(after(290), one(4)), Needs::Time(after(300)));
        assert_eq!(
            links.named(after(300), one(5)),
            Needs::End(LinkEnd::Unfinished)
        );
        // A no counts for every link that is the same.
        let result = accept();
        links.refuse(
            0,
            Refusal {
                result,
                outcome: None,
            },
        );
        assert_eq!(links.named(after(4), one(6)), Needs::End(LinkEnd::Refused));

        let many = (0..=MOST).map(|nth| named("Sign in", "x.example", nth));
        let many = Links::default().named(now, many.collect());
        assert_eq!(many, Needs::End(LinkEnd::TooMany));
    }

    #[test]
    fn ids_are_not_remembered_without_end() {
        let mut links = Links::default();
        links.open(
            named("Sign in", "x.example", 0),
            Moment::now(),
            FIVE_MINUTES,
        );
        for nth in 1..1_000 {
            links.named(Moment::now(), vec![named("Sign in", "x.example", nth)]);
        }
        assert_eq!(links.all[0].ids.len(), MOST_IDS);
        assert_eq!(
            (links.by_id("id-0"), links.by_id("id-999")),
            (Some(0), Some(0))
        );
        assert_eq!(links.all.len(), 1);
    }
}

//! Keys at a link: agreeing to open it, and what comes after.

use midcall_core::{Answer, Wanted};

use super::*;

/// What can be done about a link that can't be opened.
pub(super) const REFUSED: [&str; 2] = ["action.reject", "action.cancel"];

/// What can be done after a link was opened.
pub(super) const OPENED: [&str; 3] = ["action.finished", "action.open_again", "action.cancel"];

impl Prompt<'_> {
    /// Only the whole word opens it.
    pub(super) fn consent_key(&mut self, key: Key) -> Vec<Effect> {
        let (Stage::Consent(edit), Wanted::Link(link)) = (&mut self.stage, &self.question.wanted)
        else {
            return Vec::new();
        };
        match key {
            Key::Enter => match said(edit.text(), &self.look) {
                Some(true) => {
                    let address = link.href().unwrap_or_default().to_owned();
                    self.stage = Stage::Launching;
                    return self.open(address);
                }
                Some(false) => self.decline(),
                None => self.notice = Some(self.consent_hint()),
            },
            Key::Esc if !edit.text().is_empty() => edit.set(""),
            Key::Esc => return self.cancel(),
            key => drop(edit.key(key)),
        }
        Vec::new()
    }

    pub(super) fn consent_hint(&self) -> String {
        let (yes, no) = words(&self.look);
        let params = [("yes", yes.as_str().into()), ("no", no.as_str().into())];
        self.look.fill("prompt.consent", &params)
    }

    fn open(&mut self, address: String) -> Vec<Effect> {
        let said = self.look.say("url_mode.opening");
        vec![
            Effect::Print(self.line(Style::Strong, &said)),
            Effect::Open(address),
        ]
    }

    /// A browser was started, or not: then the person has the address to open it elsewhere.
    pub(super) fn launched(&mut self, is_open: bool) -> Vec<Effect> {
        let mut effects = Vec::new();
        let Wanted::Link(link) = &self.question.wanted else {
            return effects;
        };
        if !is_open {
            let address = self
                .link
                .as_ref()
                .unwrap_or(link)
                .href()
                .unwrap_or_default();
            let mut lines = self.line(Style::Warning, &self.look.say("terminal.no_browser"));
            lines.push(Line {
                style: Style::Plain,
                text: address.to_owned(),
            });
            effects.push(Effect::Print(lines));
        }
        if self.link.is_some() {
            self.stage = Stage::Opened { at: 0 };
        } else if let Some(consent) = link.consent() {
            effects.push(Effect::End(End::Asked(Outcome::Answered(
                Answer::Accepted(consent),
            ))));
        }
        effects
    }

    pub(super) fn refused_key(&mut self, key: Key) -> Vec<Effect> {
        let Stage::Refused { at } = &mut self.stage else {
            return Vec::new();
        };
        match key {
            Key::Enter if REFUSED[*at] == "action.reject" => self.decline(),
            Key::Enter | Key::Esc => return self.cancel(),
            key => *at = moved(*at, key, REFUSED.len()),
        }
        Vec::new()
    }

    pub(super) fn opened_key(&mut self, key: Key) -> Vec<Effect> {
        let Stage::Opened { at } = &mut self.stage else {
            return Vec::new();
        };
        match key {
            Key::Enter => match OPENED[*at] {
                "action.finished" => return self.follow(Followed::Finished, "state.answered"),
                "action.open_again" => {
                    if let Some(address) =
                        self.link.as_ref().and_then(Link::href).map(str::to_owned)
                    {
                        self.stage = Stage::Launching;
                        return self.open(address);
                    }
                }
                _ => return self.cancel(),
            },
            Key::Esc => return self.cancel(),
            key => *at = moved(*at, key, OPENED.len()),
        }
        Vec::new()
    }
}

/// Gives an opened link its newest address, if that is of the same site: the person agreed to that one.
pub(crate) fn renew(link: &mut Option<Link>, newer: Link) {
    let is_same_site = |link: &Link| link.origin().is_some() && link.origin() == newer.origin();
    if link.as_ref().is_some_and(is_same_site) {
        *link = Some(newer);
    }
}

/// The words for yes and no as they are to be typed.
pub(crate) fn words(look: &Look) -> (String, String) {
    (
        look.say("label.yes").to_lowercase(),
        look.say("label.no").to_lowercase(),
    )
}

/// Whether somebody typed the whole word for yes or for no.
pub(crate) fn said(typed: &str, look: &Look) -> Option<bool> {
    let typed = typed.trim().to_lowercase();
    let (yes, no) = words(look);
    match typed.as_str() {
        "yes" => Some(true),
        "no" => Some(false),
        typed if typed == yes => Some(true),
        typed if typed == no => Some(false),
        _ => None,
    }
}

//! Changes one file: backup, record, file, in this order.

use std::path::Path;

use anyhow::Context;

use super::document::{Change, Document, Path as Names};
use super::entry::Start;
use super::file::{Source, is_littered, tidy};
use super::record::{Kept, Records, Turn};
use super::scan::{Content, Found};
use super::trouble::Trouble;

/// What installs and uninstalls, while no other run does.
pub struct Hand<'a> {
    records: &'a Records,
    /// The full path of this program.
    program: &'a str,
    _turn: Turn,
}

/// What `install` does in one file.
#[derive(Default)]
pub struct Job {
    pub wrap: Vec<Names>,
    pub repoint: Vec<Names>,
}

impl<'a> Hand<'a> {
    /// Waits until no other run changes anything.
    pub fn new(records: &'a Records, program: &'a Path) -> anyhow::Result<Self> {
        let turn = records.turn();
        let folder = records.folder().display();
        Ok(Self {
            program: program
                .to_str()
                .context("the path of this program isn't UTF-8")?,
            _turn: turn.with_context(|| format!("cannot write to {folder}"))?,
            records,
        })
    }

    /// Removes what runs that were killed left: drafts beside files, and records of files that they didn't change.
    pub fn tidy(records: &Records, found: &[Found]) {
        let contents = found
            .iter()
            .filter_map(|one| Some((one, one.content.as_ref().ok()?)));
        let left =
            contents.filter(|(_, content)| is_littered(&content.source.real) || is_idle(content));
        let left: Vec<_> = left.collect();
        if left.is_empty() {
            return;
        }
        // It isn't what the person asked for, so it isn't worth an error.
        let Ok(_turn) = records.turn() else { return };
        for (found, content) in left {
            tidy(&content.source.real);
            // Another run may have gone on meanwhile.
            if Self::read(records, found).is_ok_and(|now| is_idle(&now)) {
                let _ = records.forget(&content.source.real);
            }
        }
    }

    /// Wraps servers of a file, and names the right program in front of others.
    pub fn install(&self, found: &Found, job: &Job) -> Result<(), Trouble> {
        let content = self.fresh(found)?;
        let Content {
            source, document, ..
        } = &content;
        source.check()?;
        let wraps = job.wrap.iter().map(|path| (path.clone(), Change::Wrap));
        let repoints = job
            .repoint
            .iter()
            .map(|path| (path.clone(), Change::Repoint));
        let changes: Vec<_> = wraps.chain(repoints).collect();
        let bytes = source.with(&document.change(&changes, self.program)?);
        let mut entries = wrapped(&content);
        let before = self.before(&content, &entries)?;
        entries.extend(job.wrap.iter().cloned());
        self.write(&content, &before, &bytes, entries)
    }

    /// Takes Midcall away from servers of a file. True if the file is as it was before `install`.
    pub fn uninstall(&self, found: &Found, picks: &[Names]) -> Result<bool, Trouble> {
        let content = self.fresh(found)?;
        let Content {
            source,
            document,
            kept,
        } = &content;
        source.check()?;
        let entries = wrapped(&content);
        let left: Vec<Names> = entries
            .iter()
            .filter(|path| !picks.contains(path))
            .cloned()
            .collect();
        let is_ours = picks.iter().all(|path| entries.contains(path));
        let before = match kept {
            Some(kept) if kept.is_untouched(source.bytes()) => Some(&kept.before),
            _ => None,
        };
        let (bytes, is_restored) = match before {
            Some(before) if left.is_empty() && is_ours => (before.clone(), true),
            _ => (
                source.with(&self.unwrapped(document, kept.as_ref(), picks)?),
                false,
            ),
        };
        if left.is_empty() {
            source.replace(&bytes)?;
            // The file is right. A record that stays says nothing about these bytes.
            let _ = self.records.forget(&source.real);
        } else {
            let before = self.before(&content, &entries)?;
            self.write(&content, &before, &bytes, left)?;
        }
        Ok(is_restored)
    }

    /// Writes the record, then the file.
    fn write(
        &self,
        content: &Content,
        before: &[u8],
        bytes: &[u8],
        entries: Vec<Names>,
    ) -> Result<(), Trouble> {
        let source = &content.source;
        let written = [source.bytes(), bytes];
        let keeping = self.records.keep(&source.real, before, written, entries);
        keeping.map_err(Trouble::NoBackup)?;
        let replaced = source.replace(bytes);
        if replaced.is_err() {
            self.restore(source, content.kept.as_ref());
        }
        replaced
    }

    /// Reads a file again, now that no other run changes it. Fails if it isn't what the person was shown.
    fn fresh(&self, found: &Found) -> Result<Content, Trouble> {
        let shown = &found.content.as_ref().map_err(|_| Trouble::Changed)?.source;
        let content = Self::read(self.records, found)?;
        let is_same = content.source.bytes() == shown.bytes() && content.source.real == shown.real;
        is_same.then_some(content).ok_or(Trouble::Changed)
    }

    fn read(records: &Records, found: &Found) -> Result<Content, Trouble> {
        let source = Source::read(&found.path)?.ok_or(Trouble::Changed)?;
        Ok(Content {
            document: Document::read(source.text()?, found.client)?,
            kept: records.find(&source.real).map_err(Trouble::NoBackup)?,
            source,
        })
    }

    /// The bytes of the file as they would be without Midcall.
    fn before(&self, content: &Content, wrapped: &[Names]) -> Result<Vec<u8>, Trouble> {
        let Content {
            source,
            document,
            kept,
        } = content;
        match kept {
            Some(kept) if kept.is_untouched(source.bytes()) => Ok(kept.before.clone()),
            kept => Ok(source.with(&self.unwrapped(document, kept.as_ref(), wrapped)?)),
        }
    }

    /// The text without Midcall in front of some servers.
    fn unwrapped(
        &self,
        document: &Document,
        kept: Option<&Kept>,
        picks: &[Names],
    ) -> Result<String, Trouble> {
        let before = kept.and_then(|kept| {
            let text = std::str::from_utf8(&kept.before).ok()?;
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            Document::read(text.to_owned(), document.client).ok()
        });
        let entries = before.as_ref().map_or_else(Vec::new, Document::entries);
        let change = |path: &Names| {
            let was = entries.iter().find(|entry| entry.path == *path);
            (path.clone(), Change::Unwrap(was.map(|entry| entry.node)))
        };
        let changes: Vec<_> = picks.iter().map(change).collect();
        document.change(&changes, self.program)
    }

    /// Puts a record back whose file wasn't changed after all.
    fn restore(&self, source: &Source, kept: Option<&Kept>) {
        let real: &Path = &source.real;
        let _ = match kept {
            Some(kept) if kept.is_untouched(source.bytes()) => {
                let (bytes, entries) = (source.bytes(), kept.record.entries.clone());
                self.records
                    .keep(real, &kept.before, [bytes, bytes], entries)
            }
            Some(_) => Ok(()), // It's about other bytes than these, and says so.
            None => self.records.forget(real),
        };
    }
}

/// The servers that `install` has wrapped and that still are.
fn wrapped(content: &Content) -> Vec<Names> {
    let recorded = content
        .kept
        .as_ref()
        .map_or(&[][..], |kept| &kept.record.entries);
    let entries = content.document.entries();
    let is_wrapped = |path: &&Names| {
        let found = entries.iter().find(|entry| entry.path == **path);
        found.is_some_and(|entry| matches!(entry.start, Start::Wrapped { .. }))
    };
    recorded.iter().filter(is_wrapped).cloned().collect()
}

/// True if there is a record of a file that is as it was before. What became of another one isn't known, so its copy stays.
fn is_idle(content: &Content) -> bool {
    let entries = content.document.entries();
    let is_wrapped = entries
        .iter()
        .any(|entry| matches!(entry.start, Start::Wrapped { .. }));
    let is_as_before = |kept: &Kept| kept.before == content.source.bytes();
    content.kept.as_ref().is_some_and(is_as_before) && wrapped(content).is_empty() && !is_wrapped
}

//! Keys of a deployment, from a file or the environment.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use midcall_core::seal::{Keys, Secret};

use crate::asks::Asks;

/// Why keys could not be read. No error has any part of a key in it.
///
/// ```
/// use midcall_server::{Asks, KeysError};
/// let refused = Asks::new().keys_from_env("MIDCALL_NO_SUCH_VARIABLE");
/// assert!(matches!(refused, Err(KeysError::Unset(_))));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeysError {
    /// The file cannot be read.
    #[error("the keys in {} cannot be read: {why}", path.display())]
    File {
        /// Where it should be.
        path: PathBuf,
        /// What is in the way.
        why: io::Error,
    },
    /// There is no such variable.
    #[error("the environment variable {0} is not set: it has the keys of this server")]
    Unset(String),
    /// A key that is none.
    #[error("key {0} is not 64 hexadecimal digits: make one with `openssl rand -hex 32`")]
    NotAKey(usize),
    /// There is nothing in it.
    #[error("there are no keys in it: make one with `openssl rand -hex 32`")]
    Empty,
}

impl Asks {
    /// Takes the [keys](Self::keys) from a file, which all replicas have and nobody else may read. Each
    /// is 64 hexadecimal digits, as `openssl rand -hex 32` prints them; `#` begins a comment.
    ///
    /// The first key seals, and all of them open. To rotate, write the new key below the old one and
    /// start every replica again; then write it above, and start them again; and take the old one out
    /// once what it sealed has expired: a day later.
    ///
    /// ```no_run
    /// let asks = midcall_server::Asks::new().keys_from_file("/run/secrets/asks.keys")?;
    /// # Ok::<(), midcall_server::KeysError>(())
    /// ```
    pub fn keys_from_file(self, path: impl AsRef<Path>) -> Result<Self, KeysError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).map_err(|why| KeysError::File {
            path: path.to_owned(),
            why,
        })?;
        Ok(self.keys(read(&text)?))
    }

    /// The same from an environment variable. Several keys have spaces between them.
    ///
    /// ```no_run
    /// let asks = midcall_server::Asks::new().keys_from_env("ASKS_KEYS")?;
    /// # Ok::<(), midcall_server::KeysError>(())
    /// ```
    pub fn keys_from_env(self, variable: &str) -> Result<Self, KeysError> {
        let text = env::var(variable).map_err(|_| KeysError::Unset(variable.to_owned()))?;
        Ok(self.keys(read(&text)?))
    }
}

fn read(text: &str) -> Result<Keys, KeysError> {
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default());
    let words = lines.flat_map(str::split_whitespace).enumerate();
    let mut secrets = words.map(|(at, word)| secret(word).ok_or(KeysError::NotAKey(at + 1)));
    let mut keys = Keys::new(secrets.next().ok_or(KeysError::Empty)??);
    for retiring in secrets {
        keys = keys.also(retiring?);
    }
    Ok(keys)
}

fn secret(word: &str) -> Option<Secret> {
    let digits: Option<Vec<u32>> = word.chars().map(|digit| digit.to_digit(16)).collect();
    let bytes: Vec<u8> = digits?
        .chunks_exact(2)
        .map(|pair| (pair[0] * 16 + pair[1]) as u8)
        .collect();
    let bytes: [u8; 32] = bytes.try_into().ok()?;
    (word.len() == 64).then(|| Secret::from(bytes))
}

#[cfg(test)]
mod tests {
    use midcall_core::seal::Context;

    use super::*;

    #[test]
    fn the_first_key_seals_and_all_of_them_open() {
        let (old, new) = ("07".repeat(32), "a1B2".repeat(16));
        let keys = |text: &str| read(text).unwrap();
        let context = Context::new("test");
        let sealed = keys(&old).seal(b"x", &context, None, [1; 32]).unwrap();
        let both = keys(&format!("# since May\n{new} # seals\n\n  {old}\n"));
        assert_eq!(both.open(&sealed, &context, 0).unwrap(), b"x");
        let sealed = both.seal(b"y", &context, None, [2; 32]).unwrap();
        assert!(keys(&old).open(&sealed, &context, 0).is_err());
        assert_eq!(keys(&new).open(&sealed, &context, 0).unwrap(), b"y");
    }

    #[test]
    fn what_is_no_key_is_named_by_its_place_alone() {
        let good = "07".repeat(32);
        for bad in [
            "secret".to_owned(),
            good[2..].to_owned(),
            format!("{good}0"),
            "é".repeat(32),
        ] {
            let told = read(&format!("{good} {bad}")).unwrap_err().to_string();
            assert_eq!(
                told,
                "key 2 is not 64 hexadecimal digits: make one with `openssl rand -hex 32`"
            );
        }
        assert!(matches!(read("# nothing\n"), Err(KeysError::Empty)));
    }
}

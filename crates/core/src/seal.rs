//! State that leaves the process and must come back unread and unchanged.
//!
//! A `requestState` travels through clients, and answers rest in a database. Both are
//! sealed: encrypted, bound to whom and what they belong to, and dated. One secret seals,
//! several open, so a secret can be replaced while what the old one sealed still lives.
//!
//! Every message has an AES-256-GCM key and nonce of its own, derived by HKDF-SHA256 from
//! the secret, 32 random bytes and the scope. No count of messages wears a secret out.
//!
//! ```text
//! version 1 | key id 8 | expires 8 | salt 32 | ciphertext | tag 16     (bytes, big-endian)
//! ```
//!
//! In: [`Keys::seal`]. Out: [`Keys::open`].
//! Elsewhere: what is sealed, where secrets come from, the clock and the randomness.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};

/// How many bytes longer a sealed message is than what it holds.
pub const OVERHEAD: usize = HEADER + TAG;

/// The secrets of a deployment: one that seals, and those that still open.
///
/// ```
/// use midcall_core::seal::{Context, Keys, OpenError, Secret};
///
/// let keys = Keys::new(Secret::from([7; 32])).also(Secret::from([6; 32]));
/// let alice = Context::new("request state").scope("alice").about("book_table");
/// let bob = Context::new("request state").scope("bob").about("book_table");
///
/// let salt = [0; 32]; // From the system's randomness, new for every message.
/// let state = keys.seal_text(b"round 2", &alice, Some(1_800_000_000), salt)?;
///
/// assert_eq!(keys.open_text(&state, &alice, 1_799_999_999)?, b"round 2");
/// assert_eq!(keys.open_text(&state, &bob, 1_799_999_999), Err(OpenError::Forged));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Keys {
    sealing: Secret,
    retiring: Vec<Secret>,
    limit: usize,
}

impl Keys {
    /// Keys that seal and open with one secret, up to 1 MiB at a time.
    pub fn new(sealing: Secret) -> Self {
        Self {
            sealing,
            retiring: Vec::new(),
            limit: 1 << 20,
        }
    }

    /// Also opens what an older secret sealed. To rotate, seal with the new secret and name
    /// the old one here until the last thing it sealed has expired or been sealed again.
    #[must_use]
    pub fn also(mut self, retiring: Secret) -> Self {
        self.retiring.push(retiring);
        self
    }

    /// Seals and opens at most `bytes` of content. What is larger is refused before any
    /// work is spent on it.
    #[must_use]
    pub fn at_most(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Encrypts `plain` so that only these keys open it, only for the same `context`, and
    /// only before `expires` (Unix seconds; `None` is never).
    ///
    /// `salt` must be random and new for every message: two messages sealed with one salt
    /// share a key and a nonce, which gives both away.
    pub fn seal(
        &self,
        plain: &[u8],
        context: &Context,
        expires: Option<u64>,
        salt: [u8; 32],
    ) -> Result<Vec<u8>, TooLarge> {
        self.fits(plain.len())?;
        let header = Header {
            key: self.sealing.id,
            expires: expires.unwrap_or(NEVER),
            salt,
        };
        let header_bytes = header.to_bytes();
        let mut sealed = Vec::with_capacity(plain.len() + OVERHEAD);
        sealed.extend(header_bytes);
        sealed.extend(plain);
        let (key, nonce) = self.sealing.for_message(&header.salt, &context.scope);
        let tag = key
            .seal_in_place_separate_tag(
                nonce,
                associated(&header_bytes, context),
                &mut sealed[HEADER..],
            )
            .expect("AES-GCM takes every message that fits in memory");
        sealed.extend(tag.as_ref());
        Ok(sealed)
    }

    /// Gives back what [`Keys::seal`] took, if it is ours, untouched, in its own context and
    /// not past its time at `now` (Unix seconds).
    pub fn open(&self, sealed: &[u8], context: &Context, now: u64) -> Result<Vec<u8>, OpenError> {
        self.fits(sealed.len().saturating_sub(OVERHEAD))?;
        let (header_bytes, body) = sealed
            .split_first_chunk::<HEADER>()
            .filter(|(_, body)| body.len() >= TAG)
            .ok_or(OpenError::Malformed)?;
        let header = Header::read(header_bytes).ok_or(OpenError::Malformed)?;
        let secret = self
            .secret(header.key)
            .ok_or(OpenError::UnknownKey(header.key))?;
        let (key, nonce) = secret.for_message(&header.salt, &context.scope);
        let mut plain = body.to_vec();
        let length = key
            .open_in_place(nonce, associated(header_bytes, context), &mut plain)
            .map_err(|_| OpenError::Forged)?
            .len();
        plain.truncate(length);
        // Only now: before authentication the date is a stranger's claim.
        if header.expires != NEVER && header.expires <= now {
            return Err(OpenError::Expired(header.expires));
        }
        Ok(plain)
    }

    /// [`Keys::seal`] as text: base64url without padding, for JSON strings and URLs.
    pub fn seal_text(
        &self,
        plain: &[u8],
        context: &Context,
        expires: Option<u64>,
        salt: [u8; 32],
    ) -> Result<String, TooLarge> {
        let sealed = self.seal(plain, context, expires, salt)?;
        Ok(BASE64_URL_SAFE_NO_PAD.encode(sealed))
    }

    /// Opens what [`Keys::seal_text`] wrote. Every message has one spelling: padding, other
    /// alphabets and stray bits are [`OpenError::Malformed`].
    pub fn open_text(&self, text: &str, context: &Context, now: u64) -> Result<Vec<u8>, OpenError> {
        // Four letters hold three bytes. `open` counts exactly, but after decoding.
        self.fits((text.len() / 4 * 3).saturating_sub(OVERHEAD))?;
        let sealed = BASE64_URL_SAFE_NO_PAD
            .decode(text)
            .map_err(|_| OpenError::Malformed)?;
        self.open(&sealed, context, now)
    }

    fn secret(&self, id: KeyId) -> Option<&Secret> {
        std::iter::once(&self.sealing)
            .chain(&self.retiring)
            .find(|secret| secret.id == id)
    }

    fn fits(&self, size: usize) -> Result<(), TooLarge> {
        let limit = self.limit;
        if size > limit {
            return Err(TooLarge { size, limit });
        }
        Ok(())
    }
}

/// 32 random bytes that nobody outside the deployment knows. `Debug` prints the id alone.
#[derive(Clone)]
pub struct Secret {
    id: KeyId,
    root: Prk,
}

impl Secret {
    /// The name of this secret in what it seals.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// The salt goes into HKDF's `info`, not its salt: whoever sends a message to be opened
    /// chooses these bytes, and RFC 5869 wants the extraction free of an attacker's choice.
    fn for_message(&self, salt: &[u8; 32], scope: &[u8]) -> (LessSafeKey, Nonce) {
        let key: UnboundKey = self
            .root
            .expand(&[b"midcall seal 1 key", salt, scope], &AES_256_GCM)
            .expect(SHORT)
            .into();
        let nonce: [u8; NONCE_LEN] = fill(&self.root, &[b"midcall seal 1 nonce", salt, scope]);
        (LessSafeKey::new(key), Nonce::assume_unique_for_key(nonce))
    }
}

impl From<[u8; 32]> for Secret {
    fn from(bytes: [u8; 32]) -> Self {
        let root = Salt::new(HKDF_SHA256, &[]).extract(&bytes);
        let id = KeyId(fill(&root, &[b"midcall seal key id"]));
        Self { id, root }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({})", self.id)
    }
}

/// Which secret sealed something. It is computed from the secret and gives nothing of it
/// away, so that nobody has to number secrets and no two can get one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyId([u8; 8]);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.0))
    }
}

/// What a sealed message belongs to. It is not in the message: whoever opens it must know
/// it, and a message moved to another context does not open.
///
/// Each part is stored with its length, so `"ab", "c"` and `"a", "bc"` differ.
#[derive(Clone)]
pub struct Context {
    scope: Vec<u8>,
    about: Vec<u8>,
}

impl Context {
    /// A context for one use of sealing, such as `"request state"`. Each use has keys of its
    /// own: what was sealed for one never opens for another.
    pub fn new(purpose: &str) -> Self {
        let unscoped = Self {
            scope: Vec::new(),
            about: Vec::new(),
        };
        unscoped.scope(purpose)
    }

    /// Adds one part of whose it is: the user, the workspace, the conversation. Each scope
    /// has keys of its own.
    #[must_use]
    pub fn scope(mut self, part: impl AsRef<[u8]>) -> Self {
        push(&mut self.scope, part.as_ref());
        self
    }

    /// Adds one part of what it is about: the method, the tool, a digest of the arguments.
    #[must_use]
    pub fn about(mut self, part: impl AsRef<[u8]>) -> Self {
        push(&mut self.about, part.as_ref());
        self
    }
}

/// Content beyond what [`Keys::at_most`] allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{size} bytes are more than the {limit} that may be sealed at once")]
pub struct TooLarge {
    /// How many bytes of content there are. For text to be opened, a lower bound.
    pub size: usize,
    /// How many there may be.
    pub limit: usize,
}

/// Why a sealed message was not opened. Strangers should hear one and the same refusal for
/// all of these; the difference is for the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// It does not have the shape of a sealed message.
    #[error("this is not a sealed message: it is cut short, or something else wrote it")]
    Malformed,
    /// It is larger than anything these keys seal.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// No secret here has the id it names.
    #[error("this was sealed with secret {0}, which is not configured here (any more)")]
    UnknownKey(KeyId),
    /// Some byte was changed, or it was sealed for another context.
    #[error("this was changed on its way, or it was sealed for somebody or something else")]
    Forged,
    /// It is genuine, and its time (Unix seconds) is over.
    #[error("this expired at Unix time {0}: start again")]
    Expired(u64),
}

const VERSION: u8 = 1;
const HEADER: usize = 1 + 8 + 8 + 32;
const TAG: usize = 16;
const NEVER: u64 = u64::MAX;
const SHORT: &str = "HKDF gives up to 255 blocks, and this is less than two";

/// What stands readable before the ciphertext.
struct Header {
    key: KeyId,
    expires: u64,
    salt: [u8; 32],
}

impl Header {
    fn to_bytes(&self) -> [u8; HEADER] {
        let mut bytes = [VERSION; HEADER];
        bytes[1..9].copy_from_slice(&self.key.0);
        bytes[9..17].copy_from_slice(&self.expires.to_be_bytes());
        bytes[17..].copy_from_slice(&self.salt);
        bytes
    }

    fn read(bytes: &[u8; HEADER]) -> Option<Self> {
        let rest = bytes.strip_prefix(&[VERSION])?;
        let (key, rest) = rest.split_first_chunk()?;
        let (expires, salt) = rest.split_first_chunk()?;
        Some(Self {
            key: KeyId(*key),
            expires: u64::from_be_bytes(*expires),
            salt: salt.try_into().ok()?,
        })
    }
}

/// The header has a fixed length, so where it ends and the context begins is never in doubt.
fn associated(header: &[u8; HEADER], context: &Context) -> Aad<Vec<u8>> {
    Aad::from([header.as_slice(), &context.about].concat())
}

fn push(parts: &mut Vec<u8>, part: &[u8]) {
    parts.extend((part.len() as u64).to_be_bytes());
    parts.extend(part);
}

fn fill<const N: usize>(root: &Prk, info: &[&[u8]]) -> [u8; N] {
    struct Length(usize);
    impl KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut bytes = [0; N];
    root.expand(info, Length(N))
        .and_then(|okm| okm.fill(&mut bytes))
        .expect(SHORT);
    bytes
}

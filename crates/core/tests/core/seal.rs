//! Sealed messages open for their owner, whole, in time, and for nobody else.

use midcall_core::seal::{Context, Keys, OVERHEAD, OpenError, Secret, TooLarge};
use proptest::prelude::*;

const NOW: u64 = 1_800_000_000;
const SALT: [u8; 32] = [9; 32];

fn keys() -> Keys {
    Keys::new(Secret::from([1; 32]))
}

fn context() -> Context {
    Context::new("request state")
        .scope("alice")
        .scope("home")
        .about("tools/call")
        .about("book_table")
}

fn sealed_by(keys: &Keys) -> Vec<u8> {
    keys.seal(b"two seats", &context(), Some(NOW + 60), SALT)
        .unwrap()
}

/// The format, byte for byte, as another implementation (Node's `crypto`) writes it: HKDF
/// without salt, three `info` texts, AES-256-GCM. If this fails, what older releases sealed
/// no longer opens: give the new format a new version byte and keep reading the old one.
#[test]
fn the_format_stays_as_it_is() {
    let secret = Secret::from(std::array::from_fn(|i| i as u8));
    let salt = std::array::from_fn(|i| 0xa0 ^ i as u8);
    let keys = Keys::new(secret);
    let text = keys
        .seal_text(b"two seats", &context(), Some(NOW), salt)
        .unwrap();
    assert_eq!(text, VECTOR);
    assert_eq!(
        keys.open_text(VECTOR, &context(), NOW - 1).unwrap(),
        b"two seats"
    );
}

const VECTOR: &str = "AYa2UFaVMunmAAAAAGtJ0gCgoaKjpKWmp6ipqqusra6vsLGys7S1tre4ubq7vL2-v2XHpgf85uLr3q90CpLQ2ncMklt3bmptLPM";

#[test]
fn a_changed_bit_anywhere_is_refused() {
    let keys = keys();
    let sealed = sealed_by(&keys);
    for bit in 0..sealed.len() * 8 {
        let mut changed = sealed.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let error = keys.open(&changed, &context(), NOW).unwrap_err();
        let expected = match bit / 8 {
            0 => matches!(error, OpenError::Malformed),
            1..9 => matches!(error, OpenError::UnknownKey(_)),
            _ => error == OpenError::Forged,
        };
        assert!(expected, "bit {bit}: {error:?}");
    }
}

#[test]
fn a_message_cut_short_or_made_longer_is_refused() {
    let keys = keys();
    let mut sealed = sealed_by(&keys);
    for length in 0..sealed.len() {
        let error = keys.open(&sealed[..length], &context(), NOW).unwrap_err();
        let expected = if length < OVERHEAD {
            OpenError::Malformed
        } else {
            OpenError::Forged
        };
        assert_eq!(error, expected, "length {length}");
    }
    sealed.push(0);
    assert_eq!(keys.open(&sealed, &context(), NOW), Err(OpenError::Forged));
}

#[test]
fn another_context_does_not_open_it() {
    let keys = keys();
    let sealed = sealed_by(&keys);
    let state = || Context::new("request state");
    let others = [
        ("another use", {
            let at_rest = Context::new("answer at rest").scope("alice").scope("home");
            at_rest.about("tools/call").about("book_table")
        }),
        ("another user", {
            let bob = state().scope("bob").scope("home");
            bob.about("tools/call").about("book_table")
        }),
        ("another tool", {
            let alice = state().scope("alice").scope("home");
            alice.about("tools/call").about("pay")
        }),
        ("nothing said", state()),
        ("one part more", context().about("")),
        ("one scope more", context().scope("")),
        ("the same letters, split elsewhere", {
            let alice = state().scope("aliceh").scope("ome");
            alice.about("tools/call").about("book_table")
        }),
        ("the same letters about it, split elsewhere", {
            let alice = state().scope("alice").scope("home");
            alice.about("tools/callbook").about("_table")
        }),
        ("a part moved from one side to the other", {
            let alice = state().scope("alice").about("home");
            alice.about("tools/call").about("book_table")
        }),
    ];
    for (name, other) in others {
        assert_eq!(
            keys.open(&sealed, &other, NOW),
            Err(OpenError::Forged),
            "{name}"
        );
    }
}

#[test]
fn a_secret_is_replaced_step_by_step() {
    let old = || Secret::from([1; 32]);
    let new = || Secret::from([2; 32]);
    let before = sealed_by(&Keys::new(old()));

    let rotating = Keys::new(new()).also(old());
    assert_eq!(
        rotating.open(&before, &context(), NOW).unwrap(),
        b"two seats"
    );
    let after = sealed_by(&rotating);

    let rotated = Keys::new(new());
    assert_eq!(rotated.open(&after, &context(), NOW).unwrap(), b"two seats");
    assert_eq!(
        rotated.open(&before, &context(), NOW),
        Err(OpenError::UnknownKey(old().id()))
    );
}

#[test]
fn the_expiry_is_the_first_second_it_no_longer_opens() {
    let keys = keys();
    let sealed = sealed_by(&keys);
    assert!(keys.open(&sealed, &context(), NOW + 59).is_ok());
    for late in [NOW + 60, NOW + 61, u64::MAX] {
        assert_eq!(
            keys.open(&sealed, &context(), late),
            Err(OpenError::Expired(NOW + 60))
        );
    }

    let undated = keys.seal(b"two seats", &context(), None, SALT).unwrap();
    assert!(keys.open(&undated, &context(), u64::MAX).is_ok());
}

#[test]
fn a_forgery_is_not_told_whether_it_is_late() {
    let keys = keys();
    let mut sealed = sealed_by(&keys);
    *sealed.last_mut().unwrap() ^= 1;
    assert_eq!(
        keys.open(&sealed, &context(), u64::MAX),
        Err(OpenError::Forged)
    );
}

#[test]
fn equal_messages_look_different_under_different_salts() {
    let keys = keys();
    let one = keys.seal(b"yes", &context(), None, [1; 32]).unwrap();
    let two = keys.seal(b"yes", &context(), None, [2; 32]).unwrap();
    assert_ne!(one[OVERHEAD - 16..], two[OVERHEAD - 16..]);
}

#[test]
fn what_is_too_large_is_neither_sealed_nor_opened() {
    let small = keys().at_most(9);
    let large = keys();
    assert!(small.open(&sealed_by(&small), &context(), NOW).is_ok());

    let refusal = TooLarge { size: 10, limit: 9 };
    let ten = b"ten bytes!";
    assert_eq!(small.seal(ten, &context(), None, SALT), Err(refusal));
    let sealed = large.seal(ten, &context(), None, SALT).unwrap();
    assert_eq!(
        small.open(&sealed, &context(), NOW),
        Err(OpenError::TooLarge(refusal))
    );
    // Text is refused by its length alone, before it is decoded.
    let text = "!".repeat(200);
    assert!(matches!(
        small.open_text(&text, &context(), NOW),
        Err(OpenError::TooLarge(_))
    ));
}

#[test]
fn text_has_one_spelling() {
    let keys = keys();
    for extra in 0..3 {
        let plain = vec![0xff; extra];
        let text = keys.seal_text(&plain, &context(), None, SALT).unwrap();
        assert!(
            text.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        );
        assert_eq!(keys.open_text(&text, &context(), NOW).unwrap(), plain);
        for other in [
            format!("{text}="),
            format!("{text}\n"),
            format!(" {text}"),
            format!("{text}+"),
        ] {
            assert_eq!(
                keys.open_text(&other, &context(), NOW),
                Err(OpenError::Malformed)
            );
        }
        for index in 0..text.len() {
            let mut letters = text.clone().into_bytes();
            letters[index] = if letters[index] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(letters).unwrap();
            assert!(keys.open_text(&changed, &context(), NOW).is_err());
        }
    }
}

#[test]
fn debug_shows_no_secret() {
    let secret = Secret::from([0xab; 32]);
    let shown = format!(
        "{:?}",
        Keys::new(secret.clone()).also(Secret::from([1; 32]))
    );
    assert!(shown.contains(&secret.id().to_string()), "{shown}");
    assert!(!shown.contains("171"), "{shown}");
    assert!(!shown.contains("abab"), "{shown}");
}

proptest! {
    #[test]
    fn what_was_sealed_comes_back(
        secret: [u8; 32],
        salt: [u8; 32],
        plain: Vec<u8>,
        scope: Vec<u8>,
        about: Vec<u8>,
        expires in proptest::option::of(1u64..),
    ) {
        let keys = Keys::new(Secret::from(secret));
        let context = Context::new("test").scope(&scope).about(&about);
        let sealed = keys.seal(&plain, &context, expires, salt).unwrap();
        prop_assert_eq!(sealed.len(), plain.len() + OVERHEAD);
        prop_assert_eq!(keys.open(&sealed, &context, 0).unwrap(), plain);
    }

    #[test]
    fn two_contexts_are_one_only_when_all_their_parts_are(
        left in proptest::collection::vec("[ab]{0,2}", 0..4),
        right in proptest::collection::vec("[ab]{0,2}", 0..4),
    ) {
        let told = |parts: &[String]| {
            parts.iter().fold(Context::new("test"), |context, part| context.about(part))
        };
        let owned = |parts: &[String]| {
            parts.iter().fold(Context::new("test"), |context, part| context.scope(part))
        };
        let keys = keys();
        let sealed = keys.seal(b"x", &told(&left), None, SALT).unwrap();
        prop_assert_eq!(keys.open(&sealed, &told(&right), NOW).is_ok(), left == right);
        let sealed = keys.seal(b"x", &owned(&left), None, SALT).unwrap();
        prop_assert_eq!(keys.open(&sealed, &owned(&right), NOW).is_ok(), left == right);
    }

    #[test]
    fn no_input_makes_opening_panic(sealed: Vec<u8>, text: String) {
        prop_assert!(keys().open(&sealed, &context(), NOW).is_err());
        prop_assert!(keys().open_text(&text, &context(), NOW).is_err());
    }
}

//! Characters that a terminal would obey or that a person can't see.

/// True for controls, line separators, and characters that are invisible or change the direction of others. Surfaces
/// show each as something visible: escape sequences can clear a screen, and controls for the direction of text can make
/// one word look like another.
pub fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

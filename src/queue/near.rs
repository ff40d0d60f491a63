//! "Did you mean": the nearest of a few known words.

/// The known word that `typed` was probably meant to be: near by its letters, or the only one that begins as it does.
/// None if nothing is near; a wrong suggestion is worse than none.
#[must_use]
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = typed.to_lowercase();
    let mut best: Option<(usize, &str)> = None;
    let mut begins: Vec<&str> = vec![];
    for word in known {
        let distance = strsim::damerau_levenshtein(&folded, &word.to_lowercase());
        // A long name may have more slips in it than a short one.
        let longer = folded.chars().count().max(word.chars().count());
        if distance <= (longer / 3).clamp(1, 3) && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, word));
        }
        if folded.len() >= 3 && word.to_lowercase().starts_with(&folded) {
            begins.push(word);
        }
    }
    match (best, begins.as_slice()) {
        (Some((_, word)), _) => Some(word),
        (None, [only]) => Some(only),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_nothing_is_guessed() {
        let known = ["emails", "orders", "thumbs", "journal", "durability"];
        for (typed, meant) in [
            ("emial", Some("emails")),
            ("Emails", Some("emails")),
            ("order", Some("orders")),
            ("jurnal", Some("journal")),
            ("dura", Some("durability")),
            ("", None),
            ("x", None),
            ("payments", None),
        ] {
            assert_eq!(nearest(typed, known), meant, "{typed}");
        }
        assert_eq!(nearest("ema", ["emails", "emanations"]), None);
    }
}

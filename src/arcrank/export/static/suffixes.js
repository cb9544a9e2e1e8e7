// What the stemmers share. Words are in lower case; capitals mark letters that count as consonants.

export const longestSuffix = (word, suffixes) => {
  let found = null;
  for (const suffix of suffixes) {
    if (word.endsWith(suffix) && (found === null || suffix.length > found.length)) found = suffix;
  }
  return found;
};

export const withoutEnd = (word, suffix) => word.slice(0, word.length - suffix.length);

// The place after the first consonant that follows a vowel, from `start` on; the end of the word if there is none.
export function afterSyllable(word, vowels, start) {
  let at = start;
  while (at < word.length && !vowels.has(word[at])) at += 1;
  while (at < word.length && vowels.has(word[at])) at += 1;
  return Math.min(at + 1, word.length);
}

// Replaces the longest of the suffixes if it begins at or after `from`; a replacement may also be a function.
export function replaceSuffix(word, table, from) {
  const suffix = longestSuffix(word, Object.keys(table));
  if (suffix === null || word.length - suffix.length < from) return word;
  const stem = withoutEnd(word, suffix);
  const into = table[suffix];
  return typeof into === "function" ? into(stem, suffix) : stem + into;
}

// Porter's stemmer (Porter 1980), and what the later English stemmer shares with it.

import { afterSyllable, longestSuffix, replaceSuffix, withoutEnd } from "./suffixes.js";

export const VOWELS = new Set("aeiouy");
const CLOSED = new Set("aeiouywxY");
const DOUBLES = ["bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"];

export const markY = (word) => {
  let marked = word.replace(/^y/, "Y");
  for (let at = 1; at < marked.length; at += 1) {
    if (marked[at] === "y" && VOWELS.has(marked[at - 1])) marked = `${marked.slice(0, at)}Y${marked.slice(at + 1)}`;
  }
  return marked;
};

export const hasVowel = (word) => Array.from(word).some((letter) => VOWELS.has(letter));

// A vowel between two consonants, of which the last is not w, x or Y.
export const isShort = (word) => word.length > 2 && !CLOSED.has(word.at(-1)) && VOWELS.has(word.at(-2)) && !VOWELS.has(word.at(-3));

// After -ed and -ing: hoped -> hop -> hope, hopped -> hopp -> hop.
export function restoreE(word, first, short, keepsDouble = () => false) {
  if (longestSuffix(word, ["at", "bl", "iz"])) return `${word}e`;
  if (longestSuffix(word, DOUBLES)) return keepsDouble(word) ? word : word.slice(0, -1);
  return word.length === first && short(word) ? `${word}e` : word;
}

const SECOND = {
  tional: "tion", enci: "ence", anci: "ance", abli: "able", entli: "ent", eli: "e", izer: "ize", ization: "ize",
  ational: "ate", ation: "ate", ator: "ate", alli: "al", alism: "al", aliti: "al", fulness: "ful", ousli: "ous",
  ousness: "ous", iveness: "ive", iviti: "ive", biliti: "ble",
};
const THIRD = { alize: "al", icate: "ic", iciti: "ic", ical: "ic", ative: "", ful: "", ness: "" };
const ion = (stem, suffix) => (/[st]$/.test(stem) ? stem : stem + suffix);
export const FOURTH = Object.fromEntries(
  "al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize".split(" ").map((suffix) => [suffix, ""]),
);
FOURTH.ion = ion;

function endings(word, first) {
  const suffix = longestSuffix(word, ["eed", "ed", "ing"]);
  if (suffix === null) return word;
  const stem = withoutEnd(word, suffix);
  if (suffix === "eed") return stem.length >= first ? `${stem}ee` : word;
  return hasVowel(stem) ? restoreE(stem, first, isShort) : word;
}

export function stemPorter(given) {
  let word = markY(given);
  const first = afterSyllable(word, VOWELS, 0);
  const second = afterSyllable(word, VOWELS, first);
  word = replaceSuffix(word, { sses: "ss", ies: "i", ss: "ss", s: "" }, 0);
  word = endings(word, first);
  if (/[yY]$/.test(word) && hasVowel(word.slice(0, -1))) word = `${word.slice(0, -1)}i`;
  word = replaceSuffix(word, SECOND, first);
  word = replaceSuffix(word, THIRD, first);
  word = replaceSuffix(word, { ...FOURTH, ou: "" }, second);
  word = dropE(word, first, second, isShort);
  word = dropL(word, second);
  return word.replaceAll("Y", "y");
}

export function dropE(word, first, second, short) {
  const at = word.length - 1;
  if (!word.endsWith("e") || !(at >= second || (at >= first && !short(word.slice(0, -1))))) return word;
  return word.slice(0, -1);
}

export const dropL = (word, second) => (word.endsWith("ll") && word.length - 1 >= second ? word.slice(0, -1) : word);

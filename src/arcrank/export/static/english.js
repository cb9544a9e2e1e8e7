// The English stemmer of Snowball, also known as Porter2.

import { FOURTH, VOWELS, dropE, dropL, hasVowel, isShort, markY, restoreE } from "./porter.js";
import { afterSyllable, longestSuffix, replaceSuffix, withoutEnd } from "./suffixes.js";

const WHOLE = {
  skis: "ski", skies: "sky", idly: "idl", gently: "gentl", ugly: "ugli", early: "earli", only: "onli", singly: "singl",
  sky: "sky", news: "news", howe: "howe", atlas: "atlas", cosmos: "cosmos", bias: "bias", andes: "andes",
};
const BEGINNINGS = /^(gener|commun|arsen|past|univers|later|emerg|organ|inter)/;
const INVARIANT_ING = new Set(["inn", "out", "cann", "herr", "earr", "even"]);
const INVARIANT_EED = new Set(["proc", "exc", "succ"]);
const valid = (stem, suffix) => (/[cdeghkmnrt]$/.test(stem) ? stem : stem + suffix);
const SECOND = {
  tional: "tion", enci: "ence", anci: "ance", abli: "able", entli: "ent", izer: "ize", ization: "ize", ational: "ate",
  ation: "ate", ator: "ate", alism: "al", aliti: "al", alli: "al", fulness: "ful", ousli: "ous", ousness: "ous",
  iveness: "ive", iviti: "ive", biliti: "ble", bli: "ble", ogist: "og",
  ogi: (stem, suffix) => (stem.endsWith("l") ? `${stem}og` : stem + suffix),
  fulli: "ful", lessli: "less", li: valid,
};
const THIRD = { tional: "tion", ational: "ate", alize: "al", icate: "ic", iciti: "ic", ical: "ic", ful: "", ness: "" };

const isShortHere = (word) =>
  isShort(word) || (word.length === 2 && !VOWELS.has(word[1]) && VOWELS.has(word[0])) || word.endsWith("past");
const isVowelAlone = (word) => word.length === 3 && "aeo".includes(word[0]); // add, egg, off

function plural(word) {
  const suffix = longestSuffix(word, ["sses", "ied", "ies", "s", "us", "ss"]);
  const stem = suffix && withoutEnd(word, suffix);
  if (suffix === "sses") return `${stem}ss`;
  if (suffix === "ied" || suffix === "ies") return stem.length > 1 ? `${stem}i` : `${stem}ie`;
  return suffix === "s" && hasVowel(stem.slice(0, -1)) ? stem : word;
}

function endings(word, first) {
  const suffix = longestSuffix(word, ["eed", "eedly", "ed", "edly", "ing", "ingly"]);
  if (suffix === null) return word;
  const stem = withoutEnd(word, suffix);
  if (suffix.startsWith("eed")) return stem.length >= first && !INVARIANT_EED.has(stem) ? `${stem}ee` : word;
  if (suffix === "ing" && /^[^aeiouy]y$/.test(stem)) return `${stem[0]}ie`; // dying -> die
  if (suffix === "ing" && INVARIANT_ING.has(stem)) return word;
  return hasVowel(stem) ? restoreE(stem, first, isShortHere, isVowelAlone) : word;
}

const isConsonantBeforeY = (word) => word.length > 2 && !VOWELS.has(word.at(-2));

export function stemEnglish(given) {
  if (Object.hasOwn(WHOLE, given)) return WHOLE[given];
  if (given.length < 3) return given;
  let word = markY(given);
  const first = BEGINNINGS.exec(word)?.[0].length ?? afterSyllable(word, VOWELS, 0);
  const second = afterSyllable(word, VOWELS, first);
  word = endings(plural(word), first);
  if (/[yY]$/.test(word) && isConsonantBeforeY(word)) word = `${word.slice(0, -1)}i`;
  word = replaceSuffix(word, SECOND, first);
  const ative = (stem, suffix) => (stem.length >= second ? stem : stem + suffix);
  word = replaceSuffix(word, { ...THIRD, ative }, first);
  word = replaceSuffix(word, FOURTH, second);
  word = word.endsWith("e") ? dropE(word, first, second, isShortHere) : dropL(word, second);
  return word.replaceAll("Y", "y");
}

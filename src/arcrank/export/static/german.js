// The German stemmer of Snowball.

import { afterSyllable, longestSuffix, withoutEnd } from "./suffixes.js";

const VOWELS = new Set("aeiouyäöü");
const UMLAUTS = { ß: "ss", ae: "ä", oe: "ö", ue: "ü", qu: "qu" };
const PLAIN = { Y: "y", U: "u", ä: "a", ö: "o", ü: "u" };
const AFTER_ET = /[dfgklmnrstUzä]$/; // arbeitet
const NO_VERB = /(geordn|intern|plan|tick|tr)$/; // Internet, Planet

// u and y between vowels are consonants.
function markConsonants(word) {
  const letters = Array.from(word);
  for (let at = 1; at + 1 < letters.length; at += 1) {
    const isBetween = VOWELS.has(letters[at - 1]) && VOWELS.has(letters[at + 1]);
    if (isBetween && (letters[at] === "u" || letters[at] === "y")) letters[at] = letters[at].toUpperCase();
  }
  return letters.join("");
}

function inflection(word, first) {
  const suffix = longestSuffix(word, ["em", "ern", "er", "erin", "erinnen", "e", "en", "es", "s", "ln", "lns"]);
  if (suffix === null || word.length - suffix.length < first) return word;
  const stem = withoutEnd(word, suffix);
  if (suffix === "em") return stem.endsWith("syst") ? word : stem;
  if (suffix === "s") return /[bdfghklmnrt]$/.test(stem) ? stem : word;
  if (suffix.startsWith("ln")) return `${stem}l`;
  return ["e", "en", "es"].includes(suffix) && stem.endsWith("niss") ? stem.slice(0, -1) : stem;
}

function comparison(word, first) {
  const suffix = longestSuffix(word, ["en", "er", "est", "st", "et"]);
  if (suffix === null || word.length - suffix.length < first) return word;
  const stem = withoutEnd(word, suffix);
  if (suffix === "et") return AFTER_ET.test(stem) && !NO_VERB.test(stem) ? stem : word;
  return suffix !== "st" || (/[bdfghklmnt]$/.test(stem) && stem.length > 3) ? stem : word;
}

function derivation(word, first, second) {
  const suffix = longestSuffix(word, ["end", "ung", "ig", "ik", "isch", "lich", "heit", "keit"]);
  if (suffix === null || word.length - suffix.length < second) return word;
  const stem = withoutEnd(word, suffix);
  const drop = (ends, from) => {
    const more = longestSuffix(stem, ends);
    return more !== null && stem.length - more.length >= from ? withoutEnd(stem, more) : stem;
  };
  if (suffix === "end" || suffix === "ung") return stem.endsWith("eig") ? stem : drop(["ig"], second);
  if (suffix === "lich" || suffix === "heit") return drop(["er", "en"], first);
  if (suffix === "keit") return drop(["lich", "ig"], second);
  return stem.endsWith("e") ? word : stem;
}

export function stemGerman(given) {
  let word = markConsonants(given).replace(/ß|ae|oe|ue|qu/g, (letters) => UMLAUTS[letters]);
  const early = afterSyllable(word, VOWELS, 0);
  const first = Math.min(Math.max(early, 3), word.length);
  const second = afterSyllable(word, VOWELS, early);
  word = derivation(comparison(inflection(word, first), first), first, second);
  return word.replace(/[YUäöü]/g, (letter) => PLAIN[letter]);
}

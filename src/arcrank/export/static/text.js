// Texts -> features, as arcrank.text computes them.

import { stemEnglish } from "./english.js";
import { stemGerman } from "./german.js";
import { stemPorter } from "./porter.js";

const STEMMERS = { porter: stemPorter, english: stemEnglish, german: stemGerman };
const DIGITS = /\p{Nd}+/gu;
const isAscii = (text) => /^[\x00-\x7f]*$/.test(text);

// Letters, digits and marks as Python's Unicode tables list them, in pairs of first and last code point.
function wordPattern(ranges) {
  const code = (number) => `\\u{${number.toString(16)}}`;
  let pairs = "";
  for (let at = 0; at < ranges.length; at += 2) pairs += `${code(ranges[at])}-${code(ranges[at + 1])}`;
  return new RegExp(`[${pairs}]+`, "gu");
}

export class TextReader {
  constructor({ lowercase, digits, stopWords, stemmer, minLength, ngrams, wordRanges }) {
    Object.assign(this, { lowercase, digits, minLength, ngrams });
    this.stop = new Set(stopWords);
    this.stem = stemmer === null ? null : STEMMERS[stemmer];
    this.any = wordPattern(wordRanges);
    this.known = new Map(); // raw word -> final word: a word is stemmed once
  }

  split(text, lower) {
    const normal = isAscii(text) ? text : text.normalize("NFKC");
    return (lower ? normal.toLowerCase() : normal).match(isAscii(normal) ? /[0-9A-Za-z]+/g : this.any) ?? [];
  }

  final(raw) {
    let found = this.known.get(raw);
    if (found === undefined) {
      found = this.finish(raw);
      if (this.known.size > 200000) this.known.clear();
      this.known.set(raw, found);
    }
    return found;
  }

  finish(raw) {
    const word = this.digits === "keep" ? raw : raw.replace(DIGITS, this.digits === "token" ? "#" : "");
    const length = Array.from(word).length;
    if (this.stop.has(word) || (length < this.minLength && word !== "#")) return "";
    return this.stem === null || length < 3 ? word : this.stem(word);
  }

  tokens(text) {
    return this.split(text, this.lowercase).map((word) => this.final(word)).filter(Boolean);
  }

  // How often the text holds each term: runs of up to `ngrams` words.
  counts(text) {
    const counts = new Map();
    for (const term of runs(this.tokens(text), this.ngrams)) counts.set(term, (counts.get(term) ?? 0) + 1);
    return counts;
  }

  // The terms of a text, each with the different ways in which it is written.
  written(text) {
    const words = this.split(text, false)
      .flatMap((raw) => this.tokens(raw).map((final) => ({ raw, final })));
    const found = new Map();
    for (let length = 1; length <= this.ngrams; length += 1) {
      for (let start = 0; start + length <= words.length; start += 1) {
        const run = words.slice(start, start + length);
        const term = run.map(({ final }) => final).join(" ");
        const raw = run.map(({ raw: one }) => one).join(" ");
        if (!found.has(term)) found.set(term, new Map());
        const ways = found.get(term);
        if (!ways.has(raw.toLowerCase())) ways.set(raw.toLowerCase(), raw);
      }
    }
    return new Map(Array.from(found, ([term, ways]) => [term, Array.from(ways.values())]));
  }
}

function* runs(words, longest) {
  for (let start = 0; start < words.length; start += 1) {
    let term = "";
    for (let length = 1; length <= longest && start + length <= words.length; length += 1) {
      term += (length > 1 ? " " : "") + words[start + length - 1];
      yield term;
    }
  }
}

// log(count) + 1; what is below one keeps its value, as in arcrank.
const damped = (count) => (count < 1 ? count : 1 + Math.log(count));

// Columns and weights of terms and their counts, in order of columns.
export function termWeights(counts, columns, { idf, sublinear, norm }) {
  const known = [];
  for (const [term, count] of counts) {
    const column = columns.get(term);
    if (column !== undefined) known.push([column, (sublinear ? damped(count) : count) * (idf ? idf[column] : 1)]);
  }
  known.sort((a, b) => a[0] - b[0]);
  const sum = known.reduce((total, [, value]) => total + (norm === "l1" ? Math.abs(value) : value * value), 0);
  const length = norm === null ? 1 : (norm === "l1" ? sum : Math.sqrt(sum)) || 1;
  return known.map(([column, value]) => [column, value / length]);
}

// Why a label is predicted, or why one label is above another: words marked in the text, and their exact parts.

import { modelPath, post } from "./api.js";
import { $, make, showError, signed } from "./dom.js";
import { places, state } from "./state.js";

const PARTS = 10; // at first
let wanted = 0;
let all = false;

export function showAllParts() {
  all = true;
}

export async function drawExplanation() {
  const number = ++wanted;
  const question = asked();
  const { document } = state;
  if (question === null) {
    $("why").hidden = true;
    return;
  }
  try {
    const why = await post(modelPath(state.model.name, "/explain"), { ...document, ...question, top: all ? 0 : PARTS });
    if (number === wanted && document === state.document) draw(why); // the text may have changed meanwhile
  } catch (error) {
    if (number === wanted) { $("why").hidden = true; showError(error); }
  }
  all = false;
}

function asked() {
  if (!state.document || !state.model.explains || !state.ranked || state.blind) return null; // margins tell the order
  if (state.pinned.length === 2) {
    const at = places();
    const [above, below] = [...state.pinned].sort((a, b) => (at.get(a) ?? Infinity) - (at.get(b) ?? Infinity));
    return { above, below };
  }
  const label = state.selected ?? state.ranked.ranking[0];
  if (state.ranked.ranking.length < 2 || state.unknown.has(label)) return null;
  if (state.model.cut) return { above: label, cut: true };
  return { above: label };
}

function draw(why) {
  const isCut = why.below === "CUT" && state.pinned.length < 2;
  $("why").hidden = false;
  $("why-title").textContent = isCut ? `Why ${why.above}?` : `Why ${why.above} rather than ${why.below}?`;
  $("why-margin").textContent = signed(why.margin);
  $("unpin").hidden = state.pinned.length < 2;
  $("why-sentence").textContent = sentence(why, isCut);
  drawParts(why);
  drawText(why);
}

function sentence(why, isCut) {
  const far = `${Math.abs(why.margin).toFixed(3)} ${why.margin > 0 ? "above" : "below"}`;
  return `Its score is ${far} ${isCut ? "the cut" : `that of ${why.below}`}: the sum of the parts of all words.`;
}

function drawParts(why) {
  const most = Math.max(...why.parts.map((part) => Math.abs(part.weight)), 1e-12);
  const rows = why.parts.map((part, at) => partRow(part, at, most));
  if (why.intercept) rows.push(plainRow("for every document", why.intercept));
  if (why.rest_count) rows.push(plainRow(why.rest_count === 1 ? "one more word" : `${why.rest_count} more words`, why.rest));
  rows.push(plainRow("sum", why.margin, "sum"));
  $("why-parts").replaceChildren(...rows);
  $("why-more").hidden = why.rest_count === 0;
}

function partRow(part, at, most) {
  const written = part.words.slice(0, 3).join(", ") + (part.words.length > 3 ? ", …" : "");
  const plain = part.words.length === 1 && part.words[0].toLowerCase() === part.feature;
  const bar = make("span", { class: part.weight < 0 ? "against" : "" });
  bar.style.width = `${100 * Math.abs(part.weight) / most}%`;
  const light = (on) => () => document.querySelectorAll(`mark[data-part="${at}"]`).forEach((mark) => mark.classList.toggle("lit", on));
  return make("tr", { onmouseenter: light(true), onmouseleave: light(false) },
    make("th", { scope: "row" }, written || part.feature, plain || !written ? null : make("span", { class: "stem", textContent: ` ${part.feature}` })),
    make("td", { class: "bars" }, make("span", { class: "balance", "aria-hidden": "true" }, bar)),
    make("td", { class: "number", textContent: signed(part.weight) }));
}

function plainRow(words, value, kind = "") {
  return make("tr", { class: kind },
    make("th", { scope: "row", textContent: words }), make("td", {}), make("td", { class: "number", textContent: signed(value) }));
}

// Spans count characters, and JavaScript's strings count halves of some of them.
function drawText(why) {
  const text = state.document.text;
  $("why-text").hidden = text === undefined;
  if (text === undefined) return;
  const characters = Array.from(text);
  const most = Math.max(...why.parts.map((part) => Math.abs(part.weight)), 1e-12);
  const spans = clearest(why.parts.flatMap((part, at) => part.spans.map(([start, end]) => ({ start, end, part, at }))));
  const pieces = [];
  let position = 0;
  for (const { start, end, part, at } of spans) {
    pieces.push(characters.slice(position, start).join(""));
    pieces.push(marked(characters.slice(start, end).join(""), part, at, most));
    position = end;
  }
  pieces.push(characters.slice(position).join(""));
  $("why-text").replaceChildren(...pieces);
}

// A word belongs to several parts, as in pairs of words: it is marked by the largest, the first in the list.
function clearest(spans) {
  const taken = new Set();
  const kept = [];
  for (const span of spans) {
    const places = Array.from({ length: span.end - span.start }, (_, at) => span.start + at);
    if (places.some((place) => taken.has(place))) continue;
    places.forEach((place) => taken.add(place));
    kept.push(span);
  }
  return kept.sort((a, b) => a.start - b.start);
}

function marked(word, part, at, most) {
  const mark = make("mark", { class: part.weight < 0 ? "against" : "for", title: signed(part.weight), data: { part: at } }, word);
  mark.style.setProperty("--strength", `${Math.round(25 + 75 * Math.abs(part.weight) / most)}%`);
  return mark;
}

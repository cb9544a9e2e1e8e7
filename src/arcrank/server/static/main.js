// The page: a document, its ranking, why, and what people say about it.

import { get, modelPath, post, setWho, takeToken, who } from "./api.js";
import { copy } from "./copy.js";
import { $, make, say, showError } from "./dom.js";
import { drawExplanation, showAllParts } from "./explanation.js";
import { add, drawHistory, judge, learn, move, onLearnt, undo } from "./feedback.js";
import { answer, drawQuestion } from "./question.js";
import { drawRanking } from "./ranking.js";
import { cutPlace, forgetDocument, state, visibleLabels } from "./state.js";
import { startTypeahead } from "./typeahead.js";

const MOST_LABELS = 500;
const MOST_AT_FIRST = 25;
let running = null;
let isReading = false; // a text that has just changed
let hasChanged = false;
let lastPlace = 0; // of the selected label, which may leave the list when the model learns

const actions = { select, pin, judge, move };

async function start() {
  takeToken();
  listen();
  try {
    const { models } = await get("/v1/models");
    $("model").replaceChildren(...models.map(({ name }) => make("option", { value: name, textContent: name })));
    await useModel(new URLSearchParams(location.search).get("model") ?? models[0].name);
  } catch (error) {
    showError(error);
  }
}

async function useModel(name) {
  const details = await get(modelPath(name));
  const learnsCut = details.cut && (details.learning !== "live" || details.learner !== "perceptron");
  state.model = { ...details, cut_is_learnt: learnsCut };
  $("model").value = name;
  const takesText = details.takes === "text";
  $("text").hidden = !takesText;
  $("features").hidden = takesText;
  describeModel();
  Object.assign(state, { ranked: null, history: [] });
  state.unknown.clear();
  forgetDocument();
  drawHistory();
  await rank();
}

function describeModel() {
  const { labels, learner, learning } = state.model;
  const teaches = { off: "", live: ", learns at once", recorded: ", feedback is recorded" }[learning];
  $("add-title").textContent = learning === "off" ? "Find a label" : "Find or add a label";
  $("model-facts").textContent = `${labels.toLocaleString("en")} labels, ${learner}${teaches}`;
}

function readDocument() {
  if (state.model.takes === "text") {
    const text = $("text").value;
    return text.trim() ? { text } : null;
  }
  const written = $("features").value.trim();
  if (!written) return null;
  try {
    return { features: JSON.parse(written) };
  } catch {
    throw new Error('Features are a JSON object of names and numbers, such as {"height": 1.5}.');
  }
}

// A changed text is ranked at once, and what is typed meanwhile as soon as that is done.
async function changed() {
  hasChanged = true;
  if (isReading) return;
  isReading = true;
  while (hasChanged) {
    hasChanged = false;
    forgetDocument();
    $("moved").hidden = true;
    await rank();
  }
  isReading = false;
}

async function rank() {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  try {
    state.document = readDocument();
    if (state.document === null) state.ranked = null;
    else {
      const began = performance.now();
      const found = await post(modelPath(state.model.name, "/rank"), { ...state.document, top: MOST_LABELS }, { signal });
      state.ranked = found.documents[0];
      state.shown = Math.max(state.shown, Math.min(MOST_AT_FIRST, (cutPlace() ?? 0) + 3)); // so that the cut is seen
      noteTime(performance.now() - began, found);
    }
    showError(null);
  } catch (error) {
    if (error.name === "AbortError") return;
    state.ranked = null;
    showError(error);
  }
  draw();
}

function noteTime(milliseconds, found) {
  const known = state.ranked.known_features;
  const words = state.model.takes === "text" ? "words" : "features";
  $("ranking-time").textContent = known === 0 ? `the model knows none of its ${words}` : `${Math.max(1, Math.round(milliseconds))} ms`;
  $("ranking-time").title = `${known} known ${words}; model ${found.checksum.slice(0, 12)}, ${found.learnt} learnt`;
}

function draw() {
  const size = state.model.takes === "text" ? $("text").value.length : 0;
  $("document-size").textContent = size ? `${size.toLocaleString("en")} characters` : "";
  $("clear").hidden = state.document === null;
  if (state.ranked === null) $("ranking-time").textContent = "";
  drawRanking(actions);
  drawQuestion();
  drawExplanation();
}

function select(label, { focus = false } = {}) {
  state.selected = state.selected === label && !focus ? null : label;
  drawRanking(actions);
  drawExplanation();
  if (focus || state.selected) focusLabel(label);
}

function focusLabel(label) {
  const row = [...document.querySelectorAll(".label")].find((one) => one.dataset.label === label);
  row?.querySelector(".name").focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest" });
}

function pin(label) {
  state.pinned = state.pinned.includes(label) ? state.pinned.filter((one) => one !== label) : [...state.pinned, label].slice(-2);
  drawRanking(actions);
  focusLabel(label);
  drawExplanation();
  say(state.pinned.length === 2 ? `Comparing ${state.pinned[0]} with ${state.pinned[1]}` : `${label} ${state.pinned.includes(label) ? "pinned" : "no longer pinned"}`);
}

function step(by) {
  const labels = visibleLabels();
  if (!labels.length) return;
  const at = labels.indexOf(state.selected);
  let next = at + by;
  if (state.selected === null) next = by > 0 ? 0 : labels.length - 1;
  else if (at < 0) next = by > 0 ? lastPlace : lastPlace - 1;
  lastPlace = Math.max(0, Math.min(labels.length - 1, next));
  select(labels[lastPlace], { focus: true });
}

function setBlind(on) {
  state.blind = on;
  $("blind").setAttribute("aria-pressed", String(on));
  state.selected = null;
  if (on) $("moved").hidden = true;
  draw();
  say(on ? "The model's order is hidden" : "The model's order is shown");
}

function choose(label) {
  const at = state.ranked.ranking.indexOf(label);
  if (at < 0 || at >= state.shown) state.extra = [...new Set([...state.extra, label])];
  select(label, { focus: true });
}

const keys = {
  j: () => step(1),
  k: () => step(-1),
  y: () => state.selected && judge(state.selected, "yes"),
  n: () => state.selected && judge(state.selected, "no"),
  h: () => state.selected && !state.blind && move(state.selected, -1),
  l: () => state.selected && !state.blind && move(state.selected, 1),
  p: () => state.selected && !state.blind && !state.unknown.has(state.selected) && pin(state.selected),
  u: () => undo(),
  b: () => setBlind(!state.blind),
  t: () => $(state.model.takes === "text" ? "text" : "features").focus(),
  "/": () => $("add-label").focus(),
  "?": () => $("help").showModal(),
  1: () => answer("a"),
  2: () => answer("b"),
  3: () => answer("tie"),
  4: () => answer("neither"),
};

function onKey(event) {
  const inField = event.target.matches("input, textarea, select");
  if (inField && event.key === "Escape") event.target.blur();
  if (inField || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const act = Object.hasOwn(keys, event.key) ? keys[event.key] : null;
  if (!act || !state.model) return;
  if (state.model.learning === "off" && "ynhlu1234".includes(event.key)) return;
  event.preventDefault();
  act();
}

async function onDrop(event) {
  event.preventDefault();
  document.querySelector(".document").classList.remove("dropping");
  const [file] = event.dataTransfer.files;
  const text = file ? await file.text() : event.dataTransfer.getData("text/plain");
  const field = $(state.model.takes === "text" ? "text" : "features");
  if (text) { field.value = text; changed(); }
}

function listen() {
  const card = document.querySelector(".document");
  for (const id of ["text", "features"]) $(id).addEventListener("input", changed);
  card.addEventListener("dragover", (event) => { event.preventDefault(); card.classList.add("dropping"); });
  card.addEventListener("dragleave", () => card.classList.remove("dropping"));
  card.addEventListener("drop", onDrop);
  $("model").addEventListener("change", (event) => useModel(event.target.value).catch(showError));
  $("clear").addEventListener("click", () => { $("text").value = ""; $("features").value = ""; changed(); $("text").focus(); });
  $("more").addEventListener("click", () => { state.shown = Math.min(state.shown + 20, MOST_LABELS); drawRanking(actions); });
  $("blind").addEventListener("click", () => setBlind(!state.blind));
  $("undo").addEventListener("click", () => undo());
  $("learn").addEventListener("click", learn);
  $("why-more").addEventListener("click", () => { showAllParts(); drawExplanation(); });
  $("token-cancel").addEventListener("click", () => $("token-dialog").close(""));
  $("help-open").addEventListener("click", () => $("help").showModal());
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(button.dataset.copy));
  for (const button of document.querySelectorAll("[data-outcome]")) button.addEventListener("click", () => answer(button.dataset.outcome));
  document.addEventListener("keydown", onKey);
  $("unpin").addEventListener("click", () => { state.pinned = []; drawRanking(actions); drawExplanation(); });
  $("by").value = who();
  $("by").addEventListener("input", (event) => setWho(event.target.value));
  startTypeahead(choose, async (label) => { await add(label); if (state.verdicts.has(label)) choose(label); else draw(); });
  onLearnt(async () => { await rank(); if (state.selected) focusLabel(state.selected); });
}

start();

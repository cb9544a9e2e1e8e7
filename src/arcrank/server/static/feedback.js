// Preferences: sent to the server, undone, and what they moved.

import { modelPath, newId, post, setToken, token, who } from "./api.js";
import { $, make, showError, toast } from "./dom.js";
import { places, state, visibleLabels } from "./state.js";

let rankAgain = async () => {};
let saidHow = false;

export function onLearnt(callback) {
  rankAgain = callback;
}

export async function judge(label, verdict, more = {}) {
  const fits = verdict === "yes";
  const others = visibleLabels().filter((other) => other !== label && state.verdicts.get(other) !== verdict).slice(0, 10);
  const preference = state.model.cut_is_learnt
    ? { relevant: fits ? [label] : [], irrelevant: fits ? [] : [label] }
    : { arcs: others.map((other) => (fits ? [label, other] : [other, label])) };
  state.verdicts.set(label, verdict);
  await give({ ...preference, ...more }, `${label} ${fits ? "fits" : "does not fit"}`, () => {
    state.verdicts.delete(label);
    if (more.new_labels) forgetLabel(label);
  });
}

function forgetLabel(label) {
  state.extra = state.extra.filter((one) => one !== label);
  if (state.selected === label) state.selected = null;
}

// A label that the model does not have.
export async function add(label) {
  state.unknown.add(label);
  state.extra = [...new Set([...state.extra, label])];
  await judge(label, "yes", { new_labels: true });
  if (places().has(label)) state.unknown.delete(label);
}

export async function move(label, by) {
  const ranking = state.ranked.ranking;
  const other = ranking[places().get(label) + by];
  if (other === undefined) return;
  const [head, tail] = by < 0 ? [label, other] : [other, label];
  await give({ arcs: [[head, tail]] }, `${head} above ${tail}`);
}

export async function vote(a, b, outcome) {
  const words = { a: `${a} above ${b}`, b: `${b} above ${a}`, tie: `${a} and ${b} are equal`, neither: `neither ${a} nor ${b} fits` };
  await give({ vote: { a, b, outcome } }, words[outcome]);
}

async function give(preference, words, onUndo = () => {}) {
  const id = newId();
  const ranked = places();
  const shown = visibleLabels().filter((label) => ranked.has(label));
  const by = who().trim();
  const body = { id, ...state.document, ...preference, shown, ...(by ? { by } : {}) };
  try {
    const answer = await write("/feedback", body);
    state.history.unshift({ id, words, onUndo, undone: false });
    await settle(answer, answer.state === "learnt" ? `Learnt: ${words}` : `Recorded: ${words}`);
  } catch (error) {
    onUndo();
    showError(error);
  }
}

export async function undo(entry = state.history.find((one) => !one.undone)) {
  if (!entry || entry.undone) return;
  try {
    const by = who().trim();
    const answer = await write("/undo", { id: entry.id, ...(by ? { by } : {}) });
    entry.undone = true;
    entry.onUndo();
    await settle(answer, `Taken back: ${entry.words}`);
  } catch (error) {
    showError(error);
  }
}

export async function learn() {
  try {
    const answer = await write("/learn", {});
    toast(answer.detail);
    state.model.learnt = answer.learnt;
    drawHistory();
  } catch (error) {
    showError(error);
  }
}

async function settle(answer, words) {
  showError(null);
  state.model.learnt = answer.learnt;
  state.model.pending = answer.pending;
  const before = places();
  await rankAgain();
  noteMoves(before, words, answer.state === "recorded" && !saidHow ? answer.detail : "");
  drawHistory();
}

// What a preference changed, among the labels that are shown.
function noteMoves(before, words, detail) {
  state.shifts.clear();
  const now = places();
  for (const [label, place] of now) {
    const up = (before.get(label) ?? place) - place;
    if (up && place < state.shown) state.shifts.set(label, up);
  }
  const far = Math.min(2, Math.max(...[...state.shifts.values()].map(Math.abs)));
  for (const [label, up] of state.shifts) if (Math.abs(up) < far) state.shifts.delete(label); // these only made room
  const moved = [...state.shifts].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 3)
    .map(([label]) => `${label} ${before.get(label) + 1}\u00a0→\u00a0${now.get(label) + 1}`);
  const summary = moved.length ? `${words}. Moved: ${moved.join(", ")}.` : `${words}. No label moved.`;
  $("moved").textContent = summary;
  $("moved").hidden = state.blind;
  toast([state.blind ? `${words}.` : summary, detail].filter(Boolean).join(" "));
  saidHow ||= Boolean(detail); // how to learn what is recorded: once is enough
}

export function drawHistory() {
  $("history").hidden = state.history.length === 0;
  $("undo").disabled = !state.history.some((one) => !one.undone);
  $("learn").hidden = state.model?.learning !== "live" || !state.model.learnt;
  $("history-list").replaceChildren(...state.history.slice(0, 20).map((entry) =>
    make("li", {},
      make("span", { class: entry.undone ? "gone" : "", textContent: entry.words }),
      entry.undone ? make("span", { class: "muted", textContent: "taken back" })
        : make("button", { type: "button", class: "quiet", textContent: "Undo", onclick: () => undo(entry), "aria-label": `Undo: ${entry.words}` }))));
}

// A request that writes; while the server refuses the token, another one is asked for.
async function write(path, body) {
  for (;;) {
    if (!token && !(await askToken())) throw new Error("Feedback needs the server's token. Nothing was sent.");
    try {
      return await post(modelPath(state.model.name, path), body, { write: true });
    } catch (error) {
      if (error.status !== 401) throw error;
      setToken("");
      toast("The server does not accept this token.");
    }
  }
}

function askToken() {
  const dialog = $("token-dialog");
  $("token").value = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const given = dialog.returnValue === "ok" ? $("token").value.trim() : "";
      if (given) setToken(given);
      resolve(Boolean(given));
    }, { once: true });
  });
}

// A question whose answer says much: about the two neighbours that the model is least sure to have in order.

import { $, say } from "./dom.js";
import { vote } from "./feedback.js";
import { cutPlace, state } from "./state.js";

let pair = null;

export function drawQuestion() {
  const found = state.model?.learning === "off" || !state.ranked ? null : closest();
  pair = found;
  $("question").hidden = found === null;
  if (found === null) return;
  const [a, b] = found;
  const names = $("question").querySelectorAll(".choice span");
  names[0].textContent = a;
  names[1].textContent = b;
}

// Among the labels near the top or the cut; in blind mode their order is by name.
function closest() {
  const { ranking, scores } = state.ranked;
  const last = Math.min(ranking.length - 1, Math.max(4, (cutPlace() ?? 0) + 2));
  const gaps = [];
  for (let at = 0; at < last; at += 1) {
    const key = JSON.stringify([ranking[at], ranking[at + 1]].sort());
    if (!state.asked.has(key)) gaps.push({ at, gap: scores[at] - scores[at + 1] });
  }
  if (!gaps.length) return null;
  gaps.sort((one, other) => one.gap - other.gap);
  const two = [ranking[gaps[0].at], ranking[gaps[0].at + 1]];
  return state.blind ? two.sort((a, b) => a.localeCompare(b)) : two;
}

export async function answer(outcome) {
  if (pair === null) return;
  const [a, b] = pair;
  state.asked.add(JSON.stringify([a, b].sort()));
  if (outcome) await vote(a, b, outcome);
  drawQuestion();
  if (!outcome) say(pair === null ? "No more questions." : `Which fits better, ${pair[0]} or ${pair[1]}?`);
}

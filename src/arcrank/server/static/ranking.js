// The list of labels: bars, the line of the cut, and what can be said about a label.

import { $, make, percent, signed } from "./dom.js";
import { cutPlace, places, state, visibleLabels } from "./state.js";

export function drawRanking(actions) {
  const has = state.ranked !== null;
  $("empty").hidden = has;
  $("add").hidden = $("copy").hidden = !has;
  $("more").hidden = !has || state.shown >= state.ranked.ranking.length;
  const at = places();
  const cut = state.blind ? null : cutPlace();
  const rows = [];
  for (const label of has ? visibleLabels() : []) {
    if (cut !== null && at.get(label) === cut) rows.push(cutLine(cut));
    rows.push(row(label, at.get(label), cut, actions));
  }
  if (cut !== null && cut > 0 && cut === Math.min(state.shown, at.size) && cut === at.size) rows.push(cutLine(cut));
  $("labels").replaceChildren(...rows);
  $("labels").setAttribute("aria-label", state.blind ? "Labels in alphabetical order" : "Labels, best first");
}

function cutLine(cut) {
  const words = cut === 0 ? "no label is predicted" : cut === 1 ? "1 predicted label above" : `${cut} predicted labels above`;
  return make("li", { class: "cut" }, make("span", { textContent: words }));
}

function row(label, place, cut, actions) {
  const isRanked = place !== undefined;
  const below = cut !== null && !(place < cut);
  const selected = state.selected === label;
  const classes = ["label", selected && "selected", below && "below"];
  const name = make("button", {
    type: "button", class: "name", onclick: () => actions.select(label),
    ...(selected ? { "aria-current": "true" } : {}),
  }, label);
  const body = make("div", { class: classes.filter(Boolean).join(" "), data: { label } },
    make("span", { class: "place", textContent: state.blind || !isRanked ? "·" : `${place + 1}`, "aria-hidden": "true" }),
    make("span", {}, name, pinned(label), verdict(label), shift(label), ...pathOf(label)),
    make("span", { class: "value", textContent: state.blind || !isRanked ? "" : valueOf(place) }),
    state.blind || !isRanked ? null : track(place),
    selected ? buttons(label, isRanked, actions) : null);
  return make("li", {}, body);
}

function pathOf(label) {
  const parents = state.model.hierarchy;
  if (!parents) return [];
  const path = [];
  for (let at = parents[label]; at && path.length < 12; at = parents[at]) path.unshift(at);
  return path.length ? [make("span", { class: "path", textContent: path.join(" › ") })] : [];
}

function valueOf(place) {
  const { probability, scores } = state.ranked;
  return probability ? percent(probability[place]) : signed(scores[place]);
}

// Without probabilities, bars show scores: from the cut on if there is one, else from the last label that is shown.
function track(place) {
  const { probability, scores } = state.ranked;
  const shown = scores.slice(0, state.shown);
  const low = state.model.cut ? 0 : Math.min(...shown);
  const share = probability ? probability[place] : Math.max(0, (scores[place] - low) / (Math.max(...shown) - low || 1));
  const fill = make("span", { class: "fill" });
  fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return make("span", { class: "track", "aria-hidden": "true" }, fill);
}

function pinned(label) {
  return state.pinned.includes(label) ? make("span", { class: "verdict pin", textContent: "pinned" }) : null;
}

function verdict(label) {
  const given = state.verdicts.get(label);
  return given ? make("span", { class: `verdict ${given}`, textContent: given === "yes" ? "fits" : "does not fit" }) : null;
}

function shift(label) {
  const up = state.shifts.get(label);
  if (!up || state.blind) return null;
  const words = `moved ${up > 0 ? "up" : "down"} ${Math.abs(up)}`;
  return make("span", { class: `shift ${up > 0 ? "up" : "down"}`, title: words },
    make("span", { "aria-hidden": "true", textContent: `${up > 0 ? "▲" : "▼"}${Math.abs(up)}` }),
    make("span", { class: "hidden", textContent: words }));
}

function buttons(label, isRanked, actions) {
  const button = (words, key, act, pressed) => make("button", {
    type: "button", textContent: words, title: `${words} (${key})`, onclick: act, data: { action: key },
    ...(pressed === undefined ? {} : { "aria-pressed": String(pressed) }),
  });
  const given = state.verdicts.get(label);
  const teach = state.model.learning === "off" ? [] : [
    button("Yes", "y", () => actions.judge(label, "yes"), given === "yes"),
    button("No", "n", () => actions.judge(label, "no"), given === "no"),
    ...(state.blind || !isRanked ? [] : [button("Higher", "h", () => actions.move(label, -1)), button("Lower", "l", () => actions.move(label, 1))]),
  ];
  const group = make("div", { class: "actions", role: "group" }, ...teach,
    ...(state.blind || !state.model.explains || state.unknown.has(label) ? [] : [
      button("Pin", "p", () => actions.pin(label), state.pinned.includes(label)),
      make("button", { type: "button", class: "narrow", textContent: "Why", onclick: () => $("why").scrollIntoView() }),
    ]));
  group.setAttribute("aria-label", `About ${label}`);
  return group;
}

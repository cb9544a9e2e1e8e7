// What the page asks the server for, answered by the model inside the page.

import { loadModel } from "./model.js";
import { makeSpans } from "./spans.js";

export const token = "";
export const takeToken = () => {};
export const setToken = () => {};
export const who = () => "";
export const setWho = () => {};
export const newId = () => "";
export const modelPath = (_, rest = "") => rest || "/";

let loading = null;
const model = () => (loading ??= loadModel());

export async function get(path) {
  const found = await model();
  if (path === "/v1/models") return { models: [found.details] };
  if (path.startsWith("/labels?")) return labels(found, new URLSearchParams(path.slice(8)));
  return found.details;
}

export async function post(path, body) {
  const found = await model();
  if (path === "/rank") return rank(found, body);
  if (path === "/explain") return explain(found, body);
  throw new Error("This page has no server, so it does not learn.");
}

function rank(found, { top, ...document }) {
  const row = found.rowOf(document);
  const scores = found.scores(row);
  const all = found.order(scores);
  const order = all.slice(0, top);
  const probability = found.probabilities(scores);
  const predicted = found.predicted(scores, all);
  const ranked = {
    ranking: order.map((label) => found.labels[label]),
    scores: order.map((label) => scores[label]),
    known_features: row.length,
    ...(probability === null ? {} : { probability: order.map((label) => probability[label]) }),
    ...(predicted === null ? {} : { predicted: predicted.map((label) => found.labels[label]) }),
  };
  return { model: found.details.name, checksum: found.details.checksum, learnt: 0, documents: [ranked] };
}

function explain(found, { above, below, cut = false, top, ...document }) {
  const row = found.rowOf(document);
  const given = [above, below].map((name) => (name === undefined ? null : found.labels.indexOf(name)));
  const others = found.order(found.scores(row)).filter((label) => !given.includes(label));
  const upper = given[0] ?? others.shift();
  const lower = cut ? null : given[1] ?? others.shift();
  const weigh = (column) => found.weight(column, upper) - (lower === null ? 0 : found.weight(column, lower));
  const parts = row.map(([column, value]) => ({ column, weight: value * weigh(column) })).filter(({ weight }) => weight !== 0);
  parts.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
  const { intercept } = found.part;
  const constant = intercept[upper] - (lower === null ? 0 : intercept[lower]);
  return reportOf(found, { upper, lower, parts, constant, text: document.text }, top || parts.length);
}

// Intercept, parts and rest, added in this order, are exactly the margin.
function reportOf(found, { upper, lower, parts, constant, text }, top) {
  const shown = parts.slice(0, top);
  const rest = parts.slice(top).reduce((sum, { weight }) => sum + weight, 0);
  const written = text === undefined ? new Map() : found.reader.written(text);
  const spans = text === undefined ? () => [] : makeSpans(text, found.reader);
  const part = ({ column, weight }) => {
    const feature = found.features[column];
    const words = written.get(feature) ?? [];
    return { feature, weight, words, spans: spans(words) };
  };
  return {
    above: found.labels[upper],
    below: lower === null ? "CUT" : found.labels[lower],
    margin: shown.reduce((sum, { weight }) => sum + weight, constant) + rest,
    intercept: constant,
    parts: shown.map(part),
    rest,
    rest_count: parts.length - shown.length,
  };
}

// Labels that begin with some letters, then those that contain them.
function labels(found, query) {
  const wanted = query.get("prefix").toLowerCase();
  const places = found.labels.map((label) => ({ label, at: label.toLowerCase().indexOf(wanted) }));
  const hits = places.filter(({ at }) => at >= 0).sort((a, b) => Math.min(a.at, 1) - Math.min(b.at, 1) || a.label.localeCompare(b.label));
  const parents = found.details.hierarchy ?? {};
  return {
    labels: hits.slice(0, Number(query.get("limit"))).map(({ label }) => ({ label, parent: parents[label] ?? null })),
    total: found.labels.length,
  };
}

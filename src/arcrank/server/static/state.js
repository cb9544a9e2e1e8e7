// What the page shows now.

export const state = {
  model: null, // as GET /v1/models/{model} describes it
  document: null, // {text} or {features}
  ranked: null, // {ranking, scores, probability, predicted} of the document
  shown: 10,
  selected: null, // a label
  pinned: [],
  verdicts: new Map(), // label -> "yes" or "no"
  shifts: new Map(), // label -> places that it moved up
  blind: false,
  history: [], // {id, words, undone}
  asked: new Set(),
};

export const hasDocument = () => state.document !== null;

export function places() {
  return new Map((state.ranked?.ranking ?? []).map((label, at) => [label, at]));
}

export function cutPlace() {
  const predicted = state.ranked?.predicted;
  return predicted === undefined || predicted === null ? null : predicted.length;
}

// In blind mode labels are in alphabetical order, so that their order says nothing.
export function visibleLabels() {
  const labels = (state.ranked?.ranking ?? []).slice(0, state.shown);
  return state.blind ? labels.sort((a, b) => a.localeCompare(b)) : labels;
}

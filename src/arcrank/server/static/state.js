// What the page shows now.

export const state = {
  model: null, // as GET /v1/models/{model} describes it
  document: null, // {text} or {features}
  ranked: null, // {ranking, scores, probability, predicted} of the document
  shown: 10,
  selected: null, // a label
  extra: [], // labels that a person has found or added, and that are not shown otherwise
  pinned: [],
  verdicts: new Map(), // label -> "yes" or "no"
  shifts: new Map(), // label -> places that it moved up
  unknown: new Set(), // labels that were added, and that the model has not learnt yet
  blind: false,
  history: [], // {id, words, undone}
  asked: new Set(),
};

// What belongs to one document.
export function forgetDocument() {
  for (const part of [state.verdicts, state.shifts, state.asked]) part.clear();
  Object.assign(state, { selected: null, pinned: [], extra: [], shown: 10 });
}

export function places() {
  return new Map((state.ranked?.ranking ?? []).map((label, at) => [label, at]));
}

export function cutPlace() {
  const predicted = state.ranked?.predicted;
  return predicted === undefined || predicted === null ? null : predicted.length;
}

// In blind mode labels are in alphabetical order, so that their order says nothing.
export function visibleLabels() {
  const first = (state.ranked?.ranking ?? []).slice(0, state.shown);
  const labels = [...first, ...state.extra.filter((label) => !first.includes(label))];
  return state.blind ? labels.sort((a, b) => a.localeCompare(b)) : labels;
}

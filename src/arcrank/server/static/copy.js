// The ranking as JSON, CSV or a command that asks for it again.

import { modelPath } from "./api.js";
import { toast } from "./dom.js";
import { state } from "./state.js";

const cell = (value) => {
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text; // spreadsheets run formulas
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

function csv() {
  const { ranking, scores, probability, predicted } = state.ranked;
  const chosen = new Set(predicted ?? []);
  const head = ["rank", "label", "score", ...(probability ? ["probability"] : []), ...(predicted ? ["predicted"] : [])];
  const rows = ranking.map((label, at) => [at + 1, label, scores[at], ...(probability ? [probability[at]] : []), ...(predicted ? [chosen.has(label)] : [])]);
  return [head, ...rows].map((row) => row.map(cell).join(",")).join("\n");
}

function curl() {
  const body = JSON.stringify({ ...state.document, top: state.shown }).replaceAll("'", "'\\''");
  return `curl -H 'Content-Type: application/json' -d '${body}' '${location.origin}${modelPath(state.model.name, "/rank")}'`;
}

const forms = { json: () => JSON.stringify(state.ranked, null, 2), csv, curl };

export async function copy(form) {
  if (!state.ranked) return toast("There is no ranking to copy yet.");
  try {
    await navigator.clipboard.writeText(forms[form]());
    toast(`Copied as ${form === "curl" ? "a curl command" : form.toUpperCase()}.`);
  } catch {
    toast("The browser does not allow copying here.");
  }
}

// Requests to the server that this page came from.

export let token = "";

export function takeToken() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const given = parts.get("token");
  if (given) {
    sessionStorage.setItem("arcrank-token", given);
    if (parts.get("by")) sessionStorage.setItem("arcrank-by", parts.get("by"));
    history.replaceState(null, "", location.pathname + location.search); // not in the history, nor in screenshots
  }
  token = sessionStorage.getItem("arcrank-token") ?? "";
}

export function setToken(value) {
  token = value;
  sessionStorage.setItem("arcrank-token", value);
}

// Who gives feedback, as the journal says it.
export const who = () => sessionStorage.getItem("arcrank-by") ?? "";
export const setWho = (name) => sessionStorage.setItem("arcrank-by", name);

export const modelPath = (model, rest = "") => `/v1/models/${encodeURIComponent(model)}${rest}`;

export async function get(path, signal) {
  return answer(await send(path, { signal }));
}

export async function post(path, body, { signal, write = false } = {}) {
  const headers = { "Content-Type": "application/json" };
  if (write) headers.Authorization = `Bearer ${token}`;
  return answer(await send(path, { method: "POST", headers, body: JSON.stringify(body), signal }));
}

async function send(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer. Is it still running?");
  }
}

async function answer(response) {
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  const error = new Error(body.detail ?? `The server answered ${response.status}.`);
  error.status = response.status;
  throw error;
}

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

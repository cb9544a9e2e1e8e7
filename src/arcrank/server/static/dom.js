// Elements without markup: text is always text, so a label named "<img onerror=...>" is only a name.

export const $ = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") element.className = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "role" && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function say(message) {
  const status = $("status");
  status.textContent = "";
  setTimeout(() => { status.textContent = message; }, 30); // an unchanged region would not be read again
}

let toastTimer = 0;
export function toast(message) {
  $("toast").textContent = message;
  $("toast").hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { $("toast").hidden = true; }, 3000 + 40 * message.length); // time to read it
  say(message);
}

export function showError(error) {
  $("error").textContent = error === null ? "" : error.message;
  $("error").hidden = error === null;
}

export const percent = (p) => (p >= 0.995 && p < 1 ? "> 99 %" : p > 0 && p < 0.005 ? "< 1 %" : `${Math.round(100 * p)} %`);
export const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

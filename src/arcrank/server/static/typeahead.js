// A field that finds labels by their letters, and adds those that the model does not have.

import { get, modelPath } from "./api.js";
import { $, make, say, showError } from "./dom.js";
import { state } from "./state.js";

export function startTypeahead(choose, add) {
  const input = $("add-label");
  const list = $("add-options");
  let found = [];
  let active = -1;
  let number = 0;

  function close() {
    number += 1; // an answer that is still on its way is not shown
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function draw() {
    list.replaceChildren(...found.map(({ label, parent, isNew }, at) => {
      const note = isNew ? "a new label that fits this document" : parent;
      return make("li", { id: `option-${at}`, role: "option", "aria-selected": String(at === active), onmousedown: (event) => { event.preventDefault(); pick(at); } },
        isNew ? `Add “${label}”` : label, note ? make("span", { class: "path", textContent: note }) : null);
    }));
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(found.length > 0));
    if (active >= 0) {
      input.setAttribute("aria-activedescendant", `option-${active}`);
      list.children[active].scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  }

  function pick(at) {
    const { label, isNew } = found[at];
    input.value = "";
    close();
    if (isNew) add(label);
    else choose(label);
  }

  async function search() {
    const mine = ++number;
    if (!input.value) return close();
    try {
      const query = new URLSearchParams({ prefix: input.value.slice(0, 200), limit: 12 });
      const answer = await get(modelPath(state.model.name, `/labels?${query}`));
      if (mine !== number) return;
      found = [...answer.labels, ...addition(input.value.trim(), answer.labels)];
      active = found.length ? 0 : -1;
      draw();
      say(found.length ? `${found.length} labels` : "No label with these letters");
    } catch (error) {
      showError(error);
    }
  }

  input.addEventListener("input", search);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { close(); input.value = ""; input.blur(); }
    if (list.hidden) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { active = (active + step + found.length) % found.length; draw(); event.preventDefault(); }
    if (event.key === "Enter" && active >= 0) { pick(active); event.preventDefault(); }
  });
}

function addition(name, labels) {
  const isNew = name && state.model.learning !== "off" && !labels.some(({ label }) => label === name);
  return isNew ? [{ label: name, isNew }] : [];
}

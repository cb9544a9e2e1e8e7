// Where words and phrases are in a text, as [start, end) in characters, as the server finds them.

const BETWEEN = 4; // stop words between two words of a phrase

export function makeSpans(text, reader) {
  const words = [];
  const places = [];
  const numbers = new Map();
  let position = 0;
  let characters = 0;
  for (const word of reader.split(text, false)) {
    const start = text.indexOf(word, position);
    if (start < 0) continue; // the characters were normalised, so the word is written in another way
    const from = characters + Array.from(text.slice(position, start)).length;
    characters = from + Array.from(word).length;
    position = start + word.length;
    const folded = word.toLowerCase();
    if (!numbers.has(folded)) numbers.set(folded, []);
    numbers.get(folded).push(words.length);
    words.push(folded);
    places.push([from, characters]);
  }
  return (phrases) => phrases
    .flatMap((phrase) => placesOf(phrase.toLowerCase().split(" "), { words, places, numbers }))
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

function placesOf(form, { words, places, numbers }) {
  const found = [];
  for (const first of numbers.get(form[0]) ?? []) {
    let last = first;
    for (const word of form.slice(1)) {
      const near = words.indexOf(word, last + 1);
      last = last < 0 || near < 0 || near > last + 1 + BETWEEN ? -1 : near;
      if (last < 0) break;
    }
    if (last >= 0) found.push([places[first][0], places[last][1]]);
  }
  return found;
}

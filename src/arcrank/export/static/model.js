// The model of this page: weights, features, probabilities.

import { TextReader, termWeights } from "./text.js";

const LINEAR = 20; // log-odds beyond grow by their logarithm, as in arcrank

async function inflate(base64) {
  const packed = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

const kinds = { float32: Float32Array, float64: Float64Array, int16: Int16Array, int8: Int8Array };

// The length of the facts, the facts as JSON, and the arrays.
export async function loadModel() {
  const bytes = await inflate(document.getElementById("model-data").textContent);
  const [length, first] = new Uint32Array(bytes, 0, 2);
  const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length)));
  const array = ({ kind, start, size }) => new kinds[kind](bytes, first + start, size);
  return new Model(facts, Object.fromEntries(Object.entries(facts.arrays).map(([name, place]) => [name, array(place)])));
}

export class Model {
  constructor(facts, part) {
    Object.assign(this, facts, { part });
    this.columns = new Map(facts.features.map((name, column) => [name, column]));
    this.reader = facts.text === null ? null : new TextReader(facts.text);
  }

  // Columns and values of a document, in order of columns.
  rowOf({ text, features }) {
    if ((text === undefined) === (this.reader !== null)) {
      throw new Error(`The model takes ${this.reader ? "texts" : "features"}, but this is ${this.reader ? "features" : "a text"}.`);
    }
    const counts = this.reader ? this.reader.counts(text) : Object.entries(features).map(([name, value]) => [name, Number(value)]);
    return termWeights(counts, this.columns, { ...(this.text ?? this.weighting), idf: this.part.idf });
  }

  weight(column, label) {
    const { weights, scales } = this.part;
    const value = weights[column * this.labels.length + label];
    return scales ? value * scales[label] : value;
  }

  scores(row) {
    const { weights, scales, intercept } = this.part;
    const k = this.labels.length;
    const sums = new Float64Array(k);
    for (const [column, value] of row) {
      const start = column * k;
      for (let label = 0; label < k; label += 1) sums[label] += value * weights[start + label];
    }
    return sums.map((sum, label) => (scales ? sum * scales[label] : sum) + intercept[label]);
  }

  // Labels by descending score; equal ones keep the order of columns.
  order(scores) {
    return Array.from(scores.keys()).sort((a, b) => scores[b] - scores[a] || a - b);
  }

  probabilities(scores) {
    const { calibration } = this;
    if (calibration === null) return null;
    if (!calibration.single) return this.logOdds(scores).map(sigmoid);
    const weights = calibration.score ? this.logOdds(scores).map((x) => Math.log(sigmoid(x))) : Array.from(scores);
    const best = Math.max(...weights);
    const powers = weights.map((weight) => Math.exp(calibration.temperature * (weight - best)));
    const sum = powers.reduce((total, power) => total + power, 0);
    return powers.map((power) => power / sum);
  }

  // The log-odds of each label on its own.
  logOdds(scores) {
    const { calibration } = this;
    const best = Math.max(...scores);
    const second = scores.length > 1 ? Array.from(scores).sort((a, b) => b - a)[1] : best;
    const ofRow = flat(best, calibration.best) + flat(second, calibration.second);
    const bonus = (score) => (score === best ? calibration.firstBonus : 0);
    return Array.from(scores, (score) => tempered(curve(score, calibration.score) + ofRow + bonus(score)));
  }

  predicted(scores, order) {
    if (this.calibration?.single) return [order[0]];
    return this.calibration || this.hasCut ? order.filter((label) => scores[label] > 0) : null;
  }
}

// Piecewise linear, constant beyond the ends.
function flat(x, { knots, values }) {
  if (x <= knots[0]) return values[0];
  if (x >= knots.at(-1)) return values.at(-1);
  const at = knots.findIndex((knot) => knot > x);
  return values[at - 1] + ((values[at] - values[at - 1]) * (x - knots[at - 1])) / (knots[at] - knots[at - 1]);
}

// Piecewise linear, straight beyond the ends.
function curve(x, { knots, values }) {
  const next = knots.findIndex((knot) => knot >= x);
  const at = Math.max(0, Math.min((next < 0 ? knots.length : next) - 1, knots.length - 2));
  const share = (x - knots[at]) / (knots[at + 1] - knots[at]);
  const result = values[at] + share * (values[at + 1] - values[at]);
  return share <= 1 ? Math.min(result, values[at + 1]) : result;
}

const sigmoid = (x) => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));
const tempered = (x) => Math.sign(x) * (Math.min(Math.abs(x), LINEAR) + Math.log1p(Math.max(Math.abs(x) - LINEAR, 0)));

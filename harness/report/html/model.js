/* The data and what is asked of it. A cell has g (group), m n k, l (label), s (status), r (reason), ro (how it was rotated), c (converged), w wp (worst
   half-width and its pair, a text), f (floor, ns), b d (blocks, dropped), v (environment), bs ws (busy and wall seconds), e (who was launched
   early), t: [contender, medians in ns of each of `timings`, blocks, then in tenths of a percent from the median of the headline timing:
   shortest, low, high (95% of the median), p95, p99; null where not known], x: [contender, status, reason], a: [contender, what it chose, a
   text], p: [which of `pairs` (each [candidate, timing, reference]), then for each of its pairs in hundred-thousandths the estimate and, as
   distances from it, low, high and mean of ratios]. What a cell lacks is as in USUAL. A text is [which of `heads`, values of its words]. */
const D = JSON.parse(document.getElementById("data").textContent);
const TIMINGS = D.timings.map((timing) => timing.name);
/* Older runs let launches overlap under the name of device time: it is called what it is. */
const timeName = (timing, group = D.groups[state.group]) => group.called?.[timing] ?? timing;
const state = { group: 0, candidate: -1, baseline: -1, timing: TIMINGS[0], sort: 0, down: false, filter: "", all: false, cell: null };

const esc = (text) => String(text ?? "").replace(/[&<>"']/g, (c) => "&#" + c.charCodeAt(0) + ";");
const name = (index) => D.contenders[index] ?? "";
const known = (x) => typeof x === "number" && isFinite(x);
function percent(x, digits = 1) {
  if (!known(x)) return "\u2013";
  const text = Math.abs(100 * x).toFixed(digits);
  return (Number(text) === 0 ? "" : x < 0 ? "\u2212" : "+") + text + "%"; /* nothing is neither more nor less */
}
const signed = (x, text = percent(x), open = false) => open ? `<span class="open" title="the interval spans 0">${text}</span>` : !known(x) ? '<span class="soft">\u2013</span>' : `<span class="${x < 0 ? "loss" : "gain"}">${text}</span>`;
const plural = (n, word) => n + " " + word + (n === 1 ? "" : "s");
/* Shapes that a row's means do not count: the candidate has no result there. */
const leftOut = (row) => row.left_out > 0 ? `<small>${plural(row.left_out, "shape")} left out; with those as 1x ${percent(row.geomean_of_all)}</small>` : "";

function duration(ns) {
  if (!known(ns)) return "\u2013";
  if (ns < 1e6) return (ns / 1e3).toPrecision(3).replace(/e.*/, "") + " \u00b5s";
  if (ns < 1e9) return (ns / 1e6).toPrecision(3) + " ms";
  return ns < 1e11 ? (ns / 1e9).toPrecision(3) + " s" : Math.round(ns / 1e9) + " s";
}

function groupName(g) {
  const group = D.groups[g];
  return `${group.mode}, ${group.dtype} accumulated in ${group.accumulate}`;
}

const ROTATED = { size: "a launch drives its own operands out of the cache", sets: "the sets in between drive operands out of the cache", flush: "the cache is emptied, as the sets in between hold less than it" };
const rotationText = (cell) => cell.ro ? `rotated: ${ROTATED[cell.ro] ?? "operands may still have been in the cache"}` : "";
const USUAL = { s: "ok", x: [], w: 0, f: 0, b: 0, d: 0, v: 0, bs: 0, ws: 0 };
const textOf = ([head, values]) => { const parts = D.heads[head].split(","); return values.split(",").map((value, i) => parts[i] + value).join(","); };
function speedupsOf(pairs, figures) {
  const part = (at, from) => known(figures[at]) ? (from + figures[at]) / 1e5 : null;
  return new Map(pairs.map(([candidate, timing, reference], i) => {
    const at = 4 * i, value = figures[at];
    return [`${candidate} ${timing} ${reference}`, { value: part(at, 0), low: part(at + 1, value), high: part(at + 2, value), mean: part(at + 3, value) }];
  }));
}

/* Replaces a cell's figures by its pairs. Their speedups are made when they are asked for: a page shows one group of cells at a time. */
function readSpeedups(cell) {
  const [which, ...figures] = cell.p;
  let speedups = null;
  cell.p = D.pairs[which] ?? [];
  Object.defineProperty(cell, "speedups", { get: () => speedups ??= speedupsOf(cell.p, figures) });
}

D.cells = D.cells.map((cell, index) => ({ ...USUAL, ...cell, index }));
for (const cell of D.cells) {
  readSpeedups(cell);
  cell.size = Math.log2(cell.m) + Math.log2(cell.n) + Math.log2(cell.k);
  cell.shape = `${cell.m}\u00d7${cell.n}\u00d7${cell.k}`;
  cell.state = cell.s !== "ok" ? cell.s : cell.c || !cell.p.length ? "ok" : "not converged";
  cell.words = `${cell.m}x${cell.n}x${cell.k} ${cell.shape} ${cell.l ?? ""} ${cell.s} ${cell.state}`.toLowerCase();
  cell.times = new Map(cell.t.map((row) => [name(row[0]), row.slice(1, 1 + TIMINGS.length)]));
  if (known(cell.wp)) cell.wp = textOf(D.texts[cell.wp]);
}

const cellsOf = (group) => D.cells.filter((cell) => cell.g === group);

/* How many of a group's cells have something to compare, and how many of these reached the wanted precision. */
function outcomeOf(group) {
  const measured = cellsOf(group).filter((cell) => cell.p.length);
  return { measured: measured.length, converged: measured.filter((cell) => cell.c).length };
}

/* As on the screen: where most intervals are too wide, a mean is one of noise. Says why, or nothing. */
function noiseOf(group) {
  const { measured, converged } = outcomeOf(group);
  if (2 * converged >= measured) return "";
  return `${converged} of ${plural(measured, "shape")} reached the wanted precision`;
}

/* The half-width a group was to reach, where all cells and all runs of the report agree on it. */
function wantedOf(group) {
  const { mode } = D.groups[group];
  const differs = (stop) => mode === "offline" && (stop?.offline_lead_half_width || stop?.offline_long_half_width);
  const widths = new Set(D.runs.map(({ config }) => differs(config?.stop) ? null : config?.stop?.[mode + "_half_width"]));
  const [width] = widths;
  return widths.size === 1 && known(width) ? `\u00b1${Number((100 * width).toPrecision(3))}%` : "precision";
}

const speedup = (cell, timing = state.timing, baseline = state.baseline) => cell.speedups.get(`${state.candidate} ${timing} ${baseline}`);

/* Whose times count: of a "-max" both layouts', of "strongest" those of all that the candidate is compared with. */
function measuredNames(text) {
  if (text === "strongest")
    return baselinesOf(state.group, state.candidate).map(name).filter((one) => one !== text && !one.endsWith("-max"));
  return text.endsWith("-max") ? ["-nn", "-tn"].map((layout) => text.slice(0, -4) + layout) : [text];
}
/* Median of a contender; of several the least. */
function timeOf(cell, contender, timing = state.timing) {
  const at = TIMINGS.indexOf(timing);
  const names = measuredNames(name(contender));
  const times = names.map((one) => cell.times.get(one)?.[at]).filter(known);
  return times.length ? Math.min(...times) : null;
}

/* Whether an interval spans 0: then nobody is known to be ahead. */
const isOpen = (s) => s && known(s.low) && s.low <= 0 && s.high >= 0;
/* Where the paper's mean of ratios lies outside the interval, which is of the trimmed estimate. */
const isApart = (s) => s && known(s.low) && known(s.mean) && (s.mean < s.low || s.mean > s.high);

const tflops = (cell, ns) => known(ns) ? 2e-3 * cell.m * cell.n * cell.k / ns : null;

/* Indices of what the group's cells compare, in order of appearance. */
function namesIn(group, pick) {
  const seen = new Set();
  for (const cell of cellsOf(group)) for (const pair of cell.p) pick(pair, seen);
  return [...seen];
}
const candidatesOf = (group) => namesIn(group, ([candidate], seen) => seen.add(candidate));
const baselinesKept = new Map();
function baselinesOf(group, candidate) {
  const key = `${group} ${candidate}`;
  if (!baselinesKept.has(key)) baselinesKept.set(key, findBaselines(group, candidate));
  return baselinesKept.get(key);
}
function findBaselines(group, candidate) {
  const list = namesIn(group, ([who, , reference], seen) => { if (who === candidate) seen.add(reference); });
  const family = (text) => text.replace(/-(nn|tn|max)$/, "");
  const families = [...new Set(list.map((i) => family(name(i))))];
  const layouts = ["", "nn", "tn", "max"];
  const rank = (i) => families.indexOf(family(name(i))) * 4 + Math.max(0, layouts.indexOf(name(i).slice(family(name(i)).length + 1)));
  return list.sort((a, b) => rank(a) - rank(b));
}
/* What a reader looks at first: the strongest of all baselines, else AutoTuning's faster layout, else the last one. */
function firstBaseline(baselines) {
  const named = (wanted) => baselines.find((i) => name(i) === wanted);
  return named("strongest") ?? named("cublaslt-autotuning-max") ?? baselines[baselines.length - 1] ?? -1;
}
/* The leads over the strongest of all baselines, which one half of the blocks chooses and the other scores. */
function strongestLeads() {
  const strongest = baselinesOf(state.group, state.candidate).find((i) => name(i) === "strongest");
  return strongest === undefined ? [] : cellsOf(state.group).map((cell) => speedup(cell, state.timing, strongest)?.value).filter(known);
}
const hasTiming = (timing) => cellsOf(state.group).some((cell) => speedup(cell, timing));

function quantile(sorted, q) {
  const at = (sorted.length - 1) * q;
  const low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

/* Keeps what was chosen when it is still there, else the first baseline to look at and the headline timing. */
function settle() {
  const candidates = candidatesOf(state.group);
  if (!candidates.includes(state.candidate)) state.candidate = candidates[0] ?? -1;
  const baselines = baselinesOf(state.group, state.candidate);
  if (!baselines.includes(state.baseline))
    state.baseline = firstBaseline(baselines);
  if (!hasTiming(state.timing)) state.timing = TIMINGS.find(hasTiming) ?? D.groups[state.group].headline;
}

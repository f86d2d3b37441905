/* The headline table and the table of shapes. */
const summaryRow = (list, timing, reference) => (D.summary[list] ?? []).find((row) => {
  const group = D.groups[state.group];
  return row.mode === group.mode && row.dtype === group.dtype && row.accumulate === group.accumulate &&
    row.candidate === name(state.candidate) && row.timing === timing && row.reference === reference;
});

function headlineCells(row, noise) {
  if (!row) return '<td class="first soft">\u2013</td>' + '<td class="soft">\u2013</td>'.repeat(3);
  const interval = row.ci95 ? `<small>\u00b1${(50 * (row.ci95[1] - row.ci95[0])).toFixed(1)}%</small>` : "";
  const mean = noise ? '<span class="soft">\u2013</span>' : signed(row.mean) + interval;
  return `<td class="first">${signed(row.geomean)}</td><td>${signed(row.median)}</td><td>${row.wins}/${row.n}${leftOut(row)}</td><td>${mean}</td>`;
}

/* A result has the other timings in its summary alone, a journal by shape too. */
const isSummed = (timing) => baselinesOf(state.group, state.candidate).some((i) => summaryRow("speedups", timing, name(i)));

function drawHeadline() {
  const group = D.groups[state.group];
  const timings = TIMINGS.filter((t) => hasTiming(t) || isSummed(t)), noise = noiseOf(state.group);
  const claims = D.claimed.filter((row) => row.mode === group.mode && row.dtype === group.dtype && row.accumulate === group.accumulate);
  const head = timings.map((t) => `<th class="group" colspan="4">${timeName(t, group)} time${t === group.headline ? " (headline)" : ""}</th>`).join("") +
    (claims.length ? `<th class="group">claimed${claims[0].device ? `, ${esc(claims[0].device)}` : ""}, event time</th>` : "");
  const sub = timings.map(() => '<th class="first">trimmed</th><th>median</th><th>wins</th><th>paper</th>').join("") +
    (claims.length ? '<th class="first">paper</th>' : "");
  const line = (list, reference, shown, selected, index) => {
    const claim = claims.find((row) => row.reference === reference && list === "speedups");
    const claimed = claims.length ? `<td class="first">${claim ? `${signed(claim.mean)}<small>${claim.wins}/${claim.n}</small>` : ""}</td>` : "";
    return `<tr data-baseline="${index}"${selected ? ' class="selected"' : ""}><td>${shown}</td>` +
      timings.map((t) => headlineCells(summaryRow(list, t, reference), noise)).join("") + claimed + "</tr>";
  };
  const rows = baselinesOf(state.group, state.candidate).map((i) => line("speedups", name(i), esc(name(i)), i === state.baseline, i));
  const equal = [...new Set((D.summary.equal_path ?? []).map((row) => row.reference))]
    .filter((reference) => timings.some((t) => summaryRow("equal_path", t, reference)))
    .map((reference) => line("equal_path", reference, esc(reference) + " as a graph", false, -1));
  document.getElementById("claim-note").textContent = claims.length
    ? `Not alike: what was claimed is of ${claims[0].device || "a GPU that nobody states"}, in event time and a cache state that nobody states; what differs from it differs by these, too.` : "";
  document.getElementById("noise-note").textContent = noise && `No mean, and the rest is a hint at best: ${noise}.`;
  document.getElementById("between-note").textContent = D.between && `On another GPU of the model: ${D.between}.`;
  document.getElementById("headline").innerHTML =
    `<thead><tr><th></th>${head}</tr><tr><th>baseline</th>${sub}</tr></thead><tbody>${rows.join("")}${equal.join("")}</tbody>`;
}

const aaRows = (index) => (D.summary.aa ?? []).filter((row) => {
  const group = D.groups[index];
  return row.mode === group.mode && row.dtype === group.dtype && row.accumulate === group.accumulate;
});

function drawAa() {
  const rows = aaRows(state.group);
  document.getElementById("aa").innerHTML = !rows.length ? "" :
    "<table><thead><tr><th>A/A: a copy over its original</th><th>timing</th><th>intervals</th><th>exclude 0</th><th>mean lead</th><th>std dev</th></tr></thead><tbody>" +
    rows.map((row) => `<tr><td>${esc(row.contender)}</td><td>${timeName(row.timing)}</td><td>${row.with_interval}</td><td>${row.excludes_one}</td>` +
      `<td>${percent(row.mean_log_ratio, 3)}</td><td>${(100 * row.sd_log_ratio).toFixed(2)}%</td></tr>`).join("") + "</tbody></table>";
}

/* ---- Tables 5, 6 and 8 ---- */

const wordTable = ({ title, heads, words, rows, note }) => {
  const cell = (tag, text, i) => `<${tag}${words[i] ? ' class="words"' : ""}>${esc(text)}</${tag}>`;
  return `<h3>${esc(title)}</h3><div class="scroll"><table><thead><tr>${heads.map((head, i) => cell("th", head, i)).join("")}</tr></thead>` +
    `<tbody>${rows.map((row) => `<tr>${row.map((text, i) => cell("td", text, i)).join("")}</tr>`).join("")}</tbody></table></div><p class="note">${esc(note)}</p>`;
};

function drawTables() {
  const group = D.groups[state.group], list = D.tables.filter((t) => t.mode === group.mode && t.dtype === group.dtype &&
    t.accumulate === group.accumulate && (t.candidate === "" || t.candidate === name(state.candidate)));
  document.getElementById("tables-section").hidden = !list.length;
  document.getElementById("tables").innerHTML = list.map(wordTable).join("");
}

/* ---- every shape ---- */

const measured = (cell, timing) => speedup(cell, timing)?.value;
function widthOf(cell) {
  const s = speedup(cell);
  return s && known(s.low) ? s.high - s.low : null;
}

function intervalText(cell) {
  const s = speedup(cell);
  return s && known(s.low) ? `<span class="soft">${percent(s.low)} \u2026 ${percent(s.high)}</span>` : "\u2013";
}

function statusText(cell) {
  return `<span title="${esc(cell.r)}">${esc(cell.state)}</span>`;
}

/* What has a scale can be filtered by: a factor to the unit that is shown, microseconds or per cent. */
function columns() {
  const timings = TIMINGS.filter(hasTiming);
  return [
    { head: "shape M\u00d7N\u00d7K", key: "shape", value: (c) => c.m * 1e12 + c.n * 1e6 + c.k, show: (c) => c.shape + (c.l ? ` <span class="soft">${esc(c.l)}</span>` : "") },
    { head: "log\u2082 MNK", key: "size", scale: 1, value: (c) => c.size, show: (c) => c.size.toFixed(1) },
    { head: "candidate", key: "time", scale: 1e-3, value: (c) => timeOf(c, state.candidate), show: (c) => duration(timeOf(c, state.candidate)) },
    { head: "baseline", key: "baseline", scale: 1e-3, value: (c) => timeOf(c, state.baseline), show: (c) => duration(timeOf(c, state.baseline)) },
    { head: "TFLOPS", key: "tflops", scale: 1, value: (c) => tflops(c, timeOf(c, state.candidate)), show: (c, v) => known(v) ? v >= 100 ? v.toFixed(0) : v.toPrecision(3) : "\u2013" },
    { head: "roof", key: "roof", scale: 1, value: (c) => known(c.f) ? 100 * c.f / timeOf(c, state.candidate) : null, show: (c, v) => known(v) ? v.toFixed(v < 10 ? 1 : 0) + "%" : "\u2013" },
    ...timings.map((t) => ({ head: timeName(t), key: t, scale: 100, value: (c) => measured(c, t), show: (c, v) => signed(v, percent(v), isOpen(speedup(c, t))) + (isApart(speedup(c, t)) ? '<span title="the paper\u2019s mean of ratios lies outside the interval">*</span>' : "") })),
    { head: "95% " + state.timing, key: "width", scale: 100, value: widthOf, show: intervalText },
    { head: "status", key: "status", value: (c) => c.s + (c.c ? "" : "~"), show: statusText },
  ];
}

/* What a filter can compare: [word, value of a cell in the unit shown]. */
function fields(list) {
  const of = new Map(["m", "n", "k"].map((key) => [key, (cell) => cell[key]]));
  for (const { key, scale, value } of list)
    if (scale) of.set(key, (cell) => known(value(cell)) ? value(cell) * scale : null);
  of.set("speedup", of.get(state.timing));
  return of;
}

const COMPARE = { "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "=": (a, b) => a === b };

/* One word of the filter: a test of cells, or what is wrong with it. */
function readWord(word, of) {
  const match = /^([^<>=]*)(<=|>=|=|<|>)(.*)$/.exec(word);
  if (!match) return { test: (cell) => cell.words.includes(word) };
  const [, key, sign, text] = match, number = text.replace(/%$/, "");
  if (!of.get(key)) return { wrong: key ? `\u201c${key}\u201d is no field here; there are ${[...of.keys()].join(" ")}` : `\u201c${word}\u201d lacks a field before ${sign}` };
  if (!/^[-+]?(\d+\.?\d*|\.\d+)$/.test(number)) return { wrong: text ? `\u201c${text}\u201d is no number to compare ${key} with` : `\u201c${word}\u201d lacks a number after ${sign}` };
  return { test: (cell) => { const value = of.get(key)(cell); return known(value) && COMPARE[sign](value, Number(number)); } };
}

/* "m>=1024 64x speedup<0": every word must hold; with a wrong one nothing is shown, and what is wrong is told. */
function readFilter(text, list) {
  const of = fields(list);
  const words = text.toLowerCase().replace(/\s*(<=|>=|=|<|>)\s*/g, "$1").split(/\s+/).filter(Boolean).map((word) => readWord(word, of));
  const tests = words.map(({ test }) => test).filter(Boolean), wrong = words.map((word) => word.wrong).filter(Boolean);
  return { keep: (cell) => !wrong.length && tests.every((test) => test(cell)), wrong };
}

function tellFilter(wrong, list) {
  document.getElementById("fields").textContent = [...fields(list).keys()].join(" ");
  document.getElementById("filter-error").textContent = wrong.length ? `Nothing is shown: ${wrong.join("; ")}.` : "";
  document.getElementById("filter").setAttribute("aria-invalid", wrong.length > 0);
}

/* The rows of the table as it is filtered and sorted. */
function rowsOf(list, keep) {
  const column = list[Math.min(state.sort, list.length - 1)];
  const rows = cellsOf(state.group).filter(keep).map((cell) => ({ cell, key: column.value(cell) }));
  const order = (a, b) => (a.key == null) - (b.key == null) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0) * (a.key == null ? 1 : state.down ? -1 : 1);
  return rows.sort(order);
}

/* What a spreadsheet would run is words to it. */
const csvField = (value) => {
  const text = known(value) ? String(value) : String(value ?? "");
  const safe = !known(value) && /^[=+@-]/.test(text) ? "'" + text : text;
  return /[",\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
};
function csvOfShapes() {
  const list = columns(), { keep } = readFilter(state.filter, list);
  const head = ["m", "n", "k", "label", "mode", "dtype", "accumulate", "candidate", "baseline", "timing", "candidate_ns", "baseline_ns", "speedup", "low", "high", "mean_of_ratios", "status"];
  const { mode, dtype, accumulate } = D.groups[state.group];
  const lines = rowsOf(list, keep).map(({ cell }) => {
    const s = speedup(cell);
    return [cell.m, cell.n, cell.k, cell.l, mode, dtype, accumulate, name(state.candidate), name(state.baseline), timeName(state.timing),
      timeOf(cell, state.candidate), timeOf(cell, state.baseline), s?.value, s?.low, s?.high, s?.mean, cell.state];
  });
  return [head, ...lines].map((line) => line.map(csvField).join(",")).join("\n") + "\n";
}

const FIRST_ROWS = 100;
function drawShapes() {
  const list = columns();
  const { keep, wrong } = readFilter(state.filter, list);
  tellFilter(wrong, list);
  const rows = rowsOf(list, keep);
  const shown = state.all ? rows : rows.slice(0, FIRST_ROWS);
  document.querySelector("#shapes thead").innerHTML = "<tr>" + list.map((c, i) =>
    `<th tabindex="0" data-column="${i}" aria-sort="${i === state.sort ? state.down ? "descending" : "ascending" : "none"}">${c.head}</th>`).join("") + "</tr>";
  document.querySelector("#shapes tbody").innerHTML = shown.map(({ cell }) =>
    `<tr data-cell="${cell.index}" tabindex="0">` + list.map((c) => `<td>${c.show(cell, c.value(cell))}</td>`).join("") + "</tr>").join("");
  document.getElementById("count").textContent = `${rows.length} of ${plural(cellsOf(state.group).length, "shape")}`;
  const more = document.getElementById("more");
  more.hidden = shown.length === rows.length;
  more.textContent = `Show all ${rows.length} shapes`;
}

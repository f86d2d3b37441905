/* The page of a comparison: its data is what `compare --format json` prints. */
const D = JSON.parse(document.getElementById("data").textContent);
const state = { sort: 1, down: false, filter: "", row: null };
const byId = (id) => document.getElementById(id);
/* What hides, or turns the reading order round, is written out. */
const plain = (text) => String(text ?? "").replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
const esc = (text) => plain(text).replace(/[&<>"']/g, (c) => "&#" + c.charCodeAt(0) + ";");
const known = (x) => typeof x === "number" && isFinite(x);
const percent = (x, digits = 1) => !known(x) ? "\u2013" : (Math.abs(x) < 5 / 10 ** (digits + 3) ? "" : x < 0 ? "\u2212" : "+") + Math.abs(100 * x).toFixed(digits) + "%";
/* What is SAME, or has no figures, is nobody's gain or loss. */
const says = (row) => row.verdict === "SLOWER" || row.verdict === "FASTER";
const coloured = (row, x) => `<span class="${!known(x) || !says(row) ? "open" : x < 0 ? "loss" : "gain"}">${percent(x)}</span>`;

D.rows.forEach((row, index) => {
  const sizes = /(\d+)x(\d+)x(\d+)$/.exec(row.key) ?? [];
  Object.assign(row, { index, m: Number(sizes[1]), n: Number(sizes[2]), k: Number(sizes[3]) });
  row.p = known(row.change) ? row.change < 0 ? row.p_slower : row.p_faster : null;
  row.words = `${row.key} ${row.verdict} ${row.candidate} ${row.reference ?? ""} ${row.reason ?? ""}`.toLowerCase();
});

const COLUMNS = [
  { head: "cell", value: (r) => r.m * 1e12 + r.n * 1e6 + r.k, show: (r) => esc(r.key) },
  { head: "verdict", value: (r) => ["INVALID", "MISSING", "SLOWER", "AMBIGUOUS", "FASTER", "SAME"].indexOf(r.verdict), show: (r) => esc(r.verdict) },
  { head: "change", value: (r) => r.change, show: (r) => coloured(r, r.change) },
  { head: "candidate", value: (r) => r.candidate, show: (r) => esc(r.candidate) },
  { head: "against", value: (r) => r.reference, show: (r) => esc(r.reference ?? "\u2013") },
  { head: "BASE", value: (r) => r.base_speedup, show: (r) => percent(r.base_speedup) },
  { head: "NEW", value: (r) => r.new_speedup, show: (r) => percent(r.new_speedup) },
  { head: "p", value: (r) => r.p, show: (r) => known(r.p) ? r.p.toPrecision(2) : "\u2013" },
  { head: "blind below", value: (r) => r.resolution, show: (r) => percent(r.resolution).replace("+", "") },
  { head: "remark", value: (r) => r.reason, show: (r) => esc([r.reason, r.remeasured && "measured again", r.other_variant && "another variant"].filter(Boolean).join("; ")) },
];
const FIELDS = { change: (r) => 100 * r.change, base: (r) => 100 * r.base_speedup, new: (r) => 100 * r.new_speedup, blind: (r) => 100 * r.resolution, m: (r) => r.m, n: (r) => r.n, k: (r) => r.k, p: (r) => r.p };
const COMPARE = { "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "=": (a, b) => a === b };

/* One word of the filter: a test of rows, or what is wrong with it. */
function readWord(word) {
  const match = /^([^<>=]*)(<=|>=|=|<|>)(.*)$/.exec(word);
  if (!match) return { test: (row) => row.words.includes(word) };
  const [, key, sign, text] = match, number = text.replace(/%$/, "");
  if (!Object.hasOwn(FIELDS, key)) return { wrong: `\u201c${key}\u201d is no field here; there are ${Object.keys(FIELDS).join(" ")}` };
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/.test(number)) return { wrong: `\u201c${text}\u201d is no number to compare ${key} with` };
  return { test: (row) => known(FIELDS[key](row)) && COMPARE[sign](FIELDS[key](row), Number(number)) };
}

function rowsShown() {
  const words = state.filter.toLowerCase().replace(/\s*(<=|>=|=|<|>)\s*/g, "$1").split(/\s+/).filter(Boolean).map(readWord);
  const wrong = words.map((word) => word.wrong).filter(Boolean), { value } = COLUMNS[state.sort];
  byId("filter-error").textContent = wrong.length ? `Nothing is shown: ${wrong.join("; ")}.` : "";
  byId("filter").setAttribute("aria-invalid", wrong.length > 0);
  const order = (a, b) => (a == null) - (b == null) || (a < b ? -1 : a > b ? 1 : 0) * (a == null ? 1 : state.down ? -1 : 1);
  return D.rows.filter((row) => !wrong.length && words.every(({ test }) => test(row))).sort((a, b) => order(value(a) ?? null, value(b) ?? null) || a.index - b.index);
}

function drawRows() {
  const rows = rowsShown();
  byId("shapes").querySelector("thead").innerHTML = "<tr>" + COLUMNS.map(({ head }, i) =>
    `<th tabindex="0" data-column="${i}" aria-sort="${i === state.sort ? state.down ? "descending" : "ascending" : "none"}">${head}</th>`).join("") + "</tr>";
  byId("shapes").querySelector("tbody").innerHTML = rows.map((row) => `<tr data-row="${row.index}" tabindex="0">` + COLUMNS.map(({ show }) => `<td>${show(row)}</td>`).join("") + "</tr>").join("");
  byId("count").textContent = `${rows.length} of ${D.rows.length}`;
  keepState();
}

const definitions = (rows) => "<dl>" + rows.filter(([, value]) => value !== undefined && value !== null && value !== "").map(([key, value]) => `<dt>${esc(key)}</dt><dd>${esc(value)}</dd>`).join("") + "</dl>";
const side = (s) => definitions([["run", s?.path], ["measured", s?.started], ["commit", s?.commit], ["device", s?.device], ["driver", s?.driver], ["complete", s?.complete === undefined ? "" : s.complete ? "yes" : "no"]]);

function drawHead() {
  byId("subtitle").textContent = plain(D.outcome);
  byId("tiles").innerHTML = Object.entries(D.counts ?? {}).filter(([, n]) => n).slice(0, 6).map(([verdict, n]) => `<div class="tile"><div><b class="${verdict === "SLOWER" ? "loss" : verdict === "FASTER" ? "gain" : ""}">${n}</b></div><span>${esc(verdict)}</span></div>`).join("");
  const delta = Object.entries(D.delta ?? {}).filter(([mode, x]) => known(x) && D.rows.some((row) => row.mode === mode)).map(([mode, x]) => `${(100 * x).toPrecision(2)}% ${mode}`).join(", ");
  byId("sides").innerHTML = `<h3>BASE</h3>${side(D.base)}<h3>NEW</h3>${side(D.new)}` + definitions([["a loss counts above", delta], ["forced", (D.forced_differences ?? []).join("; ")], ["exit status", D.exit_code]]);
}

/* Change against size; what says nothing is grey. */
function drawScatter() {
  const list = D.rows.filter((row) => known(row.change) && row.m);
  if (!list.length) { byId("scatter").textContent = "No figures to draw."; return; }
  const width = byId("scatter").clientWidth - 16, height = 300, left = 56, bottom = 34, size = (r) => Math.log2(r.m) + Math.log2(r.n) + Math.log2(r.k);
  const most = Math.max(0.01, ...list.map((r) => Math.abs(r.change))) * 1.05, sizes = list.map(size), low = Math.min(...sizes) - 0.5, high = Math.max(...sizes) + 0.5;
  const x = (v) => left + (v - low) / (high - low) * (width - left - 10), y = (v) => 10 + (most - v) / (2 * most) * (height - 10 - bottom);
  let svg = `<svg viewBox="0 0 ${width} ${height}" height="${height}" role="img" aria-label="change of speed against log2 of MNK">`;
  for (const t of [-most, -most / 2, 0, most / 2, most]) svg += `<line class="${t ? "grid" : "zero"}" x1="${left}" x2="${width - 10}" y1="${y(t)}" y2="${y(t)}"/><text x="${left - 6}" y="${y(t) + 4}" text-anchor="end">${percent(t)}</text>`;
  for (let v = Math.ceil(low); v <= high; v += Math.max(1, Math.round((high - low) / 10))) svg += `<text x="${x(v)}" y="${height - bottom + 18}" text-anchor="middle">${v}</text>`;
  svg += `<text x="${(left + width) / 2}" y="${height - 2}" text-anchor="middle">log\u2082(M\u00b7N\u00b7K)</text>`;
  for (const row of list) svg += `<circle class="dot ${!says(row) ? "open" : row.change < 0 ? "down" : "up"}" style="--v:100%" data-row="${row.index}" cx="${x(size(row)).toFixed(1)}" cy="${y(row.change).toFixed(1)}" r="4"><title>${esc(`${row.key} ${row.candidate}: ${percent(row.change)} ${row.verdict}`)}</title></circle>`;
  byId("scatter").innerHTML = svg + "</svg>";
}

function openDetail(row) {
  if (!row) return;
  state.row = row;
  byId("detail").innerHTML = `<h2 id="detail-title"><span>${esc(row.key)}</span><button id="detail-close" type="button">Close</button></h2>` +
    definitions(Object.entries(row).filter(([key]) => !["index", "words", "key", "m", "n", "k", "p"].includes(key)).map(([key, value]) => [key.replaceAll("_", " "), key === "change" || /speedup|resolution|at_first/.test(key) ? percent(value, 2) : value]));
  if (!byId("detail").open) byId("detail").showModal();
  keepState();
}

/* ---- the address, and the file ---- */

function stateText() {
  const words = new URLSearchParams({ sort: state.sort, down: Number(state.down), filter: state.filter, row: state.row ? state.row.index : "" });
  for (const [key, value] of [...words]) if (value === "" || (key === "down" && value === "0")) words.delete(key);
  return words.toString();
}
const keepState = () => { try { history.replaceState(null, "", "#" + stateText()); } catch { /* a page inside another has no address of its own */ } };
function readState() {
  const words = new URLSearchParams(location.hash.slice(1)), sort = Number(words.get("sort") ?? 1);
  state.sort = COLUMNS[sort] ? sort : 1;
  state.down = words.get("down") === "1";
  state.filter = byId("filter").value = words.get("filter") ?? "";
  return words.has("row") ? D.rows[Number(words.get("row"))] : null;
}

const csvField = (value) => {
  const text = plain(value), safe = !known(value) && /^[=+@-]/.test(text) ? "'" + text : text;
  return /[",\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
};
function csvOfRows() {
  const keys = ["key", "mode", "candidate", "reference", "timing", "verdict", "change", "base_speedup", "new_speedup", "p", "resolution", "base_groups", "new_groups", "reason"];
  return [keys, ...rowsShown().map((row) => keys.map((key) => row[key]))].map((line) => line.map(csvField).join(",")).join("\n") + "\n";
}
function download() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csvOfRows()], { type: "text/csv" }));
  link.download = "compare.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function choose(target) {
  const head = target.closest("th[data-column]");
  if (!head) return openDetail(D.rows[target.closest("[data-row]")?.dataset.row]);
  const column = Number(head.dataset.column);
  state.down = column === state.sort ? !state.down : false;
  state.sort = column;
  drawRows();
}

const asked = readState();
drawHead();
drawScatter();
drawRows();
for (const id of ["shapes", "scatter"]) byId(id).addEventListener("click", (event) => choose(event.target));
byId("shapes").addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(event.target); } });
byId("filter").addEventListener("input", (event) => { state.filter = event.target.value; drawRows(); });
byId("download").addEventListener("click", download);
byId("detail").addEventListener("close", () => { state.row = null; keepState(); });
byId("detail").addEventListener("click", (event) => { if (event.target === byId("detail") || event.target.id === "detail-close") byId("detail").close(); });
if (asked) openDetail(asked);
document.documentElement.dataset.readyMs = performance.now().toFixed(0);

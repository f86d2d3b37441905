/* The headline table and the table of shapes. */
const summaryRow = (list, timing, reference) => (D.summary[list] ?? []).find((row) => {
  const group = D.groups[state.group];
  return row.mode === group.mode && row.dtype === group.dtype && row.accumulate === group.accumulate &&
    row.candidate === name(state.candidate) && row.timing === timing && row.reference === reference;
});

function headlineCells(row) {
  if (!row) return '<td class="first soft">\u2013</td><td class="soft">\u2013</td><td class="soft">\u2013</td>';
  const interval = row.ci95 ? `<small>${percent(row.ci95[0])} \u2026 ${percent(row.ci95[1])}</small>` : "";
  return `<td class="first">${signed(row.mean)}${interval}</td><td>${signed(row.geomean)}</td><td>${row.wins}/${row.n}</td>`;
}

/* A result has the other timings in its summary alone, a journal by shape too. */
const isSummed = (timing) => baselinesOf(state.group, state.candidate).some((i) => summaryRow("speedups", timing, name(i)));

function drawHeadline() {
  const group = D.groups[state.group];
  const timings = TIMINGS.filter((t) => hasTiming(t) || isSummed(t));
  const claims = D.claimed.filter((row) => row.mode === group.mode && row.dtype === group.dtype && row.accumulate === group.accumulate);
  const head = timings.map((t) => `<th class="group" colspan="3">${t} time${t === group.headline ? " (headline)" : ""}</th>`).join("") +
    (claims.length ? '<th class="group">claimed</th>' : "");
  const sub = timings.map(() => '<th class="first">mean</th><th>geomean</th><th>wins</th>').join("") +
    (claims.length ? '<th class="first">mean</th>' : "");
  const line = (list, reference, shown, selected, index) => {
    const claim = claims.find((row) => row.reference === reference && list === "speedups");
    const claimed = claims.length ? `<td class="first">${claim ? `${signed(claim.mean)}<small>${claim.wins}/${claim.n}</small>` : ""}</td>` : "";
    return `<tr data-baseline="${index}"${selected ? ' class="selected"' : ""}><td>${shown}</td>` +
      timings.map((t) => headlineCells(summaryRow(list, t, reference))).join("") + claimed + "</tr>";
  };
  const rows = baselinesOf(state.group, state.candidate).map((i) => line("speedups", name(i), esc(name(i)), i === state.baseline, i));
  const equal = [...new Set((D.summary.equal_path ?? []).map((row) => row.reference))]
    .filter((reference) => timings.some((t) => summaryRow("equal_path", t, reference)))
    .map((reference) => line("equal_path", reference, esc(reference) + " as a graph", false, -1));
  document.getElementById("headline").innerHTML =
    `<thead><tr><th></th>${head}</tr><tr><th>baseline</th>${sub}</tr></thead><tbody>${rows.join("")}${equal.join("")}</tbody>`;
}

function drawAa() {
  const group = D.groups[state.group];
  const rows = (D.summary.aa ?? []).filter((row) => row.mode === group.mode && row.dtype === group.dtype && row.accumulate === group.accumulate);
  document.getElementById("aa").innerHTML = !rows.length ? "" :
    "<table><thead><tr><th>A/A: against its own copy</th><th>timing</th><th>intervals</th><th>exclude 0</th><th>mean lead</th><th>std</th></tr></thead><tbody>" +
    rows.map((row) => `<tr><td>${esc(row.contender)}</td><td>${row.timing}</td><td>${row.with_interval}</td><td>${row.excludes_one}</td>` +
      `<td>${percent(row.mean_log_ratio, 2)}</td><td>${percent(row.sd_log_ratio, 2).slice(1)}</td></tr>`).join("") + "</tbody></table>";
}

/* ---- every shape ---- */

const measured = (cell, timing) => speedup(cell, timing)?.value;
function columns() {
  const timings = TIMINGS.filter(hasTiming);
  return [
    { head: "shape M\u00d7N\u00d7K", key: "shape", value: (c) => c.m * 1e12 + c.n * 1e6 + c.k, show: (c) => c.shape + (c.l ? ` <span class="soft">${esc(c.l)}</span>` : "") },
    { head: "log\u2082 MNK", key: "size", value: (c) => c.size, show: (c) => c.size.toFixed(1) },
    { head: "candidate", key: "time", value: (c) => timeOf(c, state.candidate), show: (c) => duration(timeOf(c, state.candidate)) },
    { head: "baseline", key: "baseline", value: (c) => timeOf(c, state.baseline), show: (c) => duration(timeOf(c, state.baseline)) },
    { head: "TFLOPS", key: "tflops", value: (c) => tflops(c, timeOf(c, state.candidate)), show: (c, v) => known(v) ? v >= 100 ? v.toFixed(0) : v.toPrecision(3) : "\u2013" },
    { head: "roof", key: "roof", value: (c) => known(c.f) ? 100 * c.f / timeOf(c, state.candidate) : null, show: (c, v) => known(v) ? v.toFixed(v < 10 ? 1 : 0) + "%" : "\u2013" },
    ...timings.map((t) => ({ head: t, key: t, value: (c) => measured(c, t), show: (c, v) => signed(v) })),
    { head: "95% " + state.timing, key: "width", value: (c) => { const s = speedup(c); return s && known(s.low) ? s.high - s.low : null; },
      show: (c) => { const s = speedup(c); return s && known(s.low) ? `<span class="soft">${percent(s.low)} \u2026 ${percent(s.high)}</span>` : "\u2013"; } },
    { head: "status", key: "status", value: (c) => c.s + (c.c ? "" : "~"), show: (c) => `<span title="${esc(c.r)}">${c.s === "ok" ? c.c ? "ok" : "at cap" : esc(c.s)}</span>` },
  ];
}

/* "m>=1024 64x speedup<0": every word must hold. Percent columns are compared in percent, times in microseconds. */
function predicate(text, list) {
  const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const match = /^([a-z]+)(<=|>=|=|<|>)(-?[\d.]+)%?$/.exec(word);
    if (!match) return (cell) => cell.words.includes(word);
    const [, key, sign, number] = match;
    const scale = TIMINGS.includes(key) || key === "speedup" ? 100 : key === "time" || key === "baseline" ? 1e-3 : 1;
    const column = list.find((one) => one.key === (key === "speedup" ? state.timing : key));
    const of = "mnk".includes(key) ? (cell) => cell[key] : column ? column.value : () => null;
    const compare = { "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "=": (a, b) => a === b }[sign];
    return (cell) => { const value = of(cell); return known(value) && compare(value * scale, Number(number)); };
  });
  return (cell) => tests.every((test) => test(cell));
}

const FIRST_ROWS = 100;
function drawShapes() {
  const list = columns();
  const keep = predicate(state.filter, list);
  const column = list[Math.min(state.sort, list.length - 1)];
  const rows = cellsOf(state.group).filter(keep).map((cell) => ({ cell, key: column.value(cell) }));
  const order = (a, b) => (a.key == null) - (b.key == null) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0) * (a.key == null ? 1 : state.down ? -1 : 1);
  rows.sort(order);
  const shown = state.all ? rows : rows.slice(0, FIRST_ROWS);
  document.querySelector("#shapes thead").innerHTML = "<tr>" + list.map((c, i) =>
    `<th tabindex="0" data-column="${i}" aria-sort="${i === state.sort ? state.down ? "descending" : "ascending" : "none"}">${c.head}</th>`).join("") + "</tr>";
  document.querySelector("#shapes tbody").innerHTML = shown.map(({ cell }) =>
    "<tr>" + list.map((c) => `<td>${c.show(cell, c.value(cell))}</td>`).join("") + "</tr>").join("");
  document.getElementById("count").textContent = `${rows.length} of ${plural(cellsOf(state.group).length, "shape")}`;
  const more = document.getElementById("more");
  more.hidden = shown.length === rows.length;
  more.textContent = `Show all ${rows.length} shapes`;
}

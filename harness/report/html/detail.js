/* All there is of one shape; the overview of all groups; what was chosen, kept in the address; the table as a file. */
const contendersOf = (cell) => [...new Set([...cell.t.map((row) => row[0]), ...cell.x.map((row) => row[0])])];

/* Blocks of each contender in the headline timing, as parts of the fastest median: shortest to p95 as a line, 95% of the median as a bar. */
function drawSpread(cell) {
  const at = TIMINGS.indexOf(D.groups[cell.g].headline);
  const rows = cell.t.map(([index, ...rest]) => [index, ...rest.slice(TIMINGS.length)]).map(([index, n, ...parts]) => ({ index, n, median: cell.times.get(name(index))?.[at], parts: parts.map((p) => known(p) ? 1 + p / 1000 : null) })).filter((row) => known(row.median) && row.parts.length);
  if (!rows.length) return "";
  const values = rows.flatMap((row) => [row.median, ...row.parts.filter(known).map((p) => p * row.median)]);
  const low = Math.min(...values), high = Math.max(...values) * 1.01, width = 900, left = 190, step = 24, height = rows.length * step + 24;
  const x = (ns) => (left + (ns - low) / (high - low || 1) * (width - left - 30)).toFixed(1);
  let svg = `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="distribution of the blocks' times">`;
  rows.forEach(({ index, median, parts: [least, down, up, p95, p99] }, i) => {
    const y = i * step + 13, line = (from, to, kind) => known(from) && known(to) ? `<line class="${kind}" x1="${x(from * median)}" x2="${x(to * median)}" y1="${y}" y2="${y}"/>` : "";
    svg += `<text class="strong" x="${left - 10}" y="${y + 4}" text-anchor="end">${esc(name(index))}</text>` + line(least ?? 1, p95, "spread") +
      (known(down) ? `<rect class="core" x="${x(down * median)}" y="${y - 5}" width="${Math.max(1, x(up * median) - x(down * median))}" height="10"/>` : "") +
      `<line class="median" x1="${x(median)}" x2="${x(median)}" y1="${y - 7}" y2="${y + 7}"/>` + (known(p99) ? `<circle class="dot down" style="--v:100%" cx="${x(p99 * median)}" cy="${y}" r="2.5"/>` : "");
  });
  for (const ns of [low, (low + high) / 2, high]) svg += `<text x="${x(ns)}" y="${height - 4}" text-anchor="middle">${duration(ns)}</text>`;
  return `<h3>Distribution of the blocks</h3><p class="note">Line: from the shortest block to the 95th percentile; bar: 95% interval of the median (mark); dot: 99th percentile.</p>${svg}</svg>`;
}

function contenderRows(cell) {
  const energy = new Map((cell.en ?? []).map(([index, ...figures]) => [index, figures]));
  const chosen = new Map((cell.a ?? []).map(([index, which]) => [index, textOf(D.texts[which])])), failed = new Map(cell.x.map(([index, ...why]) => [index, why.filter(Boolean).join(": ")]));
  return contendersOf(cell).map((index) => {
    const times = cell.times.get(name(index)) ?? [], at = TIMINGS.indexOf(D.groups[cell.g].headline);
    return `<tr><td>${esc(name(index))}</td>${TIMINGS.map((_, i) => `<td>${duration(times[i])}</td>`).join("")}<td>${known(times[at]) ? tflops(cell, times[at]).toPrecision(3) : "\u2013"}</td>` +
      (cell.en ? [0, 1].map((i) => `<td>${known(energy.get(index)?.[i]) ? energy.get(index)[i].toPrecision(3) : "not measured"}</td>`).join("") : "") +
      `<td class="words">${esc(failed.get(index) ?? "ok")}</td><td class="words">${esc(chosen.get(index)).replaceAll(",", ",<wbr>")}</td></tr>`;
  }).join("");
}

function speedupRows(cell) {
  return cell.p.map(([candidate, timing, reference]) => {
    const s = cell.speedups.get(`${candidate} ${timing} ${reference}`);
    return `<tr><td>${esc(name(candidate))}</td><td>${esc(name(reference))}</td><td>${timeName(timing, D.groups[cell.g])}</td><td>${signed(s.value, percent(s.value), isOpen(s))}</td>` +
      `<td>${known(s.low) ? `${percent(s.low)} \u2026 ${percent(s.high)}` : "\u2013"}</td><td>${signed(s.mean)}${isApart(s) ? "*" : ""}</td></tr>`;
  }).join("");
}

function openDetail(cell) {
  if (!cell) return;
  const speedups = speedupRows(cell);
  state.cell = cell;
  byId("detail").innerHTML = `<h2 id="detail-title"><span>${cell.shape}${cell.l ? ` <span class="soft">${esc(cell.l)}</span>` : ""}</span><button id="detail-close" type="button">Close</button></h2>` +
    `<p class="note">${esc(groupName(cell.g))}; ${esc(cell.state)}${cell.r ? `: ${esc(cell.r)}` : ""}${known(cell.b) ? `; ${cell.b} blocks${cell.d ? `, ${cell.d} dropped` : ""}` : ""}` +
    `${known(cell.w) ? `; widest interval \u00b1${(100 * cell.w).toFixed(2)}%${cell.wp ? ` (${esc(cell.wp)})` : ""}` : ""}${known(cell.f) ? `; roofline ${duration(cell.f)}` : ""}${cell.ro ? `; ${esc(rotationText(cell))}` : ""}</p>` +
    `<div class="scroll"><table><thead><tr><th>contender</th>${TIMINGS.map((t) => `<th>${timeName(t, D.groups[cell.g])}</th>`).join("")}<th>TFLOPS</th>${cell.en ? "<th>J a launch</th><th>GFLOP/J</th>" : ""}<th class="left">status</th><th class="left">parameters</th></tr></thead><tbody>${contenderRows(cell)}</tbody></table></div>` +
    drawSpread(cell) + (speedups && `<h3>Speedups</h3><p class="note">A * marks a mean of ratios (paper) outside the interval, which is of the trimmed estimate.</p><div class="scroll"><table><thead><tr><th>candidate</th><th>over</th><th>timing</th><th>trimmed</th><th>95%</th><th>paper</th></tr></thead><tbody>${speedups}</tbody></table></div>`);
  if (!byId("detail").open) byId("detail").showModal();
  keepState();
}

/* ---- overview ---- */

function overviewRows() {
  return D.groups.flatMap((group, g) => candidatesOf(g).map((candidate) => {
    const baselines = baselinesOf(g, candidate), baseline = firstBaseline(baselines);
    const row = (D.summary.speedups ?? []).find((one) => one.mode === group.mode && one.dtype === group.dtype && one.accumulate === group.accumulate &&
      one.candidate === name(candidate) && one.timing === group.headline && one.reference === name(baseline));
    return { g, candidate, baseline, row };
  }));
}

function drawOverview() {
  const rows = overviewRows();
  byId("overview-section").hidden = rows.length < 2;
  byId("overview").innerHTML = "<thead><tr><th>cells</th><th>candidate</th><th>over</th><th>time</th><th>trimmed</th><th>median</th><th>wins</th><th>paper</th><th>converged</th></tr></thead><tbody>" +
    rows.map(({ g, candidate, baseline, row }) => {
      const { measured, converged } = outcomeOf(g), group = D.groups[g], selected = g === state.group && candidate === state.candidate;
      return `<tr data-group="${g}" data-candidate="${candidate}"${selected ? ' class="selected"' : ""}><td>${esc(groupName(g))}</td><td>${esc(name(candidate))}</td><td>${esc(name(baseline))}</td><td>${timeName(group.headline, group)}</td>` +
        `<td>${signed(row?.geomean)}</td><td>${signed(row?.median)}</td><td>${row ? `${row.wins}/${row.n}${leftOut(row)}` : "\u2013"}</td><td>${noiseOf(g) ? "\u2013" : signed(row?.mean)}</td><td>${converged}/${measured}</td></tr>`;
    }).join("") + "</tbody>";
}

/* ---- the address ---- */

function stateText() {
  const { group, candidate, baseline, timing, sort, down, filter, cell } = state;
  const words = new URLSearchParams({ group, candidate: name(candidate), baseline: name(baseline), timing, sort, down: Number(down), filter, cell: cell ? `${cell.m}x${cell.n}x${cell.k}` : "" });
  for (const [key, value] of [...words]) if (value === "" || (value === "0" && key !== "group")) words.delete(key);
  return words.toString();
}
const keepState = () => { try { history.replaceState(null, "", "#" + stateText()); } catch { /* a page inside another has no address of its own */ } };

function readState() {
  const words = new URLSearchParams(location.hash.slice(1)), index = (key) => D.contenders.indexOf(words.get(key));
  const group = Number(words.get("group") ?? 0);
  if (D.groups[group]) state.group = group;
  state.candidate = index("candidate");
  state.baseline = index("baseline");
  state.timing = TIMINGS.includes(words.get("timing")) ? words.get("timing") : D.groups[state.group]?.headline ?? TIMINGS[0];
  state.sort = Number(words.get("sort")) || 0;
  state.down = words.get("down") === "1";
  state.filter = byId("filter").value = words.get("filter") ?? "";
  state.cell = cellsOf(state.group).find((cell) => `${cell.m}x${cell.n}x${cell.k}` === words.get("cell")) ?? null;
}

function download() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csvOfShapes()], { type: "text/csv" }));
  link.download = "shapes.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/* Charts as inline SVG, drawn at their real width so that text keeps its size on a phone. */
const tip = document.getElementById("tip");
function showTip(event, text) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = (event.clientY + box.height + 24 > innerHeight ? event.clientY - box.height - 12 : event.clientY + 16) + "px";
}

function describe(cell) {
  const s = speedup(cell);
  const interval = s && known(s.low) ? ` (95%: ${percent(s.low)} \u2026 ${percent(s.high)})` : "";
  return `${cell.shape}${cell.l ? "  " + cell.l : ""}\n${percent(s?.value)}${interval}\n` +
    `${name(state.candidate)} ${duration(timeOf(cell, state.candidate))}\n${name(state.baseline)} ${duration(timeOf(cell, state.baseline))}`;
}

/* Speedups are drawn by the logarithm of the ratio: twice as fast and half as fast are equally far from 0. */
const logRatio = (s) => Math.log2(1 + s);
const GAINS = [0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 9, 14, 19, 29, 49, 99, 199, 499, 999];
const LOSSES = [-0.05, -0.1, -0.2, -0.3, -0.4, -0.5, -0.6, -0.7, -0.8, -0.9, -0.95, -0.98, -0.99, -0.995, -0.998, -0.999];
const TICKS = [...LOSSES, 0, ...GAINS].sort((a, b) => a - b);
/* Ends of an axis of logarithms: at the next ticks, so that no value lies beyond the last that is named. */
function axisEnds(low, high) {
  const below = TICKS.findLast((t) => t < 0 && logRatio(t) <= low), above = TICKS.find((t) => t > 0 && logRatio(t) >= high);
  return [below === undefined ? low : logRatio(below) - 1e-9, above === undefined ? high : logRatio(above) + 1e-9];
}

function ticksBetween(low, high, room) {
  const inside = TICKS.filter((t) => logRatio(t) >= low && logRatio(t) <= high);
  const chosen = inside.includes(0) ? [0] : [];
  for (const tick of inside.sort((a, b) => Math.abs(logRatio(b)) - Math.abs(logRatio(a))))
    if (chosen.every((other) => Math.abs(logRatio(tick) - logRatio(other)) >= (high - low) / room)) chosen.push(tick);
  return chosen;
}
const tickText = (t) => t === 0 ? "0" : (t < 0 ? "\u2212" : "+") + Math.abs(Math.round(100 * t)) + "%";

function points() {
  return cellsOf(state.group).map((cell) => ({ cell, s: speedup(cell)?.value })).filter((p) => known(p.s) && p.s > -1);
}

function meanLine(list, x, y) {
  const bins = new Map();
  for (const p of list) {
    const at = Math.floor(p.cell.size / 2);
    const bin = bins.get(at) ?? { n: 0, sum: 0, size: 0 };
    bin.n++;
    bin.size += p.cell.size;
    bin.sum += logRatio(p.s);
    bins.set(at, bin);
  }
  const path = [...bins].sort((a, b) => a[0] - b[0]).map(([, bin]) => `${x(bin.size / bin.n).toFixed(1)},${y(bin.sum / bin.n).toFixed(1)}`);
  return `<polyline class="mean" points="${path.join(" ")}"/>`;
}

function drawScatter() {
  const host = document.getElementById("scatter");
  const list = points();
  document.getElementById("scatter-note").textContent =
    `${name(state.candidate)} over ${name(state.baseline)}, ${timeName(state.timing)} time. One dot for each shape` +
    (noiseOf(state.group) ? "; no mean, as too few of them reached the wanted precision." : "; the line is the geometric mean over shapes of similar size.");
  if (!list.length) { host.textContent = "No speedups in this selection."; return; }
  const width = host.clientWidth - 16, height = Math.min(380, Math.max(240, width * 0.45));
  const left = 52, right = 10, top = 10, bottom = 34;
  const sizes = list.map((p) => p.cell.size), values = list.map((p) => logRatio(p.s));
  const x0 = Math.floor(Math.min(...sizes) / 2) * 2, x1 = Math.max(x0 + 2, Math.ceil(Math.max(...sizes) / 2) * 2);
  const [y0, y1] = axisEnds(Math.min(...values), Math.max(...values));
  const x = (v) => left + (v - x0) / (x1 - x0) * (width - left - right);
  const y = (v) => top + (y1 - v) / (y1 - y0) * (height - top - bottom);
  const step = width < 500 && x1 - x0 > 12 ? 6 : 2;
  let svg = `<svg viewBox="0 0 ${width} ${height}" height="${height}" role="img" aria-label="speedup against log2 of MNK">`;
  for (const t of ticksBetween(y0, y1, height / 34))
    svg += `<line class="${t ? "grid" : "zero"}" x1="${left}" x2="${width - right}" y1="${y(logRatio(t))}" y2="${y(logRatio(t))}"/>` +
      `<text x="${left - 8}" y="${y(logRatio(t)) + 4}" text-anchor="end">${tickText(t)}</text>`;
  for (let v = x0; v <= x1; v += step) svg += `<text x="${x(v)}" y="${height - bottom + 18}" text-anchor="middle">${v}</text>`;
  svg += `<text x="${(left + width - right) / 2}" y="${height - 2}" text-anchor="middle">log\u2082(M\u00b7N\u00b7K)</text>`;
  for (const p of list) {
    p.x = x(p.cell.size);
    p.y = y(logRatio(p.s));
    svg += `<circle class="dot ${isOpen(speedup(p.cell)) ? "open" : p.s < 0 ? "down" : "up"}" style="--v:100%" cx="${p.x.toFixed(1)}" cy="${p.y.toFixed(1)}" r="${list.length > 300 ? 3 : 4.5}"/>`;
  }
  host.innerHTML = svg + (noiseOf(state.group) ? "" : meanLine(list, x, y)) + "</svg>";
  hover(host, list);
}

/* The nearest dot within reach of mouse or finger. */
function hover(host, list) {
  const svg = host.firstChild, dots = svg.querySelectorAll("circle");
  let near = null;
  const leave = () => { near?.classList.remove("near"); near = null; };
  const move = (event) => {
    const box = svg.getBoundingClientRect();
    let best = -1, distance = 30 ** 2;
    list.forEach((p, i) => {
      const d = (p.x - (event.clientX - box.left)) ** 2 + (p.y - (event.clientY - box.top)) ** 2;
      if (d < distance) { best = i; distance = d; }
    });
    leave();
    if (best >= 0) { near = dots[best]; near.classList.add("near"); }
    showTip(event, best >= 0 ? describe(list[best].cell) : "");
  };
  svg.addEventListener("pointermove", move);
  svg.addEventListener("pointerdown", move);
  svg.addEventListener("click", () => { if (near) openDetail(list[[...dots].indexOf(near)].cell); });
  svg.addEventListener("pointerleave", () => { leave(); showTip(null, ""); });
}

function drawDistribution() {
  const host = document.getElementById("distribution");
  const rows = baselinesOf(state.group, state.candidate).map((baseline) => ({ baseline, values: cellsOf(state.group)
    .map((cell) => speedup(cell, state.timing, baseline)?.value).filter((s) => known(s) && s > -1).map(logRatio).sort((a, b) => a - b) }))
    .filter((row) => row.values.length);
  if (!rows.length) { host.textContent = "No speedups in this selection."; return; }
  const width = host.clientWidth - 16, narrow = width < 500, step = narrow ? 40 : 26;
  const left = narrow ? 20 : 190, right = 26, height = rows.length * step + 28;
  const [low, high] = axisEnds(Math.min(...rows.map((r) => quantile(r.values, 0.05))), Math.max(...rows.map((r) => quantile(r.values, 0.95))));
  const x = (v) => left + (v - low) / (high - low) * (width - left - right);
  let svg = `<svg viewBox="0 0 ${width} ${height}" height="${height}" role="img" aria-label="distribution of speedups for each baseline">`;
  for (const t of ticksBetween(low, high, width / 70))
    svg += `<line class="${t ? "grid" : "zero"}" x1="${x(logRatio(t))}" x2="${x(logRatio(t))}" y1="4" y2="${height - 22}"/>` +
      `<text x="${x(logRatio(t))}" y="${height - 6}" text-anchor="middle">${tickText(t)}</text>`;
  rows.forEach((row, i) => {
    const [a, b, c, d, e] = [0.05, 0.25, 0.5, 0.75, 0.95].map((q) => x(quantile(row.values, q)));
    const mid = i * step + (narrow ? 28 : 15);
    svg += `<text class="strong" x="${narrow ? left : left - 10}" y="${narrow ? mid - 12 : mid + 4}" text-anchor="${narrow ? "start" : "end"}">${esc(name(row.baseline))}</text>` +
      `<line class="whisker" x1="${a}" x2="${e}" y1="${mid}" y2="${mid}"/><rect class="box" x="${b}" y="${mid - 6}" width="${Math.max(1, d - b)}" height="12" rx="2"/>` +
      `<line class="median" x1="${c}" x2="${c}" y1="${mid - 8}" y2="${mid + 8}"/>`;
  });
  host.innerHTML = svg + "</svg>";
}

/* The lead that has full colour, as the slowdown that mirrors it has: 19 in 20 shapes have less. */
function heatFull(list) {
  const wanted = quantile(list.map((p) => Math.abs(logRatio(p.s))).sort((a, b) => a - b), 0.95);
  return GAINS.find((gain) => logRatio(gain) >= wanted) ?? GAINS.at(-1);
}

/* Never larger than a side of 26 pixels a cell, smaller where the room asks for it. */
/* What is drawn as squares: each shape of a grid. Of other shapes those of one power of two in M, N and K are one, whose slowest is looked at. */
const SQUARES = 20000, SIZES = ["m", "n", "k"];
function squares(list) {
  const alone = list.map((p) => ({ m: p.cell.m, n: p.cell.n, k: p.cell.k, s: p.s, cell: p.cell, open: isOpen(speedup(p.cell)) }));
  if (SIZES.reduce((all, key) => all * new Set(alone.map((q) => q[key])).size, 1) <= SQUARES) return alone;
  const bins = new Map();
  for (const q of alone) {
    for (const key of SIZES) q[key] = 2 ** Math.floor(Math.log2(q[key]));
    const at = SIZES.map((key) => q[key]).join();
    bins.set(at, [...(bins.get(at) ?? []), q]);
  }
  return [...bins.values()].map((bin) => {
    const slowest = bin.reduce((worst, q) => q.s < worst.s ? q : worst), mean = bin.reduce((sum, q) => sum + logRatio(q.s), 0) / bin.length;
    return { ...slowest, s: 2 ** mean - 1, open: bin.every((q) => q.open), binned: true };
  });
}

function heatmap(k, list, ms, ns, full) {
  const side = 26, left = 46, top = 4, width = left + ns.length * side + 2, height = top + ms.length * side + 34;
  let svg = `<svg viewBox="0 0 ${width} ${height}" style="max-width: ${width}px" role="img" aria-label="speedup by M and N at K = ${k}">`;
  ms.forEach((m, i) => { svg += `<text x="${left - 4}" y="${top + i * side + side / 2 + 3}" text-anchor="end">${m}</text>`; });
  ns.forEach((n, i) => { svg += `<text x="${left + i * side + side / 2}" y="${height - 20}" text-anchor="middle">${n >= 1024 ? n % 1024 ? n : n / 1024 + "k" : n}</text>`; });
  svg += `<text x="${left + ns.length * side / 2}" y="${height - 5}" text-anchor="middle">${ns.length > 3 ? "N across, M down" : "N"}</text>`;
  for (let i = 0; i < ms.length * ns.length; i++)
    svg += `<rect class="none" x="${left + i % ns.length * side}" y="${top + Math.floor(i / ns.length) * side}" width="${side}" height="${side}" rx="3"/>`;
  for (const p of list) {
    const share = Math.min(1, Math.abs(logRatio(p.s)) / logRatio(full));
    svg += `<rect class="${p.open ? "open" : p.s < 0 ? "down" : "up"}" style="--v:${(100 * share).toFixed(0)}%" data-cell="${p.cell.index}" ` +
      `x="${left + ns.indexOf(p.n) * side}" y="${top + ms.indexOf(p.m) * side}" width="${side}" height="${side}" rx="3"/>`;
  }
  return `<div><h3>K = ${k}${list[0]?.binned ? ` to ${2 * k - 1}` : ""}</h3>${svg}</svg></div>`;
}

function drawHeatmaps() {
  const list = squares(points());
  const sorted = (key) => [...new Set(list.map((p) => p[key]))].sort((a, b) => a - b);
  const ms = sorted("m"), ns = sorted("n");
  const full = list.length ? heatFull(list) : 1, mirror = 1 / (1 + full) - 1;
  document.getElementById("heat-note").textContent = `${name(state.candidate)} over ${name(state.baseline)}, ${timeName(state.timing)} time. N across, M down.` +
    (list[0]?.binned ? " The shapes are no grid: a square is the geometric mean of all from its M, N and K to less than twice as much, and opens the slowest of them." : "");
  document.getElementById("legend").innerHTML = `${tickText(mirror)} or less <i></i> ${tickText(full)} or more <span>(log scale; plain grey where the interval spans 0; the ends fit ` +
    "what is selected: 19 in 20 shapes lie within)</span>";
  const host = document.getElementById("heatmaps");
  host.style.setProperty("--card", Math.max(110, Math.min(270, 48 + 26 * ns.length)) + "px");
  host.innerHTML = sorted("k").map((k) => heatmap(k, list.filter((p) => p.k === k), ms, ns, full)).join("");
}

/** An axis: linear or by powers of ten, or named places. */
export interface Axis {
  label: string;
  log?: boolean;
  names?: readonly string[];
}

export interface Series {
  name: string;
  points: readonly (readonly [number, number])[];
  dashed?: boolean;
}

const [WIDTH, HEIGHT] = [720, 340];
const MARGIN = { left: 72, right: 16, top: 72, bottom: 48 };
const LINE_HEIGHT = 18;
const TICKS = 5;

/** Told apart in light and dark, and by those who see few colours. */
const STYLE = `text{fill:#24292f;font:12px sans-serif}.back{fill:#fff}.grid{stroke:#d0d7de}.s0{--c:#0969da}.s1{--c:#bc4c00}.s2{--c:#8250df}.s3{--c:#1a7f37}polyline{stroke:var(--c);fill:none;stroke-width:2}circle{fill:var(--c)}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#0d1117}.grid{stroke:#30363d}.s0{--c:#58a6ff}.s1{--c:#f0883e}.s2{--c:#bc8cff}.s3{--c:#3fb950}}`;

/** Draws lines as an SVG that needs nothing else. */
export function plot(title: string, x: Axis, y: Axis, series: readonly Series[]): string {
  const [across, up] = [
    scaleOf(
      x,
      series.flatMap(({ points }) => points.map(([value]) => value)),
      MARGIN.left,
      WIDTH - MARGIN.right,
    ),
    scaleOf(
      y,
      series.flatMap(({ points }) => points.map(([, value]) => value)),
      HEIGHT - MARGIN.bottom,
      MARGIN.top,
    ),
  ];
  const grid = up.ticks.map(({ at, text }) =>
    [
      `<line class="grid" x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${at}" y2="${at}"/>`,
      `<text x="${MARGIN.left - 8}" y="${at + 4}" text-anchor="end">${text}</text>`,
    ].join(""),
  );
  const below = across.ticks.map(
    ({ at, text }) =>
      `<text x="${at}" y="${HEIGHT - MARGIN.bottom + 18}" text-anchor="middle">${text}</text>`,
  );
  const lines = series.map(({ points, dashed }, index) => {
    const places = points.map(([one, other]) => `${across.place(one)},${up.place(other)}`);
    const dots =
      points.length > 12 ? [] : places.map((place) => `<circle r="3" cx="${place.replace(",", '" cy="')}"/>`);
    const dash = dashed === true ? ' stroke-dasharray="6 4"' : "";
    return `<g class="s${index}"><polyline points="${places.join(" ")}"${dash}/>${dots.join("")}</g>`;
  });
  const legend = series.map(({ name, dashed }, index) => {
    const [left, top] = [MARGIN.left + (index % 2) * 320, 36 + Math.floor(index / 2) * LINE_HEIGHT];
    const dash = dashed === true ? ' stroke-dasharray="6 4"' : "";
    return `<g class="s${index}"><polyline points="${left},${top - 4} ${left + 24},${top - 4}"${dash}/><text x="${left + 32}" y="${top}">${escapeXml(name)}</text></g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeXml(title)}">
<style>${STYLE}</style>
<rect class="back" width="${WIDTH}" height="${HEIGHT}"/>
<text x="${MARGIN.left}" y="16" font-weight="bold">${escapeXml(title)}</text>
${[...legend, ...grid, ...below, ...lines].join("\n")}
<text x="${WIDTH - MARGIN.right}" y="${HEIGHT - 8}" text-anchor="end">${escapeXml(x.label)}</text>
<text x="8" y="${HEIGHT - 8}">↑ ${escapeXml(y.label)}</text>
</svg>
`;
}

function scaleOf({ log = false, names }: Axis, values: readonly number[], from: number, to: number) {
  const place = (part: number): number => Math.round((from + part * (to - from)) * 10) / 10;
  if (names !== undefined) {
    const part = (value: number): number => (value + 0.5) / names.length;
    const ticks = names.map((text, index) => ({ at: place(part(index)), text }));
    return { place: (value: number) => place(part(value)), ticks };
  }
  const most = Math.max(...values);
  if (!log) {
    const step = niceStep(most / TICKS);
    const top = Math.ceil(most / step) * step;
    const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
    return {
      place: (value: number) => place(value / top),
      ticks: ticks.map((value) => ({ at: place(value / top), text: shown(value) })),
    };
  }
  const low = Math.floor(Math.log10(Math.max(0.1, Math.min(...values))));
  const high = Math.max(low + 1, Math.ceil(Math.log10(most)));
  const part = (value: number): number => (Math.log10(Math.max(10 ** low, value)) - low) / (high - low);
  const ticks = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  return {
    place: (value: number) => place(part(value)),
    ticks: ticks.map((value) => ({ at: place(part(value)), text: shown(value) })),
  };
}

function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
}

function shown(value: number): string {
  return value.toLocaleString("en");
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

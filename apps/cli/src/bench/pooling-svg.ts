import type { PoolingReport, PoolingResult } from "./measure-pooling.ts";

const WIDTH = 720;
const HEIGHT = 360;
const MARGIN = { left: 64, right: 200, top: 24, bottom: 40 };
const COLOURS = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#a463f2"];

const escapeXml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** A plot of every run's time, on a scale of powers of ten. */
export function poolingSvg({ results }: PoolingReport): string {
  const times = results.flatMap(({ runs }) => runs.map(({ ms }) => Math.log10(Math.max(ms, 0.1))));
  const [low, high] = [Math.floor(Math.min(...times)), Math.ceil(Math.max(...times))];
  const most = Math.max(...results.map(({ runs }) => runs.length));
  const x = (index: number) =>
    MARGIN.left + (index / Math.max(1, most - 1)) * (WIDTH - MARGIN.left - MARGIN.right);
  const y = (ms: number) => {
    const part = (Math.log10(Math.max(ms, 0.1)) - low) / Math.max(1, high - low);
    return HEIGHT - MARGIN.bottom - part * (HEIGHT - MARGIN.top - MARGIN.bottom);
  };
  const grid = Array.from({ length: high - low + 1 }, (_, step) => 10 ** (low + step)).map(
    (ms) =>
      `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y(ms)}" y2="${y(ms)}" stroke="#ddd"/><text x="${MARGIN.left - 8}" y="${y(ms) + 4}" text-anchor="end">${ms} ms</text>`,
  );
  const line = (result: PoolingResult, index: number) => {
    const colour = COLOURS[index % COLOURS.length];
    const points = result.runs.map(({ ms }, run) => `${x(run).toFixed(1)},${y(ms).toFixed(1)}`).join(" ");
    const name = escapeXml(`${result.sandbox}, ${result.mode}`);
    const at = MARGIN.top + 16 + index * 20;
    return `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2"/><text x="${WIDTH - MARGIN.right + 16}" y="${at}" fill="${colour}">${name}</text>`;
  };
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">
<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>
${[...grid, ...results.map(line)].join("\n")}
<text x="${MARGIN.left}" y="${HEIGHT - 12}">runs, one after another</text>
</svg>
`;
}

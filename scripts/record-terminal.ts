// Runs the main job and draws what it printed, each line at the time it came: docs/public/cem-run.svg. Nothing is edited.
//   node scripts/record-terminal.ts
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
const TASK = "Calculate 5 + 3 and get weather for San Francisco";
const COLUMNS = 84;
const LINE_HEIGHT = 18;
const CHARACTER_WIDTH = 7.83;
const PADDING = 16;
/** Of the terminal's attributes and colours, those that the command uses. */
const STYLES: Readonly<Record<string, string>> = {
  "1": "font-weight:bold",
  "2": "opacity:.6",
  "31": "fill:#ff7b72",
  "32": "fill:#7ee787",
  "33": "fill:#e3b341",
  "34": "fill:#79c0ff",
  "36": "fill:#76e3ea",
};

/** An escape sequence that sets attributes, with their numbers. */
const ATTRIBUTE = new RegExp(`${String.fromCodePoint(27)}\\[([\\d;]*)m`, "u");

interface Line {
  text: string;
  /** Since the command was started. */
  ms: number;
}

/** Runs the command from the sources, with colours, as `npm start` does. */
async function record(): Promise<Line[]> {
  const started = performance.now();
  const command = path.join(root, "apps/cli/src/cem.ts");
  const child = spawn(process.execPath, ["--conditions=@cem/source", command, "run", TASK], {
    cwd: root,
    env: { ...process.env, FORCE_COLOR: "1", COLUMNS: String(COLUMNS) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: Line[] = [];
  let rest = "";
  for await (const chunk of child.stdout) {
    const parts = (rest + String(chunk)).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts.map((text) => ({ text, ms: performance.now() - started })));
  }
  if (child.exitCode !== 0 && child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}.`);
  return lines;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** A line's text with its colours as spans. */
function spansOf(text: string): string {
  let style = "";
  return text
    .split(ATTRIBUTE)
    .map((part, at) => {
      if (at % 2 === 1) {
        style = STYLES[part] ?? "";
        return "";
      }
      if (part === "") return "";
      return style === "" ? escapeXml(part) : `<tspan style="${style}">${escapeXml(part)}</tspan>`;
    })
    .join("");
}

function draw(lines: readonly Line[]): string {
  const width = Math.ceil(COLUMNS * CHARACTER_WIDTH + 2 * PADDING);
  const height = lines.length * LINE_HEIGHT + 2 * PADDING;
  const texts = lines.map(({ text, ms }, at) => {
    const y = PADDING + (at + 1) * LINE_HEIGHT - 5;
    return `<text class="line" x="${PADDING}" y="${y}" style="animation-delay:${Math.round(ms)}ms" xml:space="preserve">${spansOf(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>cem run "${escapeXml(TASK)}" in a terminal</title>
<style>
.line { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #e6edf3; white-space: pre; animation: show 1ms both }
@keyframes show { from { visibility: hidden } to { visibility: visible } }
@media (prefers-reduced-motion: reduce) { .line { animation: none } }
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
${texts.join("\n")}
</svg>
`;
}

const prompt: Line = { text: `\u001B[32m$\u001B[39m cem run "${TASK}"`, ms: 0 };
const file = path.join(root, "docs/public/cem-run.svg");
mkdirSync(path.dirname(file), { recursive: true });
writeFileSync(file, draw([prompt, ...(await record())]));

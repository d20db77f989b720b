import type { PullProgress } from "code-execution-mcp/admin";
import { renderRow } from "./render-rows.ts";
import { oneLine } from "./safe-text.ts";
import type { Output } from "./terminal.ts";

/** Between two updates of the line of a file, so that the terminal keeps up. */
const UPDATE_INTERVAL_MS = 100;
const UNITS = ["bytes", "kB", "MB", "GB"];

/** Shows the progress of a pull: a line for each file when it has come, and in a terminal how far the current one is. */
export function createPullProgress(output: Output): (progress: PullProgress) => void {
  const { style } = output;
  let shownAt = -Infinity;
  let began = false;
  return ({ file, loaded, total, done }) => {
    const name = oneLine(file);
    if (done) {
      const lines = renderRow("pull", name, style, { right: size(loaded) });
      output.write(`${began ? "" : "\n"}${lines.join("\n")}\n`);
      began = true;
      return;
    }
    const now = performance.now();
    if (now - shownAt < UPDATE_INTERVAL_MS) return;
    shownAt = now;
    const share =
      total === undefined || total === 0 ? "" : ` of ${size(total)}, ${Math.floor((100 * loaded) / total)} %`;
    output.writeTransient(`  pull       ${name}  ${style.colors.dim(`${size(loaded)}${share}`)}`);
  };
}

/** `23.0 MB`. */
function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}

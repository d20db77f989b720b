import { PassThrough, Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createPullProgress } from "./commands/model.ts";
import { createTerminal } from "./io/terminal.ts";

const FILE = "onnx/model_quantized.onnx";

function show(isTTY: boolean): string {
  const stdout = Object.assign(new PassThrough(), { isTTY });
  const { out } = createTerminal(
    { stdin: Readable.from([]), stdout, stderr: new PassThrough(), on: () => {}, off: () => {} },
    false,
  );
  const progress = createPullProgress(out);
  progress({ file: FILE, loaded: 11_500_000, total: 23_000_000, done: false });
  progress({ file: FILE, loaded: 11_500_001, total: 23_000_000, done: false });
  progress({ file: FILE, loaded: 23_000_000, total: 23_000_000, done: true });
  progress({ file: "config.json", loaded: 650, total: 650, done: true });
  return String(stdout.read());
}

describe("createPullProgress", () => {
  it("shows in a terminal how far a file is, as often as one can read it", () => {
    const shown = show(true);
    expect(shown).toContain(`  pull       ${FILE}  11.5 MB of 23.0 MB, 50 %\r\u001B[K`);
    expect(shown.match(/11\.5 MB/gu)).toHaveLength(1);
  });

  it("prints a line for each file that has come", () => {
    const lines = show(false).trimEnd().split("\n");
    expect(lines).toEqual([
      "",
      expect.stringMatching(/^ {2}pull {7}onnx\/model_quantized\.onnx +23\.0 MB$/u),
      expect.stringMatching(/^ {2}pull {7}config\.json +650 bytes$/u),
    ]);
  });
});

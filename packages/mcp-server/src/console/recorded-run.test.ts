import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { countRedactions } from "./recorded-run.ts";

it("countRedactions counts a value once, by type", () => {
  const one = "[[EMAIL:aaaaaaaaaaaaaaaa]]";
  const data = { text: `${one} and ${one}`, more: ["[[IP:bbbbbbbbbbbbbbbb]]", "[[no token]]"] };
  expect(countRedactions(data)).toEqual([
    { type: "EMAIL", values: 1 },
    { type: "IP", values: 1 },
  ]);
  expect(countRedactions(undefined)).toEqual([]);
});

/** Has a run end in a process that has as many files open as it may. */
const FULL_HOST = `
const { closeSync, openSync } = await import("node:fs");
const [{ RunBoard }, { Run }] = [await import("./run-board.ts"), await import("../runs/run.ts")];
const board = new RunBoard();
const { signal } = new AbortController();
const begin = async () => { throw new Error("no"); };
const request = { kind: "code", owner: "ada", facts: { input: "1", audience: "ada" }, signal, onEvent() {}, begin };
const opened = [];
try { for (;;) opened.push(openSync("/dev/null")); } catch {}
await new Run(request, board.watcherOf).waitFor(1_000, request);
await new Promise((resolve) => setImmediate(resolve));
for (const one of opened) closeSync(one);
console.log(board.list("ada")[0].hasEnded);
`;

it.runIf(process.platform === "linux")("a run that ends where too many files are open ends no host", () => {
  const node = [process.execPath, "--conditions=@cem/source", "--input-type=module", "-e", FULL_HOST];
  const command = ["-c", `ulimit -n 128; exec "$0" "$@"`, ...node];
  const { stdout } = spawnSync("sh", command, { cwd: import.meta.dirname, encoding: "utf8" });
  expect(stdout).toBe("true\n");
});

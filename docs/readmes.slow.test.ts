import { spawn } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blocksOf, DOCUMENTS, root } from "./scripts/blocks.ts";
import type { Block } from "./scripts/blocks.ts";

const TIMEOUT_MS = 300_000;
const folder = path.join(root, "docs/.cem/readmes");

/** Things that are not on every machine: servers, ports, programs, keys, clusters; a test of vitest; a generated file. */
const NEEDS =
  /redis:\/\/|postgresql:\/\/|"npx"|githubcopilot|port: 3000|spawn\("deno"|openai\(|OPENAI_API_KEY|"\/(?:files|srv\/(?:workspace|here))|describeSandboxContract|client\/index/u;
/** Folders of a reader, which are made below that of the block. */
const READERS = /"\/(?:home\/ada|srv)\//gu;

/** The output that comments promise: beside a `console.log` that ends in its line, or right below one. */
function promisedBy(code: string): string[] {
  const promised: string[] = [];
  let isBelow = false;
  for (const line of code.split("\n")) {
    const [, beside] = /^.*\bconsole\.log\(.*\);(?: \/\/ (.*))?$/u.exec(line) ?? [];
    if (beside !== undefined) promised.push(beside);
    else if (isBelow && line.startsWith("// ")) promised.push(line.slice("// ".length));
    isBelow = /\bconsole\.log\(.*\);$/u.test(line) || (isBelow && line.startsWith("//"));
  }
  return promised;
}

/** Output as a pattern: `…` stands for anything, spaces and line breaks for any of them. */
function patternOf(promised: readonly string[]): RegExp {
  const words = promised.join(" ").split(/\s+/u);
  const escaped = words.map((word) =>
    word
      .split("…")
      .map((part) => part.replaceAll(/[\^$.*+?()[\]{}|]/gu, String.raw`\$&`))
      .join(".*?"),
  );
  return new RegExp(escaped.join("\\s+"), "su");
}

/** Makes a folder with a block as its program. */
function folderOf({ code, document, line }: Block): string {
  const place = path.join(folder, `${document.replaceAll(/[/.]/gu, "-")}-${line}`);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(path.join(place, "project/workspace"), { recursive: true });
  // The samples, for blocks that make no servers of their own.
  const samples = code.includes("writeServerFiles") ? [] : ["servers", "skills"];
  for (const name of samples) cpSync(path.join(root, name), path.join(place, name), { recursive: true });
  writeFileSync(path.join(place, "block.ts"), code.replaceAll(READERS, `"${place}/`));
  return place;
}

const BLOCKS = DOCUMENTS.filter((document) => document.endsWith("README.md"))
  .flatMap(blocksOf)
  .filter(({ language, code }) => language === "ts" && /^import /mu.test(code) && !NEEDS.test(code))
  .map((block) => ({ ...block, promised: promisedBy(block.code) }));

const MARK = "\u0000 block ";
const FAILED = "\u0000 failed ";
/** Runs blocks one after another: a process for each would cost a second each. */
const PROGRAM = `
for (const place of process.argv.slice(1)) {
  process.chdir(place);
  console.log(${JSON.stringify(MARK)});
  await import(place + "/block.ts").catch((error) => console.log(${JSON.stringify(FAILED)}, error));
}
process.exit();`;

let outputs: string[] = [];

beforeAll(async () => {
  const places = BLOCKS.map(folderOf);
  const args = ["--conditions=@cem/source", "--no-warnings", "--input-type=module", "-e", PROGRAM, ...places];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, CEM_TRUST_FOLDER: "1" },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: TIMEOUT_MS,
  });
  outputs = (await text(child.stdout)).split(MARK).slice(1);
}, TIMEOUT_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the blocks of the READMEs", () => {
  it("are many, and some say what they print", () => {
    expect(BLOCKS.length).toBeGreaterThanOrEqual(55);
    expect(BLOCKS.filter(({ promised }) => promised.length > 0).length).toBeGreaterThanOrEqual(14);
  });

  it.for(BLOCKS.map((block, at) => ({ ...block, at })))(
    "$document:$line runs to its end and prints what it says",
    ({ promised, at }) => {
      expect(outputs[at]).not.toContain(FAILED);
      expect(outputs[at]).toMatch(patternOf(promised));
    },
  );
});

import { spawn } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import { blocksOf, DOCUMENTS, root } from "./scripts/blocks.ts";
import type { Block } from "./scripts/blocks.ts";

const TIMEOUT_MS = 60_000;
const folder = path.join(root, "docs/.cem/readmes");

/** Things that are not on every machine: servers, ports, folders, programs. */
const NEEDS = /redis:\/\/|postgresql:\/\/|"npx"|githubcopilot|port: 3000|"\/srv\/|spawn\("deno"/u;

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

async function outputOf({ code, document, line }: Block): Promise<string> {
  const place = path.join(folder, `${document.replaceAll(/[/.]/gu, "-")}-${line}`);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  // The samples, for blocks that make no servers of their own.
  const samples = code.includes("writeServerFiles") ? [] : ["servers", "skills"];
  for (const name of samples) cpSync(path.join(root, name), path.join(place, name), { recursive: true });
  writeFileSync(path.join(place, "block.ts"), code);
  const child = spawn(process.execPath, ["--conditions=@cem/source", "--no-warnings", "block.ts"], {
    cwd: place,
    env: { ...process.env, CEM_TRUST_FOLDER: "1" },
    timeout: TIMEOUT_MS,
  });
  const [out, problems] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return `${out}${problems}`;
}

const PROMISING = DOCUMENTS.filter((document) => document.endsWith("README.md"))
  .flatMap(blocksOf)
  .filter(
    ({ language, code }) =>
      language === "ts" && /^import /mu.test(code) && promisedBy(code).length > 0 && !NEEDS.test(code),
  );

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the blocks of the READMEs that say what they print", () => {
  it("are those that need nothing beside them", () => {
    expect(PROMISING.length).toBeGreaterThanOrEqual(15);
  });

  it.for(PROMISING)("$document:$line prints it", { timeout: TIMEOUT_MS }, async (block) => {
    expect(await outputOf(block)).toMatch(patternOf(promisedBy(block.code)));
  });
});

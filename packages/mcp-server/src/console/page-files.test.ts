import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { expect, it, onTestFinished } from "vitest";

/** Imports a module as a bundler made it, in a folder of its own. */
async function bundled(code: string): Promise<Record<string, (text?: unknown) => unknown>> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "cem-bundled-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const outfile = path.join(folder, "one/two/bundle.mjs");
  await build({
    stdin: { contents: code, resolveDir: import.meta.dirname, loader: "ts" },
    bundle: true,
    format: "esm",
    platform: "node",
    conditions: ["@cem/source"],
    logLevel: "silent",
    outfile,
  });
  return import(pathToFileURL(outfile).href);
}

const LEFT_OUT = /is missing\. Bundlers leave it out: keep these packages external\.$/u;

it("says of the page, of token counts and of prompts that bundlers leave their files out", async () => {
  const { createPage } = await bundled('export { createPage } from "./page-files.ts";');
  const page = createPage?.() as (request: Request) => Promise<Response>;
  const answer = await page(new Request("http://localhost/console/"));
  expect([answer.status, await answer.text()]).toEqual([
    503,
    expect.stringContaining("Bundlers leave it out: keep @cem/mcp-server external."),
  ]);
  const { loadTokenCounter } = await bundled('export { loadTokenCounter } from "@cem/core/tokens";');
  await expect(loadTokenCounter?.()).rejects.toThrow(LEFT_OUT);
  const { readPrompt } = await bundled('export { readPrompt } from "../../../codegen/src/prompt-files.ts";');
  expect(() => readPrompt?.("no-tools")).toThrow(LEFT_OUT);
});

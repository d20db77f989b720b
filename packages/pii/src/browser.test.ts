import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { runInNewContext } from "node:vm";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

/** Half of it are the forms of phone numbers of all countries. */
const MAX_KIB_COMPRESSED = 64;

describe("@cem/pii in a browser", () => {
  it("is bundled without anything of Node, in few bytes, and works", async () => {
    const { outputFiles, warnings } = await build({
      stdin: {
        contents: `import { createRedactor } from "./index.ts"; globalThis.shown = createRedactor().tokenize("call +1 415 555 2671 or a@example.com", {});`,
        resolveDir: fileURLToPath(new URL(".", import.meta.url)),
      },
      bundle: true,
      minify: true,
      write: false,
      format: "iife",
      platform: "browser",
      conditions: ["@cem/source"],
    });
    const code = outputFiles[0]?.text ?? "";
    expect(warnings).toEqual([]);
    expect(gzipSync(code).length / 1024).toBeLessThan(MAX_KIB_COMPRESSED);
    const context: { shown?: string; crypto: typeof globalThis.crypto } = { crypto: globalThis.crypto };
    runInNewContext(code, context);
    expect(context.shown).toMatch(/^call \[\[PHONE:[a-z2-7]{16}\]\] or \[\[EMAIL:[a-z2-7]{16}\]\]$/);
  });
});

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");
/** Fewer are better: a hop that only passes on is none. */
const MAX_HOPS = 21;

it("docs/architecture.md names each hop of a call with a file that exists", () => {
  const text = readFileSync(path.join(root, "docs/architecture.md"), "utf8");
  const [, section = ""] = /\n## One call of a tool\n([\s\S]*?)\n## /u.exec(text) ?? [];
  const hops = section.split("\n").filter((line) => /^\d+\. `/u.test(line));
  const missing = hops.flatMap((hop) => {
    const [, name = ""] = /`(?:tool>\.ts|([\w-]+\.ts))` \(`/u.exec(hop) ?? [];
    const [, owner = ""] = /\(`([\w-]+)`\)/u.exec(hop) ?? [];
    if (owner === "") return [];
    const files = readdirSync(path.join(root, "packages", owner, "src"), {
      recursive: true,
      encoding: "utf8",
    });
    return files.some((file) => path.basename(file) === name) ? [] : [hop];
  });
  expect(missing).toEqual([]);
  expect(hops.length).toBeGreaterThan(10);
  expect(hops.length).toBeLessThanOrEqual(MAX_HOPS);
});

// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createDiscovery } from "@cem/discovery";

mkdirSync("servers/greeter", { recursive: true });
writeFileSync(
  "servers/greeter/greet.ts",
  "/** Greet someone. */\nexport async function greet(input: { name: string }): Promise<string> {\n  return input.name;\n}\n",
);
mkdirSync("skills/manners", { recursive: true });
writeFileSync("skills/manners/SKILL.md", "---\ndescription: How to be kind.\n---\n# Manners\n");
const settings = { serversDir: "servers", skillsDir: "skills", cacheFile: "cache.json" };
// The second reads the cache of the first.
for (let nth = 1; nth <= 2; nth += 1) {
  const { servers, problems } = await createDiscovery(settings).list();
  assert.deepEqual(problems, []);
  assert.equal(servers[0].tools[0].signature, "greet(input: { name: string }): Promise<string>");
  assert.equal(servers[1].description, "How to be kind.");
}

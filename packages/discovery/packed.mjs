// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createDiscovery } from "@cem/discovery";

mkdirSync("servers/greeter", { recursive: true });
writeFileSync(
  "servers/greeter/greet.ts",
  "/** Greet someone. */\nexport async function greet(input: { name: string }): Promise<string> {\n  return input.name;\n}\n",
);
const { servers, problems } = await createDiscovery({ serversDir: "servers", skillsDir: "skills" }).list();
assert.deepEqual(problems, []);
assert.equal(servers[0].tools[0].signature, "greet(input: { name: string }): Promise<string>");

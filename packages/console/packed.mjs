// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { createConsole } from "@cem/console";

const server = {
  runs: { watch() {} },
  openClient: () => Promise.reject(new Error("Nobody asks.")),
};
const mounts = createConsole(server);
const find = (wanted) => mounts.find(({ path }) => path === wanted);
const answer = await find("/api/openapi.json").fetch(new Request("http://localhost/api/openapi.json"));
assert.equal((await answer.json()).openapi, "3.1.0");
const page = await find("/console/*").fetch(new Request("http://localhost/console/"));
assert.equal(page.status, 200);
const html = await page.text();
for (const [, file] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
  const { status } = await find("/console/*").fetch(new Request(`http://localhost/console/${file}`));
  assert.equal(status, 200, file);
}

// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { definePlugin, openPlugins } from "@cem/plugins";
import { definePlugin as light } from "@cem/plugins/define-plugin";

const found = definePlugin({
  specificationVersion: "v1",
  name: "found",
  version: "1.0.0",
  setup: () => ({ detectors: [{ type: "EMPLOYEE", pattern: /\bE\d{6}\b/ }] }),
});
const broken = light({
  specificationVersion: "v1",
  name: "broken",
  version: "1.0.0",
  setup() {
    throw new Error("no luck");
  },
});
const plugins = await openPlugins([
  { named: "found", from: { plugin: found } },
  { named: "broken", from: { plugin: broken } },
]);
assert.deepEqual(
  plugins.reports().map(({ state, adds }) => [state, adds]),
  [
    ["ready", ["detector EMPLOYEE"]],
    ["failed", []],
  ],
);
assert.deepEqual(plugins.detectors[0].findAll([{ text: "of E123456" }]), [
  [{ start: 3, end: 10, type: "EMPLOYEE" }],
]);
assert.match(plugins.problems()[0], /broken can't be set up: no luck/);
await plugins.dispose();

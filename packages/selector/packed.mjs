// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { createSelector } from "@cem/selector";

const tool = (server, name, description) => ({
  server,
  name,
  kind: "local",
  description,
  inputSchema: { type: "object" },
  callStyle: "object",
  signature: `${name}(): Promise<unknown>`,
  module: `./servers/${server}/index.ts`,
});
const tools = [
  tool("weather", "get_weather", "Get the weather of a city."),
  tool("math", "add", "Add two numbers."),
];
const { selected } = await createSelector().select({ task: "Get the weather of Oslo", tools });
assert.deepEqual(
  selected.map(({ tool: { name } }) => name),
  ["get_weather"],
);

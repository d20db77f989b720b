// Run by `npm test` in an empty folder where only the packed package is installed: no framework is needed for its main entry.
import assert from "node:assert/strict";
import { executeCodeTool, searchToolsTool } from "@cem/ai";

const agent = {
  discoverTools: async () => ({ servers: [], problems: [] }),
  searchTools: async () => [],
};
const tool = await executeCodeTool(agent);
assert.match(tool.description, /Run TypeScript/u);
assert.deepEqual(tool.inputSchema["~standard"].validate({ code: "return 1" }), {
  value: { code: "return 1" },
});
assert.match(await searchToolsTool(agent).execute({ query: "anything" }), /Nothing was found/u);

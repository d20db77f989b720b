// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { loadConfig, renderStarterConfig } from "@cem/config";
import { addServer } from "@cem/config/edit";

const { config, origins } = await loadConfig({ configFile: false, env: { MAX_MEMORY_MB: "256" } });
assert.equal(config.guardrails.maxMemoryMb, 256);
assert.equal(origins["guardrails.max_memory_mb"].from, "environment");
assert.match(renderStarterConfig(), /^execution:/m);

writeFileSync("config.yaml", "# Ours\nexecution:\n  workspace_dir: data\n");
const schema = readFileSync(new URL(import.meta.resolve("@cem/config/config.schema.json")), "utf8");
assert.ok(JSON.parse(schema).properties.execution);
const fromFile = await loadConfig({ env: {} });
assert.equal(fromFile.origins["execution.workspace_dir"].label, "config.yaml:3");
const edited = addServer(readFileSync("config.yaml", "utf8"), "files", { command: "npx" });
assert.match(edited, /^# Ours\n[^]*mcpServers:\n {2}files:\n {4}command: npx\n$/);

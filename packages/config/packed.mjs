// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { loadConfig, renderConfigTemplate } from "@cem/config";

const { config, origins } = await loadConfig({ file: false, env: { MAX_MEMORY_MB: "256" } });
assert.equal(config.guardrails.maxMemoryMb, 256);
assert.equal(origins["guardrails.max_memory_mb"].from, "environment");
assert.match(renderConfigTemplate(), /^execution:/m);

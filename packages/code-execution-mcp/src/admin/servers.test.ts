import { mkdtempSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { inspectHost } from "./inspect.ts";
import { generateTools, inspectServers, listCatalog } from "./servers.ts";

describe("the log of a command", () => {
  it.each([generateTools, inspectServers, inspectHost, listCatalog])(
    "has tokens in place of what a server writes of persons: %o",
    async (command) => {
      const cwd = mkdtempSync(path.join(os.tmpdir(), "cem-admin-"));
      const program = 'console.error("Mail ada@example.com, password: Tr0ub4dor-3x"); process.exitCode = 9;';
      const crm = { command: process.execPath, args: ["-e", program] };
      const config = { logging: { level: "DEBUG" as const }, mcpServers: { crm } };
      const log: string[] = [];
      await command({ cwd, configFile: false, config, onLog: (line) => void log.push(line) });
      const written = log.join("\n");
      expect(written).toMatch(/Mail \[\[EMAIL:\w+\]\], password: \[\[SECRET:\w+\]\]/);
      expect(written).not.toMatch(/ada@|Tr0ub4dor/);
    },
  );
});

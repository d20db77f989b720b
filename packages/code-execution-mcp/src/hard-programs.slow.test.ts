import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Agent } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HARD_PROGRAMS } from "../../program/fixtures/hard-programs.ts";
import { createAgent } from "./index.ts";

/** The hardest for one pass or another, of those that get to a run or are refused before it. */
const NAMES = [
  "path that grows",
  "text that doubles",
  "destructuring cycles",
  "immediately called functions",
  "findings",
  "words",
  "deep: members",
  "deep: assigned members",
  "deep: parentheses",
  "many: templates",
  "many: arrow functions with defaults",
  "many: generic calls",
];
const CHARACTERS = 100_000;
/** Of processor time, all threads together. The aim is a second. */
const MAX_MS = 5_000;

let folder: string;
let agent: Agent;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-hard-"));
  agent = createAgent({
    configFile: false,
    config: {
      execution: { workspaceDir: path.join(folder, "workspace"), serversDir: path.join(folder, "servers") },
      optimizations: { toolCache: false },
    },
  });
  await agent.warm();
});

afterAll(async () => {
  await agent.dispose();
  await rm(folder, { recursive: true, force: true });
});

describe("executeCode", () => {
  it.each(NAMES)(
    "gets a hard program to its run, or refuses it, in time: %s",
    { timeout: 60_000 },
    async (name) => {
      const stop = new AbortController();
      const started = process.cpuUsage();
      let usedMs: number | undefined;
      const measure = (): void => {
        const { user, system } = process.cpuUsage(started);
        usedMs ??= (user + system) / 1000;
      };
      const result = await agent.executeCode(HARD_PROGRAMS[name]?.(CHARACTERS) ?? "", {
        signal: stop.signal,
        // Has a process and a clock of its own.
        typeCheck: "off",
        onEvent: (event) => {
          if (event.type !== "stage-started" || event.stage !== "run") return;
          measure();
          stop.abort();
        },
      });
      measure();
      expect(usedMs).toBeLessThan(MAX_MS);
      expect(result.error?.code).toMatch(/^(?:ABORTED|CODE_REFUSED|CODE_INVALID)$/);
    },
  );

  it("is cancelled between what is read of a program", { timeout: 60_000 }, async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 1);
    const running = agent.executeCode(HARD_PROGRAMS["path that grows"]?.(CHARACTERS) ?? "", {
      signal: stop.signal,
      onEvent: (event) => expect(event).not.toMatchObject({ type: "stage-started", stage: "run" }),
    });
    expect((await running).error?.code).toBe("ABORTED");
  });
});

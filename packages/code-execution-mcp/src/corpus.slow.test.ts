import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Agent, Finding, ToolDefinition, TypeChecker } from "@cem/core";
import { createGuard } from "@cem/guardrails";
import { createTypeChecker } from "@cem/type-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readCorpus } from "../test/corpus/programs.ts";
import { corpusTools } from "../test/corpus/tools.ts";
import { createAgent } from "./index.ts";

const right = readCorpus("right");
const wrong = readCorpus("wrong");
const guard = createGuard();

let folder: string;
let agent: Agent;
let checker: TypeChecker;
let tools: ToolDefinition[];

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-corpus-"));
  agent = createAgent({
    configFile: false,
    config: {
      execution: { workspaceDir: path.join(folder, "workspace"), serversDir: path.join(folder, "servers") },
      optimizations: { toolCache: false },
    },
    tools: corpusTools,
  });
  checker = createTypeChecker();
  const { servers } = await agent.discoverTools();
  tools = servers.flatMap((server) => server.tools);
});

afterAll(async () => {
  await Promise.all([agent.dispose(), checker.dispose()]);
  await rm(folder, { recursive: true, force: true });
});

/** The errors that stop a program before it runs. */
async function review(code: string): Promise<Finding[]> {
  const { findings, allowed } = await guard.review({ code, tools });
  const found = allowed ? await checker.check({ code, tools }) : findings;
  return found.filter(({ severity }) => severity === "error");
}

describe("a right program", () => {
  it("is one of many", () => {
    expect(right.length).toBeGreaterThanOrEqual(80);
    expect(right.filter((program) => "value" in program).length).toBeGreaterThanOrEqual(30);
  });

  it.each(right)("is let through: $title", async ({ code }) => {
    expect(await review(code)).toEqual([]);
  });

  it.each(right.filter((program) => "value" in program))(
    "gives its value: $title",
    async ({ code, value }) => {
      const result = await agent.executeCode(code);
      expect(result.error).toBeNull();
      expect(result.value).toEqual(value);
    },
  );
});

describe("a wrong program", () => {
  it("is one of many, each with its line", () => {
    expect(wrong.length).toBeGreaterThanOrEqual(80);
    expect(wrong.filter(({ line }) => line === undefined)).toEqual([]);
  });

  it.each(wrong)("is refused with its line: $title", async ({ code, line }) => {
    const findings = await review(code);
    expect(findings.map((finding) => finding.line)).toContain(line);
  });
});

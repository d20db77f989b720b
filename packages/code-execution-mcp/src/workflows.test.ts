import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { JsonObject } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServer, openWorkflows, runServer } from "./index.ts";
import type { AgentOptions, ConfigInput, OwnWorkflows } from "./index.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const example = (name: string): string => path.join(root, "examples/workflows", name);

let folder: string;
let workflows: OwnWorkflows;
const configWith = (more: ConfigInput = {}): AgentOptions => ({
  configFile: false,
  config: {
    execution: {
      workspaceDir: folder,
      serversDir: path.join(root, "servers"),
      skillsDir: path.join(root, "skills"),
    },
    optimizations: { toolCache: false },
    ...more,
  },
});

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "cem-workflows-"));
  workflows = await openWorkflows(
    configWith({
      toolMappings: [{ serverName: "calculator", toolName: "add", pythonFunctionName: "plus" }],
    }),
  );
});
afterAll(async () => {
  await workflows.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const call = (name: string, config: JsonObject, more: JsonObject = {}) => ({
  name,
  type: "tool_call",
  config,
  ...more,
});

describe("openWorkflows", () => {
  it("says what the examples would call, calls nothing, and then runs them", async () => {
    const plan = await workflows.plan(example("city-weather.yaml"));
    expect(plan.map(({ step }) => step)).toEqual([
      "weather",
      "weather[].forecast",
      "warmest",
      "mean",
      "report",
    ]);
    expect(plan.flatMap(({ problem }) => problem ?? [])).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
    const weather = await workflows.run(example("city-weather.yaml"), {
      variables: { cities: ["Paris", "Cairo"] },
    });
    expect(weather).toMatchObject({
      status: "completed",
      outputs: { warmest: "Cairo", report: "reports/weather.txt" },
    });
    expect(readFileSync(path.join(folder, "reports/weather.txt"), "utf8")).toMatch(
      /^Warmest in July: Cairo \(/u,
    );
    const check = await workflows.run(example("order-check.yaml"), { variables: { limit: 1 } });
    expect(check).toMatchObject({ status: "completed", outputs: { verdict: "many" } });
  });

  it("calls a tool by its name in tool_mappings, by server and name, and says what a wrong name may mean", async () => {
    const args = { a: 1, b: 2 };
    const result = await workflows.run({
      name: "names",
      steps: [
        call("mapped", { tool: "plus", arguments: args }),
        call("dotted", { tool: "calculator.add", arguments: args }),
        call("wrong", { server: "calculator", tool: "ad", arguments: args }, { on_error: "continue" }),
      ],
      outputs: {
        mapped: "${{ steps.mapped }}",
        dotted: "${{ steps.dotted }}",
        wrong: "${{ errors.wrong.message }}",
      },
    });
    expect(result.outputs).toMatchObject({
      mapped: 3,
      dotted: 3,
      wrong: expect.stringContaining('Did you mean "add"?') as string,
    });
  });

  it("tightens guardrails for a step, and never loosens them", async () => {
    const step = call("sum", { tool: "plus", arguments: { a: 1, b: 2 } });
    const blocked = await workflows.run({
      name: "g",
      steps: [{ ...step, guardrails: { blocked_tools: ["calculator.*"] } }],
    });
    expect(blocked).toMatchObject({ status: "failed" });
    expect(blocked.error?.message).toMatch(/blocked/u);
    const looser = await workflows.run({ name: "g", guardrails: { enabled: false }, steps: [step] });
    expect(looser.error?.message).toMatch(/only tighten/u);
  });

  it("keeps personal values out of what it writes, and gives them to the tool that is to have them", async () => {
    const email = "ada.lovelace@example.com";
    const result = await workflows.run(
      {
        name: "mail",
        variables: { to: { type: "string" } },
        steps: [
          {
            name: "read",
            type: "code_execution",
            config: { inputs: { to: "${{ variables.to }}" }, code: "export default { to: inputs.to };" },
          },
        ],
      },
      { variables: { to: email } },
    );
    expect(result.status).toBe("completed");
    const runFolder = path.join(folder, "workflows/runs", result.run);
    for (const name of ["run.json", "journal.jsonl"])
      expect(readFileSync(path.join(runFolder, name), "utf8")).not.toContain(email);
    expect(JSON.stringify(result.outputs)).not.toContain(email);
  });
});

describe("createServer", () => {
  it("offers marked workflows as tools with the schema of their variables", async () => {
    const options = configWith({
      workflows: [
        {
          name: "add_up",
          description: "Adds two numbers",
          mcpTool: true,
          variables: { a: { type: "number" }, b: 2 },
          steps: [
            call("sum", {
              server: "calculator",
              tool: "add",
              arguments: { a: "${{ variables.a }}", b: "${{ variables.b }}" },
            }),
          ],
          outputs: { sum: "${{ steps.sum }}" },
        },
      ],
    });
    const server = await createServer(options);
    const running = await runServer({ server, transport: "http", port: 0 });
    const client = new Client({ name: "test", version: "1" });
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
      const { tools } = await client.listTools();
      expect(tools.find(({ name }) => name === "add_up")).toMatchObject({
        description: "Adds two numbers",
        inputSchema: { properties: { a: { type: "number" }, b: { default: 2 } }, required: ["a"] },
      });
      const answer = await client.callTool({ name: "add_up", arguments: { a: 40 } });
      expect(answer.structuredContent).toMatchObject({ success: true, result: { sum: 42 } });
    } finally {
      await client.close();
      await running.close();
    }
  });
});

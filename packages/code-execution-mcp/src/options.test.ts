import { describe, expect, it } from "vitest";
import { createAgent, createServer, executeTask, runServer } from "./index.ts";
import type { AgentOptions } from "./index.ts";

/** Options as a caller passes them whom no compiler checks. */
const unchecked = (options: object): AgentOptions => options;

describe("createAgent", () => {
  it("refuses options that do not exist, by name", () => {
    expect(() => createAgent(unchecked({ workspaceDir: "x", cwd: "." }))).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        message: '"workspaceDir" is not an option of createAgent.',
      }),
    );
  });

  it("says which option was perhaps meant", () => {
    expect(() => createAgent(unchecked({ onElicits: () => {} }))).toThrow(/Did you mean "onElicit"\?/);
  });

  it.each([
    [{ onElicit: 5 }, '"onElicit" of createAgent has to be a function, not 5.'],
    [{ tools: [] }, '"tools" of createAgent has to be an object, not Array.'],
  ])("refuses options of another type, by name: %j", (options, message) => {
    expect(() => createAgent(unchecked(options))).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message }),
    );
  });

  it("takes options that are undefined", async () => {
    const agent = createAgent({ cwd: undefined, onElicit: undefined, selector: undefined });
    await agent.dispose();
    await expect(agent.executeTask("Calculate 1 + 1")).rejects.toMatchObject({ code: "AGENT_DISPOSED" });
  });
});

describe.each(["executeTask", "executeCode"] as const)("%s of an agent", (name) => {
  it.each([
    [{ timeout: 5 }, `"timeout" is not an option of ${name}.`],
    [
      { limits: { timeout: 5 } },
      `"timeout" is not an option of limits of ${name}. Did you mean "timeoutMs"?`,
    ],
    [
      { limits: { timeoutMs: "5" } },
      `"timeoutMs" of limits of ${name} has to be a number from 0 on, not "5".`,
    ],
    [{ limits: 3 }, `"limits" of ${name} has to be an object, not 3.`],
    [
      { allowedTools: ["weather.*", 5] },
      `"allowedTools" of ${name} has to be a list of texts, such as "weather.*".`,
    ],
    [{ signal: {} }, `"signal" of ${name} has to be an AbortSignal, not Object.`],
    [{ typeCheck: "on" }, `"typeCheck" of ${name} has to be one of "before", "strict", "off", not "on".`],
  ])("refuses %j", async (options, message) => {
    const agent = createAgent({ configFile: false });
    await expect(agent[name]("Calculate 1 + 1", options as object)).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message,
    });
    await agent.dispose();
  });
});

describe.each([
  ["executeTask", (options: AgentOptions) => executeTask("Calculate 1 + 1", options)],
  ["createServer", createServer],
  ["runServer", runServer],
] as const)("%s", (name, call) => {
  it("refuses options that do not exist, by name", async () => {
    await expect(call(unchecked({ timeout: 5 }))).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining(`"timeout" is not an option of ${name}.`),
    });
  });
});

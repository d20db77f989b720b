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

  it("takes options that are undefined", async () => {
    const agent = createAgent({ cwd: undefined, onElicit: undefined, selector: undefined });
    await agent.dispose();
    await expect(agent.executeTask("Calculate 1 + 1")).rejects.toMatchObject({ code: "AGENT_DISPOSED" });
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

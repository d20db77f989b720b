import { afterAll, describe, expect, it } from "vitest";
import { createLocalAgent } from "../fixtures/local-agent.ts";
import { createManyServers } from "../fixtures/real-agent.ts";
import { createAgentServer, measureDirectCost, measureTokenCost } from "./index.ts";
import type { Profile } from "./index.ts";

const few = createLocalAgent();
const manyServers = createManyServers(300);
const many = createLocalAgent(manyServers.folder);

afterAll(async () => {
  manyServers.remove();
  await Promise.all([few.agent.dispose(), many.agent.dispose()]);
});

const costOf = (profile: Profile, { agent } = few) =>
  measureTokenCost(createAgentServer({ agent, profile, guest: { network: "none" } }));

describe("measureTokenCost", () => {
  it("counts few tokens up front, however many tools there are", async () => {
    expect((await costOf("code")).total).toBeLessThan(420);
    expect((await costOf("full")).total).toBeLessThan(1_000);
    for (const profile of ["code", "full", "original"] as const) {
      expect(await costOf(profile, many)).toEqual(await costOf(profile));
    }
  });

  it("counts each tool of a profile", async () => {
    const { tools, instructions, total } = await costOf("code");
    expect(tools.map(({ name }) => name)).toEqual(["execute_code", "search_tools", "read_result"]);
    const sum = tools.reduce((all, { tokens }) => all + tokens, 0);
    expect(instructions).toBeGreaterThan(0);
    expect(Math.abs(sum + instructions - total)).toBeLessThan(20);
    expect((await costOf("original")).tools.map(({ name }) => name)).toEqual([
      "execute_task",
      "search_tools",
      "list_servers",
      "get_server_tools",
      "list_available_tools",
      "get_state",
      "save_state",
    ]);
  });
});

describe("measureDirectCost", () => {
  it("counts what every tool of the agent would cost in the list itself", async () => {
    expect(await measureDirectCost(few.agent)).toEqual({ tools: 14, tokens: expect.any(Number) });
    const { tools, tokens } = await measureDirectCost(many.agent);
    expect(tools).toBe(300);
    expect(tokens).toBeGreaterThan(300 * 30);
  });
});

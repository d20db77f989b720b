import { afterAll, describe, expect, it } from "vitest";
import { agentWith, disposeAgents } from "../agent-with.ts";

afterAll(disposeAgents);

describe("cem-plugin-clock", () => {
  it("has a tool that code calls, and whose arguments are checked", async () => {
    const agent = await agentWith("cem-plugin-clock");
    const code = (zone: string): string =>
      `import { time_in } from "./servers/clock/index.ts";
return await time_in({ zone: "${zone}", moment: "2026-07-01T12:00:00Z" });`;
    expect(await agent.executeCode(code("Asia/Tokyo"))).toMatchObject({
      value: { zone: "Asia/Tokyo", time: "21:00" },
    });
    const own = await agentWith("cem-plugin-clock", { zone: "Asia/Tokyo" });
    expect(await own.executeCode(code("Asia/Tokyo").replace('zone: "Asia/Tokyo", ', ""))).toMatchObject({
      value: { zone: "Asia/Tokyo", time: "21:00" },
    });
    expect((await agent.executeCode(code("Mars/Base"))).error?.message).toContain("is no time zone");
  });
});

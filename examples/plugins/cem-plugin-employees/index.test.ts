import { afterAll, describe, expect, it } from "vitest";
import { disposeAgents, agentWith } from "../agent-with.ts";

afterAll(disposeAgents);

describe("cem-plugin-employees", () => {
  it("keeps the numbers of employees from whoever reads a result", async () => {
    const agent = await agentWith("cem-plugin-employees");
    const { value } = await agent.executeCode('return ["E", "123456"].join("");');
    expect(value).toMatch(/^\[\[EMPLOYEE:/);
  });

  it("refuses code with such a number in it", async () => {
    const agent = await agentWith("cem-plugin-employees", { prefix: "XY", digits: 4 });
    const refused = await agent.executeCode('const one = 1;\nreturn "XY1234";');
    expect(refused.status).toBe("refused");
    expect(JSON.stringify(refused.error)).toContain("cem-plugin-employees/employee-in-code");
    expect(await agent.executeCode('return "E123456";')).toMatchObject({ value: "E123456" });
  });

  it("says what is wrong with its options", async () => {
    const agent = await agentWith("cem-plugin-employees", { prefix: "lower" });
    expect((await agent.executeCode("return 1;")).warnings?.[0]).toMatch(/options of .*employees.*prefix/);
  });
});

import { describe, expect, it } from "vitest";
import { findServer, toolId } from "./tools.ts";

describe("toolId", () => {
  it("joins the server and the name", () => {
    expect(toolId({ server: "calculator", name: "add" })).toBe("calculator.add");
  });
});

describe("findServer", () => {
  const catalog = {
    servers: [{ name: "weather", description: "", kind: "host" as const, tools: [] }],
    problems: [{ server: "crm", file: "servers/crm", message: "It has given no tools yet." }],
  };

  it.each([
    ["crm", `Server "crm" can't be used. It has given no tools yet.`],
    ["wether", 'There is no server "wether". Did you mean "weather"?'],
  ])("says why %s is not there", (name, message) => {
    expect(() => findServer(name, catalog)).toThrow(message);
  });
});

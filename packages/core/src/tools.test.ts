import { describe, expect, it } from "vitest";
import { toolId } from "./tools.ts";

describe("toolId", () => {
  it("joins the server and the name", () => {
    expect(toolId({ server: "calculator", name: "add" })).toBe("calculator.add");
  });
});

import type { GenerationRefused, ToolDefinition } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createRulesGenerator } from "./rules-generator.ts";
import { otherTools, sampleTools } from "./testing/tools.ts";

type UnfilledStep = GenerationRefused["steps"][number];

const generator = createRulesGenerator({ now: () => new Date("2026-11-20T12:00:00Z") });

const echo: ToolDefinition = {
  server: "odd",
  name: "echo",
  kind: "host",
  description: "Echoes a message.",
  inputSchema: { type: "object", properties: { message: { type: "string" } } },
  callStyle: "object",
  signature: "",
  module: "./servers/odd/index.ts",
};

async function refuse(task: string, tools = sampleTools): Promise<readonly UnfilledStep[]> {
  const result = await generator.generate({ task, tools });
  if (result.status !== "refused") throw new Error(result.code);
  return result.steps;
}

describe("createRulesGenerator", () => {
  describe("generate, for what can't be done", () => {
    it("names the step that no tool can do", async () => {
      expect(await refuse("Send an email to bob@example.com")).toMatchObject([
        { reason: "no-tool", step: "Send an email to bob@example.com" },
      ]);
      expect(await refuse("write a poem")).toMatchObject([{ reason: "no-tool", step: "write a poem" }]);
    });

    it("names the argument that the text lacks", async () => {
      expect(await refuse("Get weather")).toMatchObject([
        { reason: "missing-argument", tool: "weather.get_weather", argument: "location" },
      ]);
      expect(await refuse("Send an email to bob@example.com", otherTools)).toMatchObject([
        { tool: "email.send_email", argument: "subject" },
      ]);
    });

    it("refuses a task for one step of it", async () => {
      expect(await refuse("Get weather for San Francisco and send it to bob@example.com")).toMatchObject([
        { reason: "no-tool", step: "send it to bob@example.com" },
      ]);
    });

    it("takes no value that an enum does not have", async () => {
      const [step] = await refuse("Search products for 'cheese' in category food", otherTools);
      expect(step).toMatchObject({ tool: "shop.search_products", reason: "not-understood" });
      expect(step?.hint).toContain("food");
    });

    it("makes nothing up for a result that is not there", async () => {
      expect(await refuse("Post the result to #general", otherTools)).toMatchObject([{ argument: "text" }]);
      expect(await refuse("Multiply the result by 4")).toHaveLength(1);
      expect(await refuse("Find users who joined last year")).toHaveLength(1);
      expect(await refuse("Get weather for that many cities")).toMatchObject([{ argument: "location" }]);
    });

    it.each([
      "Calculate two hundred plus 3",
      "What is 1.5 million divided by 3?",
      "add two dozen to twenty-one",
    ])("reads no number of several words: %s", async (task) => {
      expect(await refuse(task)).toHaveLength(1);
    });

    it("takes both for two, and no other number", async () => {
      const one = { argument: "content", step: "write both to x.txt" };
      expect(await refuse("Calculate 2 + 3 and write both to x.txt")).toMatchObject([one]);
      expect(await refuse("Read a.txt, read b.txt, read c.txt, then write both to x.txt")).toMatchObject([
        one,
      ]);
      expect(await refuse("Read both files")).toMatchObject([{ argument: "path" }]);
    });

    it("drops no part of what was asked", async () => {
      expect(await refuse("Write three lines to poem.txt: 'a', 'b', 'c'")).toHaveLength(1);
      expect(
        await refuse('Calculate 6 * 7 then save it to /workspace/a.json as {"answer": result}'),
      ).toHaveLength(1);
      expect(await refuse("Rename a.txt to b.txt")).toHaveLength(1);
      expect(await refuse("Get users with shoe size above 40")).toHaveLength(1);
      expect(await refuse("Calculate 1 + 1. If it is sunny")).toHaveLength(1);
    });

    it.each([
      "echo hello",
      "echo hi please",
      "Calculate 2 + 3, then echo the result",
      "Calculate 2 + 3, then echo it",
    ])("calls no tool without what it is to be called with: %s", async (task) => {
      expect(await refuse(task, [...sampleTools, echo])).toMatchObject([{ tool: "odd.echo" }]);
    });

    it.each(["call the echo tool", "hello, echo", "Hello! Please echo now, thanks"])(
      "takes small talk for what it is: %s",
      async (task) => {
        const generated = await generator.generate({ task, tools: [echo] });
        expect(generated).toMatchObject({ code: expect.stringContaining("await echo({})") });
      },
    );

    it("shows the tool whose server and verb are said", async () => {
      const [zip = echo, list = echo] = [
        ["everything", "gzip_file_as_resource"],
        ["files", "list_directory"],
      ].map(([server = "", name = ""]) => ({ ...echo, server, name }));
      const required = { ...list, inputSchema: { ...echo.inputSchema, required: ["message"] } };
      expect(await refuse("list files in notes", [zip, required])).toMatchObject([
        { tool: "files.list_directory" },
      ]);
    });

    it.each([
      "Query database for users in Berlin and Tokyo",
      "Query database for users not in Berlin",
      "Query database for orders over 100",
      "Get weather for Oslo without Bergen",
      "Get the weather in Oslo in Kelvin",
      "Calculate 2 + 3 or 4",
      "Read people.json and sum the ages above 5",
      "Get weather for Oslo, then delete it",
    ])("reads no part of it as something else: %s", async (task) => {
      expect(await refuse(task)).toHaveLength(1);
    });

    it("gives no number for what has none", async () => {
      expect(await refuse("Calculate 1 / 0")).toMatchObject([
        { hint: '"Calculate 1 / 0" comes to no number.' },
      ]);
    });

    it("says so when there is nothing to do", async () => {
      expect(await refuse("")).toHaveLength(1);
      expect(await refuse("   \n ")).toHaveLength(1);
    });
  });
});

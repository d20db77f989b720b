import { CemError } from "@cem/core";
import type { JsonValue, ResultStore, ToolResult } from "@cem/core";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { checkCalls } from "./call-checks.ts";
import { defineTool, isHostTool } from "./define-tool.ts";
import type { HostTool, ToolSchema } from "./define-tool.ts";
import { createHostTools } from "./host-tools.ts";
import type { HostToolsSettings } from "./host-tools.ts";
import { answerErrors, compose } from "./middleware.ts";
import { createSecretFilter } from "./secrets.ts";

const never = new AbortController().signal;

function call(
  tool: HostTool,
  args: JsonValue = {},
  settings: Partial<HostToolsSettings> = {},
): Promise<ToolResult> {
  const tools = createHostTools({ tools: { crm: { tool } }, ...settings });
  const invoker = compose([answerErrors, checkCalls(tools)], tools);
  return invoker.invoke({ server: "crm", tool: "tool", args }, { signal: never });
}

/** A schema of a library that can't convert it to JSON Schema. */
const foreign: ToolSchema = {
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) },
};

const libraries = {
  zod: z.object({ name: z.string().min(2), age: z.number().optional() }),
  valibot: toStandardJsonSchema(
    v.object({ name: v.pipe(v.string(), v.minLength(2)), age: v.optional(v.number()) }),
  ),
  arktype: type({ name: "string >= 2", "age?": "number" }),
};

describe("defineTool", () => {
  it("gives execute the types of its schemas", () => {
    defineTool({
      description: "",
      input: z.object({ day: z.coerce.date() }),
      output: z.object({ ok: z.boolean() }),
      execute: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ day: Date }>();
        return { ok: true };
      },
    });
    defineTool({
      description: "",
      output: z.string(),
      // @ts-expect-error -- the output schema wants a text
      execute: () => 1,
    });
  });

  it("is recognised when it comes from another copy of the package", () => {
    expect(isHostTool(defineTool({ description: "", execute: () => 1 }))).toBe(true);
    const foreign = { [Symbol.for("@cem/bridge.host-tool")]: true };
    expect(isHostTool(foreign)).toBe(true);
    for (const value of [{ description: "", execute: () => 1 }, null, undefined, "tool"]) {
      expect(isHostTool(value)).toBe(false);
    }
  });
});

describe("createHostTools", () => {
  describe.each(Object.entries(libraries))("with %s", (_, input) => {
    const tool = defineTool({ description: "Greet.", input, execute: ({ name }) => `Hello ${name}` });

    it("shows the input as JSON Schema", () => {
      const [shown] = createHostTools({ tools: { crm: { tool } } }).descriptions;
      expect(shown).toMatchObject({
        server: "crm",
        name: "tool",
        description: "Greet.",
        inputSchema: {
          type: "object",
          properties: { name: { type: "string", minLength: 2 }, age: { type: "number" } },
          required: ["name"],
        },
      });
    });

    it("checks the arguments", async () => {
      expect(await call(tool, { name: "Ada" })).toEqual({ ok: true, value: "Hello Ada" });
      expect(await call(tool, { name: "A" })).toMatchObject({
        ok: false,
        error: {
          code: "ARGUMENTS_INVALID",
          message: expect.stringContaining("`name`"),
          details: { argument: "name" },
        },
      });
      expect(await call(tool, [1])).toMatchObject({ error: { code: "ARGUMENTS_INVALID" } });
    });
  });

  it("waits for schemas that check asynchronously", async () => {
    const input = z.object({ id: z.string().refine(async (id) => id !== "taken", "is taken") });
    const tool = defineTool({ description: "", input, execute: ({ id }) => id });
    expect(await call(tool, { id: "free" })).toEqual({ ok: true, value: "free" });
    expect(await call(tool, { id: "taken" })).toMatchObject({
      error: { message: "The arguments of crm.tool are not valid: `id`: is taken." },
    });
  });

  it("checks the output and returns what its schema makes of it", async () => {
    const output = z.object({ total: z.number(), note: z.string().default("none") });
    const fine = defineTool({ description: "", output, execute: () => ({ total: 1, secret: "x" }) });
    expect(await call(fine)).toEqual({ ok: true, value: { total: 1, note: "none" } });
    const wrong = defineTool({ description: "", output, execute: () => ({ total: "1" }) as never });
    expect(await call(wrong)).toMatchObject({
      error: {
        code: "RESULT_INVALID",
        message: expect.stringMatching(
          /^crm\.tool answered, but its result does not fit its own output schema: `\/total`: /,
        ),
        details: { server: "crm", tool: "tool", place: "/total" },
      },
    });
    const json = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
    const plain = defineTool({ description: "", output: json, execute: () => ({}) });
    expect(await call(plain)).toMatchObject({
      error: { message: expect.stringContaining("`/a` is missing") },
    });
  });

  it("takes a schema that can't be converted to JSON Schema", () => {
    const input = z.object({ day: z.date() });
    const descriptions = (tool: HostTool) => createHostTools({ tools: { crm: { tool } } }).descriptions;
    expect(
      descriptions(defineTool({ description: "", input, execute: () => 1 }))[0]?.inputSchema,
    ).toMatchObject({
      type: "object",
      properties: { day: {} },
    });
    const shown = { type: "object", properties: { day: { type: "string" } } };
    const told = defineTool({ description: "", input, inputJsonSchema: shown, execute: () => 1 });
    expect(descriptions(told)[0]?.inputSchema).toEqual(shown);
  });

  it("refuses an input that is no object", () => {
    const tool = defineTool({ description: "", input: z.string(), execute: (text) => text });
    expect(() => createHostTools({ tools: { crm: { tool } } })).toThrow(/crm\.tool is of type "string"/);
  });

  it.each([
    [null, "has no function `execute`"],
    [{ description: "x" }, "has no function `execute`"],
    [{ description: "x", input: 5, execute: String }, "has an input that is not a schema"],
    [{ description: "x", timeoutMs: -1, execute: String }, "has a timeoutMs that is not above 0"],
  ])("refuses %j", (tool, fault) => {
    expect(() => createHostTools({ tools: { crm: { tool: tool as unknown as HostTool } } })).toThrow(
      expect.objectContaining({
        code: "TOOL_INVALID",
        message: `crm.tool ${fault}: make it with defineTool({ description, input, execute }).`,
      }) as Error,
    );
  });

  it("refuses arguments for a tool that takes none", async () => {
    const tool = defineTool({ description: "", execute: () => 1 });
    expect(await call(tool, { a: 1 })).toMatchObject({ error: { code: "ARGUMENTS_INVALID" } });
  });

  it("fails with what a tool threw, without secrets", async () => {
    const hideSecrets = createSecretFilter({ API_KEY: "k-12345678", LANG: "en_US.UTF-8" });
    const throwing = (error: unknown): HostTool =>
      defineTool({
        description: "",
        execute: () => {
          throw error;
        },
      });
    expect(await call(throwing(new Error("bad k-12345678 for en_US.UTF-8")), {}, { hideSecrets })).toEqual({
      ok: false,
      error: {
        code: "TOOL_FAILED",
        message: "bad [redacted] for en_US.UTF-8",
        details: { server: "crm", tool: "tool" },
      },
    });
    const own = new CemError("RATE_LIMITED", "slow down", { details: { key: "k-12345678", wait: 3 } });
    expect(await call(throwing(own), {}, { hideSecrets })).toEqual({
      ok: false,
      error: { code: "RATE_LIMITED", message: "slow down", details: { key: "[redacted]", wait: 3 } },
    });
    expect(await call(throwing("just text"))).toMatchObject({ error: { message: "just text" } });
    expect(await call(throwing({ message: "gone", status: 410 }))).toMatchObject({
      error: { message: "gone" },
    });
    expect(await call(throwing({ status: 410 }))).toMatchObject({ error: { message: "{ status: 410 }" } });
    expect(await call(throwing({ id: 1n }))).toMatchObject({ error: { message: "{ id: 1n }" } });
    expect(await call(throwing(new Error("")))).toMatchObject({
      error: { code: "TOOL_FAILED", message: "crm.tool failed without a message." },
    });
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    expect(await call(throwing(new CemError("RATE_LIMITED", "slow", { details: circular })))).toEqual({
      ok: false,
      error: { code: "RATE_LIMITED", message: "slow", details: {} },
    });
  });

  it("keeps bytes and large values where there is a store, and gives them as data where there is none", async () => {
    const kept: string[] = [];
    const store = {
      specificationVersion: "v1",
      async write(bytes: Uint8Array, mimeType: string, name: string) {
        kept.push(`${name} ${mimeType} ${bytes.length}`);
        return { path: `/workspace/results/${name}`, size: bytes.length };
      },
      read: () => Promise.reject(new Error("not read")),
    } satisfies ResultStore;
    const tool = defineTool({
      description: "",
      execute: () => [
        new Blob(["<b>"], { type: "text/html;charset=utf-8" }),
        { raw: new Uint8Array(3) },
        new Date(0),
      ],
    });
    expect(await call(tool, {}, { store })).toEqual({
      ok: true,
      value: [
        { type: "text", mimeType: "text/html", size: 3, path: "/workspace/results/tool.html" },
        {
          raw: {
            type: "resource",
            mimeType: "application/octet-stream",
            size: 3,
            path: "/workspace/results/tool.bin",
          },
        },
        "1970-01-01T00:00:00.000Z",
      ],
    });
    const large = defineTool({ description: "", execute: () => "x".repeat(2_000) });
    expect(await call(large, {}, { store, maxInlineBytes: 1_000 })).toMatchObject({
      value: { type: "text", size: 2_000, preview: "x".repeat(400) },
    });
    const typed = { ...large, output: z.string() };
    expect(await call(typed, {}, { store, maxInlineBytes: 1_000 })).toMatchObject({
      value: { type: "text", shape: { kind: "text" } },
    });
    expect(kept).toHaveLength(4);
    expect(await call(tool)).toMatchObject({
      value: [{ data: "PGI+" }, { raw: { data: "AAAA" } }, expect.any(String)],
    });
  });

  it("fails for a result that JSON can't represent", async () => {
    const circle: Record<string, unknown> = { bytes: Buffer.from("a") };
    Object.assign(circle, { left: circle, right: circle });
    const circular = defineTool({ description: "", execute: () => circle });
    expect(await call(circular)).toMatchObject({ error: { code: "RESULT_NOT_JSON" } });
    const tool = defineTool({ description: "", execute: () => ({ n: 1n }) });
    expect(await call(tool)).toMatchObject({
      error: { code: "RESULT_NOT_JSON", message: expect.stringContaining("BigInt") },
    });
    expect(await call(defineTool({ description: "", execute: () => undefined }))).toEqual({
      ok: true,
      value: null,
    });
  });

  it("describes tools with all that a catalog lists", () => {
    const shown = defineTool({
      description: "Find a customer.",
      output: z.object({ id: z.number() }),
      annotations: { readOnlyHint: true },
      execute: () => ({ id: 1 }),
    });
    const plain = defineTool({ description: "", outputJsonSchema: { type: "string" }, execute: () => 1 });
    const lazy = defineTool({ description: "", input: foreign, execute: () => 1 });
    const { descriptions } = createHostTools({ tools: { crm: { shown, plain }, lab: { lazy } } });
    expect(descriptions).toEqual([
      {
        server: "crm",
        name: "shown",
        description: "Find a customer.",
        inputSchema: { type: "object", properties: {}, additionalProperties: false },
        outputSchema: expect.objectContaining({ type: "object", required: ["id"] }),
        annotations: { readOnlyHint: true },
      },
      expect.objectContaining({ server: "crm", name: "plain", outputSchema: { type: "string" } }),
      expect.objectContaining({ server: "lab", name: "lazy", inputSchema: { type: "object" } }),
    ]);
  });

  describe("find", () => {
    const known = defineTool({ description: "", input: { type: "object" }, execute: () => 1 });
    const tools = createHostTools({
      tools: { crm: { known, none: defineTool({ description: "", execute: () => 1 }) } },
    });
    const find = (server: string, tool: string): unknown => tools.find({ server, tool, args: {} }, never);

    it("returns the schema that arguments are checked against", () => {
      expect(find("crm", "known")).toEqual({ name: "known", inputSchema: known.input });
      expect(find("crm", "none")).toMatchObject({ inputSchema: { additionalProperties: false } });
      expect(find("lab", "known")).toBeUndefined();
    });

    it.each(["toString", "__proto__", "knwn"])("fails for the tool %s of its server", (tool) => {
      expect(() => find("crm", tool)).toThrow(expect.objectContaining({ code: "TOOL_NOT_FOUND" }) as Error);
    });

    it("suggests the nearest tool, or lists all", async () => {
      expect(() => find("crm", "knwn")).toThrow('Server "crm" has no tool "knwn". Did you mean "known"?');
      const wrong = tools.invoke({ server: "crm", tool: "zzz", args: {} }, { signal: never });
      await expect(wrong).rejects.toThrow('Server "crm" has no tool "zzz". There are: known, none.');
      const other = tools.invoke({ server: "lab", tool: "x", args: {} }, { signal: never });
      await expect(other).rejects.toMatchObject({ code: "TOOL_NOT_FOUND" });
    });
  });
});

import { CemError } from "@cem/core";
import type { JsonValue, ResultStore, ToolResult } from "@cem/core";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { checkCalls } from "./call-checks.ts";
import { defineTool, isHostTool } from "./define-tool.ts";
import type { HostTool } from "./define-tool.ts";
import { createHostTools } from "./host-tools.ts";
import type { HostToolsSettings } from "./host-tools.ts";
import { answerErrors, compose } from "./middleware.ts";
import { createSecretFilter } from "./secrets.ts";

const never = new AbortController().signal;

function call(
  tool: HostTool,
  args: JsonValue = {},
  settings: Partial<HostToolsSettings> = {},
  context: { signal?: AbortSignal; onWaiting?: (isWaiting: boolean) => void } = {},
): Promise<ToolResult> {
  const side = createHostTools({ tools: { crm: { tool } }, ...settings });
  const invoker = compose([answerErrors, checkCalls(side)], side);
  return invoker.invoke({ server: "crm", tool: "tool", args }, { signal: never, ...context });
}

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
    expect(isHostTool({ description: "", execute: () => 1 })).toBe(false);
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

  it("checks the output, and gives what its schema makes of it", async () => {
    const output = z.object({ total: z.number(), note: z.string().default("none") });
    const fine = defineTool({ description: "", output, execute: () => ({ total: 1, secret: "x" }) });
    expect(await call(fine)).toEqual({ ok: true, value: { total: 1, note: "none" } });
    const wrong = defineTool({ description: "", output, execute: () => ({ total: "1" }) as never });
    expect(await call(wrong)).toMatchObject({
      error: {
        code: "RESULT_INVALID",
        message: expect.stringContaining("`total`"),
        details: { place: "total" },
      },
    });
    const json = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
    const plain = defineTool({ description: "", output: json, execute: () => ({}) });
    expect(await call(plain)).toMatchObject({
      error: { message: expect.stringContaining("`a` is missing") },
    });
  });

  it("takes a schema that can't be had as JSON Schema", () => {
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

  it("refuses arguments for a tool that takes none", async () => {
    const tool = defineTool({ description: "", execute: () => 1 });
    expect(await call(tool, { a: 1 })).toMatchObject({ error: { code: "ARGUMENTS_INVALID" } });
  });

  it("says what a tool threw, without secrets", async () => {
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
  });

  it("ends a schema that never ends", async () => {
    const input = z.object({ a: z.string().refine(() => new Promise(() => {})) });
    const tool = defineTool({ description: "", input, timeoutMs: 30, execute: () => 1 });
    expect(await call(tool, { a: "" })).toMatchObject({ error: { code: "TOOL_TIMEOUT" } });
  });

  it("ends a tool that takes too long, and one whose run ends", async () => {
    let aborted = 0;
    const slow = defineTool({
      description: "",
      timeoutMs: 30,
      execute: (_input, { signal }) => {
        signal.addEventListener("abort", () => (aborted += 1));
        return new Promise(() => {});
      },
    });
    expect(await call(slow)).toMatchObject({ error: { code: "TOOL_TIMEOUT" } });
    const signal = AbortSignal.timeout(30);
    const patient = defineTool({
      description: "",
      execute: (input, context) => slow.execute(input as never, context),
    });
    expect(await call(patient, {}, {}, { signal })).toMatchObject({ error: { code: "ABORTED" } });
    expect(aborted).toBe(2);
  });

  it("asks the user, with the tool's clock standing still", async () => {
    const waiting: boolean[] = [];
    const tool = defineTool({
      description: "",
      timeoutMs: 200,
      execute: (_input, { elicit }) => elicit({ message: "Sure?", requestedSchema: {} }),
    });
    const elicit = async (): Promise<{ action: "accept" }> => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      return { action: "accept" };
    };
    const onWaiting = (isWaiting: boolean): void => void waiting.push(isWaiting);
    expect(await call(tool, {}, { elicit }, { onWaiting })).toEqual({
      ok: true,
      value: { action: "accept" },
    });
    expect(waiting).toEqual([true, false]);
    expect(await call(tool)).toEqual({ ok: true, value: { action: "decline" } });
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
      value: { type: "text", size: 2_000, preview: "x".repeat(1_000) },
    });
    expect(kept).toHaveLength(3);
    expect(await call(tool)).toMatchObject({
      value: [{ data: "PGI+" }, { raw: { data: "AAAA" } }, expect.any(String)],
    });
  });

  it("says when a result is nothing that JSON can carry", async () => {
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
});

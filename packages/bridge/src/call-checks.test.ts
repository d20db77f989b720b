import { CemError } from "@cem/core";
import type { JsonSchema, JsonValue, ToolCall, ToolResult } from "@cem/core";
import { describe, expect, it } from "vitest";
import { checkCalls, createResultCheck, resultInvalid } from "./call-checks.ts";
import type { CallCheckSettings } from "./call-checks.ts";
import { createSchemaValidator } from "./schema-validation.ts";
import type { SchemaValidator } from "./schema-validation.ts";
import type { KnownTool } from "./tool-source.ts";
import type { Unvalidated } from "./violation.ts";

const inputSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const { signal } = new AbortController();

/** Calls a tool through the middleware; resolves to what was passed on. */
async function check(
  args: JsonValue | undefined,
  settings: CallCheckSettings = {},
  found: KnownTool | undefined = { name: "find", inputSchema },
): Promise<ToolCall | undefined> {
  let passed: ToolCall | undefined;
  const invoker = checkCalls(
    { find: () => found },
    settings,
  )({
    specificationVersion: "v1",
    async invoke(call): Promise<ToolResult> {
      passed = call;
      return { ok: true, value: 1 };
    },
  });
  expect(invoker.specificationVersion).toBe("v1");
  const call = { server: "crm", tool: "find", args } as ToolCall;
  expect(await invoker.invoke(call, { signal })).toEqual({ ok: true, value: 1 });
  return passed;
}

describe("checkCalls", () => {
  it("passes a valid call on, with the tool that was found", async () => {
    const found = { name: "find", inputSchema };
    const passed = await check({ name: "Ada" }, {}, found);
    expect(passed).toEqual({ server: "crm", tool: "find", args: { name: "Ada" }, found });
  });

  it("refuses invalid arguments and names the argument", async () => {
    await expect(check({ name: 1 })).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
      message: "The arguments of crm.find are not valid: `name` must be a string, not a number.",
      details: { server: "crm", tool: "find", argument: "name" },
    });
  });

  it("takes digits for a number of a tool whose source keeps them, and of no other", async () => {
    const schema = {
      type: "object",
      properties: { id: { type: "integer" }, either: { type: ["string", "integer"] } },
      additionalProperties: { maximum: 9e18, type: "integer" },
    };
    const found = { name: "find", inputSchema: schema, keepsDigits: true };
    const args = { id: "7205759403792793601", either: "7205759403792793601" };
    const asNumbers = { ...args, id: Number(args.id) };
    expect(await check(args, {}, found)).toMatchObject({ args, asNumbers });
    const invalid = (message: string): object => ({ message: expect.stringContaining(message) as string });
    await expect(check(args)).rejects.toMatchObject(invalid("`name` is missing"));
    await expect(check(args, {}, { ...found, keepsDigits: false })).rejects.toMatchObject(
      invalid("`id` must be an integer, not a string"),
    );
    await expect(check({ more: "9223372036854775807" }, {}, found)).rejects.toMatchObject(
      invalid("`more` must be <= 9000000000000000000"),
    );
    await expect(check({ id: "1234567890" }, {}, found)).rejects.toMatchObject(invalid("not a string"));
    for (const id of [Number("7205759403792793601"), -(2 ** 60)])
      await expect(check({ id }, {}, found)).rejects.toMatchObject(invalid("`id` has more digits"));
    for (const id of [1e18, 1735689600000000000, 2 ** 53 - 1])
      expect(await check({ id }, {}, found)).toMatchObject({ args: { id } });
  });

  it.each([
    ["9007199254740993", { maximum: 2 ** 53 }, "must be <= 9007199254740992"],
    ["-9007199254740993", { minimum: -(2 ** 53) }, "must be >= -9007199254740992"],
    ["100000000000000008191", { exclusiveMaximum: 1e20 }, "must be < 100000000000000000000"],
    ["9007199254740993", { const: 2 ** 53 }, "must be 9007199254740992"],
    ["9007199254740993", { enum: [2 ** 53] }, "must be "],
    ["1234567890123456789011", { multipleOf: 10 }, "not a string"],
    ["9007199254740993", { maximum: 2 ** 53, exclusiveMinimum: 2 ** 53 + 2 }, "not a string"],
    ["9".repeat(41), {}, "not a string"],
    ["9223372036854775807", { maximum: 2 ** 63 }, "passes"],
    ["9007199254740993", { not: { maximum: 2 ** 53 } }, "passes"],
    ["-9007199254740993", { exclusiveMaximum: -(2 ** 53) }, "passes"],
    ["9".repeat(40), { multipleOf: 1 }, "passes"],
  ])("compares all digits of %s with %j", async (id, limits, outcome) => {
    const schema = { type: "object", properties: { id: { type: "integer", ...limits } } };
    const checking = check({ id }, {}, { name: "find", inputSchema: schema, keepsDigits: true });
    expect(await checking.then(() => "passes", String)).toContain(outcome);
  });

  const integer = { type: "integer" };
  const text = { type: "string" };
  const tuple: unknown = { items: [text], additionalItems: integer };
  const digits = "12345678901234567890";
  it.each<[JsonSchema, JsonValue]>([
    [{ patternProperties: { "^id": text }, additionalProperties: integer }, digits],
    [{ properties: { id: { prefixItems: [text], items: integer } } }, [digits]],
    [{ properties: { id: tuple as JsonSchema } }, [digits]],
  ])("leaves digits a text where %j takes one", async (schema, id) => {
    const found = { name: "find", inputSchema: { type: "object", ...schema }, keepsDigits: true };
    expect(await check({ id }, {}, found)).toMatchObject({ args: { id }, asNumbers: undefined });
  });

  it("reads a schema for the places of digits alone, and once for all items of a list", async () => {
    let reads = 0;
    const row = {
      properties: { id: { type: "integer" } },
      get anyOf() {
        reads += 1;
        return [{ type: "object" }];
      },
    };
    const schema = { type: "object", properties: { rows: { items: row }, id: { type: "integer" } } };
    const found = { name: "find", inputSchema: schema, keepsDigits: true };
    const id = "7205759403792793601";
    await check({ rows: Array.from({ length: 1_000 }, () => ({})), id }, {}, found);
    await check({ rows: Array.from({ length: 1_000 }, () => ({ id })) }, {}, found);
    expect(reads).toBeLessThan(10);
  });

  it("takes digits for the numbers of an object with many names that are no property", async () => {
    const schema = { type: "object", properties: { id: text }, additionalProperties: integer };
    const names = Array.from({ length: 20_000 }, (_, index) => [`n${index}`, digits]);
    const args = Object.fromEntries([["id", digits], ...names]) as JsonValue;
    const asNumbers = { ...Object.fromEntries(names.map(([name]) => [name, Number(digits)])), id: digits };
    const found = { name: "find", inputSchema: schema, keepsDigits: true };
    expect(await check(args, {}, found)).toMatchObject({ asNumbers });
  });

  it("leaves digits a text once it has read too much of a schema", async () => {
    const anyOf = Array.from({ length: 500 }, (_, maximum) => ({ maximum: 2 ** 60 + 2 ** 9 * maximum }));
    const names = Array.from({ length: 1_000 }, (_, index) => [`n${index}`, "9007199254740993"]);
    const properties = Object.fromEntries(names.map(([name]) => [name, { $ref: "#/$defs/limited" }]));
    const schema = { type: "object", properties, $defs: { limited: { type: "integer", anyOf } } };
    const found = { name: "find", inputSchema: schema, keepsDigits: true };
    await expect(check(Object.fromEntries(names) as JsonValue, {}, found)).rejects.toThrow("not a string");
    expect(await check({ n1: "9007199254740993" }, {}, found)).toBeDefined();
  });

  it("checks an honest server's arguments beside a server whose schema can't be prepared", async () => {
    const patterns = Array.from({ length: 60 }, (_, index) => [
      `p${index}`,
      { pattern: index < 19 ? `z${index}{2}a{999}` : `a${index}` },
    ]);
    const hostile: unknown = { properties: Object.fromEntries(patterns), patternProperties: { a: null } };
    const args = { iban: "DE1" };
    expect(await check(args, {}, { name: "find", inputSchema: hostile as JsonSchema })).toMatchObject({
      args,
    });
    const honest = { properties: { iban: { pattern: "^DE[0-9]{20}$" } } };
    await expect(check(args, {}, { name: "find", inputSchema: honest })).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
    });
  });

  it("fills in what is required and has a default", async () => {
    const size = { type: "object", properties: { width: { default: 800 } }, required: ["width"] };
    const schema = {
      type: "object",
      properties: { type: { enum: ["png", "jpeg"], default: "png" }, quality: { default: 1 }, size },
      required: ["type"],
    };
    const found = { name: "find", inputSchema: schema };
    expect(await check({}, {}, found)).toMatchObject({ args: { type: "png" } });
    expect(await check({ type: "jpeg", size: {} }, {}, found)).toMatchObject({
      args: { type: "jpeg", size: { width: 800 } },
    });
    expect((await check({}, {}, found))?.args).not.toHaveProperty("quality");
    await expect(check({ type: null }, {}, found)).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });
  });

  it.each([undefined, null])("takes %s for no arguments", async (args) => {
    expect(await check(args, {}, { name: "find" })).toMatchObject({ args: {} });
  });

  it.each([[[]], ["text"], [1], [false]])("refuses %j in place of an object", async (args) => {
    await expect(check(args as JsonValue, {}, { name: "find" })).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
      message: "The arguments of crm.find must be one object, such as { name: value }.",
      details: { server: "crm", tool: "find", argument: "" },
    });
  });

  it("refuses a tool that is not found", async () => {
    const invoker = checkCalls({ find: () => undefined })({
      specificationVersion: "v1",
      invoke: () => Promise.reject(new Error("passed on")),
    });
    const call = { server: "crm", tool: "find", args: {} };
    await expect(invoker.invoke(call, { signal })).rejects.toMatchObject({ code: "TOOL_NOT_FOUND" });
  });

  it("does not wait for a lookup after an abort", async () => {
    const controller = new AbortController();
    const invoker = checkCalls({ find: () => new Promise<undefined>(() => {}) })({
      specificationVersion: "v1",
      invoke: () => Promise.reject(new Error("passed on")),
    });
    const waiting = invoker.invoke({ server: "crm", tool: "find", args: {} }, { signal: controller.signal });
    controller.abort("enough");
    await expect(waiting).rejects.toBe("enough");
  });

  describe("isAllowed", () => {
    it("lets through what it allows", async () => {
      const asked: string[] = [];
      const isAllowed = ({ tool }: ToolCall): boolean => asked.push(tool) > 0;
      await check({ name: "Ada" }, { isAllowed });
      expect(asked).toEqual(["find"]);
    });

    it("is given the names that the tool has in code, whatever names the call brings", async () => {
      const isAllowed = ({ inCode }: ToolCall): string => `in code it is ${inCode?.server}.${inCode?.tool}`;
      const nameInCode = async ({ server, tool }: ToolCall) => ({ server, tool: `${tool}_it` });
      await expect(check({ name: "Ada" }, { isAllowed, nameInCode })).rejects.toThrow(
        "in code it is crm.find_it",
      );
      await expect(check({ name: "Ada" }, { isAllowed })).rejects.toThrow(
        "in code it is undefined.undefined",
      );
    });

    it.each([
      [false, "crm.find may not be called: it is not among the tools of this run."],
      ["it costs money", "crm.find may not be called: it costs money."],
    ])("refuses for %j", async (answer, message) => {
      const refused = check({ name: 1 }, { isAllowed: () => answer });
      await expect(refused).rejects.toMatchObject({
        code: "TOOL_NOT_ALLOWED",
        message,
        details: { server: "crm", tool: "find" },
      });
      expect(CemError.isInstance(await refused.catch((error: unknown) => error))).toBe(true);
    });
  });

  describe("onUnvalidated", () => {
    const unusable = { name: "find", inputSchema: { type: "strange" } };

    it("receives each tool whose arguments go unchecked once, with the reason", async () => {
      const reported: object[] = [];
      const middleware = checkCalls(
        {
          find: ({ tool }) =>
            tool === "find" ? unusable : { name: tool, inputSchema, unvalidated: "it has 2 schemas" },
        },
        { onUnvalidated: (tool) => reported.push(tool) },
      );
      const invoker = middleware({
        specificationVersion: "v1",
        invoke: async () => ({ ok: true, value: 1 }),
      });
      for (const tool of ["find", "find", "list", "list"]) {
        await invoker.invoke({ server: "crm", tool, args: {} }, { signal });
      }
      expect(reported).toEqual([
        {
          server: "crm",
          tool: "find",
          subject: "arguments",
          reason: expect.stringContaining("can't be used"),
        },
        { server: "crm", tool: "list", subject: "arguments", reason: "it has 2 schemas" },
      ]);
    });

    it("is not needed", async () => {
      expect(await check({ any: 1 }, {}, unusable)).toMatchObject({ args: { any: 1 } });
    });
  });

  it("uses a given validator", async () => {
    const validator = createSchemaValidator();
    let prepared = 0;
    const counting = {
      prepare: (schema: JsonSchema) => {
        prepared += 1;
        return validator.prepare(schema);
      },
    };
    await check({ name: "Ada" }, { validator: counting });
    expect(prepared).toBe(1);
  });
});

const tool = { server: "shop", tool: "list" };
const schema: JsonSchema = {
  type: "object",
  properties: { unit: { type: "string" } },
  additionalProperties: false,
};

describe("createResultCheck", () => {
  it("passes what fits and fails for what does not, naming the place", async () => {
    const check = createResultCheck();
    await check(tool, schema, { unit: "EUR" });
    await expect(check(tool, schema, { unit: 1 })).rejects.toMatchObject({
      code: "RESULT_INVALID",
      message:
        "shop.list answered, but its result does not fit its own output schema: `/unit` must be a string, not a number: it is 1.",
      details: { server: "shop", tool: "list", place: "/unit" },
    });
  });

  it("uses the validator that it is given", async () => {
    const validator: SchemaValidator = {
      prepare: async () => ({ validated: true, check: () => ({ path: "/a", message: "`/a` is bad" }) }),
    };
    await expect(createResultCheck({ validator })(tool, schema, {})).rejects.toThrow("schema: `/a` is bad.");
  });

  it("reports each tool once whose results go unchecked", async () => {
    const reported: Unvalidated[] = [];
    const check = createResultCheck({ onUnvalidated: (unvalidated) => reported.push(unvalidated) });
    const other = { server: "shop", tool: "slow" };
    for (let round = 0; round < 2; round += 1) {
      await check(tool, { type: "strange" }, 1);
      await check(other, { pattern: "(.{0,900})[cd]$" }, "a".repeat(1_000_000));
    }
    expect(reported).toEqual([
      { ...tool, subject: "result", reason: expect.stringContaining("can't be used") },
      { ...other, subject: "result", reason: "it is too large or too deeply nested to be checked" },
    ]);
    await createResultCheck()(tool, { type: "strange" }, 1);
  });
});

describe("resultInvalid", () => {
  it("ends as one sentence", () => {
    const { message } = resultInvalid(tool, { path: "/units", message: "did you mean `unit`?" });
    expect(message.endsWith("did you mean `unit`?")).toBe(true);
  });
});

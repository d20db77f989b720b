import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { JsonValue } from "@cem/core";
import { encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import { temporaryWorkspace } from "../../test/temporary-workspace.ts";
import { createStateStore } from "../index.ts";
import { encodeState, parseState, STATE_FORMATS } from "./state-format.ts";

const VALUES = [
  null,
  true,
  0,
  -1.5,
  9_007_199_254_740_991,
  "",
  "größe \u0000 \u2028 'x' \"y\": #z",
  "yes",
  "1e3",
  "2026-11-22",
  "~",
  [],
  {},
  [[], [{}]],
  { a: { b: [1, { c: null }] }, "": 1, "a b": "c\nd\n", ["key: #"]: "- x" },
  { same: [1, 2], again: [1, 2] },
];

describe("formats of state", () => {
  it.each(STATE_FORMATS)("give back what was saved: %s", async (format) => {
    for (const value of VALUES) {
      expect(await parseState(await encodeState(value, format), format)).toEqual({ ok: true, value });
    }
  });

  it.each(STATE_FORMATS)("refuse what is no JSON: %s", async (format) => {
    const round: Record<string, unknown> = {};
    round["round"] = round;
    for (const value of [undefined, round, { big: 1n }]) {
      const refused = expect.objectContaining({ code: "STATE_UNREADABLE" });
      await expect(encodeState(value as unknown as JsonValue, format)).rejects.toEqual(refused);
    }
  });

  it.each(STATE_FORMATS)("save what JSON has not as JSON has it: %s", async (format) => {
    const value = { mean: Number.NaN, at: new Date(0), none: undefined } as unknown as JsonValue;
    const saved = { mean: null, at: "1970-01-01T00:00:00.000Z" };
    expect(await parseState(await encodeState(value, format), format)).toEqual({ ok: true, value: saved });
  });

  it("are read in linear time, however many keys there are", async () => {
    const value = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key${at}`, at]));
    const started = process.cpuUsage();
    expect(await parseState(await encodeState(value, "yaml"), "yaml")).toEqual({ ok: true, value });
    // It takes half a second. In quadratic time it was half a minute.
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(8_000);
  });

  it("refuse as YAML what is nested more deeply than it can be written", async () => {
    let value: JsonValue = {};
    for (let depth = 0; depth < 950; depth += 1) value = { a: value };
    await encodeState(value, "yaml").then(
      async (bytes) => expect(await parseState(bytes, "yaml")).toMatchObject({ ok: true }),
      (error: unknown) =>
        expect(error).toMatchObject({ code: "STATE_UNREADABLE", message: expect.stringContaining(".json") }),
    );
  });

  it("keep a key named __proto__ from being anything but data, or refuse it", async () => {
    const text = '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}';
    const bytes = { json: text, yaml: text, binary: encode(JSON.parse(text)) };
    for (const format of STATE_FORMATS) {
      await parseState(Buffer.from(bytes[format]), format);
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    }
  });

  const nested = (open: number, end: number, depth: number) =>
    Buffer.concat([
      Buffer.alloc(depth, open),
      Buffer.alloc(end === 0 ? 0 : depth, end),
      Buffer.from(end === 0 ? [0xc0] : []),
    ]);
  it.each([
    ["binary", "an array of four billion items", Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff])],
    ["binary", "a text of four gigabytes", Buffer.from([0xdb, 0xff, 0xff, 0xff, 0xff, 0x61])],
    ["binary", "deep nesting", nested(0x91, 0, 1_000_000)],
    ["binary", "bytes", Buffer.from(encode(new Uint8Array([1])))],
    ["binary", "a date", Buffer.from(encode(new Date()))],
    ["binary", "no number", Buffer.from(encode(Number.NaN))],
    ["binary", "something behind", Buffer.from([0x01, 0x02])],
    ["binary", "nothing", Buffer.alloc(0)],
    ["yaml", "deep nesting", nested(0x5b, 0x5d, 20_000)],
    ["yaml", "aliases", Buffer.from("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n")],
    ["yaml", "infinity", Buffer.from("a: .inf")],
    ["yaml", "an object of a class", Buffer.from("!!js/function 'return 1'\n: [")],
    ["yaml", "bytes that are no text", Buffer.from([0x61, 0x3a, 0x20, 0xff, 0xfe])],
    ["json", "deep nesting", nested(0x5b, 0x20, 3_000_000)],
  ] as const)("refuse hostile bytes: %s, %s", async (format, _, bytes) => {
    const started = process.cpuUsage();
    expect(await parseState(bytes, format)).toMatchObject({ ok: false, reason: expect.stringMatching(/./) });
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(10_000);
  });
});

describe("createStateStore, with a format", () => {
  it.each([
    ["json", "state.json"],
    ["yaml", "state.yaml"],
    ["binary", "state.msgpack"],
  ] as const)("writes %s to %s", async (format, name) => {
    const { workspaceDir } = temporaryWorkspace();
    const store = createStateStore({ workspaceDir, format });
    expect(await store.save({ step: 1 })).toMatchObject({ file: `/workspace/${name}` });
    expect(readdirSync(workspaceDir)).toEqual([name]);
    expect(await store.read()).toMatchObject({ exists: true, data: { step: 1 } });
  });

  const odd = JSON.parse('{"a": [{"__proto__": 1}]}') as JsonValue;
  it.each(["json", "yaml"] as const)("keeps a key named __proto__ in %s", async (format) => {
    const store = createStateStore({ workspaceDir: temporaryWorkspace().workspaceDir, format });
    await store.save(odd);
    expect(JSON.stringify((await store.read()).data)).toBe(JSON.stringify(odd));
  });

  it("saves only what MessagePack can give back", async () => {
    const { workspaceDir } = temporaryWorkspace();
    const store = createStateStore({ workspaceDir, format: "binary" });
    await store.save({ text: "about __proto__" });
    const refused = { code: "STATE_UNREADABLE", message: expect.stringContaining("save to a .json file") };
    await expect(store.save(odd)).rejects.toMatchObject(refused);
    expect(await store.read()).toMatchObject({ data: { text: "about __proto__" } });
  });

  it("writes YAML that people can read", async () => {
    const { workspaceDir } = temporaryWorkspace();
    await createStateStore({ workspaceDir, format: "yaml" }).save({ step: 1 });
    expect(readFileSync(path.join(workspaceDir, "state.yaml"), "utf8")).toBe("step: 1\n");
  });

  it("reads what was saved before the format was changed", async () => {
    const { workspaceDir } = temporaryWorkspace();
    await createStateStore({ workspaceDir }).save({ step: 1 });
    const store = createStateStore({ workspaceDir, format: "yaml" });
    expect(await store.read()).toMatchObject({ data: { step: 1 } });
    await store.save({ step: 2 });
    expect(await store.read()).toMatchObject({ data: { step: 2 } });
  });

  it("refuses a pickle, by its name or its bytes, with a command that converts it", async () => {
    const { workspaceDir } = temporaryWorkspace();
    const pickle = Buffer.from("80027d710058040000007374657071014b01732e", "hex");
    writeFileSync(path.join(workspaceDir, "state.pkl"), pickle);
    const store = createStateStore({ workspaceDir, stateFile: "state.pkl", format: "binary" });
    const refused = { code: "STATE_UNREADABLE", message: expect.stringContaining("is a Python pickle") };
    await expect(store.read()).rejects.toMatchObject(refused);
    await expect(store.read("state.pkl")).rejects.toMatchObject(refused);
    await expect(store.save({}, "other.pickle")).rejects.toMatchObject(refused);
    writeFileSync(path.join(workspaceDir, "x.msgpack"), pickle);
    await expect(store.read("x.msgpack")).rejects.toMatchObject(refused);
    const { message } = await store.read().then(
      () => new Error("It had to be refused."),
      (error: Error) => error,
    );
    const command = /once: (.*)$/.exec(message)?.[1] ?? "";
    try {
      execFileSync("python3", ["--version"], { stdio: "ignore" });
    } catch {
      return; // There is no Python here.
    }
    execFileSync("sh", ["-c", command], { cwd: workspaceDir });
    expect(await store.read()).toMatchObject({ exists: true, data: { step: 1 } });
  });
});

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonValue } from "@cem/core";
import { describe, expect, it } from "vitest";
import { temporaryWorkspace } from "../../test/temporary-workspace.ts";
import { createStateStore } from "../index.ts";
import { mergeChanges } from "./state-merge.ts";

const MODULE = JSON.stringify(fileURLToPath(new URL("../index.ts", import.meta.url)));

describe("mergeChanges", () => {
  it.each<[string, JsonValue, JsonValue, JsonValue, JsonValue]>([
    ["keys that each added", { a: 1 }, { a: 1, b: 2 }, { a: 1, c: 3 }, { a: 1, b: 2, c: 3 }],
    ["a change and a removal", { a: 1, b: 1 }, { a: 2, b: 1 }, { a: 1 }, { a: 2 }],
    [
      "members of one object",
      { a: { x: 1, y: 1 } },
      { a: { x: 2, y: 1 } },
      { a: { x: 1, y: 3 } },
      { a: { x: 2, y: 3 } },
    ],
    ["a list that one changed", { a: [1], b: 1 }, { a: [1, 2], b: 1 }, { a: [1], b: 2 }, { a: [1, 2], b: 2 }],
    ["a change of one alone", 1, 2, 1, 2],
    ["two removals", { a: 1, b: 1, c: 1 }, { b: 1, c: 1 }, { a: 1, c: 1 }, { c: 1 }],
  ])("puts together %s", (_, base, mine, theirs, value) => {
    expect(mergeChanges(base, mine, theirs)).toEqual({ ok: true, value });
    expect(mergeChanges(base, theirs, mine)).toEqual({ ok: true, value });
  });

  it.each<[string, JsonValue, JsonValue, JsonValue, string[]]>([
    ["one key", { n: 5 }, { n: 6 }, { n: 7 }, ["n"]],
    ["one key in the same way, such as two who counted up", { n: 5 }, { n: 6 }, { n: 6 }, ["n"]],
    ["one key that both added", {}, { n: 1 }, { n: 2 }, ["n"]],
    ["a key that the other removed", { n: 1 }, { n: 2 }, {}, ["n"]],
    ["one list", { a: { l: [1] } }, { a: { l: [1, 2] } }, { a: { l: [1, 3] } }, ["a.l"]],
    ["everything", 1, 2, 3, ["the whole state"]],
    ["an object that the other replaced", { a: { x: 1 } }, { a: { x: 2 } }, { a: 1 }, ["a"]],
  ])("is a conflict where both changed %s", (_, base, mine, theirs, keys) => {
    expect(mergeChanges(base, mine, theirs)).toEqual({ ok: false, keys });
    expect(mergeChanges(base, theirs, mine)).toEqual({ ok: false, keys });
  });

  it("takes keys as data, whatever their names are", () => {
    const parse = (text: string) => JSON.parse(text) as JsonValue;
    const merged = mergeChanges(
      parse('{"a":1}'),
      parse('{"a":1,"__proto__":{"x":1}}'),
      parse('{"a":1,"constructor":2}'),
    );
    expect(JSON.stringify(merged)).toBe('{"ok":true,"value":{"a":1,"constructor":2,"__proto__":{"x":1}}}');
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });
});

describe("two stores of one workspace", () => {
  it.each(["json", "yaml", "binary"] as const)(
    "keep both changes of different keys, as %s",
    async (format) => {
      const { workspaceDir } = temporaryWorkspace();
      const [one, other] = [
        createStateStore({ workspaceDir, format }),
        createStateStore({ workspaceDir, format }),
      ];
      await one.save({ shared: { a: 1 }, list: [1] });
      const [mine, theirs] = [await one.read(), await other.read()];
      await other.save({ shared: { a: 1, other: 2 }, list: [1] }, undefined, theirs);
      const saved = await one.save({ shared: { a: 1, one: 1 }, list: [1, 2] }, undefined, mine);
      expect(saved.merged).toBe(true);
      const expected = { shared: { a: 1, one: 1, other: 2 }, list: [1, 2] };
      expect(await other.read()).toMatchObject({ data: expected, version: saved.version });
      await expect(one.save({ shared: 0, list: [] }, undefined, mine)).rejects.toMatchObject({
        code: "STATE_CONFLICT",
        details: { keys: ["shared", "list"] },
      });
      expect(await one.read()).toMatchObject({ data: expected });
    },
  );

  it("keep what guest code wrote meanwhile, and refuse where it removed or broke the file", async () => {
    const { workspaceDir } = temporaryWorkspace();
    const store = createStateStore({ workspaceDir });
    const first = await store.save({ a: 1 });
    writeFileSync(path.join(workspaceDir, "state.json"), '{"a":1,"guest":true}');
    await store.save({ a: 2 }, undefined, first);
    expect(await store.read()).toMatchObject({ data: { a: 2, guest: true } });
    writeFileSync(path.join(workspaceDir, "state.json"), '{"a":');
    await expect(store.save({ a: 3 }, undefined, first)).rejects.toMatchObject({ code: "STATE_CONFLICT" });
  });

  it("refuse a change of a state that they never saw", async () => {
    const { workspaceDir } = temporaryWorkspace();
    const { version } = await createStateStore({ workspaceDir }).save({ a: 1 });
    await createStateStore({ workspaceDir }).save({ a: 1, b: 1 });
    const store = createStateStore({ workspaceDir });
    await expect(store.save({ a: 2 }, undefined, { version })).rejects.toMatchObject({
      code: "STATE_CONFLICT",
    });
  });

  it("lose nothing where processes write keys of their own at once", async () => {
    const { workspaceDir } = temporaryWorkspace();
    const script = (name: string) => `import { createStateStore } from ${MODULE};
      const store = createStateStore({ workspaceDir: ${JSON.stringify(workspaceDir)} });
      for (let n = 1; n <= 15; n += 1) {
        const { data, version } = await store.read();
        await store.save({ ...data, ${name}: (data.${name} ?? 0) + 1 }, undefined, { version });
      }`;
    const ends = ["one", "two", "three"].map((name) => {
      const args = ["--conditions=@cem/source", "--input-type=module", "-e", script(name)];
      return new Promise((resolve) =>
        spawn(process.execPath, args, { stdio: "inherit" }).once("exit", resolve),
      );
    });
    expect(await Promise.all(ends)).toEqual([0, 0, 0]);
    expect(await createStateStore({ workspaceDir }).read()).toMatchObject({
      data: { one: 15, two: 15, three: 15 },
    });
  });
});

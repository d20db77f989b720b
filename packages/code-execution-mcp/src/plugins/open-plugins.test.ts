import type { Guard, RunOutcome, Sandbox, SandboxProvider } from "@cem/core";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { definePlugin } from "./define-plugin.ts";
import type { Plugin, PluginParts } from "./define-plugin.ts";
import { addGuards, ownedGuard } from "./added-stages.ts";
import { openPlugins } from "./open-plugins.ts";
import type { PluginSet } from "./open-plugins.ts";
import { usePlugin } from "./plugin-use.ts";

const V1 = { specificationVersion: "v1" } as const;

function plugin(name: string, setup: () => PluginParts | Promise<PluginParts>): Plugin {
  return definePlugin({ ...V1, name, version: "1.0.0", setup });
}

function open(...plugins: readonly unknown[]): Promise<PluginSet> {
  return openPlugins(plugins.map((one) => ({ named: "given", from: { plugin: one } })));
}

describe("openPlugins", () => {
  it("gives what the plugins add, in their order", async () => {
    const set = await open(
      plugin("one", async () => ({ detectors: [{ type: "ONE", values: ["first"] }], onEvent: () => {} })),
      plugin("two", () => ({ detectors: [{ type: "TWO", values: ["second"] }] })),
    );
    expect(set.reports()).toMatchObject([
      {
        name: "one",
        version: "1.0.0",
        state: "ready",
        adds: ["detector ONE", "event listener"],
        problems: [],
      },
      { name: "two", state: "ready", adds: ["detector TWO"] },
    ]);
    expect(set.reports()[0]?.setupMs).toBeGreaterThanOrEqual(0);
    await set.dispose();
  });

  it("leaves out what has a name that is taken", async () => {
    const step = { ...V1, name: "note", configSchema: {}, run: async () => null };
    const set = await openPlugins(
      [
        { named: "a", from: { plugin: plugin("a", () => ({ steps: [step] })) } },
        { named: "b", from: { plugin: plugin("b", () => ({ steps: [step, { ...step, name: "loop" }] })) } },
      ],
      { taken: { step: ["loop"] } },
    );
    expect(set.steps.map(({ name }) => name)).toEqual(["note"]);
    expect(set.problems()).toEqual([
      "The step note of the plugin b is left out: the plugin a has one of this name.",
      "The step loop of the plugin b is left out: cem or the project has one of this name.",
    ]);
  });

  it.each<[string, object]>([
    ["neither pattern, values nor find()", { type: "X" }],
    ["a text as pattern", { type: "X", pattern: "EMP" }],
    ["values that are no texts", { type: "X", values: [5] }],
    ["no function as find", { type: "X", find: /x/ }],
  ])("leaves out a detector with %s, and nothing else", async (_, broken) => {
    const guard: Guard = { ...V1, review: async () => ({ allowed: false, findings: [] }) };
    const policy = plugin("policy", () => ({
      detectors: [broken as never, { type: "EMPLOYEE", pattern: /E\d{6}/ }],
      guards: [guard],
    }));
    const set = await open(policy);
    expect(set.reports()).toMatchObject([{ state: "ready", adds: ["detector EMPLOYEE", "guard"] }]);
    const message = expect.stringMatching(
      /^The detectors\[0\] of the plugin policy can't be used: it has to/,
    );
    expect(set.problems()).toEqual([message]);
    const required = { named: "given", from: { plugin: policy }, required: true };
    await expect(openPlugins([required])).rejects.toMatchObject({ code: "PLUGIN_FAILED", message });
  });

  it("leaves out a part that can't be made, and nothing else", async () => {
    const list = ["ok"];
    list.filter = () => {
      throw new Error("odd");
    };
    const set = await open(
      plugin("p", () => ({ detectors: [{ type: "ODD", values: list }], onEvent: () => {} })),
    );
    expect(set.reports()).toMatchObject([{ state: "ready", adds: ["event listener"] }]);
    expect(set.problems()[0]).toContain("The detector ODD of the plugin p can't be used");
  });

  it("checks options with the plugin's schema, also one that answers later", async () => {
    const seen: unknown[] = [];
    const options = z
      .object({ size: z.coerce.number() })
      .refine(async ({ size }) => size < 10, "is too large");
    const sized = definePlugin({
      ...V1,
      name: "sized",
      version: "1",
      options,
      setup: (given) => (seen.push(given), {}),
    });
    const given = (size: string) => ({ named: "sized", from: { plugin: sized }, options: { size } });
    await openPlugins([given("4")]);
    const refused = await openPlugins([given("40")]);
    expect(seen).toEqual([{ size: 4 }]);
    expect(refused.problems()).toEqual(["The options of the plugin sized are wrong: is too large"]);
  });

  it("does not touch a plugin that is held back", async () => {
    const set = await openPlugins([
      {
        named: "held",
        from: { file: "/nowhere/held.mjs", folder: "/nowhere" },
        obstacle: {
          state: "held",
          error: new (await import("@cem/core")).CemError("FOLDER_UNTRUSTED", "no yes yet"),
        },
      },
    ]);
    expect(set.reports()).toMatchObject([{ name: "held", state: "held", problems: ["no yes yet"] }]);
  });

  it("reads odd values without failing", async () => {
    const odd = new Proxy(
      {},
      {
        get: () => {
          throw new Error("touched");
        },
      },
    );
    const set = await open(
      odd,
      null,
      7,
      [],
      plugin("getter", () => ({
        get guards(): never {
          throw new Error("got");
        },
      })),
    );
    expect(set.reports().map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => "error"));
  });
});

describe("guards of plugins", () => {
  const judging = (allowed: boolean): Guard => ({ ...V1, review: async () => ({ allowed, findings: [] }) });
  const owned = (guard: Guard) =>
    ownedGuard(
      guard,
      usePlugin("p", false, () => {}),
    );
  const request = { code: "1", tools: [] };

  it("allow nothing that one of them refuses, wherever it stands", async () => {
    const [yes, no] = [judging(true), judging(false)];
    const allowedBy = async (first: Guard, ...others: Guard[]): Promise<boolean> =>
      (
        await addGuards(
          first,
          others.map((guard) => owned(guard)),
        ).review(request)
      ).allowed;
    expect(await allowedBy(yes, yes, yes)).toBe(true);
    expect(await allowedBy(no, yes, yes)).toBe(false);
    expect(await allowedBy(yes, no, yes)).toBe(false);
    expect(await allowedBy(yes, yes, no)).toBe(false);
  });

  it("refuse by an error, whatever they say beside it", async () => {
    const torn: Guard = {
      ...V1,
      review: async () => ({ allowed: true, findings: [{ rule: "r", severity: "error", message: "m" }] }),
    };
    const { allowed, findings } = await addGuards(judging(true), [owned(torn)]).review(request);
    expect([allowed, findings[0]?.rule]).toEqual([false, "p/r"]);
  });
});

describe("sandboxes of plugins", () => {
  const isolation = { level: "permissions", sandbox: "own", mechanisms: [] } as const;
  const provider = (sandbox: Partial<Sandbox>): SandboxProvider => ({
    ...V1,
    name: "own",
    probe: async () => ({ available: true, isolation, version: "1", notes: [] }),
    create: async () => ({ isolation, dispose: async () => {}, ...sandbox }) as Sandbox,
  });
  const create = async (made: SandboxProvider, minIsolation?: "microvm"): Promise<Sandbox> => {
    const set = await open(plugin("p", () => ({ sandboxes: [made] })));
    const guarded = set.sandboxes.get("own");
    if (guarded === undefined) throw new Error("no sandbox");
    return guarded.create({ workspaceDir: "/nowhere", minIsolation });
  };

  it.each<[string, Sandbox["run"]]>([
    [
      "throws",
      () => {
        throw new Error("broken");
      },
    ],
    ["rejects", () => Promise.reject(new Error("broken"))],
    ["returns something else", async () => ({ status: "fine" }) as unknown as RunOutcome],
    ["returns nothing", async () => undefined as unknown as RunOutcome],
  ])("whose run %s fail under the plugin's name", async (_, run) => {
    const sandbox = await create(provider({ run }));
    await expect(sandbox.run({ code: "1" })).rejects.toMatchObject({
      code: "PLUGIN_FAILED",
      message: expect.stringContaining("sandbox own of the plugin p"),
    });
  });

  it("below the isolation that is required are refused", async () => {
    const run = async (): Promise<RunOutcome> => ({}) as RunOutcome;
    await expect(create(provider({ run }), "microvm")).rejects.toMatchObject({ code: "ISOLATION_TOO_WEAK" });
  });

  it("that are none are refused", async () => {
    await expect(create(provider({}))).rejects.toMatchObject({ code: "PLUGIN_FAILED" });
  });
});

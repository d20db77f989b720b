import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { folderWith } from "../test/config-folder.ts";
import { addTrust, loadConfig, SETTINGS, trustFile } from "./index.ts";
import { getPath, setPath } from "./layer.ts";
import { toSnakeCase } from "./schema/shape.ts";
import { configSchema } from "./schema/schema.ts";
import { flag, section, setting } from "./schema/setting.ts";
import { type Setting, settingsOf } from "./settings.ts";
import { settingItems } from "./trust/items.ts";

/** Settings without which others have no effect. */
const IN_USE = { llm: { enabled: true }, execution: { allowNetworkAccess: true, sandboxType: "kubernetes" } };
const SAMPLES: readonly unknown[] = [
  true,
  false,
  1,
  "https://stranger.example",
  "redis://stranger.example",
  "s3://bucket-of-a-stranger",
  "x",
  ["EMAIL"],
  ["DE"],
  ["resources"],
  ["openid"],
  ["stranger.example"],
  ["10.0.0.0/8"],
  [{ tools: ["*"], calls: 1, per: 1 }],
  [{ tools: ["*"], hosts: ["stranger.example"] }],
  [{ calls: 1 }],
  [{ per: "hour", runs: 1 }],
  [{ action: "allow" }],
  [{ type: "STAFF", pattern: "(a+)+" }],
  [{ serverName: "a", toolName: "b" }],
  [{ name: "w", steps: [{ name: "s", type: "form" }] }],
  { "crm.*": 5 },
];

/** Those whose default allows the most: only what a user has set to less can be loosened. */
const LOOSE_BY_DEFAULT = new Set([
  "execution.min_isolation",
  "llm.data_facts",
  "llm.price_input",
  "llm.price_output",
  "llm.budget_tokens",
  "llm.budget_usd",
  "optimizations.sandbox_reuse",
  "guardrails.strict_mode",
  "privacy.guest",
]);

/** Values of a setting that are valid and not its default. */
function valuesOf({ keys, allowed, default: standard }: Setting): unknown[] {
  const bounds = [...allowed.matchAll(/-?\d[\d.]*/gu)].map(([number]) => Number(number));
  return [...allowed.split(", "), ...bounds, ...SAMPLES].filter((value) => {
    const values = {};
    setPath(values, keys, value);
    const parsed = configSchema.safeParse(values);
    return parsed.success && JSON.stringify(getPath(parsed.data, keys)) !== JSON.stringify(standard);
  });
}

/** Loads a folder with these settings in its config.yaml. */
async function loadStranger(values: Record<string, unknown>, cwd: string) {
  await writeFile(path.join(cwd, "config.yaml"), JSON.stringify(snakeKeys(values)));
  return loadConfig({ cwd, env: { XDG_CONFIG_HOME: cwd }, trustFolder: false });
}

function snakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [toSnakeCase(key), snakeKeys(inner)]),
  );
}

const risky = SETTINGS.filter(({ askedAs }) => askedAs === "setting");

describe("a setting of a stranger's folder", () => {
  it.each(risky)("is held back: $path", async (one) => {
    const { keys, path: name, isStricter, strictPart, description } = one;
    const values = valuesOf(one).filter((value) => isStricter?.(value, one.default) !== true);
    expect(values.length === 0).toBe(LOOSE_BY_DEFAULT.has(name));
    if (values.length === 0) return;
    const cwd = await folderWith({});
    const standard = getPath((await loadStranger({}, cwd)).config, keys);
    const given = structuredClone(IN_USE);
    setPath(given, keys, values[0]);
    const { config, trust, origins } = await loadStranger(given, cwd);
    const item = trust.held.find((held) => held.name === name);
    expect(item).toMatchObject({
      kind: "setting",
      text: expect.stringContaining(`: ${description.slice(0, 20)}`),
    });
    expect(item?.text).not.toContain("\n");
    const strict = strictPart?.(values[0] as unknown[], standard as unknown[]);
    expect(getPath(config, keys)).toEqual(strict ?? standard);
    expect(origins[name]?.label).toBe("default (config.yaml:1 is held back)");
  });

  it("needs no yes where it allows no more, or can do no harm", async () => {
    const cwd = await folderWith({});
    for (const pick of [0, 1]) {
      const given = {};
      const names: string[] = [];
      for (const one of SETTINGS) {
        const { keys, path: name, askedAs, isStricter, default: standard } = one;
        if (askedAs !== undefined && isStricter === undefined) continue;
        const values = valuesOf(one).filter(
          (value) => askedAs === undefined || isStricter?.(value, standard) === true,
        );
        const value = values[pick] ?? values[0] ?? standard;
        if (value === undefined) continue;
        names.push(name);
        setPath(given, keys, value);
      }
      const { config, trust, origins } = await loadStranger(given, cwd);
      expect(names.length).toBeGreaterThan(80);
      expect(trust.requested).toEqual([]);
      for (const { keys, path: name } of SETTINGS.filter((one) => names.includes(one.path))) {
        expect(origins[name]?.label).toBe("config.yaml:1");
        expect(getPath(config, keys)).toEqual(getPath(configSchema.parse(given), keys));
      }
    }
  });

  it("is held back where it allows more than the user's own configuration, which then stays in force", async () => {
    const cwd = await folderWith({
      "mine.yaml": "guardrails: {strict_mode: true, max_execution_time: 5}",
      ".env": "GUARDRAILS_STRICT_MODE=false\nMAX_EXECUTION_TIME=30\n",
    });
    const env = { XDG_CONFIG_HOME: cwd, CEM_CONFIG: path.join(cwd, "mine.yaml") };
    const { config, trust } = await loadConfig({ cwd, env });
    expect(trust.held.map(({ name }) => name)).toEqual([
      "guardrails.strict_mode",
      "guardrails.max_execution_time",
    ]);
    expect(config.guardrails).toMatchObject({ strictMode: true, maxExecutionTime: 5 });
  });

  it("leaves what makes things stricter in force", async () => {
    const cwd = await folderWith({
      "config.yaml": JSON.stringify({
        guardrails: { approvals: ["mail.send", "!files.delete"], allowed_networks: ["a.example"] },
        privacy: {
          regions: ["DE"],
          custom: [
            { type: "STAFF", pattern: "EMP-\\d{6}" },
            { type: "SLOW", pattern: "(a+)+b" },
          ],
        },
      }),
    });
    const env = { XDG_CONFIG_HOME: cwd, ALLOW_NETWORK_ACCESS: "1" };
    const { config, trust } = await loadConfig({ cwd, env });
    expect(trust.held.map(({ name }) => name)).toEqual([
      "guardrails.approvals",
      "guardrails.allowed_networks",
      "privacy.regions",
      "privacy.custom",
    ]);
    expect(config.guardrails.approvals).toEqual(["destructive", "mail.send"]);
    expect(config.privacy.regions).toEqual(["US", "DE"]);
    expect(config.privacy.custom).toMatchObject([{ type: "STAFF" }]);
    // Not any host in place of some.
    expect(config.execution.allowNetworkAccess).toBe(false);
  });

  it("is trusted together with the others: when one changes, all are held back again", async () => {
    const text = "execution: {allow_network_access: true}\nguardrails: {allowed_networks: [a.example]}";
    const cwd = await folderWith({ "config.yaml": text });
    const env = { XDG_CONFIG_HOME: await folderWith({}) };
    const load = async (more: Record<string, string> = {}) =>
      (await loadConfig({ cwd, env: { ...env, ...more }, trustFolder: false })).config;
    const { trust } = await loadConfig({ cwd, env });
    await addTrust(trustFile(env), trust.folder, trust.requested);
    expect((await load()).guardrails.allowedNetworks).toEqual(["a.example"]);
    for (const changed of [
      text.replace("a.example", "127.0.0.1:1"),
      text.replace("[a.example]", "[]"),
      text.replace("allowed_networks", "blocked_patterns"),
    ]) {
      await writeFile(path.join(cwd, "config.yaml"), changed);
      const { execution, guardrails } = await load();
      expect([execution.allowNetworkAccess, guardrails.allowedNetworks]).toEqual([false, []]);
    }
    await writeFile(path.join(cwd, "config.yaml"), `${text}\nruns: {records: false}`);
    expect((await load()).execution.allowNetworkAccess).toBe(true);
    // A value that the user sets instead is no change of the folder's file.
    expect((await load({ ALLOW_NETWORK_ACCESS: "1" })).guardrails.allowedNetworks).toEqual(["a.example"]);
    await writeFile(path.join(cwd, ".env"), "MAX_EXECUTION_TIME=9000\n");
    expect((await load()).execution.allowNetworkAccess).toBe(false);
  });

  it("is held back where its schema does not say what it can do", () => {
    const made = z.strictObject({ made: section("Made up.", { up: setting(flag(false), "Made up.") }) });
    const { settings } = settingsOf(made);
    expect(settings).toMatchObject([{ path: "made.up", askedAs: "setting" }]);
    const origins = { "made.up": { from: "file", label: "config.yaml:1", ofFolder: true } } as const;
    const load = (up: boolean): never => ({ made: { up } }) as never;
    expect(settingItems(load(true), { own: load(false), origins, given: {} }, settings)).toMatchObject([
      { kind: "setting", name: "made.up", text: "true: Made up." },
    ]);
  });
});

import * as z from "zod/mini";
import { isProxy } from "node:util/types";
import { nearest } from "@cem/core/text";
import { dottedPath, emptyLayer, formatValue, originKey, problemAt } from "./layer.ts";
import type { ConfigProblem, Layer, Origin, SettingOrigin } from "./layer.ts";
import { itemOf, properties, schemaFor, toSnakeCase, unwrap, valueOf } from "./schema/shape.ts";
import type { NodeKind } from "./schema/shape.ts";
import { Secret } from "./redact.ts";
import { adviceOnRemoved } from "./python-original.ts";
import { SETTINGS, VARIABLES } from "./settings.ts";
import type { YamlDocument } from "./yaml.ts";

interface BindOptions {
  /** The form of the keys: `snake` in YAML, `camel` in programs. */
  style: "snake" | "camel";
  origin: (line: number | undefined) => Origin;
  /** Finds the position of a part by its path as written. Absent for values from a program. */
  at?: YamlDocument["at"] | undefined;
}

/** The path of a value, by its names in TypeScript and as written. */
interface KeyPath {
  keys: (string | number)[];
  written: (string | number)[];
}

const YES = new Set(["yes", "on", "y"]);
const NO = new Set(["no", "off", "n"]);
/** Names that other programs use for settings here, by the setting's name in YAML. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  command: ["cmd", "executable"],
  args: ["arguments"],
  env: ["environment", "env_vars"],
  cwd: ["working_dir", "workdir", "directory"],
  url: ["uri", "endpoint", "server_url"],
  type: ["transport"],
  max_execution_time: ["timeout"],
  mcp_servers: ["servers", "tools"],
};
const MCP_SERVERS_ALIAS = "mcpServers";

/** Binds the written values to the schema: keys get their TypeScript names, unknown keys become problems. */
export function bind(given: unknown, whole: z.ZodMiniObject, { style, origin, at }: BindOptions): Layer {
  const layer = emptyLayer();

  function bindValue(value: unknown, schema: z.ZodMiniType, keyPath: KeyPath): unknown {
    const isWhole = keyPath.keys.length === 0;
    if (value instanceof Map || value instanceof Set || (isWhole && kindOf(value) !== "mapping")) {
      report(keyPath, "is not an object of settings.");
      return undefined;
    }
    const target = schemaFor(schema, kindOf(value));
    if (Array.isArray(value)) {
      if (!(target instanceof z.ZodMiniArray)) return value;
      return value.map((item, index) => {
        const inside = { keys: [...keyPath.keys, index], written: [...keyPath.written, index] };
        recordOrigin(inside);
        return bindValue(item, itemOf(target), inside);
      });
    }
    if (kindOf(value) === "scalar") return bindScalar(value, target, keyPath);
    const entries = Object.entries(value as object);
    if (target instanceof z.ZodMiniObject) return bindObject(entries, target, keyPath);
    if (target instanceof z.ZodMiniRecord) return bindRecord(entries, valueOf(target), keyPath);
    return value;
  }

  function bindObject(entries: [string, unknown][], schema: z.ZodMiniObject, keyPath: KeyPath) {
    const values: Record<string, unknown> = {};
    const known = properties(schema, style);
    const servers = keyPath.keys.length === 0 ? known.get("mcp_servers") : undefined;
    if (servers !== undefined) known.set(MCP_SERVERS_ALIAS, servers);
    const siblings = [...known.keys()];
    for (const [name, given] of entries) {
      const found = known.get(name);
      const written = [...keyPath.written, name];
      if (found === undefined) {
        reportUnknown(name, siblings, { keys: keyPath.keys, written });
        continue;
      }
      const [key, child] = found;
      const inside = { keys: [...keyPath.keys, key], written };
      if (Object.hasOwn(values, key)) {
        report(inside, "is the same setting as mcp_servers; give one of them.");
        continue;
      }
      recordOrigin(inside);
      const value = given === null || given === undefined ? undefined : bindValue(given, child, inside);
      if (value !== undefined) values[key] = value;
    }
    return values;
  }

  function bindRecord(entries: [string, unknown][], valueType: z.ZodMiniType, keyPath: KeyPath) {
    const values: Record<string, unknown> = {};
    for (const [name, given] of entries) {
      const inside = { keys: [...keyPath.keys, name], written: [...keyPath.written, name] };
      if (name === "__proto__") {
        report(inside, "can't be a name.");
        continue;
      }
      recordOrigin(inside);
      values[name] = bindValue(given, valueType, inside);
    }
    return values;
  }

  function reportUnknown(key: string, siblings: string[], keyPath: KeyPath): void {
    const name = key === "" ? '""' : formatValue(key).slice(1, -1);
    const path = dottedPath([...keyPath.written.slice(0, -1), name]);
    const variable = VARIABLES.find((candidate) => candidate.name === key);
    const own = toSnakeCase(key);
    const [other] = Object.entries(OTHER_NAMES).find(([, names]) => names.includes(own)) ?? [];
    const near = other !== undefined && siblings.includes(other) ? other : nearest(key, siblings)[0];
    const removed = adviceOnRemoved(path);
    const isHigh = keyPath.keys.length < 2;
    const elsewhere = isHigh ? (settingNamed(other, style) ?? settingNamed(own, style)) : undefined;
    const suggestion =
      variable?.path ??
      (near === undefined ? elsewhere : dottedPath([...keyPath.written.slice(0, -1), near]));
    const hint =
      removed !== undefined
        ? removed
        : suggestion === undefined
          ? `Settings here: ${siblings.filter((sibling) => sibling !== MCP_SERVERS_ALIAS || style === "camel").join(", ")}.`
          : variable === undefined
            ? `Did you mean  ${suggestion} ?`
            : `As an environment variable it sets  ${suggestion} .`;
    report(keyPath, `is not a setting. ${hint}`, { suggestion, unknown: true, path });
  }

  function report(keyPath: KeyPath, message: string, more?: Partial<ConfigProblem>): void {
    layer.problems.push(problemAt(originAt(keyPath), message, more));
  }

  function recordOrigin(keyPath: KeyPath): void {
    layer.origins.set(originKey(keyPath.keys), originAt(keyPath));
  }

  function originAt({ written }: KeyPath): SettingOrigin {
    const position = at?.(written).position;
    return { path: dottedPath(written), origin: origin(position?.line), position };
  }

  /** Converts an unquoted YAML scalar to what the setting takes: `yes` to a boolean, `8080` or `1.0` to text. */
  function bindScalar(value: unknown, schema: z.ZodMiniType, { written }: KeyPath): unknown {
    const source = at?.(written).source;
    if (source === undefined) return value;
    const inner = unwrap(schema);
    if (inner instanceof z.ZodMiniBoolean) {
      const word = source.toLowerCase();
      return YES.has(word) ? true : NO.has(word) ? false : value;
    }
    const takesText = inner instanceof z.ZodMiniString || inner instanceof z.ZodMiniCustom;
    return takesText && (typeof value === "number" || typeof value === "boolean") ? source : value;
  }

  const values = bindValue(given, whole, { keys: [], written: [] });
  if (typeof values === "object" && values !== null) layer.values = values as Record<string, unknown>;
  return layer;
}

function kindOf(value: unknown): NodeKind {
  if (typeof value !== "object" || value === null || Secret.isInstance(value) || isProxy(value))
    return "scalar";
  return Array.isArray(value) ? "list" : "mapping";
}

/** The path of the first setting with this YAML name, in any section. */
function settingNamed(name: string | undefined, style: BindOptions["style"]): string | undefined {
  const found = SETTINGS.find(({ keys }) => toSnakeCase(keys.at(-1) ?? "") === name);
  return style === "snake" ? found?.path : found?.keys.join(".");
}

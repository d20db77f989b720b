import * as z from "zod/mini";
import type { Located, LocatedEntry } from "./located.ts";
import { plainValue } from "./located.ts";
import { emptyLayer, type Layer, type Origin, type SettingOrigin, originKey, problemAt } from "./layer.ts";
import { dottedPath, toSnakeCase } from "./names.ts";
import { nearest } from "@cem/core/text";
import { itemOf, properties, schemaFor, unwrap, valueOf } from "./schema-shape.ts";
import { type ConfigProblem, formatValue } from "./problem.ts";
import { adviceOnRemovedSetting } from "./python-original.ts";
import { SETTINGS } from "./settings.ts";
import { VARIABLES } from "./variables.ts";

interface BindOptions {
  /** The form of the keys: `snake` in YAML, `camel` in programs. */
  style: "snake" | "camel";
  /** Returns the origin of a value on a line. */
  origin: (line: number | undefined) => Origin;
}

/** The path of a value, by its names in TypeScript and as written. */
interface KeyPath {
  /** Names as in TypeScript. */
  keys: (string | number)[];
  /** Names as written. */
  written: (string | number)[];
}

const YES = new Set(["yes", "on", "y"]);
const NO = new Set(["no", "off", "n"]);
/** Names that other programs use for a setting here, by its name in YAML. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["cmd", "command"],
  ["executable", "command"],
  ["arguments", "args"],
  ["environment", "env"],
  ["env_vars", "env"],
  ["working_dir", "cwd"],
  ["workdir", "cwd"],
  ["directory", "cwd"],
  ["uri", "url"],
  ["endpoint", "url"],
  ["server_url", "url"],
  ["transport", "type"],
  ["timeout", "max_execution_time"],
  ["servers", "mcp_servers"],
  ["tools", "mcp_servers"],
]);
/** The name that other MCP hosts use for `mcp_servers`. */
const MCP_SERVERS_ALIAS = "mcpServers";

const PATH_BY_YAML_NAME = firstByName(SETTINGS.map(({ path }) => path));
const PATH_BY_NAME = firstByName(SETTINGS.map(({ keys }) => keys.join(".")));

/** Maps the last name of each path to the first path that has it. */
function firstByName(paths: readonly string[]): ReadonlyMap<string, string> {
  return new Map(paths.toReversed().map((path) => [path.slice(path.lastIndexOf(".") + 1), path]));
}

/** Matches what was written with the schema: keys get their TypeScript names, unknown keys become problems. */
export function bind(located: Located, schema: z.ZodMiniObject, options: BindOptions): Layer {
  const layer = emptyLayer();
  const values = new Binder(options, layer).bind(located, schema, { keys: [], written: [] });
  if (typeof values === "object" && values !== null) layer.values = values as Record<string, unknown>;
  return layer;
}

class Binder {
  readonly #options: BindOptions;
  readonly #layer: Layer;

  constructor(options: BindOptions, layer: Layer) {
    this.#options = options;
    this.#layer = layer;
  }

  bind(located: Located, schema: z.ZodMiniType, keyPath: KeyPath): unknown {
    const target = schemaFor(schema, located.kind);
    if (located.kind === "scalar") return scalar(located, target);
    if (located.kind === "list") {
      if (!(target instanceof z.ZodMiniArray)) return plainValue(located);
      return located.items.map((item, index) => {
        const inside = { keys: [...keyPath.keys, index], written: [...keyPath.written, index] };
        this.#recordOrigin(inside, item.position);
        return this.bind(item, itemOf(target), inside);
      });
    }
    if (target instanceof z.ZodMiniObject) return this.#object(located.entries, target, keyPath);
    if (target instanceof z.ZodMiniRecord) return this.#record(located.entries, valueOf(target), keyPath);
    return plainValue(located);
  }

  #object(entries: LocatedEntry[], schema: z.ZodMiniObject, keyPath: KeyPath): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    const known = properties(schema, this.#options.style);
    const servers = keyPath.keys.length === 0 ? known.get("mcp_servers") : undefined;
    if (servers !== undefined) known.set(MCP_SERVERS_ALIAS, servers);
    const siblings = [...known.keys()];
    for (const entry of entries) {
      const found = known.get(entry.key);
      const written = [...keyPath.written, entry.key];
      if (found === undefined) {
        this.#unknown(entry, siblings, { keys: keyPath.keys, written });
        continue;
      }
      const [key, child] = found;
      const inside = { keys: [...keyPath.keys, key], written };
      if (Object.hasOwn(values, key)) {
        this.#problem(inside, entry, "is the same setting as mcp_servers; give one of them.");
        continue;
      }
      this.#recordOrigin(inside, positionOf(entry));
      const value = isUnset(entry.value) ? undefined : this.bind(entry.value, child, inside);
      if (value !== undefined) values[key] = value;
    }
    return values;
  }

  #record(entries: LocatedEntry[], valueType: z.ZodMiniType, keyPath: KeyPath): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    for (const entry of entries) {
      const inside = { keys: [...keyPath.keys, entry.key], written: [...keyPath.written, entry.key] };
      if (entry.key === "__proto__") {
        this.#problem(inside, entry, "can't be a name.");
        continue;
      }
      this.#recordOrigin(inside, positionOf(entry));
      values[entry.key] = this.bind(entry.value, valueType, inside);
    }
    return values;
  }

  #unknown(entry: LocatedEntry, siblings: string[], keyPath: KeyPath): void {
    const name = entry.key === "" ? '""' : formatValue(entry.key).slice(1, -1);
    const path = dottedPath([...keyPath.written.slice(0, -1), name]);
    const variable = VARIABLES.find((candidate) => candidate.name === entry.key);
    const other = OTHER_NAMES.get(toSnakeCase(entry.key));
    const near = other !== undefined && siblings.includes(other) ? other : nearest(entry.key, siblings)[0];
    const removed = adviceOnRemovedSetting(path);
    const elsewhere =
      keyPath.keys.length < 2
        ? (sameNameElsewhere(styled(other, this.#options.style), this.#options.style) ??
          sameNameElsewhere(entry.key, this.#options.style))
        : undefined;
    const suggestion =
      variable?.path ??
      (near === undefined ? elsewhere : dottedPath([...keyPath.written.slice(0, -1), near]));
    const hint =
      removed !== undefined
        ? removed
        : suggestion === undefined
          ? `Settings here: ${siblings.filter((sibling) => sibling !== MCP_SERVERS_ALIAS || this.#options.style === "camel").join(", ")}.`
          : variable === undefined
            ? `Did you mean  ${suggestion} ?`
            : `As an environment variable it sets  ${suggestion} .`;
    this.#problem({ ...keyPath, written: [path] }, entry, `is not a setting. ${hint}`, {
      suggestion,
      unknown: true,
    });
  }

  #problem(keyPath: KeyPath, entry: LocatedEntry, message: string, more?: Partial<ConfigProblem>): void {
    const settingOrigin = this.#originAt(keyPath, positionOf(entry));
    this.#layer.problems.push(problemAt(settingOrigin, message, more));
  }

  #recordOrigin(keyPath: KeyPath, position: SettingOrigin["position"]): void {
    this.#layer.origins.set(originKey(keyPath.keys), this.#originAt(keyPath, position));
  }

  #originAt(keyPath: KeyPath, position: SettingOrigin["position"]): SettingOrigin {
    const origin = this.#options.origin(position?.line);
    return { path: dottedPath(keyPath.written), origin, position };
  }
}

/** The position of the key, or of the value where the key has none. */
function positionOf({ keyPosition, value }: LocatedEntry): SettingOrigin["position"] {
  return keyPosition ?? value.position;
}

function isUnset(located: Located): boolean {
  return located.kind === "scalar" && (located.value === null || located.value === undefined);
}

/** Converts an unquoted YAML scalar to what the setting takes: `yes` to a boolean, `8080` or `1.0` to text. */
function scalar({ value, source }: Located & { kind: "scalar" }, schema: z.ZodMiniType): unknown {
  if (source === undefined) return value;
  const inner = unwrap(schema);
  if (inner instanceof z.ZodMiniBoolean) {
    const word = source.toLowerCase();
    return YES.has(word) ? true : NO.has(word) ? false : value;
  }
  const takesText = inner instanceof z.ZodMiniString || inner instanceof z.ZodMiniCustom;
  return takesText && (typeof value === "number" || typeof value === "boolean") ? source : value;
}

/** A name of YAML as it is written here. */
function styled(name: string | undefined, style: BindOptions["style"]): string {
  if (name === undefined || style === "snake") return name ?? "";
  return name.replaceAll(/_([a-z])/gu, (_, letter: string) => letter.toUpperCase());
}

/** The path of the first setting with this name, in whatever section. */
function sameNameElsewhere(key: string, style: BindOptions["style"]): string | undefined {
  return (style === "snake" ? PATH_BY_YAML_NAME : PATH_BY_NAME).get(key);
}

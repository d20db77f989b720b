import { z } from "zod";
import type { Located, LocatedEntry } from "./located.ts";
import { plainValue } from "./located.ts";
import { emptyLayer, type Layer, type Origin, type SettingOrigin, placeKey, problemAt } from "./layer.ts";
import { dottedPath } from "./names.ts";
import { nearest } from "@cem/text";
import { properties, schemaFor, unwrap } from "./schema-shape.ts";
import { shown } from "./problem.ts";
import { SETTINGS } from "./settings.ts";
import { VARIABLES } from "./variables.ts";

interface BindOptions {
  /** How keys are written: `snake` in YAML, `camel` in programs. */
  style: "snake" | "camel";
  /** The origin of a value on this line. */
  origin: (line: number | undefined) => Origin;
}

interface Spot {
  /** Names as in TypeScript. */
  keys: (string | number)[];
  /** Names as written. */
  written: (string | number)[];
}

const YES = new Set(["yes", "on", "y"]);
const NO = new Set(["no", "off", "n"]);
/** The ecosystem's name for `mcp_servers`. */
const MCP_SERVERS_ALIAS = "mcpServers";

/** Matches what was written with the schema: names become TypeScript's, unknown ones become problems. */
export function bind(located: Located, schema: z.ZodObject, options: BindOptions): Layer {
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

  bind(located: Located, schema: z.ZodType, spot: Spot): unknown {
    const target = schemaFor(schema, located.kind);
    if (located.kind === "scalar") return scalar(located, target);
    if (located.kind === "list") {
      if (!(target instanceof z.ZodArray)) return plainValue(located);
      return located.items.map((item, index) => {
        const inside = { keys: [...spot.keys, index], written: [...spot.written, index] };
        this.#place(inside, item.position);
        return this.bind(item, target.element as z.ZodType, inside);
      });
    }
    if (target instanceof z.ZodObject) return this.#object(located.entries, target, spot);
    if (target instanceof z.ZodRecord)
      return this.#record(located.entries, target.valueType as z.ZodType, spot);
    return plainValue(located);
  }

  #object(entries: LocatedEntry[], schema: z.ZodObject, spot: Spot): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    const known = properties(schema, this.#options.style);
    const servers = spot.keys.length === 0 ? known.get("mcp_servers") : undefined;
    if (servers !== undefined) known.set(MCP_SERVERS_ALIAS, servers);
    for (const entry of entries) {
      const found = known.get(entry.key);
      const written = [...spot.written, entry.key];
      if (found === undefined) {
        this.#unknown(entry, [...known.keys()], { keys: spot.keys, written });
        continue;
      }
      const [key, child] = found;
      const inside = { keys: [...spot.keys, key], written };
      if (Object.hasOwn(values, key)) {
        this.#problem(inside, entry, "is the same setting as mcp_servers; give one of them.");
        continue;
      }
      this.#place(inside, positionOf(entry));
      const value = isNothing(entry.value) ? undefined : this.bind(entry.value, child, inside);
      if (value !== undefined) values[key] = value;
    }
    return values;
  }

  #record(entries: LocatedEntry[], valueType: z.ZodType, spot: Spot): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    for (const entry of entries) {
      const inside = { keys: [...spot.keys, entry.key], written: [...spot.written, entry.key] };
      if (entry.key === "__proto__") {
        this.#problem(inside, entry, "can't be a name.");
        continue;
      }
      this.#place(inside, positionOf(entry));
      values[entry.key] = this.bind(entry.value, valueType, inside);
    }
    return values;
  }

  #unknown(entry: LocatedEntry, siblings: string[], spot: Spot): void {
    const name = entry.key === "" ? '""' : shown(entry.key).slice(1, -1);
    const path = dottedPath([...spot.written.slice(0, -1), name]);
    const variable = VARIABLES.find((candidate) => candidate.name === entry.key);
    const [near] = nearest(entry.key, siblings);
    const elsewhere = spot.keys.length < 2 ? sameNameElsewhere(entry.key, this.#options.style) : undefined;
    const suggestion =
      variable?.path ?? (near === undefined ? elsewhere : dottedPath([...spot.written.slice(0, -1), near]));
    const hint =
      suggestion === undefined
        ? `Settings here: ${siblings.filter((sibling) => sibling !== MCP_SERVERS_ALIAS || this.#options.style === "camel").join(", ")}.`
        : variable === undefined
          ? `Did you mean  ${suggestion} ?`
          : `As an environment variable it sets  ${suggestion} .`;
    this.#problem({ ...spot, written: [path] }, entry, `is not a setting. ${hint}`, suggestion);
  }

  #problem(spot: Spot, entry: LocatedEntry, message: string, suggestion?: string): void {
    const place = this.#placeAt(spot, positionOf(entry));
    this.#layer.problems.push(problemAt(place, message, suggestion === undefined ? {} : { suggestion }));
  }

  #place(spot: Spot, position: SettingOrigin["position"]): void {
    this.#layer.places.set(placeKey(spot.keys), this.#placeAt(spot, position));
  }

  #placeAt(spot: Spot, position: SettingOrigin["position"]): SettingOrigin {
    const origin = this.#options.origin(position?.line);
    return { path: dottedPath(spot.written), origin, ...(position === undefined ? {} : { position }) };
  }
}

/** The value's own place when it stands on one line with its key, else the key's. */
function positionOf({ keyPosition, value }: LocatedEntry): SettingOrigin["position"] {
  return keyPosition ?? value.position;
}

function isNothing(located: Located): boolean {
  return located.kind === "scalar" && (located.value === null || located.value === undefined);
}

/** Plain YAML words as the setting means them: `yes` for a switch, `8080` or `1.0` for a text. */
function scalar({ value, source }: Located & { kind: "scalar" }, schema: z.ZodType): unknown {
  if (source === undefined) return value;
  const inner = unwrap(schema);
  if (inner instanceof z.ZodBoolean) {
    const word = source.toLowerCase();
    return YES.has(word) ? true : NO.has(word) ? false : value;
  }
  const takesText = inner instanceof z.ZodString || inner instanceof z.ZodCustom;
  return takesText && (typeof value === "number" || typeof value === "boolean") ? source : value;
}

function sameNameElsewhere(key: string, style: BindOptions["style"]): string | undefined {
  const found = SETTINGS.find(
    ({ path, keys }) => (style === "snake" ? path.split(".") : keys).at(-1) === key,
  );
  return style === "snake" ? found?.path : found?.keys.join(".");
}

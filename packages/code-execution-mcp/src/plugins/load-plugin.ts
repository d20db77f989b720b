import { pathToFileURL } from "node:url";
import { isRegExp } from "node:util/types";
import { isHostTool } from "@cem/bridge/define-tool";
import { CemError, whyNotLoaded } from "@cem/core";
import { nearest } from "@cem/core/text";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Plugin, PluginContext, PluginParts } from "./define-plugin.ts";
import { reasonOf } from "./plugin-use.ts";

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;
const isPort = (value: unknown, methods: readonly string[]): boolean =>
  isObject(value) &&
  value["specificationVersion"] === "v1" &&
  methods.every((name) => typeof value[name] === "function");

const DETECTED_TYPE = /^[A-Z][A-Z\d_]{0,31}$/u;
/** The lists of a plugin, and the methods of their items. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  detectors: [],
  guards: ["review"],
  generators: ["generate"],
  selectors: ["select", "search"],
  sandboxes: ["probe", "create"],
  steps: ["run"],
  transports: ["connect"],
};
const FUNCTIONS = new Set(["onEvent", "dispose"]);
const KNOWN = [...Object.keys(LISTS), ...FUNCTIONS, "tools"];

/** @param onFault - Called for each unusable part, with the reason. */
export function checkParts(returned: unknown, onFault: (part: string, why: string) => void): PluginParts {
  if (!isObject(returned)) {
    onFault("setup", "it has to return an object with what the plugin adds");
    return {};
  }
  const parts: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(returned)) {
    if (value === undefined) continue;
    const methods = Object.hasOwn(LISTS, key) ? LISTS[key] : undefined;
    if (methods !== undefined) parts[key] = checkList(key, value, methods, onFault);
    else if (key === "tools") parts[key] = checkTools(value, onFault);
    else if (!FUNCTIONS.has(key)) onFault(key, unknownPart(key));
    else if (typeof value === "function") parts[key] = value.bind(returned);
    else onFault(key, "it has to be a function");
  }
  return parts;
}

function unknownPart(key: string): string {
  const [near] = nearest(key, KNOWN);
  return `a plugin can't add it. ${near === undefined ? `It can add ${KNOWN.join(", ")}` : `Did you mean ${near}?`}`;
}

function checkList(
  key: string,
  value: unknown,
  methods: readonly string[],
  onFault: (part: string, why: string) => void,
): unknown[] {
  if (!Array.isArray(value)) {
    onFault(key, "it has to be a list");
    return [];
  }
  return value.filter((item, index) => {
    const isDetector = methods.length === 0;
    const isUsable = isDetector ? isDetecting(item) : isPort(item, methods);
    const takes = isDetector
      ? "a type in upper case, and a pattern, values or find()"
      : `specificationVersion: "v1" and ${methods.join("(), ")}()`;
    if (!isUsable) onFault(`${key}[${index}]`, `it has to have ${takes}`);
    return isUsable;
  });
}

function isDetecting(item: unknown): boolean {
  if (!isObject(item) || !DETECTED_TYPE.test(String(item["type"]))) return false;
  const { pattern, values, find } = item;
  if (typeof find === "function" || isRegExp(pattern)) return true;
  return Array.isArray(values) && values.every((value) => typeof value === "string");
}

function checkTools(value: unknown, onFault: (part: string, why: string) => void): Record<string, Fields> {
  const kept = Object.create(null) as Record<string, Record<string, unknown>>;
  for (const [server, own] of Object.entries(isObject(value) ? value : { "": value })) {
    for (const [name, tool] of Object.entries(isObject(own) ? own : { "": own })) {
      if (isHostTool(tool)) (kept[server] ??= {})[name] = tool;
      else onFault(`tools.${server}.${name}`, "it has to be made with defineTool({ … }), by server and name");
    }
  }
  return kept;
}

const VERSION = "v1";
const NAME = /^(?:@[\w.-]{1,50}\/)?[\w.-]{1,100}$/u;

/**
 * Imports a plugin's module.
 *
 * @param named - How the configuration names it, used in messages until its name is known.
 * @throws CemError `PLUGIN_FAILED`, `PLUGIN_INVALID` or `PLUGIN_INCOMPATIBLE`.
 */
export async function importPlugin(named: string, file: string): Promise<Plugin> {
  const module = await attempt(named, "loaded", () => import(pathToFileURL(file).href), whyNotLoaded);
  const exported = module as { default?: unknown; plugin?: unknown };
  return requirePlugin(exported.default ?? exported.plugin, named);
}

/** @throws CemError `PLUGIN_INVALID` or `PLUGIN_INCOMPATIBLE`. */
export function requirePlugin(value: unknown, named: string): Plugin {
  const details = { plugin: named };
  const refuse = (why: string): CemError =>
    new CemError("PLUGIN_INVALID", `The plugin ${named} is not valid: ${why}.`, { details });
  if (typeof value !== "object" || value === null)
    throw refuse("its module has to export definePlugin({ … }) as default");
  const { specificationVersion, name, version, setup, options } = value as Partial<
    Record<keyof Plugin, unknown>
  >;
  if (typeof specificationVersion !== "string") throw refuse(`it has no specificationVersion: "${VERSION}"`);
  if (specificationVersion !== VERSION) {
    const message = `The plugin ${named} is made for version ${JSON.stringify(specificationVersion.slice(0, 20))} of the ports, and this cem has ${VERSION}.`;
    throw new CemError("PLUGIN_INCOMPATIBLE", message, {
      details: { ...details, specificationVersion, supported: [VERSION] },
    });
  }
  if (typeof name !== "string" || !NAME.test(name))
    throw refuse("its name has to be letters, digits, - and _");
  if (typeof version !== "string" || version === "") throw refuse("its version has to be a text");
  if (typeof setup !== "function") throw refuse("it has no function setup");
  if (options !== undefined && !isStandardSchema(options))
    throw refuse("its options have to be a schema of a library with Standard Schema, such as zod");
  return value as Plugin;
}

/** @throws CemError `PLUGIN_INVALID` for options that its schema refuses, else `PLUGIN_FAILED`. */
export async function setUpPlugin(
  plugin: Plugin,
  given: Readonly<Record<string, unknown>> | undefined,
  context: PluginContext,
): Promise<PluginParts> {
  const { name } = plugin;
  const options = await attempt(name, "set up", () => checkOptions(plugin, given));
  return attempt(name, "set up", () => plugin.setup(options as never, context));
}

async function checkOptions(
  { name, options }: Plugin,
  given: Readonly<Record<string, unknown>> | undefined,
): Promise<unknown> {
  const details = { plugin: name };
  if (options === undefined) {
    if (given === undefined) return undefined;
    throw new CemError("PLUGIN_INVALID", `The plugin ${name} takes no options.`, { details });
  }
  const result = await options["~standard"].validate(given ?? {});
  if (result.issues === undefined) return result.value;
  const issues = result.issues.slice(0, 10).map(({ message, path = [] }) => {
    const place = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
    return place === "" ? message : `${place}: ${message}`;
  });
  const message = `The options of the plugin ${name} are wrong: ${issues.join("; ")}`;
  throw new CemError("PLUGIN_INVALID", message, { details: { ...details, issues } });
}

async function attempt<T>(
  name: string,
  what: string,
  work: () => T | Promise<T>,
  why = reasonOf,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (CemError.isInstance(error) && error.code === "PLUGIN_INVALID") throw error;
    const message = `The plugin ${name} can't be ${what}: ${why(error)}`;
    throw new CemError("PLUGIN_FAILED", message, { details: { plugin: name }, cause: error });
  }
}

function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  const { "~standard": standard } = (value ?? {}) as { "~standard"?: { validate?: unknown } };
  return typeof standard?.validate === "function";
}

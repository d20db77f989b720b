import { pathToFileURL } from "node:url";
import { abandonOnAbort, CemError } from "@cem/core";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Plugin, PluginContext, PluginParts } from "./define-plugin.ts";
import { reasonOf } from "./plugin-use.ts";

const LOAD_TIMEOUT_MS = 30_000;
const VERSION = "v1";
const NAME = /^(?:@[\w.-]{1,50}\/)?[\w.-]{1,100}$/u;

/** What messages call a plugin before its own name is known. */
export interface PluginPlace {
  /** How the configuration names it. */
  named: string;
  file: string;
}

/**
 * Imports a plugin's module.
 *
 * @throws CemError `PLUGIN_FAILED`, `PLUGIN_TIMEOUT`, `PLUGIN_INVALID` or `PLUGIN_INCOMPATIBLE`.
 */
export async function importPlugin({ named, file }: PluginPlace): Promise<Plugin> {
  const module = await within(named, "loaded", () => import(pathToFileURL(file).href));
  const exported = module as { default?: unknown; plugin?: unknown };
  return requirePlugin(exported.default ?? exported.plugin, named);
}

/** @throws CemError `PLUGIN_INVALID` or `PLUGIN_INCOMPATIBLE`. */
export function requirePlugin(value: unknown, named: string): Plugin {
  const details = { plugin: named };
  const refuse = (why: string): CemError =>
    new CemError("PLUGIN_INVALID", `The plugin ${named} is none: ${why}.`, { details });
  if (typeof value !== "object" || value === null) {
    throw refuse("its module has to export definePlugin({ … }) as default");
  }
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
  if (options !== undefined && !isStandardSchema(options)) {
    throw refuse("its options have to be a schema of a library with Standard Schema, such as zod");
  }
  return value as Plugin;
}

/**
 * Checks the options of a plugin and sets it up.
 *
 * @throws CemError `PLUGIN_INVALID` for options that its schema refuses, `PLUGIN_FAILED` or `PLUGIN_TIMEOUT`.
 */
export async function setUpPlugin(
  plugin: Plugin,
  given: Readonly<Record<string, unknown>> | undefined,
  context: PluginContext,
): Promise<PluginParts> {
  const { name } = plugin;
  const options = await within(name, "set up", () => checkOptions(plugin, given));
  return within(name, "set up", () => plugin.setup(options as never, context));
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

/** Loading and setting up may take long once, and not for ever. */
async function within<T>(name: string, what: string, work: () => T | Promise<T>): Promise<T> {
  const clock = new AbortController();
  const timer = setTimeout(() => clock.abort(), LOAD_TIMEOUT_MS);
  const details = { plugin: name };
  try {
    return await abandonOnAbort((async () => work())(), clock.signal);
  } catch (error) {
    if (clock.signal.aborted) {
      const message = `The plugin ${name} was not ${what} within ${LOAD_TIMEOUT_MS / 1_000} s.`;
      throw new CemError("PLUGIN_TIMEOUT", message, { details });
    }
    if (CemError.isInstance(error) && error.code === "PLUGIN_INVALID") throw error;
    const message = `The plugin ${name} can't be ${what}: ${reasonOf(error)}`;
    throw new CemError("PLUGIN_FAILED", message, { details, cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  const { "~standard": standard } = (value ?? {}) as { "~standard"?: { validate?: unknown } };
  return typeof standard?.validate === "function";
}

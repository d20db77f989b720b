import * as z from "zod/mini";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { builtInSandbox } from "./check.ts";
import type { VariableServer } from "./environment.ts";
import { getPath, originKey, setPath, type Layer, type Origin } from "./layer.ts";
import { configSchema, type Config } from "./schema/schema.ts";
import { isPath, itemOf, optionsOf, unwrap } from "./schema/shape.ts";
import { SETTINGS, schemaOf } from "./settings.ts";

export type MergedConfig = ReturnType<typeof mergeConfig>;

/**
 * Merges layers, weakest first, and adds the servers of variables with names that are not taken yet. Lists and mappings are
 * replaced, not merged. Relative paths of the program start from `cwd`, all others from `project`.
 */
export function mergeConfig(
  layers: readonly Layer[],
  { cwd, project }: Record<"cwd" | "project", string>,
  named: readonly VariableServer[] = [],
) {
  const values: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  for (const { path, keys } of SETTINGS) {
    const winner = layers.findLast((layer) => getPath(layer.values, keys) !== undefined);
    if (winner !== undefined) setPath(values, keys, getPath(winner.values, keys));
    origins[path] = winner?.origins.get(originKey(keys))?.origin ?? { from: "default", label: "default" };
  }
  const { mcpServers: configured, ...parsed } = configSchema.parse(values);
  parsed.execution.sandboxType = builtInSandbox(parsed.execution.sandboxType);
  const added = named.filter(({ name }) => configured.every((server) => server.name !== name));
  const servers = added.map(({ name, url }) => ({ name, url }));
  const mcpServers = [...configured, ...configSchema.parse({ mcpServers: servers }).mcpServers];
  const baseOf = (path: string): string => (origins[path]?.from === "argument" ? cwd : project);
  return { layers, config: withAbsolutePaths({ ...parsed, mcpServers }, baseOf), origins, added, baseOf };
}

/** Makes every path absolute: every value that the schema marks as one, at any depth. */
function withAbsolutePaths(values: z.output<typeof configSchema>, base: (path: string) => string): Config {
  for (const { path, keys } of SETTINGS) {
    const section = getPath(values, keys.slice(0, -1)) as Record<string, unknown>;
    resolveMember(section, keys.at(-1) ?? "", schemaOf(keys), base(path));
  }
  const { state, workspaceDir } = values.execution;
  return {
    ...values,
    execution: { ...values.execution, state: { ...state, workspaceDir: state.workspaceDir ?? workspaceDir } },
  };
}

function resolveMember(
  owner: Record<string | number, unknown>,
  key: string | number,
  schema: z.ZodMiniType,
  base: string,
): void {
  const value = owner[key];
  if (typeof value === "string") {
    if (isPath(schema, value)) owner[key] = absolute(value, base);
  } else if (typeof value === "object" && value !== null) resolveInside(value, schema, base);
}

/** Resolves paths inside a loaded value: transformed values keep the names of their input. */
function resolveInside(value: object, schema: z.ZodMiniType, base: string): void {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodMiniUnion) {
    for (const option of optionsOf(inner)) resolveInside(value, option, base);
  } else if (Array.isArray(value)) {
    if (!(inner instanceof z.ZodMiniArray)) return;
    for (const index of value.keys()) resolveMember(value as unknown[] as never, index, itemOf(inner), base);
  } else if (inner instanceof z.ZodMiniObject) {
    for (const [key, child] of Object.entries(inner.shape))
      resolveMember(value as Record<string, unknown>, key, child as z.ZodMiniType, base);
  }
}

function absolute(path: string, base: string): string {
  const expanded = /^~(?=$|[\\/])/.test(path) ? homedir() + path.slice(1) : path;
  return resolve(base, expanded);
}

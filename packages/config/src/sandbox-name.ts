import { nearest } from "@cem/core/text";
import { getPath, type Layer, originKey, problemAt } from "./layer.ts";
import { type ConfigProblem, formatValue } from "./problem.ts";
import { adviceOnRemovedValue } from "./python-original.ts";
import { SANDBOX_TYPES } from "./schema-execution.ts";

/** Our own sandboxes however they are written: variables often have upper-case letters. */
export function builtInSandbox(name: string): string {
  return SANDBOX_TYPES.find((one) => one === name.toLowerCase()) ?? name;
}

/** Whether a source names plugins. */
export function namesPlugins({ values }: Layer): boolean {
  const plugins = getPath(values, ["plugins"]);
  return Array.isArray(plugins) && plugins.length > 0;
}

/** Only plugins bring sandboxes of other names. */
export function sandboxProblems({ values, origins }: Layer): ConfigProblem[] {
  const keys = ["execution", "sandboxType"];
  const named = getPath(values, keys);
  const at = origins.get(originKey(keys));
  if (typeof named !== "string" || at === undefined || SANDBOX_TYPES.includes(builtInSandbox(named)))
    return [];
  const [suggestion] = nearest(named, SANDBOX_TYPES);
  const allowed = SANDBOX_TYPES.join(", ");
  const value = formatValue(named);
  const advice =
    adviceOnRemovedValue("execution.sandbox_type", named) ??
    (suggestion === undefined ? "" : `Did you mean ${suggestion}?`);
  const message = `is ${value}. Allowed: ${allowed}. ${advice}`.trimEnd();
  return [problemAt(at, message, { line: at.origin.line, allowed, value, suggestion })];
}

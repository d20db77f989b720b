import type { Variables } from "./environment.ts";
import { variableValue } from "./environment.ts";

/** Settings of the Python original and of earlier versions that are gone, with what to do instead. */
const REMOVED_SETTINGS: Readonly<Record<string, string>> = {
  "execution.limits.max_concurrent_calls":
    "A run makes 32 calls at once; `concurrency` of an MCP server limits its own. Delete the line.",
  "customers.trusted_proxies":
    "The header is read from the proxies of server.trusted_proxies: name them there.",
  "logging.audit_max_mb": "The file is put aside at 16 MiB: delete the line.",
  "runs.max_count": "At most 1,000 runs are recorded, within runs.max_mb and runs.max_days: delete the line.",
  "execution.opensandbox_domain": "There is no OpenSandbox here: delete the line.",
  "execution.opensandbox_image": "There is no OpenSandbox here: delete the line.",
};

/** Values of the Python original that have no counterpart, with what to write instead. */
const REMOVED_VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "execution.sandbox_type": {
    opensandbox: "OpenSandbox runs Python; write auto.",
    monty: "Monty runs Python; write auto.",
  },
};

/** Variables of the Python original that set nothing, with what to set instead. */
const REMOVED_VARIABLES: Readonly<Record<string, string>> = {
  AGENTKERNEL_DISABLE_POOLING: "Set OPTIMIZATION_SANDBOX_POOLING=false.",
  OPENSANDBOX_DOMAIN: "There is no OpenSandbox here: delete it.",
};

/** Advice on a key that is no setting, where it was one. */
export function adviceOnRemovedSetting(path: string): string | undefined {
  return Object.hasOwn(REMOVED_SETTINGS, path) ? REMOVED_SETTINGS[path] : undefined;
}

/** Advice on a value that only the Python original takes. */
export function adviceOnRemovedValue(path: string, value: unknown): string | undefined {
  const values = Object.hasOwn(REMOVED_VALUES, path) ? REMOVED_VALUES[path] : undefined;
  const word = String(value).toLowerCase();
  return values !== undefined && Object.hasOwn(values, word) ? values[word] : undefined;
}

/** Warnings about variables that set something in the Python original and nothing here. */
export function warnOfRemovedVariables(from: string, variables: Variables): string[] {
  return Object.entries(REMOVED_VARIABLES)
    .filter(([name]) => variableValue(variables, name) !== undefined)
    .map(([name, advice]) => `${from} ${name}  sets nothing here. ${advice}`);
}

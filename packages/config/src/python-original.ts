import { variableValue, type Variables } from "./environment.ts";

/** Settings and values of the Python original that are not here, with what to do instead. */
const REMOVED: Readonly<Record<string, string>> = {
  "execution.opensandbox_domain": "There is no OpenSandbox here: delete the line.",
  "execution.opensandbox_image": "There is no OpenSandbox here: delete the line.",
  "execution.sandbox_type: opensandbox": "OpenSandbox runs Python; write auto.",
  "execution.sandbox_type: monty": "Monty runs Python; write auto.",
};

/** Variables of the Python original that have no effect, with what to set instead. */
const REMOVED_VARIABLES: Readonly<Record<string, string>> = {
  AGENTKERNEL_DISABLE_POOLING: "Set OPTIMIZATION_SANDBOX_POOLING=false.",
  OPENSANDBOX_DOMAIN: "There is no OpenSandbox here: delete it.",
};

/** Advice on a key or a value that was removed. */
export function adviceOnRemoved(path: string, value?: unknown): string | undefined {
  const key = typeof value === "string" ? `${path}: ${value.toLowerCase()}` : path;
  return Object.hasOwn(REMOVED, key) ? REMOVED[key] : undefined;
}

/** Warnings about variables of the Python original that have no effect here. */
export function warnOfRemovedVariables(from: string, variables: Variables): string[] {
  return Object.entries(REMOVED_VARIABLES)
    .filter(([name]) => variableValue(variables, name) !== undefined)
    .map(([name, advice]) => `${from} ${name}  sets nothing here. ${advice}`);
}

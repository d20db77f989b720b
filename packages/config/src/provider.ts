import { getPath, type Layer, type Origin } from "./layer.ts";
import { type Variables, variableValue } from "./variables.ts";

export const PROVIDER_KEYS = ["llm", "provider"];
const AZURE_VARIABLE = "AZURE_OPENAI_ENDPOINT";

/** The language model provider, which decides what API key is read. */
export interface Provider {
  name: string;
  /** The variable that sets it. */
  variable: string;
  /** The source whose variable implies the provider, where no source names it. */
  deducedFrom?: string | undefined;
}

/** Determines the provider before the environment is read, since it decides which variable holds the API key. */
export function chooseProvider(
  [file, argument]: readonly [file: Layer, argument: Layer],
  sources: readonly { from: string; variables: Variables }[],
): Provider {
  const variable = "LLM_PROVIDER";
  const strongestFirst = sources.toReversed();
  const named =
    getPath(argument.values, PROVIDER_KEYS) ??
    strongestFirst
      .map(({ variables }) => variableValue(variables, variable))
      .find((value) => value !== undefined) ??
    getPath(file.values, PROVIDER_KEYS);
  if (typeof named === "string") return { name: named.toLowerCase(), variable };
  const azure = strongestFirst.find(
    ({ variables }) => variableValue(variables, AZURE_VARIABLE) !== undefined,
  );
  if (azure === undefined) return { name: "openai", variable };
  return { name: "azure_openai", variable: AZURE_VARIABLE, deducedFrom: azure.from };
}

/**
 * Says that Azure's variables alone call no model: an endpoint in the environment may be another program's, and code,
 * schemas and data would go there at a cost. Whoever sets `llm.enabled`, to either, is not told.
 */
export function noticeOfIdleModel(
  enabled: Origin | undefined,
  sources: readonly { from: string; variables: Variables }[],
): string[] {
  if (enabled !== undefined && enabled.from !== "default") return [];
  const source = sources.findLast(({ variables }) => variableValue(variables, AZURE_VARIABLE) !== undefined);
  if (source === undefined) return [];
  return [
    `${source.from} ${AZURE_VARIABLE}  is set, but no model is asked before llm.enabled: true (LLM_ENABLED=true) says so; false ends this notice.`,
  ];
}

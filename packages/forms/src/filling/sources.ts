import { getPath } from "@cem/config/yaml";
import { toErrorInfo, type JsonObject, type JsonValue } from "@cem/core";
import type { FormSource } from "../form/form-schema.ts";
import { referenceIn } from "../form/parse-form.ts";
import type { CollectedValues } from "./collected-values.ts";
import { splitTool, type CallTool } from "./targets.ts";

/** Gets values from tools, each tool once. */
export function createSources(sources: readonly FormSource[], callTool: CallTool | undefined) {
  /** Why values are missing, by field. */
  const reasons = new Map<string, string>();
  const waiting = new Set(sources);

  /** Calls the tools whose arguments are available, as long as one provides values that another needs. */
  const collect = async (collected: CollectedValues): Promise<void> => {
    for (;;) {
      const ready = [...waiting].find((source) => missingOf(source, collected).length === 0);
      if (ready === undefined) return;
      waiting.delete(ready);
      const wanted = Object.keys(ready.values).filter((name) => !collected.has(name));
      if (wanted.length > 0) await collectFrom(ready, wanted, collected);
    }
  };

  /** The fields that tools would provide, once a person has given the values that these need. */
  const expected = (collected: CollectedValues): ReadonlySet<string> => {
    if (callTool === undefined) return new Set();
    const blocked = [...waiting].filter((source) => missingOf(source, collected).length > 0);
    const needed = new Set(blocked.flatMap((source) => missingOf(source, collected)));
    return new Set(blocked.flatMap(({ values }) => Object.keys(values)).filter((name) => !needed.has(name)));
  };

  const collectFrom = async (source: FormSource, wanted: readonly string[], collected: CollectedValues) => {
    const fail = (why: string): void => wanted.forEach((name) => reasons.set(name, `${source.tool} ${why}`));
    if (callTool === undefined) return fail("can't be called here");
    const args: JsonObject = {};
    for (const [name, argument] of Object.entries(source.arguments)) {
      const reference = referenceIn(argument);
      const value = reference === undefined ? argument : collected.values.get(reference);
      if (value !== undefined) Object.defineProperty(args, name, { value, enumerable: true });
    }
    let result: JsonValue;
    try {
      result = await callTool({ ...splitTool(source.tool), args });
    } catch (error) {
      return fail(`failed (${toErrorInfo(error).code})`);
    }
    for (const name of wanted) {
      const value = getPath(result, (source.values[name] ?? "").split(".")) as JsonValue | undefined;
      if (value === undefined || value === null) reasons.set(name, `${source.tool} returned none`);
      else await collected.take(name, value);
    }
  };

  return { reasons, collect, expected };
}

/** The fields without a value that a tool needs. */
function missingOf(source: FormSource, collected: CollectedValues): string[] {
  const names = Object.values(source.arguments).flatMap((argument) => referenceIn(argument) ?? []);
  return names.filter((name) => !collected.values.has(name));
}

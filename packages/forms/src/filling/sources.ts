import { getPath } from "@cem/config/yaml";
import { toErrorInfo } from "@cem/core";
import type { JsonObject, JsonValue } from "@cem/core";
import type { FormSource } from "../form/form-schema.ts";
import { referenceIn } from "../form/parse-form.ts";
import type { CollectedValues } from "./collected-values.ts";
import { splitTool } from "./targets.ts";
import type { CallTool } from "./targets.ts";

/** Gets values from tools, each tool once. */
export class ValueSources {
  /** Why values did not come, by field. */
  readonly reasons = new Map<string, string>();
  readonly #waiting: Set<FormSource>;
  readonly #callTool: CallTool | undefined;

  constructor(sources: readonly FormSource[], callTool: CallTool | undefined) {
    this.#waiting = new Set(sources);
    this.#callTool = callTool;
  }

  /** Calls the tools whose arguments are there, as long as one brings what another waits for. */
  async collect(collected: CollectedValues): Promise<void> {
    for (;;) {
      const ready = [...this.#waiting].find((source) => missingOf(source, collected).length === 0);
      if (ready === undefined) return;
      this.#waiting.delete(ready);
      const wanted = Object.keys(ready.values).filter((name) => !collected.has(name));
      if (wanted.length > 0) await this.#collectFrom(ready, wanted, collected);
    }
  }

  /** The fields that would come from tools, once a person has given what these wait for. */
  expected(collected: CollectedValues): ReadonlySet<string> {
    if (this.#callTool === undefined) return new Set();
    const waiting = [...this.#waiting].filter((source) => missingOf(source, collected).length > 0);
    const needed = new Set(waiting.flatMap((source) => missingOf(source, collected)));
    return new Set(waiting.flatMap(({ values }) => Object.keys(values)).filter((name) => !needed.has(name)));
  }

  async #collectFrom(
    source: FormSource,
    wanted: readonly string[],
    collected: CollectedValues,
  ): Promise<void> {
    const fail = (why: string): void =>
      wanted.forEach((name) => this.reasons.set(name, `${source.tool} ${why}`));
    if (this.#callTool === undefined) return fail("can't be called here");
    const args: JsonObject = {};
    for (const [name, argument] of Object.entries(source.arguments)) {
      const reference = referenceIn(argument);
      const value = reference === undefined ? argument : collected.values.get(reference);
      if (value !== undefined) Object.defineProperty(args, name, { value, enumerable: true });
    }
    let result: JsonValue;
    try {
      result = await this.#callTool({ ...splitTool(source.tool), args });
    } catch (error) {
      return fail(`failed (${toErrorInfo(error).code})`);
    }
    for (const name of wanted) {
      const value = getPath(result, (source.values[name] ?? "").split(".")) as JsonValue | undefined;
      if (value === undefined || value === null) this.reasons.set(name, `${source.tool} returned none`);
      else await collected.take(name, value);
    }
  }
}

/** The fields whose values a tool needs, and that have none. */
function missingOf(source: FormSource, collected: CollectedValues): string[] {
  const names = Object.values(source.arguments).flatMap((argument) => referenceIn(argument) ?? []);
  return names.filter((name) => !collected.values.has(name));
}

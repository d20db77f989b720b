import { moduleBeside, offload } from "@cem/core";
import type { JsonValue, OffloadedWork } from "@cem/core";
import { encodeState, parseState } from "./state-format.ts";
import type { ParsedState, StateFormat } from "./state-format.ts";

/** More YAML is not read or written in a few milliseconds. */
const MAX_QUICK_BYTES = 8 * 1024;

/** Does what `parseState` does. Much YAML is read by the process's threads. */
export async function parseStateFile(bytes: Uint8Array, format: StateFormat): Promise<ParsedState> {
  const here = () => parseState(bytes, format);
  if (format !== "yaml" || bytes.byteLength <= MAX_QUICK_BYTES) return here();
  return offload(() => workOf("parseState", bytes, format), here);
}

/** Does what `encodeState` does. Much YAML is written by the process's threads. */
export async function encodeStateFile(value: JsonValue, format: StateFormat): Promise<Uint8Array> {
  const here = () => encodeState(value, format);
  if (format !== "yaml" || JSON.stringify(value).length <= MAX_QUICK_BYTES) return here();
  return offload(() => workOf("encodeState", value, format), here);
}

function workOf(name: string, ...args: readonly unknown[]): OffloadedWork {
  return { module: moduleBeside("state-format", import.meta.url), name, args };
}

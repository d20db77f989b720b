import type { JsonValue } from "@cem/core";
import type { LockedTool } from "@cem/tool-files";

/** How many results of one tool are kept, to infer its return type from. */
const MAX_SAMPLES = 20;
const MAX_SAMPLE_CHARACTERS = 256 * 1024;
/** Characters of JSON that are kept of all tools together until they are saved. */
const MAX_ALL_CHARACTERS = 8 * 1024 * 1024;

/** A generated tool as it was accepted, and the folder that its file is in. */
export interface AcceptedTool {
  folder: string;
  locked: LockedTool;
}

/** Collects results of tools without an output schema, for servers whose user allowed it. */
export interface ResultObserver {
  observe(tool: AcceptedTool, result: JsonValue): Promise<void>;
  /** Merges what was collected into the files of observed results. */
  save(): Promise<void>;
}

export function createResultObserver(): ResultObserver {
  const allowed = new Map<string, Promise<boolean>>();
  const samplesOf = new Map<string, Map<string, JsonValue[]>>();
  let keptCharacters = 0;

  const isAllowed = (folder: string): Promise<boolean> => {
    const known = allowed.get(folder);
    if (known !== undefined) return known;
    const reading = import("@cem/tool-files").then(
      async ({ readObserved }) => (await readObserved(folder)) !== undefined,
    );
    allowed.set(folder, reading);
    return reading;
  };

  return {
    async observe({ folder, locked: { definition } }, result) {
      if (definition.outputSchema !== undefined || !(await isAllowed(folder))) return;
      const tools = samplesOf.get(folder) ?? new Map<string, JsonValue[]>();
      const samples = tools.get(definition.name) ?? [];
      if (samples.length >= MAX_SAMPLES) return;
      const { length } = JSON.stringify(result);
      if (length > MAX_SAMPLE_CHARACTERS || keptCharacters + length > MAX_ALL_CHARACTERS) return;
      keptCharacters += length;
      tools.set(definition.name, [...samples, result]);
      samplesOf.set(folder, tools);
    },
    async save() {
      if (samplesOf.size === 0) return;
      const { addObserved } = await import("@cem/tool-files");
      for (const [folder, samples] of samplesOf) await addObserved(folder, samples);
      samplesOf.clear();
      keptCharacters = 0;
    },
  };
}

import type { JsonValue } from "@cem/core";
import type { GeneratedFolder } from "./generated-folders.ts";

/** Results kept of one tool, for their types. */
const MAX_SAMPLES = 20;
const MAX_SAMPLE_CHARACTERS = 256 * 1024;

/** Looks at results of tools that don't say what they return, where the user allowed it. */
export interface ResultObserver {
  see(folder: string, generated: GeneratedFolder, tool: string, value: JsonValue): Promise<void>;
  /** Adds what was seen to what earlier runs saw. */
  save(): Promise<void>;
}

export function createResultObserver(): ResultObserver {
  const allowed = new Map<string, Promise<boolean>>();
  const seen = new Map<string, Map<string, JsonValue[]>>();

  const isAllowed = (folder: string): Promise<boolean> => {
    const present = allowed.get(folder);
    if (present !== undefined) return present;
    const asked = import("@cem/tool-files").then(
      async ({ readObserved }) => (await readObserved(folder)) !== undefined,
    );
    allowed.set(folder, asked);
    return asked;
  };

  return {
    async see(folder, { locked }, tool, value) {
      if (locked.get(tool)?.definition.outputSchema !== undefined || !(await isAllowed(folder))) return;
      const tools = seen.get(folder) ?? new Map<string, JsonValue[]>();
      const samples = tools.get(tool) ?? [];
      if (samples.length >= MAX_SAMPLES || JSON.stringify(value).length > MAX_SAMPLE_CHARACTERS) return;
      samples.push(value);
      seen.set(folder, tools.set(tool, samples));
    },
    async save() {
      if (seen.size === 0) return;
      const { addObserved } = await import("@cem/tool-files");
      for (const [folder, samples] of seen) await addObserved(folder, samples);
      seen.clear();
    },
  };
}

import { open } from "node:fs/promises";
import path from "node:path";
import type { Config } from "@cem/config";
import { CemError } from "@cem/core";
import type { JsonValue } from "@cem/core";
import { nearest } from "@cem/core/text";
import type { FindWorkflow, WorkflowSource } from "@cem/workflows";

const WORKFLOW_FILE = /\.(?:ya?ml|json)$/iu;

/**
 * Finds workflows by their name in the configuration or by the path of their file.
 *
 * @param folder - Where relative paths start.
 */
export function workflowFinder({ workflows }: Pick<Config, "workflows">, folder: string): FindWorkflow {
  return async (name) => {
    const configured = workflows.find((workflow) => workflow.name === name);
    if (configured !== undefined) return configuredSource(configured);
    if (WORKFLOW_FILE.test(name)) return readSource(path.resolve(folder, name), name);
    const names = workflows.map((workflow) => workflow.name);
    const [meant] = nearest(name, names);
    const known = names.length === 0 ? "None is configured." : `There are: ${names.join(", ")}.`;
    const question = meant === undefined ? known : `Did you mean ${JSON.stringify(meant)}?`;
    throw new CemError("WORKFLOW_NOT_FOUND", `There is no workflow ${JSON.stringify(name)}. ${question}`, {
      details: { workflow: name, known: names },
    });
  };
}

/** A workflow of the configuration, as a file would have it. */
export function configuredSource(workflow: Config["workflows"][number]): WorkflowSource {
  const { steps, ...rest } = workflow;
  const value = { ...snakeKeys(rest), steps: steps.map(snakeKeys) };
  // A loaded configuration has members that are undefined.
  return { value: JSON.parse(JSON.stringify(value)) as JsonValue, origin: `workflow ${workflow.name}` };
}

/** The names of its own settings; what they hold is the workflow's. */
function snakeKeys(settings: object): object {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [
      key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value as unknown,
    ]),
  );
}

/** @throws CemError `WORKFLOW_NOT_FOUND`, `WORKFLOW_INVALID` for a file that is too large. */
async function readSource(file: string, name: string): Promise<WorkflowSource> {
  const { MAX_WORKFLOW_BYTES, workflowTooLarge } = await import("@cem/workflows");
  try {
    await using handle = await open(file);
    const { size } = await handle.stat();
    if (size > MAX_WORKFLOW_BYTES) throw workflowTooLarge(name, size);
    return { text: await handle.readFile("utf8"), origin: name };
  } catch (error) {
    if (CemError.isInstance(error)) throw error;
    const reason =
      (error as NodeJS.ErrnoException).code === "ENOENT" ? "the file does not exist" : String(error);
    throw new CemError("WORKFLOW_NOT_FOUND", `The workflow ${name} can't be read: ${reason}.`, {
      details: { workflow: name },
      cause: error,
    });
  }
}

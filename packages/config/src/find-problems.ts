import { CemError } from "@cem/core";
import { checkLayer } from "./check.ts";
import { originIn, parseConfig } from "./config-file.ts";
import type { ConfigProblem } from "./problem.ts";

/**
 * Finds what is wrong with the text of a config.yaml.
 *
 * @param file - The name that the problems tell as their origin.
 */
export async function findProblems(yaml: string, file: string): Promise<ConfigProblem[]> {
  try {
    const layer = await parseConfig(yaml, originIn(file));
    return [...layer.problems, ...checkLayer(layer)];
  } catch (error) {
    if (!CemError.isInstance(error)) throw error;
    return error.details["problems"] as ConfigProblem[];
  }
}

import { readdir } from "node:fs/promises";
import type { Lazy, TypeChecker } from "@cem/core";

/**
 * Checks types for one customer, with a checker that many share as long as the customer has no skills of their own: a
 * checker is a process of some fifty megabytes.
 *
 * @param skillsDir - The customer's own skills, which may come at any time.
 * @param own - The checker that knows them.
 */
export function customerTypeChecker(
  skillsDir: string,
  { shared, own }: Record<"shared" | "own", Lazy<TypeChecker>>,
): TypeChecker {
  const checker = async (): Promise<TypeChecker> => ((await hasSkills(skillsDir)) ? own : shared).get();
  return {
    specificationVersion: "v1",
    check: async (request) => (await checker()).check(request),
    prepare: async (code) => (await checker()).prepare?.(code),
    dispose: async () => (await own.settled())?.dispose(),
  };
}

/** Whether a customer has skills of their own. */
export async function hasSkills(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  return names.some((name) => !name.startsWith("."));
}

import { CemError } from "./errors.ts";
export function assertKnownOptions(given: object, known: readonly string[], where: string): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new CemError("OPTION_INVALID", `${unknown} is not an option of ${where}.`, { details: { option: unknown, where } });
}

import type { ProgramParts } from "./collect.ts";
import { Constants } from "./constants.ts";
import { Origins } from "./origins.ts";

/** Constants and origins of the expressions of a program, for the rules. */
export interface Values {
  constants: Constants;
  origins: Origins;
}

/** Finds out what the variables, members, calls and texts of a program can be. */
export function evaluate({ bindings, calls, members, texts }: ProgramParts): Values {
  const constants = new Constants(bindings);
  const origins = new Origins(bindings, constants);
  // From the inside out, so that a long chain is not cut off.
  for (const { node, scope } of [...texts, ...calls, ...members].toReversed()) {
    constants.of(node, scope);
    origins.of(node, scope);
  }
  return { constants, origins };
}

import { createDenoSandboxProvider } from "@cem/sandbox-deno";
import { describe, expect, it } from "vitest";
import { backendPerLevel } from "../../sandbox-deno/src/testing/backends.ts";
import { ENTRANCES, tryCustomers } from "../scripts/customers/ground.ts";

const TIMEOUT_MS = 240_000;
const levels = await backendPerLevel();

// Fifty of them, by every entrance and with every backend: pnpm test:customers.
describe("customers with canaries", () => {
  const [strongest, ...others] = levels.map(({ isolation }) => createDenoSandboxProvider({ isolation }));
  it.each(ENTRANCES.filter((entrance) => entrance !== "claim"))(
    "find nothing of each other's who come by: %s",
    async (entrance) => {
      if (strongest === undefined) throw new Error("No sandbox works here.");
      expect(await tryCustomers({ provider: strongest, entrance, customers: 3 })).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it.each(others)(
    "find nothing at a weaker level either",
    async (provider) => {
      expect(await tryCustomers({ provider, entrance: "code", customers: 2 })).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

import { fuzzRealm } from "@cem/sandbox/contract";
import { expect, it } from "vitest";
import { createDenoSandboxProvider } from "./index.ts";

/** `CEM_FUZZ_SECONDS`, else 20 seconds, or an hour with `CEM_TESTS=all`. */
const SECONDS = Number(process.env["CEM_FUZZ_SECONDS"] ?? (process.env["CEM_TESTS"] === "all" ? 3600 : 20));
const DURATION_MS = SECONDS * 1000;

it(
  "lets no program of the language and tools reach an object of the guest's own realm",
  { timeout: DURATION_MS * 2 + 60_000 },
  async () => {
    const { programs, ended, calls, found } = await fuzzRealm(() => createDenoSandboxProvider(), DURATION_MS);
    process.stdout.write(
      `${programs} programs in ${SECONDS} s, ${ended} ended by a limit or an error; the others made ${calls} calls.\n`,
    );
    expect(calls).toBeGreaterThan(1_000);
    expect(found).toEqual([]);
  },
);

import { describeSandboxContract } from "@cem/sandbox/contract";
import { createDenoSandboxProvider } from "./index.ts";
import { describe, it } from "vitest";

const LEVELS = { bubblewrap: "namespaces", unshare: "namespaces", permissions: "permissions" } as const;

for (const isolation of ["bubblewrap", "unshare", "permissions"] as const) {
  const provider = createDenoSandboxProvider({ isolation });
  const probe = await provider.probe();
  if (probe.available) {
    describeSandboxContract(`deno, ${isolation}`, () => provider, { level: LEVELS[isolation] });
  } else {
    describe.skip(`sandbox contract: deno, ${isolation} (${probe.reason})`, () => {
      it("can't run on this host", () => {});
    });
  }
}

import { performance } from "node:perf_hooks";
import { createDenoSandboxProvider } from "@cem/sandbox-deno";
import { ENTRANCES, tryCustomers } from "./ground.ts";

// Many customers at once, each with canaries, each looking for the others', by every entrance and at each level that this
// host has: pnpm test:customers [number of customers]
const LEVELS = ["bubblewrap", "unshare", "permissions"] as const;
const customers = Number(process.argv[2] ?? 50);
let failures = 0;

for (const isolation of LEVELS) {
  const provider = createDenoSandboxProvider({ isolation });
  const probe = await provider.probe();
  if (!probe.available) {
    print(`${isolation}: not on this host (${probe.reason})`);
    continue;
  }
  for (const entrance of ENTRANCES) {
    const startedAt = performance.now();
    const problems = await tryCustomers({ provider, entrance, customers });
    failures += problems.length;
    for (const problem of problems.slice(0, 20)) print(`${isolation}, ${entrance}: ${problem}`);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    print(
      `${isolation} (${probe.isolation.level}), ${entrance}: ${customers} customers, ${problems.length} leaks, ${seconds} s`,
    );
  }
}
process.exit(failures === 0 ? 0 : 1);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

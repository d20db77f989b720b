import { performance } from "node:perf_hooks";
import { createDenoSandboxProvider } from "@cem/sandbox-deno";
import type { Attack } from "./attack.ts";
import { ATTACKS } from "./all.ts";
import { Ground } from "./ground.ts";
import { runAttack } from "./run-attack.ts";

// Carries out every attack at each level that this host has: pnpm test:attacks [bubblewrap|unshare|permissions …]
const LEVELS = ["bubblewrap", "unshare", "permissions"] as const;
const asked = process.argv.slice(2).filter((name) => !name.startsWith("-"));
const unknown = asked.filter((name) => !LEVELS.some((level) => level === name) && !name.startsWith("/"));
if (unknown.length > 0)
  throw new Error(`No such level: ${unknown.join(", ")}. There are ${LEVELS.join(", ")}.`);
const only = asked.find((name) => name.startsWith("/"))?.slice(1);
const levels = LEVELS.filter(
  (level) => asked.includes(level) || !asked.some((name) => !name.startsWith("/")),
);
let failures = 0;

for (const isolation of levels) {
  const provider = createDenoSandboxProvider({ isolation });
  const probe = await provider.probe();
  if (!probe.available) {
    print(`${isolation}: not on this host (${probe.reason})`);
    continue;
  }
  const start = performance.now();
  const ground = await Ground.open(provider);
  const held: Attack[] = [];
  try {
    for (const [kind, attacks] of Object.entries(ATTACKS)) {
      for (const attack of attacks) {
        if (only !== undefined && !`${kind}: ${attack.title}`.includes(only)) continue;
        const why = await runAttack(attack, ground);
        if (why === undefined) held.push(attack);
        else {
          failures += 1;
          print(`${isolation}: ${kind}: ${attack.title}: ${why}`);
        }
      }
    }
  } finally {
    await ground.close();
  }
  print(
    `${isolation} (${probe.isolation.level}): ${held.length} held, ${failures} failed so far, ${Math.round((performance.now() - start) / 1000)} s`,
  );
}
process.exit(failures === 0 ? 0 : 1);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

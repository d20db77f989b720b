import { createDenoSandboxProvider } from "@cem/sandbox-deno";
import { backendPerLevel } from "../../sandbox-deno/src/testing/backends.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ATTACKS } from "../scripts/attacks/all.ts";
import { Ground } from "../scripts/attacks/ground.ts";
import { runAttack } from "../scripts/attacks/run-attack.ts";

// The rest, and every backend: pnpm test:attacks.
const QUICK = new Set(["honest", "bridge", "escape"]);
const [strongest] = await backendPerLevel();

describe.each(Object.entries(ATTACKS).filter(([kind]) => QUICK.has(kind)))("attacks: %s", (_, attacks) => {
  let ground: Ground;
  beforeAll(async () => {
    ground = await Ground.open(createDenoSandboxProvider({ isolation: strongest?.isolation }));
  });
  afterAll(() => ground.close());

  it.each(attacks)("$title", async (attack) => {
    expect(await runAttack(attack, ground)).toBeUndefined();
  });
});

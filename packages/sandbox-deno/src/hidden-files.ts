import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { hiddenStandIn, standInFolder, toHostPath, type GuestPlan } from "./guest-plan.ts";

const TEXT = `throw new Error("This file runs on the host, where code in the sandbox can't see it. Import its tools from ./servers/<server>/index.ts.");\n`;

/** Writes what the guest finds in place of hidden files. */
export function writeHiddenStandIn({ hidden, privateDir }: GuestPlan): void {
  if (hidden.length === 0) return;
  mkdirSync(standInFolder(privateDir), { recursive: true });
  writeFileSync(hiddenStandIn(privateDir), TEXT);
}

/** Hidden files where they really are. */
export function hostPathsOf(plan: GuestPlan): string[] {
  return plan.hidden.map((file) => toHostPath(plan, file));
}

/** Hidden files that are there, each with its stand-in, for guests with a view of their own. */
export function hiddenBinds(plan: GuestPlan): { source: string; target: string }[] {
  const real = hostPathsOf(plan);
  return plan.hidden
    .filter((_, index) => existsSync(real[index] ?? ""))
    .map((target) => ({ source: hiddenStandIn(plan.privateDir), target }));
}

import { existsSync, writeFileSync } from "node:fs";
import { hiddenPlaceholder, toHostPath, toPlace, type GuestPlan } from "./guest-plan.ts";

const TEXT = `throw new Error("This file runs on the host, where code in the sandbox can't see it. Import its tools from ./servers/<server>/index.ts.");\n`;

/** Writes the placeholder for hidden files, if there are any. */
export function writeHiddenPlaceholder({ hidden, privateDir }: GuestPlan): void {
  if (hidden.length === 0) return;
  writeFileSync(hiddenPlaceholder(privateDir), TEXT);
}

/** The host paths of hidden files. */
export function hiddenHostPaths(plan: GuestPlan): string[] {
  return plan.hidden.map((file) => toHostPath(plan, file));
}

/** Bind mounts of the placeholder over each hidden file that exists. */
export function hiddenBinds(plan: GuestPlan): { source: string; target: string }[] {
  const real = hiddenHostPaths(plan);
  return plan.hidden
    .filter((_, index) => existsSync(real[index] ?? ""))
    .map((file) => ({ source: hiddenPlaceholder(plan.privateDir), target: toPlace(plan, file) }));
}

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made = new Set<string>();

/** A folder that only this process knows, gone when the process ends. */
export function createPrivateDir(): string {
  if (made.size === 0) process.once("exit", () => made.forEach((path) => removePrivateDir(path)));
  const path = mkdtempSync(join(tmpdir(), `cem-deno-${process.pid}-`));
  made.add(path);
  writeFileSync(join(path, "import-map.json"), JSON.stringify({ imports: { "cem:client": "file:///cem/guest/boot.ts" } }));
  return path;
}

export function removePrivateDir(path: string): void {
  made.delete(path);
  rmSync(path, { recursive: true, force: true });
}

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/** Creates a workspace and a folder beside it, removed after the test. Call it in a test or in `beforeEach`. */
export function temporaryWorkspace(): { root: string; workspaceDir: string; outside: string } {
  const root = mkdtempSync(path.join(os.tmpdir(), "cem-workspace-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const workspaceDir = path.join(root, "workspace");
  const outside = path.join(root, "outside");
  mkdirSync(workspaceDir);
  mkdirSync(outside);
  return { root, workspaceDir, outside };
}

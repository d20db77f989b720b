import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll } from "vitest";

/** Creates a folder that is removed after the tests of the file. */
export function temporaryWorkspace(): string {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "cem-forms-")));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

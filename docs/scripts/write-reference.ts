import { execFileSync } from "node:child_process";
import path from "node:path";

/** Makes the pages of docs/reference before the tests, which read all pages. */
export default function writeReference(): void {
  const script = path.join(import.meta.dirname, "generate.ts");
  execFileSync(process.execPath, ["--conditions=@cem/source", script], { stdio: "inherit" });
}

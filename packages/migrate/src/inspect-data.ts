import path from "node:path";
import type { LeftOver } from "./migration.ts";
import { namesIn, textOf } from "./read-folder.ts";

/** Looks at what the Python original kept in the workspace: state, and logs of what it ran. */
export async function inspectData(
  project: string,
  workspace: string,
): Promise<{ works: string[]; left: LeftOver[] }> {
  const root = path.join(project, workspace);
  const works: string[] = [];
  const left: LeftOver[] = [];
  for (const name of await namesIn(root, "file")) {
    const place = `${workspace}/${name}`;
    if (/\.(?:pkl|pickle)$/u.test(name))
      left.push({ place, reason: "is pickled, which only Python reads: load it there and save it as JSON" });
    else if (name === "state.json") {
      if (isJson(await textOf(path.join(root, name)))) works.push(`${place}  is read as it is`);
      else left.push({ place, reason: "is no JSON, or larger than 1 MiB" });
    }
  }
  const logs = await namesIn(path.join(root, ".replay"), "file");
  if (logs.length > 0)
    left.push({
      place: `${workspace}/.replay`,
      reason: `${logs.length} logs of what the original ran stay there; sessions here begin anew`,
    });
  return { works, left };
}

function isJson(text: string | undefined): boolean {
  try {
    JSON.parse(text ?? "");
    return true;
  } catch {
    return false;
  }
}

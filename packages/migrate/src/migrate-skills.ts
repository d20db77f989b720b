import path from "node:path";
import { stringify } from "yaml";
import { type MigratedModules, readModule } from "./migrate-tools.ts";
import { isPublicModule, namesIn } from "./read-folder.ts";
import { functionSkeleton, toIdentifier } from "./skeleton.ts";

/**
 * Makes a folder with a SKILL.md and a skeleton in TypeScript of each skill in Python.
 *
 * @param from - The folders with the skills in Python, relative to the project.
 * @param skillsDir - The folder of the skills here, relative to the project.
 */
export async function migrateSkills(
  project: string,
  from: readonly string[],
  skillsDir: string,
): Promise<MigratedModules> {
  const result: MigratedModules = { files: [], left: [], servers: [] };
  const met = new Set<string>();
  for (const folder of from) {
    for (const name of (await namesIn(path.join(project, folder), "file")).filter(isPublicModule)) {
      const source = `${folder}/${name}`;
      const stem = toIdentifier(path.parse(name).name);
      const module = await readModule(path.join(project, source));
      const functions = module?.functions.filter((one) => !one.name.startsWith("_")) ?? [];
      if (met.has(stem)) result.left.push({ place: source, reason: "has the name of another skill" });
      else if (module === undefined || functions.length === 0)
        result.left.push({ place: source, reason: "has no public function that can be read" });
      else {
        met.add(stem);
        const target = `${skillsDir}/${stem}`;
        const about = headOf(module.docstring);
        const calls = functions.map((one) => `\`${one.name}\``).join(", ");
        result.files.push(
          {
            file: `${target}/SKILL.md`,
            from: source,
            text: `---\n${stringify({ name: stem, description: about.description || `${stem}, moved from Python.` }, { lineWidth: 0 })}---\n\n# ${stem}\n\n${about.description}\n\nFunctions: ${calls}.\n`,
          },
          {
            file: `${target}/index.ts`,
            from: source,
            text: functions.map((one) => functionSkeleton(one, name)).join("\n"),
          },
        );
        result.left.push({
          place: `${target}/index.ts`,
          reason: `throws until its bodies are written as in ${name}`,
        });
      }
    }
  }
  return result;
}

/** The description in the docstring at the head of a skill: after `description:`, or its first paragraph. */
function headOf(docstring: string): { description: string } {
  const named = /^description:\s*(.+)$/imu.exec(docstring)?.[1];
  const [paragraph = ""] = docstring.split(/\n\s*\n/u);
  return { description: (named ?? paragraph).replaceAll(/\s+/gu, " ").trim() };
}

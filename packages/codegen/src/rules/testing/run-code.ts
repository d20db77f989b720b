import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const REPOSITORY = fileURLToPath(new URL("../../../../../", import.meta.url));
const MARK = "VALUE ";

/** A folder with the sample servers in which code really runs; `/workspace` stands for the folder. */
export interface Workspace {
  run(code: string): Promise<{ value: unknown; output: string }>;
  readJson(file: string): unknown;
  write(file: string, text: string): void;
}

export function createWorkspace(): Workspace {
  const folder = mkdtempSync(join(tmpdir(), "codegen-"));
  for (const part of ["servers", "skills"])
    cpSync(join(REPOSITORY, part), join(folder, part), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(
    join(folder, "boot.ts"),
    `import value from "./main.ts";\nconsole.log("${MARK}" + JSON.stringify(value));\n`,
  );
  return {
    async run(code) {
      writeFileSync(join(folder, "main.ts"), code.replaceAll("/workspace", folder));
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ["--disable-warning=ExperimentalWarning", "boot.ts"],
        { cwd: folder },
      );
      const at = stdout.lastIndexOf(MARK);
      return {
        value: JSON.parse(stdout.slice(at + MARK.length)) as unknown,
        output: stdout.slice(0, at).replaceAll(folder, "/workspace"),
      };
    },
    readJson: (file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as unknown,
    write: (file, text) => writeFileSync(join(folder, file), text),
  };
}

import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

/** One program that is measured. */
export interface BenchProgram {
  id: string;
  title: string;
  code: string;
}

const ADD = `import { add } from "./servers/bench/index.ts";\n`;

export const PROGRAMS: readonly BenchProgram[] = [
  { id: "01", title: "a value", code: "export default 6 * 7;" },
  { id: "02", title: "a tool that is a file", code: `${ADD}export default await add({ a: 5, b: 3 });` },
  {
    id: "03",
    title: "a tool on the host",
    code: `import { callTool } from "cem:client";\nexport default await callTool("bench", "echo", { a: 1 });`,
  },
  {
    id: "04",
    title: "twenty calls at once",
    code: `import { callTool } from "cem:client";\nconst calls = Array.from({ length: 20 }, (_, index) => callTool("bench", "echo", { index }));\nexport default (await Promise.all(calls)).length;`,
  },
  {
    id: "05",
    title: "a file written and read",
    code: `Deno.writeTextFileSync("bench.json", JSON.stringify({ rows: 1000 }));\nexport default JSON.parse(Deno.readTextFileSync("bench.json")).rows;`,
  },
  {
    id: "06",
    title: "a thousand lines of output",
    code: "for (let line = 0; line < 1000; line += 1) console.log(line);\nexport default 1000;",
  },
  {
    id: "07",
    title: "some arithmetic",
    code: "let sum = 0;\nfor (let index = 0; index < 1_000_000; index += 1) sum += index % 7;\nexport default sum;",
  },
];

/** The tool that the programs import. */
export async function writeBenchTools(workspaceDir: string): Promise<void> {
  const folder = path.join(workspaceDir, "servers", "bench");
  await mkdir(folder, { recursive: true });
  const tool =
    "export async function add({ a, b }: { a: number; b: number }): Promise<number> {\n  return a + b;\n}\n";
  await writeFile(path.join(folder, "index.ts"), tool);
}

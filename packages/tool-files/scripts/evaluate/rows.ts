import { readFile } from "node:fs/promises";
import * as z from "zod";

const row = z.object({
  id: z.string().optional(),
  server: z.string(),
  tool: z.string(),
  title: z.string().nullish(),
  description: z.string().nullish(),
  inputSchema: z.unknown(),
  outputSchema: z.unknown().optional(),
  must: z.string().optional(),
});

/** One tool of the evaluation data. */
export type Row = z.infer<typeof row>;

export async function readRows(file: string): Promise<Row[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  return lines.map((line) => row.parse(JSON.parse(line)));
}

/** The row as an entry of `tools/list`. */
export function toDefinition({ tool, title, description, inputSchema, outputSchema }: Row): object {
  return {
    name: tool,
    title: title ?? undefined,
    description: description ?? undefined,
    inputSchema,
    outputSchema,
  };
}

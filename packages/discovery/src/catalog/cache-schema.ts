import * as z from "zod/mini";
import { FORMAT } from "./facts-store.ts";

const functionSchema = z.looseObject({
  name: z.string(),
  line: z.number(),
  description: z.string(),
  inputSchema: z.looseObject({}),
  callStyle: z.enum(["object", "positional"]),
  call: z.string(),
  isAsync: z.boolean(),
});
const starSchema = z.looseObject({ specifier: z.string(), line: z.number() });
const linkSchema = z.looseObject({ specifier: z.string(), line: z.number(), names: z.array(z.string()) });

const factsSchema = z.looseObject({
  description: z.string(),
  functions: z.array(functionSchema),
  values: z.array(z.string()),
  hasOnlyTypes: z.boolean(),
  reexports: z.array(
    z.looseObject({ exported: z.string(), imported: z.string(), specifier: z.string(), line: z.number() }),
  ),
  stars: z.array(starSchema),
  links: z.array(linkSchema),
});

const stampSchema = z.tuple([z.string(), z.string()]);

/** Content of a cache file. */
export const cacheSchema = z.strictObject({
  format: z.literal(FORMAT),
  entries: z.array(
    z.tuple([
      z.string(),
      z.looseObject({ stamp: z.string(), dependencies: z.array(stampSchema), facts: factsSchema }),
    ]),
  ),
});

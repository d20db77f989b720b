import { parse } from "yaml";
import * as z from "zod/mini";

const frontMatterSchema = z.looseObject({ description: z.optional(z.string()) });

/** The front matter of a README.md or SKILL.md, as far as it is used. */
export type FrontMatter = z.infer<typeof frontMatterSchema>;

/** Reads front matter. Returns `undefined` when it is not a mapping in YAML. */
export function readFrontMatter(yaml: string): FrontMatter | undefined {
  try {
    const found = frontMatterSchema.safeParse(parse(yaml) ?? {});
    return found.success ? found.data : undefined;
  } catch {
    return undefined;
  }
}

import type { Located, Position } from "./located.ts";

export { plainValue } from "./located.ts";
export { readYaml } from "./yaml-reader.ts";
export type { YamlProblem } from "./yaml-reader.ts";
export type { Located, Position } from "./located.ts";

/**
 * Finds where a part of a document was written.
 *
 * @param path - Keys and indices from the document's root.
 * @returns the position of the key; where the path leads to nothing, of the last part of it that is there.
 */
export function positionAt(document: Located, path: readonly PropertyKey[]): Position | undefined {
  let at: Located = document;
  let { position } = at;
  for (const part of path) {
    if (at.kind === "mapping") {
      const entry = at.entries.find(({ key }) => key === part);
      if (entry === undefined) return position;
      position = entry.keyPosition ?? entry.value.position ?? position;
      at = entry.value;
    } else {
      const item: Located | undefined = at.kind === "list" ? at.items[Number(part)] : undefined;
      if (item === undefined) return position;
      position = item.position ?? position;
      at = item;
    }
  }
  return position;
}

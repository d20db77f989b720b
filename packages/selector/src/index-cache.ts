import { createHash } from "node:crypto";
import type { ToolDefinition } from "@cem/core";
import { buildLexicalIndex, type LexicalIndex } from "./lexical-index.ts";

/** Catalogs that stay indexed at once; the one used longest ago goes first. */
const MAX_INDEXES = 4;

interface Entry {
  tools: readonly ToolDefinition[];
  hash: string;
  index: LexicalIndex;
}

/** Indexes by the content of their catalog: the same definitions are never indexed twice, changed ones always. */
export class IndexCache {
  #entries: Entry[] = [];

  get(tools: readonly ToolDefinition[]): LexicalIndex {
    const known = this.#entries.find((entry) => sameObjects(entry.tools, tools));
    if (known !== undefined) {
      return this.#remember(known);
    }
    const hash = hashOf(tools);
    const equal = this.#entries.find((entry) => entry.hash === hash);
    const index = equal?.index ?? buildLexicalIndex(tools);
    return this.#remember({ tools: [...tools], hash, index });
  }

  #remember(entry: Entry): LexicalIndex {
    const others = this.#entries.filter((other) => other !== entry && other.hash !== entry.hash);
    this.#entries = [entry, ...others].slice(0, MAX_INDEXES);
    return entry.index;
  }
}

/** Definitions are never changed in place, so the same objects mean the same content. */
function sameObjects(one: readonly ToolDefinition[], other: readonly ToolDefinition[]): boolean {
  return one.length === other.length && one.every((tool, at) => tool === other[at]);
}

function hashOf(tools: readonly ToolDefinition[]): string {
  const hash = createHash("sha256");
  for (const tool of tools) {
    hash.update(JSON.stringify(tool)).update("\n");
  }
  return hash.digest("base64");
}

import type { Production } from "../../planning/step.ts";
import { readCollection } from "./collection.ts";
import { readComparison } from "./comparison.ts";
import { readDataQuery } from "./data-query.ts";
import { readSuperlative } from "./superlative.ts";

/** Work on rows and lists, and questions to databases. */
export const ROW_PRODUCTIONS: readonly Production[] = [
  readCollection,
  readDataQuery,
  readSuperlative,
  readComparison,
];

/** What words inside another step can ask for. */
export const ASKING_ROWS: readonly Production[] = [readCollection, readDataQuery, readComparison];

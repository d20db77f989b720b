import type { Production } from "../planning/step.ts";
import { readCalculation, readExtreme, readQuestion, readStart } from "./arithmetic/calculation.ts";
import { readCall } from "./calls/call.ts";
import { readListing } from "./calls/listing.ts";
import { readMention } from "./calls/mention.ts";
import { FILE_PRODUCTIONS } from "./files/index.ts";
import { readMeasure } from "./files/measure.ts";
import { ASKING_ROWS, ROW_PRODUCTIONS } from "./rows/index.ts";

/** Everything that a step can be. Which reading is taken is decided by its rank, not by its place here. */
export const PRODUCTIONS: readonly Production[] = [
  readMention,
  readCall,
  readListing,
  readCalculation,
  readStart,
  readExtreme,
  readQuestion,
  ...ROW_PRODUCTIONS,
  ...FILE_PRODUCTIONS,
];

/** What words inside another step can ask for. */
export const ASKING: readonly Production[] = [readCall, readCalculation, readMeasure, ...ASKING_ROWS];

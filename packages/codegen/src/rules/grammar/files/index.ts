import type { Production } from "../../planning/step.ts";
import { readFolder } from "./folder.ts";
import { readLoad } from "./load.ts";
import { readMeasure } from "./measure.ts";
import { readPrint } from "./print.ts";
import { readReadFile } from "./read.ts";
import { readSave } from "./save.ts";
import { readShape } from "./shape.ts";
import { readUpdate } from "./update.ts";
import { readVerify } from "./verify.ts";
import { readWrite } from "./write.ts";

/** Work on text files, JSON files and results that are printed. */
export const FILE_PRODUCTIONS: readonly Production[] = [
  readFolder,
  readWrite,
  readReadFile,
  readMeasure,
  readLoad,
  readSave,
  readUpdate,
  readPrint,
  readVerify,
  readShape,
];

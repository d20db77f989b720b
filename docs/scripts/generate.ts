// Writes the pages of docs/reference, which are made from code.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { referencePages } from "./reference.ts";

const folder = path.resolve(import.meta.dirname, "../reference");
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(await referencePages()))
  writeFileSync(path.join(folder, name), text);

import { writeFileSync } from "node:fs";
import { vocabularyFile } from "./vocabulary-file.ts";

writeFileSync(new URL("../o200k_base.bin", import.meta.url), vocabularyFile());

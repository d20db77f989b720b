import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { configJsonSchema } from "../src/json-schema.ts";
import { withSettingsTable } from "./reference.ts";

const schema = fileURLToPath(new URL("../config.schema.json", import.meta.url));
const readme = fileURLToPath(new URL("../README.md", import.meta.url));

writeFileSync(schema, JSON.stringify(configJsonSchema(), null, 2));
writeFileSync(readme, withSettingsTable(readFileSync(readme, "utf8")));
execFileSync("oxfmt", [schema, readme], { stdio: "inherit" });

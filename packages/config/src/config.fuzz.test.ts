import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { CemError } from "@cem/core";
import { FUZZ_TIMEOUT_MS, fuzzing } from "../../../vitest.fuzz.ts";
import { folderWith } from "../test/config-folder.ts";
import { configJsonSchema } from "./json-schema.ts";
import { loadConfig } from "./index.ts";
import { writeFile } from "node:fs/promises";
import path from "node:path";

const SECTIONS = Object.keys((configJsonSchema() as { properties: object }).properties);
const KEYS = [
  "enabled",
  "timeout",
  "servers_dir",
  "port",
  "auth_token",
  "__proto__",
  "constructor",
  "",
  "a.b",
  "name",
];
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom("${HOME}", "${X:-", "${", "1e999", "-0", "~", "0x"),
);
const settings = fc.dictionary(
  fc.constantFrom(...SECTIONS, ...KEYS),
  fc.oneof(value, fc.dictionary(fc.constantFrom(...KEYS), value)),
);
const yaml = fc.oneof(
  settings.map((any) => stringify(any)),
  fc
    .array(
      fc.constantFrom(
        ...SECTIONS,
        ": ",
        "\n",
        "  ",
        "- ",
        "&a ",
        "*a ",
        "<<: ",
        "[",
        "]",
        "{",
        "}",
        "|",
        ">",
        "!!",
        "#",
        "'",
        '"',
        "\t",
        "%",
      ),
      { maxLength: 30 },
    )
    .map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 60 }),
);

describe("any config.yaml", () => {
  it("is loaded, or refused with an error of ours", { timeout: FUZZ_TIMEOUT_MS }, async () => {
    const cwd = await folderWith({});
    await fc.assert(
      fc.asyncProperty(yaml, async (text) => {
        await writeFile(path.join(cwd, "config.yaml"), text);
        const error: unknown = await loadConfig({ cwd, env: {} }).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        if (error !== undefined && !CemError.isInstance(error)) throw error;
        expect(Object.prototype).not.toHaveProperty("enabled");
      }),
      fuzzing(150),
    );
  });
});

import { describe, expect, it } from "vitest";
import { importRequired } from "./add-imports.ts";

describe("importRequired", () => {
  it.each([
    ['const path = require("path");', 'import $required0 from "path"; const path = $required0     ;'],
    [
      'const { get_weather } = require("./servers/weather");',
      'import * as $required0 from "./servers/weather"; const { get_weather } = $required0                  ;',
    ],
    [
      'const a = require("node:fs").promises, b = require("node:fs");',
      'import $required0 from "node:fs"; const a = $required0        .promises, b = $required0        ;',
    ],
    [
      '#!/usr/bin/env node\nrequire("./a.json");',
      '#!/usr/bin/env node\nimport $required0 from "./a.json" with { type: "json" }; $required0         ;',
    ],
    ["if (require.main === module) main();", "if (true                   ) main();"],
  ])("reads %j as an import", (code, expected) => {
    expect(importRequired(code)).toBe(expected);
  });

  it.each([
    'import { createRequire } from "node:module"; const require = createRequire(import.meta.url); require("path");',
    'if (typeof require === "function") require("path");',
    "require(name);",
    "// require('path')",
    "require( is no code",
  ])("leaves %j alone", (code) => {
    expect(importRequired(code)).toBe(code);
  });
});

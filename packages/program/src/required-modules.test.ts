import { describe, expect, it } from "vitest";
import { importRequired } from "./add-imports.ts";

describe("importRequired", () => {
  it.each([
    ['const path = require("path");', 'import path from "path";     '],
    [
      'const { get_weather, a: b } = require("./servers/weather");',
      'import { get_weather, a as b } from "./servers/weather";   ',
    ],
    ['const {\n  sep,\n} = require("path")\nsep;', 'import { sep } from "path";\n\n\nsep;'],
    ['const fs = require("fs"), c = require("./c.ts");', 'import fs from "fs"; import * as c from "./c.ts";'],
    [
      'let path = require("path");\nconst { a = 1 } = require("path"), b: any = require("path");',
      'import $required0 from "path"; let path = $required0     ;\nconst { a = 1 } = $required0     , b: any = $required0     ;',
    ],
    [
      'const { a } = require("./a.json"), b = require("./a.json");\nf(() => { const c = require("c"); });',
      'import $required0 from "./a.json" with { type: "json" }; import * as $required1 from "c"; const { a } = $required0         , b = $required0         ;\nf(() => { const c = $required1  ; });',
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

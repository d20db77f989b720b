import * as fc from "fast-check";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { FUZZ_TIMEOUT_MS, fuzzing } from "../../../vitest.fuzz.ts";
import { inspectDescription } from "./inspect-description.ts";
import { generateToolModule } from "./print/tool-module.ts";
import { readDefinition } from "./tool-definition.ts";

const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc
    .array(
      fc.constantFrom(
        "*/",
        "/*",
        "`",
        "${",
        "\\",
        '"',
        "'",
        "\n",
        "\u2028",
        "//",
        "export ",
        "<!--",
        "@ts-ignore",
      ),
      { maxLength: 6 },
    )
    .map((parts) => parts.join("")),
);
const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.jsonValue({ maxDepth: 1 }),
    fc.record(
      {
        type: fc.oneof(
          fc.constantFrom("string", "number", "object", "array", "null", "nonsense"),
          fc.array(fc.constantFrom("string", "null")),
        ),
        description: text,
        enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }),
        properties: fc.dictionary(
          fc.oneof(text, fc.constantFrom("__proto__", "constructor")),
          tie("schema"),
          { maxKeys: 3 },
        ),
        required: fc.jsonValue({ maxDepth: 1 }),
        items: tie("schema"),
        additionalProperties: tie("schema"),
        anyOf: fc.array(tie("schema"), { maxLength: 2 }),
        $ref: fc.constantFrom("#", "#/$defs/a", "#/nowhere", "http://a/b"),
        $defs: fc.dictionary(fc.constantFrom("a", "Promise"), tie("schema"), { maxKeys: 2 }),
        format: text,
        default: fc.jsonValue({ maxDepth: 1 }),
      },
      { requiredKeys: [] },
    ),
  ),
}));

describe("any tool definition", () => {
  it("makes a module of one function that parses, or is skipped", { timeout: FUZZ_TIMEOUT_MS }, () => {
    const definition = fc.record(
      {
        name: fc.oneof(text, fc.constant("a_tool")),
        title: text,
        description: text,
        inputSchema: schema,
        outputSchema: schema,
        annotations: fc.jsonValue({ maxDepth: 1 }),
      },
      { requiredKeys: ["name"] },
    );
    fc.assert(
      fc.property(definition, (raw) => {
        const read = readDefinition(raw);
        if ("reason" in read) return;
        const { code } = generateToolModule(read, { server: "any", identifier: "a_tool" });
        const { diagnostics = [] } = ts.transpileModule(code, { reportDiagnostics: true });
        expect(diagnostics.map(({ messageText }) => messageText)).toEqual([]);
        inspectDescription(read);
      }),
      fuzzing(150),
    );
  });
});

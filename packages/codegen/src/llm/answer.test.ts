import type { ToolDefinition } from "@cem/core";
import { describe, expect, it } from "vitest";
import { formOf, readAnswer } from "./answer.ts";

const tool = (server: string, name: string, more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  server,
  name,
  kind: "local",
  description: "",
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
  callStyle: "object",
  signature: `${name}(input: { text: string }): Promise<string>`,
  module: `./servers/${server}/index.ts`,
  ...more,
});
const tools = [
  tool("mail", "send"),
  tool("clock", "now"),
  tool("math", "get_sum", { originalName: "get-sum" }),
];

function codeOf(text: string): string {
  const answer = readAnswer(text, tools, "m");
  return "code" in answer ? answer.code : `CANNOT ${answer.missing}`;
}

describe("readAnswer", () => {
  it.each([
    ["calls that nothing closes", 'CALL clock.now {"a": "\n'.repeat(8_000)],
    ["empty lines", `a\n${"\n".repeat(100_000)}CALL clock.now {}`],
    ["thoughts without an end", "<think>".repeat(15_000)],
    ["fences", "```\n~~~\n".repeat(12_000)],
  ])("reads 100 KB of %s in time", (_, text) => {
    const started = process.cpuUsage();
    try {
      readAnswer(text, tools, "m");
    } catch (error) {
      if ((error as { code?: string }).code !== "LLM_ANSWER_UNUSABLE") throw error;
    }
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(5_000);
  });

  it.each([
    ["a block of code", "Sure:\n```ts\nexport default 1;\n```\nDone.", "export default 1;\n"],
    [
      "one of several blocks",
      '```ts\nexport default 12;\n```\nIt returns:\n```json\n{"value": [1, 2, 3, 4]}\n```',
      "export default 12;\n",
    ],
    [
      "a block without its end",
      "```typescript\nconst a = 1;\nexport default a;",
      "const a = 1;\nexport default a;\n",
    ],
    ["a block with a longer fence", "````ts\nexport default `\n```\n`;\n````", "export default `\n```\n`;\n"],
    [
      "code after words",
      'Here is the program:\n\nimport { a } from "x";\nexport default a;',
      'import { a } from "x";\nexport default a;\n',
    ],
    [
      "code after thoughts that the prompt began",
      "```ts\nexport default wrong();\n```\nNo.\n</think>\n\n```ts\nexport default 2;\n```",
      "export default 2;\n",
    ],
    ["a program that has the end of thoughts", 'export default "</think>";', 'export default "</think>";\n'],
    ["code after thoughts", "<think>CALL mail.send {}</think>\nexport default 2;", "export default 2;\n"],
    [
      "a program that mentions a call",
      "```ts\n// CALL mail.send {}\nexport default 3;\n```",
      "// CALL mail.send {}\nexport default 3;\n",
    ],
  ])("finds %s", (_, text, expected) => {
    expect(codeOf(text)).toBe(expected);
  });

  it.each([
    [
      "with words around it",
      'I will do this.\n\nCALL mail.send {"text":"a"}\n\nThis sends the mail {now}.',
      'send({"text":"a"})',
    ],
    [
      "over several lines",
      'CALL mail.send {\n  "text": "a } b",\n  "n": {}\n}',
      'send({"text":"a } b","n":{}})',
    ],
    ["in a block", '```\nCALL send {"text":"a"}\n```', 'send({"text":"a"})'],
    ["in a block of a language", '```ts\nCALL send {"text":"a"}\n```', 'send({"text":"a"})'],
    ["with parentheses", 'CALL mail.send({"text":"a"})', 'send({"text":"a"})'],
    ["without arguments", "CALL clock.now", "now({})"],
    ["set off", '**CALL:** `mail.send` {"text":"a"}', 'send({"text":"a"})'],
    ["with JSON that is none", 'CALL mail.send {"text": "a",}', 'send({"text": "a",})'],
    ["by the server's own name", 'CALL math.get-sum {"text":"a"}', 'get_sum({"text":"a"})'],
    ["whose arguments are code", 'CALL mail.send {text: "it\'s"}', 'send({text: "it\'s"})'],
  ])("reads a call %s", (_, text, expected) => {
    expect(codeOf(text)).toContain(`await ${expected}`);
  });

  it("prints JSON anew, so that it can't become other code", () => {
    expect(codeOf(String.raw`CALL send {"text":"\u2028 ${"`"} ${"${x}"}"}`)).toContain(
      JSON.stringify({ text: "\u2028 ` ${x}" }),
    );
  });

  it("takes a call of a tool that was not offered for an import, which is checked like any other", () => {
    expect(codeOf('CALL crm.find {"text":"a"}')).toBe(
      'import { find } from "./servers/crm/index.ts";\n\nexport default await find({"text":"a"});\n',
    );
  });

  it.each([
    ['CALL rm {"path":"/"}', "calls rm, which it was not offered"],
    ['CALL ../x.rm {"path":"/"}', "holds no program"],
    ["I would love to help you!", "holds no program"],
    ["", "holds no program"],
  ])("takes %j for no answer", (text, message) => {
    expect(() => codeOf(text)).toThrow(message);
  });

  it("reads what is missing", () => {
    expect(codeOf("CANNOT: no tool sends `faxes`\nSorry.")).toBe("CANNOT no tool sends faxes");
    expect(codeOf("```\nCANNOT: a scale\n```")).toBe("CANNOT a scale");
  });
});

describe("formOf", () => {
  it.each([
    ["", undefined],
    ["```ts\nCALL se", "call"],
    ["CALL mail.send", "call"],
    ["import { send } f", "program"],
    ["<think>a long thought about it", undefined],
    ["CALLS = 1; export default 2", "program"],
  ])("knows what %j begins", (text, form) => {
    expect(formOf(text)).toBe(form);
  });
});

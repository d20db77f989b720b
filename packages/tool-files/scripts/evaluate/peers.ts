import { experimental_createCodeModeTool as createCodeModeTool } from "@ai-sdk/code-mode";
import { jsonSchema, tool } from "ai";
import { compile } from "json-schema-to-typescript";
import { generateToolModule, nameTools } from "../../src/index.ts";
import { typeCheck } from "./type-check.ts";
import { type Row, toDefinition } from "./rows.ts";

/** The slowest peer takes milliseconds for each schema: of a large catalog it gets a sample. */
const MAX_SLOW_SAMPLES = 400;
/** Schemas generated before the clock starts, so that no one is timed cold. */
const WARM_UP_SCHEMAS = 200;

interface Generator {
  name: string;
  generate(row: Row): string | Promise<string>;
}

/** Times ours and the others on the same schemas in one run. */
export async function comparePeers(rows: readonly Row[]): Promise<string[]> {
  const fast = [ours(rows), aiSdkCodeMode];
  const step = Math.ceil(rows.length / MAX_SLOW_SAMPLES);
  const sample = rows.filter((_, index) => index % step === 0);
  // The slow one apart: its garbage would be collected on the others' time.
  const timed = [...(await timeInTurn(fast, rows)), ...(await timeInTurn([jsonSchemaToTypeScript], sample))];
  return timed.map(({ name, timings, texts }) => {
    const sorted = timings.toSorted((a, b) => a - b);
    const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(3);
    const total = sorted.reduce((sum, ms) => sum + ms, 0).toFixed(0);
    const largest = Math.max(...texts.map((text) => text?.length ?? 0));
    const times = `${sorted.length} schemas: median ${at(0.5)} ms, p99 ${at(0.99)} ms, total ${total} ms`;
    return `${name.padEnd(26)} ${times}; unclean ${countUnclean(texts)}, largest ${largest} characters`;
  });
}

interface Timed {
  name: string;
  timings: number[];
  texts: (string | undefined)[];
}

/** Schema by schema, each generator in turn being the first. */
async function timeInTurn(generators: readonly Generator[], rows: readonly Row[]): Promise<Timed[]> {
  const timed = generators.map((generator): [Generator, Timed] => [
    generator,
    { name: generator.name, timings: [], texts: [] },
  ]);
  for (let index = 0; index < WARM_UP_SCHEMAS; index += 1) {
    const row = rows[index % rows.length];
    for (const generator of generators) if (row !== undefined) await attempt(generator, row);
  }
  for (const row of rows) {
    for (const [generator, { timings, texts }] of timed) {
      const start = performance.now();
      const text = await attempt(generator, row);
      timings.push(performance.now() - start);
      texts.push(text);
    }
    timed.reverse();
  }
  return timed.map(([, result]) => result).toSorted((a, b) => (a.name < b.name ? 1 : -1));
}

/** Texts that do not compile under strict TypeScript. A generator that throws has none. */
function countUnclean(texts: readonly (string | undefined)[]): number {
  const files = texts.map((text, index) => ({
    file: `server/m${index}.ts`,
    code: `${text ?? "("}\nexport {};\n`,
  }));
  return new Set(typeCheck(files).map((problem) => /\/m(\d+)\.ts:/.exec(problem)?.[1])).size;
}

/** A generator that throws gives no text. */
async function attempt(generator: Generator, row: Row): Promise<string | undefined> {
  try {
    return await generator.generate(row);
  } catch {
    return undefined;
  }
}

function ours(rows: readonly Row[]): Generator {
  const names = nameTools([...new Set(rows.map((row) => row.tool))]);
  return {
    name: "@cem/tool-files",
    generate(row) {
      const definition = { ...toDefinition(row), name: row.tool };
      const identifier = names.get(row.tool)?.identifier ?? "tool";
      return generateToolModule(definition, { server: row.server, identifier }).code;
    },
  };
}

const jsonSchemaToTypeScript: Generator = {
  name: "json-schema-to-typescript",
  generate: (row) =>
    compile(structuredClone(row.inputSchema) as never, "Input", {
      bannerComment: "",
      ignoreMinAndMaxItems: true,
      // Without this it would read files and fetch what a schema names.
      $refOptions: { resolve: { external: false } },
    }),
};

const aiSdkCodeMode: Generator = {
  name: "@ai-sdk/code-mode",
  generate(row) {
    const one = tool({
      description: row.description ?? "",
      inputSchema: jsonSchema(row.inputSchema as never),
    });
    const { description } = createCodeModeTool({ [row.tool]: one } as never);
    return /```ts\n(declare const tools[\s\S]*?\n\};)\n```/.exec(String(description))?.[1] ?? "(";
  },
};
